"""Bytes to text: what is stated is believed only as far as the bytes agree.

Order: byte order mark, HTTP header, meta tag or XML declaration, detection. Labels mean what the WHATWG Encoding
Standard says they mean on the web (latin1 is windows-1252, gb2312 is gb18030, euc-kr is cp949, ...).
"""

import codecs
import re
from functools import cache
from typing import NamedTuple

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WHATWG = {  # Python's strict codecs know fewer characters than the encodings that browsers mean by these names
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
    "iso8859-11": "cp874",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "ascii": "cp1252",
}
_PRETTY = {"cp874": "windows-874", "cp932": "shift_jis", "cp949": "euc-kr", "big5hkscs": "big5"}
_MULTIBYTE = {"gb18030", "cp949", "cp932", "big5hkscs", "euc_jp", "iso2022_jp"}
_META = re.compile(
    rb"""<meta\s[^>]{0,500}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.+-]{2,40})|<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9_:.-]{2,40})""",
    re.IGNORECASE,
)
_META_WINDOW = 4096
_ASCII_COMPATIBLE = {
    "utf-8",
    "cp1252",
    "cp1251",
    "gb18030",
    "cp932",
    "cp949",
    "big5hkscs",
    "euc_jp",
}  # no NUL from others
_CONTROLS = bytes(b for b in range(32) if b not in b"\t\n\r\f\v\x1b\x00")
_C1 = re.compile("[\x80-\x84\x86-\x9f]")  # U+0085 is a line break in real texts
_SNIFF = 1 << 16
_MAX_CONTROL_SHARE = 0.05
_MAX_BAD_SHARE = 0.02  # undecodable sequences per non-ASCII character, up to which a text keeps its charset
_DETECT_BYTES = 1 << 16


class Decoded(NamedTuple):
    """Text, the charset that gave it, and whether nothing right had stated that charset."""

    text: str
    charset: str
    guessed: bool


def decoded(
    body: bytes, *, http: str | None = None, markup: bool = False, default: str | None = None
) -> Decoded | None:
    """`body` as text without NULs and byte order marks; None when it is binary. Raises nothing.

    Args:
        http: Label of the Content-Type header.
        markup: Whether a meta tag or XML declaration may state the charset.
        default: The charset that the format implies; using it is no guess.
    """
    mark, charset = _bom(body)
    if charset and (text := _strict(body[mark:], charset)) is not None:
        return _done(text, body, charset, False)
    stated = [label for label in (http, _meta(body) if markup else None) if label]
    known = [codec for label in stated if (codec := codec_of(label))]
    lied = charset is not None or len(known) < len(stated)
    for codec in dict.fromkeys([*known, *([default] if default else [])]):
        text = _believed(body, codec)
        if text is not None:
            return _done(text, body, codec, lied)
        lied = True
    if _is_binary(body):
        return None
    return _detected(body)


def codec_of(label: str) -> str | None:
    """Python's codec for a label as the web uses it, None when there is no such charset.

    >>> codec_of("latin1"), codec_of("GB2312"), codec_of("nonsense-8")
    ('cp1252', 'gb18030', None)
    """
    return _codec(label.strip().strip("\"'").lower()) if len(label) <= 64 else None


@cache
def _codec(label: str) -> str | None:
    try:
        found = map_encoding_to_html5(label, fallback_utf8=False)
        if found is None:
            return None
        codec = codecs.lookup(_WHATWG.get(found, found)).name
    except (LookupError, ValueError):
        return None
    return _WHATWG.get(codec, codec)


def _bom(body: bytes) -> tuple[int, str | None]:
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return len(mark), charset
    return 0, None


def _meta(body: bytes) -> str | None:
    found = _META.search(body[:_META_WINDOW])
    if not found:
        return None
    label = (found[1] or found[2]).decode("ascii")
    return "utf-8" if label.lower().startswith(("utf-16", "utf16")) else label  # it was read as ASCII, so it lies


def _strict(body: bytes, codec: str) -> str | None:
    try:
        return body.decode(codec)
    except (UnicodeError, ValueError):
        return None


def _believed(body: bytes, codec: str) -> str | None:
    """Text by a stated codec, None when the bytes contradict it."""
    text = _strict(body, codec)
    if text is None or (0 in body and _is_binary(body)):
        return None
    if codec == "utf-8" or (codec != "iso2022_jp" and body.isascii()):
        return text
    if _is_utf8(body, codec) or _too_many_c1(text):
        return None
    return text


def _too_many_c1(text: str) -> bool:
    """Windows code pages put letters and dashes where C1 controls are, so more than a few mean another charset."""
    found = len(_C1.findall(text[:_SNIFF]))
    return found > 2 and found > _MAX_BAD_SHARE * sum(1 for _ in re.finditer(r"[^\x00-\x7f]", text[:_SNIFF]))


def _is_utf8(body: bytes, codec: str) -> bool:
    """Whether bytes stated to be `codec` are UTF-8: several well-formed sequences don't come about by chance."""
    text = _strict(body, "utf-8")
    if text is None:
        return False
    return len(body) - len(text) >= (16 if codec in _MULTIBYTE else 2)


def _is_binary(body: bytes) -> bool:
    head = body[:_SNIFF]
    if not head or _looks_utf16(head):
        return False
    controls = len(head) - len(head.translate(None, _CONTROLS + b"\0"))
    return controls > _MAX_CONTROL_SHARE * len(head)


def _looks_utf16(head: bytes) -> str | None:
    """Little or big endian UTF-16 without mark: mostly ASCII, so NULs on one side only."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if half and odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    return "utf-16-be" if half and even > 0.4 * half and odd < 0.05 * half else None


def _detected(body: bytes) -> Decoded | None:
    """Text by the most fitting charset, always flagged as a guess."""
    if (text := _strict(body, "utf-8")) is not None and "\0" not in text:
        return _done(text, body, "utf-8", True)
    if (wide := _looks_utf16(body[:_SNIFF])) and (text := _strict(body[: len(body) // 2 * 2], wide)) is not None:
        return _done(text, body, wide, True)
    text = body.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    if bad <= max(1.0, _MAX_BAD_SHARE * (len(body) - len(text)) / 1.5) and len(body) - len(text) > 2 * bad:
        return _done(text, body, "utf-8", True)
    guesses = [_guess(body), "cp1252"]
    for codec in dict.fromkeys(codec for codec in guesses if codec):
        found = _strict(body, codec)
        if found is not None and not _too_many_c1(found):
            return _done(found, body, codec, True)
    last = _charset_normalizer(body) or guesses[0] or "cp1252"
    return _done(body.decode(last, "replace"), body, last, True)


def _guess(body: bytes) -> str | None:
    """uchardet's opinion; its own name is mapped here, since the library's mapping turns cp949 into UTF-8."""
    sample = body if len(body) <= _DETECT_BYTES else body[:_DETECT_BYTES]
    found = detect_encoding(sample, max_len=0, html5_compatible=False)
    if not found:
        return None
    try:
        name = codecs.lookup(found).name
    except LookupError:
        return codec_of(found)
    return _WHATWG.get(name, name)


def _charset_normalizer(body: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(body[:_DETECT_BYTES]).best()
    return best.encoding if best else None


def _done(text: str, body: bytes, codec: str, guessed: bool) -> Decoded:
    """NULs go, as does a mark that the codec left; neither is text, and many tools stop reading at a NUL."""
    if (0 in body or codec not in _ASCII_COMPATIBLE) and "\0" in text:
        text = text.replace("\0", "")
    if text.startswith("\ufeff"):
        text = text[1:]
    return Decoded(text, _pretty(codec), guessed)


@cache
def _pretty(codec: str) -> str:
    name = codec.replace("_", "-")
    return _PRETTY.get(codec) or (f"windows-{codec[2:]}" if codec.startswith("cp1") else name)
