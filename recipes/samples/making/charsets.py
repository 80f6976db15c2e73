"""Which pages leave UTF-8, and how a page says what it is written in: rightly, wrongly or not at all."""

import codecs
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Charset:
    """How one page is encoded.

    Args:
        codec: Python's name of the encoding.
        label: What the page calls it.
        stated: "http", "meta", "both", "bom", "nowhere", or "wrongly" (the header says utf-8).
    """

    codec: str = "utf-8"
    label: str = "utf-8"
    stated: str = "both"

    @property
    def meta(self) -> str | None:
        return self.label if self.stated in ("meta", "both") else None

    @property
    def content_type(self) -> str:
        if self.stated == "wrongly":
            return "text/html; charset=utf-8"
        return f"text/html; charset={self.label}" if self.stated in ("http", "both") else "text/html"

    @property
    def guessed(self) -> bool:
        """Whether a reader has to detect the charset."""
        return self.stated in ("nowhere", "wrongly") or self.label not in _KNOWN

    def encoded(self, html: str) -> bytes:
        """Characters that the charset lacks become references, as a legacy content system writes them."""
        mark = {"utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
        body = html.encode(self.codec, "xmlcharrefreplace")
        return mark[self.codec] + body if self.stated == "bom" else body


UTF8 = tuple(Charset(stated=stated) for stated in ("both", "http", "meta"))  # taken in turn

# (language, number of the page) -> charset, for pages that are not plainly UTF-8.
SPECIAL: dict[tuple[str, int], Charset] = {
    ("fra_Latn", 1): Charset("cp1252", "windows-1252", "http"),
    ("spa_Latn", 1): Charset("latin-1", "iso-8859-1", "meta"),
    ("deu_Latn", 1): Charset("iso8859-15", "iso-8859-15", "both"),
    ("ita_Latn", 1): Charset("cp1252", "windows-1252", "nowhere"),
    ("por_Latn", 1): Charset("latin-1", "latin1", "both"),
    ("isl_Latn", 1): Charset("cp1252", "iso-8859-1", "http"),
    ("nld_Latn", 1): Charset(stated="nowhere"),
    ("swe_Latn", 1): Charset("utf-8", "utf-8", "bom"),
    ("fin_Latn", 1): Charset("utf-16-le", "utf-16", "bom"),
    ("vie_Latn", 1): Charset("utf-16-be", "utf-16", "bom"),
    ("cat_Latn", 1): Charset("utf-8", "utf8-mb4-custom", "both"),
    ("pol_Latn", 1): Charset("iso8859-2", "iso-8859-2", "http"),
    ("ces_Latn", 1): Charset("cp1250", "windows-1250", "meta"),
    ("hun_Latn", 1): Charset("iso8859-2", "iso-8859-2", "meta"),
    ("hrv_Latn", 1): Charset("cp1250", "windows-1250", "http"),
    ("slk_Latn", 1): Charset("cp1250", "windows-1250", "both"),
    ("slv_Latn", 1): Charset("iso8859-2", "latin2", "http"),
    ("ron_Latn", 1): Charset("iso8859-16", "iso-8859-16", "http"),
    ("lit_Latn", 1): Charset("cp1257", "windows-1257", "meta"),
    ("lav_Latn", 1): Charset("iso8859-13", "iso-8859-13", "http"),
    ("est_Latn", 1): Charset("iso8859-15", "iso-8859-15", "meta"),
    ("tur_Latn", 1): Charset("iso8859-9", "iso-8859-9", "http"),
    ("rus_Cyrl", 1): Charset("koi8-r", "koi8-r", "nowhere"),
    ("rus_Cyrl", 2): Charset("cp1251", "windows-1251", "wrongly"),
    ("ukr_Cyrl", 1): Charset("koi8-u", "koi8-u", "http"),
    ("bul_Cyrl", 1): Charset("cp1251", "windows-1251", "wrongly"),
    ("bel_Cyrl", 1): Charset("cp1251", "cp1251", "meta"),
    ("mkd_Cyrl", 1): Charset("iso8859-5", "iso-8859-5", "http"),
    ("srp_Cyrl", 1): Charset("cp1251", "windows-1251", "http"),
    ("ell_Grek", 1): Charset("cp1253", "windows-1253", "http"),
    ("ell_Grek", 2): Charset("iso8859-7", "iso-8859-7", "meta"),
    ("jpn_Jpan", 1): Charset("cp932", "shift_jis", "meta"),
    ("jpn_Jpan", 2): Charset("euc-jp", "euc-jp", "nowhere"),
    ("zho_Hans", 1): Charset("gb18030", "gb18030", "http"),
    ("zho_Hans", 2): Charset("gbk", "gb2312", "meta"),
    ("zho_Hant", 1): Charset("big5hkscs", "big5", "http"),
    ("kor_Hang", 1): Charset("cp949", "euc-kr", "meta"),
    ("kor_Hang", 2): Charset("euc-kr", "euc-kr", "nowhere"),
    ("arb_Arab", 1): Charset("cp1256", "windows-1256", "http"),
    ("heb_Hebr", 1): Charset("cp1255", "windows-1255", "meta"),
    ("tha_Thai", 1): Charset("cp874", "tis-620", "http"),
    ("tha_Thai", 2): Charset("cp874", "windows-874", "wrongly"),
    ("hin_Deva", 1): Charset("utf-8", "utf-8", "nowhere"),
}
_KNOWN = {charset.label for charset in SPECIAL.values()} | {"utf-8"}
_KNOWN.discard("utf8-mb4-custom")


_OTHER_NAMES = {"kor_Kore": "kor_Hang", "cmn_Hans": "zho_Hans", "cmn_Hant": "zho_Hant", "ara_Arab": "arb_Arab"}


def charset(language: str, number: int, turn: int) -> Charset:
    """The charset of a language's page; `turn` picks how a UTF-8 page states it."""
    return SPECIAL.get((_OTHER_NAMES.get(language, language), number), UTF8[turn % len(UTF8)])
