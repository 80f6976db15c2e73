"""The pages of the archive: three a language, and what is planted among them."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zlib import crc32

from making.charsets import Charset, charset
from making.designs import AUTHORS, DATES, DESIGNS, Page, html
from making.http_message import TRANSPORTS
from ruamel.yaml import YAML

# Copied where the language is there, the first ones first.
EXACT = ("eng_Latn", "fra_Latn", "rus_Cyrl", "jpn_Jpan", "arb_Arab", "hin_Deva", "deu_Latn", "ind_Latn")
FOLDED = {  # language -> how the copy's text differs before folding
    "spa_Latn": "capitals",
    "ukr_Cyrl": "upper case",
    "nld_Latn": "white space",
    "por_Latn": "white space",
    "swe_Latn": "decomposed",
    "vie_Latn": "decomposed",
}
NEAR = {  # language -> what was edited
    "eng_Latn": "words",
    "ita_Latn": "words",
    "tur_Latn": "words",
    "bul_Cyrl": "words",
    "deu_Latn": "date and name",
    "fin_Latn": "date and name",
    "ell_Grek": "date and name",
    "cat_Latn": "date and name",
    "fra_Latn": "added paragraph",
    "dan_Latn": "added paragraph",
    "hun_Latn": "added paragraph",
    "jpn_Jpan": "added paragraph",
    "hrv_Latn": "added paragraph",
}
EDITS = set(NEAR.values())
COPIES = 6  # byte-equal ones, as many folded ones
NEAR_COPIES = 12


@dataclass(frozen=True, slots=True)
class Sent:
    """A page as it goes over the wire; `copy` says how it was made from the page at `copy_of`."""

    url: str
    page: Page
    language: str
    number: int
    design: str
    charset: Charset
    transport: str
    copy: str | None = None
    copy_of: str | None = None

    @property
    def body(self) -> bytes:
        meta = replace(self.page, meta_charset=self.charset.meta)
        return self.charset.encoded(html(meta, self.design))


def sites(folder: Path) -> list[dict[str, Any]]:
    """The language files, sorted by language."""
    reader = YAML(typ="safe")
    read = [reader.load(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.yaml"))]
    return sorted(read, key=lambda site: str(site["language"]))


def originals(read: list[dict[str, Any]]) -> list[Sent]:
    """Every page of every language; transports and charset statements taken in turn."""
    found: list[Sent] = []
    for site in read:
        for number in range(len(site["pages"])):
            turn = len(found)
            mixed = crc32(site["language"].encode()) + 2 * number  # stays when languages are added
            design = list(DESIGNS)[mixed % len(DESIGNS)]
            transport = list(TRANSPORTS)[turn % len(TRANSPORTS)]
            chosen = charset(site["language"], number, turn)
            page = _page(site, number, mixed)
            found.append(Sent(page.url, page, site["language"], number, design, chosen, transport))
    return found


def exact_copies(pages: list[Sent]) -> Iterator[Sent]:
    """Copies whose text is equal: six byte for byte, six after folding case, white space and decomposition."""
    first = {sent.language: sent for sent in pages if sent.number == 0}
    for n, language in enumerate([code for code in EXACT if code in first][:COPIES]):
        sent = first[language]
        url = f"https://mirror-{n}.example/copied/{sent.page.bcp47}.html"
        yield replace(sent, url=url, copy="byte for byte", copy_of=sent.url)
    for n, (language, how) in enumerate([item for item in FOLDED.items() if item[0] in first][:COPIES]):
        sent = first[language]
        url, page = f"https://reprint-{n}.example/{sent.page.bcp47}/text", sent.page.with_text(FOLDS[how])
        yield replace(sent, url=url, page=page, copy=how, copy_of=sent.url)


def near_copies(pages: list[Sent]) -> Iterator[Sent]:
    """Copies with an edit; this version of glotmill keeps them, since only equal texts are duplicates."""
    by_place = {(sent.language, sent.number): sent for sent in pages}
    for n, (language, how) in enumerate([item for item in NEAR.items() if (item[0], 1) in by_place][:NEAR_COPIES]):
        sent, other = by_place[language, 1], by_place[language, 2]
        url, page = f"https://near-{n}.example/{sent.page.bcp47}/{n}.html", _edited(sent.page, how, other.page)
        yield replace(sent, url=url, page=page, charset=Charset(), copy=how, copy_of=sent.url)


def _page(site: dict[str, Any], number: int, mixed: int) -> Page:
    titles = [page["title"] for page in site["pages"]]
    chosen = site["pages"][number]
    host, code = site["site"], site["bcp47"]
    paths = (f"/{code}/1.html", "/2024/05/article-2", "/" + quote(titles[number].replace(" ", "-")))
    author, date = AUTHORS[mixed % len(AUTHORS)], DATES[mixed // 7 % len(DATES)]
    dated = number == 1 and NEAR.get(site["language"]) == "date and name"
    return Page(
        url=f"https://{host}{paths[number] if number < 3 else f'/more/{number}'}",
        bcp47=code,
        site=host,
        menu=tuple(site["menu"]),
        cookie=site["cookie"],
        footer=site["footer"],
        title=titles[number],
        paragraphs=(*chosen["paragraphs"], *([f"{author}, {date}"] if dated else [])),
        related=tuple(title for title in titles if title != titles[number]),
        author=author,
        date=date,
    )


def _edited(page: Page, how: str, other: Page) -> Page:
    if how == "words":
        donor = " ".join(other.paragraphs).split()
        return replace(page, paragraphs=tuple(_with_words(text, donor) for text in page.paragraphs))
    if how == "date and name":
        author, date = "V. Marchetti-Dunn", "2024-04-30"
        return replace(page, paragraphs=(*page.paragraphs[:-1], f"{author}, {date}"), author=author, date=date)
    return replace(page, paragraphs=(*page.paragraphs, other.paragraphs[0]))


def _with_words(text: str, donor: list[str]) -> str:
    """Every fourteenth word, 7%, exchanged for one of another page."""
    words = text.split(" ")
    for at in range(6, len(words), 14):
        words[at] = donor[(7 * at) % len(donor)]
    return " ".join(words)


def _spaced(text: str) -> str:
    """No-break and thin spaces instead of every other space, as word processors leave them."""
    words = text.split(" ")
    return "".join(word + (" ", "\u00a0", "\u2009", "  ")[n % 4] for n, word in enumerate(words[:-1])) + words[-1]


FOLDS = {
    "upper case": str.upper,
    "capitals": str.title,
    "white space": _spaced,
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
}


def folded(text: str) -> str:
    """What exact deduplication compares, written down independently: NFC, case folded, one space between words."""
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())
