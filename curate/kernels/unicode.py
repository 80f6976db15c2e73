"""What is known of every code point, as one table of bits, and the decoder that walks UTF-8.

The data files are made from the Unicode Character Database by `curate/data/unicode.pl`, so that a result does not
depend on the Unicode version of the Python that runs.
"""

from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from glotmill.schemas.kernels.compiled import kernel

Bits = npt.NDArray[np.uint32]

# Bits 0 to 3: what a code point is.
KIND = 15
OTHER, UPPER, LOWER, LETTER, MARK, NUMBER, PUNCTUATION, SYMBOL, SPACE, CONTROL, BROKEN, EMOJI = range(12)
# One bit each.
TERMINAL = 1 << 4  # ends a sentence
CLOSING = 1 << 5  # may follow the mark that ends a sentence: quotes, brackets, what is invisible
BREAK = 1 << 6  # ends a line, as in str.splitlines
BULLET = 1 << 7
JOINER = 1 << 8  # inside a word: apostrophes, hyphens, zero-width joiners
NOT_NFC = 1 << 9
MAYBE_NFC = 1 << 10
SIMPLIFIED = 1 << 11  # a Han character of simplified Chinese alone
TRADITIONAL = 1 << 12
SPLITS = 1 << 13  # white space of str.split
DECOMPOSES = 1 << 14  # into a last mark of class 1 to 230
DECOMPOSES_HIGH = 1 << 15  # into one of a higher class
# Bits 16 to 23: the script, an index into `scripts()`; bits 24 to 31: the canonical combining class.
SCRIPT_SHIFT, CLASS_SHIFT = 16, 24

CODE_POINTS = 0x110000
NEUTRAL = ("Zyyy", "Zinh", "Zzzz")  # common, inherited, unknown: the first three of `scripts()`

_KINDS = {"Lu": UPPER, "Lt": UPPER, "Ll": LOWER, "Zs": SPACE, "Zl": SPACE, "Zp": SPACE, "Cc": CONTROL, "Co": BROKEN}
_KINDS_BY_LETTER = {"L": LETTER, "M": MARK, "N": NUMBER, "P": PUNCTUATION, "S": SYMBOL}
_BREAKS = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
_BULLETS = "-*•‣⁃∙○●◦▪■□▶►◆♦・"
_JOINERS = "'’ʼ-‐‑·\u200c\u200d\u00ad\u2060"
_TERMINALS = "…‥།༎༏༐༑។៕፡"  # beside Sentence_Terminal; the Ethiopic word space, doubled, is a full stop
_WORD_SPACES = "\u0f0b\u0f0c"  # tsheg: what parts syllables is no mark
_QUOTES = "\"'`´"
# Unicode's Emoji_Presentation (emoji-data.txt), and the heart: symbols that are shown as pictures.
_EMOJI = (
    "231A-231B 23E9-23EC 23F0 23F3 25FD-25FE 2614-2615 2648-2653 267F 2693 26A1 26AA-26AB 26BD-26BE 26C4-26C5 "
    "26CE 26D4 26EA 26F2-26F3 26F5 26FA 26FD 2705 270A-270B 2728 274C 274E 2753-2755 2757 2764 2795-2797 27B0 "
    "27BF 2B1B-2B1C 2B50 2B55 1F004 1F0CF 1F18E 1F191-1F19A 1F1E6-1F1FF 1F201 1F21A 1F22F 1F232-1F236 1F238-1F23A "
    "1F250-1F251 1F300-1F64F 1F680-1F6FF 1F7E0-1F7EB 1F90C-1F9FF 1FA70-1FAFF"
)


@cache
def scripts() -> tuple[str, ...]:
    """ISO 15924 codes; a script's place is its index in the table."""
    found = {row[2] for row in rows("unicode.tsv")}
    return (*NEUTRAL, *sorted(found - set(NEUTRAL)))


@cache
def unicode_table() -> Bits:
    """Bits by code point, 0x110000 of them."""
    index = {script: place for place, script in enumerate(scripts())}
    lines = rows("unicode.tsv")
    starts = np.array([int(line[0], 16) for line in lines] + [CODE_POINTS])
    values = np.array([_bits(line, index) for line in lines], np.uint32)
    table = np.repeat(values, np.diff(starts))
    for chars, bit in (
        (_BREAKS, BREAK),
        (_BULLETS, BULLET),
        (_JOINERS, JOINER),
        (_TERMINALS, TERMINAL),
        (_QUOTES, CLOSING),
    ):
        table[[ord(char) for char in chars]] |= bit
    table[0x80:0xA0] = (table[0x80:0xA0] & ~np.uint32(KIND)) | BROKEN  # C1: a text decoded by the wrong charset
    table[0x85] = (table[0x85] & ~np.uint32(KIND)) | SPACE
    table[0xFFFD] = (table[0xFFFD] & ~np.uint32(KIND)) | BROKEN
    table[0x1C:0x20] = (table[0x1C:0x20] & ~np.uint32(KIND)) | SPACE | SPLITS  # Python's white space, not Unicode's
    for char in _WORD_SPACES:
        table[ord(char)] = (table[ord(char)] & ~np.uint32(KIND)) | SPACE
    for block in _EMOJI.split():
        first, _, last = block.partition("-")
        codes = np.arange(int(first, 16), int(last or first, 16) + 1)
        symbols = codes[table[codes] & KIND == SYMBOL]
        table[symbols] = (table[symbols] & ~np.uint32(KIND)) | EMOJI
    _mark_chinese(table)
    table.flags.writeable = False
    return table


def rows(name: str) -> list[list[str]]:
    """The lines of a data file, cut at tabs, comments left out."""
    text = resources.files("glotmill.curate").joinpath("data", name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


def _bits(line: list[str], index: dict[str, int]) -> int:
    _, category, script, combining, flags = line
    kind = _KINDS.get(category, _KINDS_BY_LETTER.get(category[0], OTHER))
    bits = kind | index[script] << SCRIPT_SHIFT | int(combining) << CLASS_SHIFT
    if "W" in flags:
        bits = bits & ~KIND | SPACE | SPLITS
    if "T" in flags:
        bits |= TERMINAL
    if category in ("Pe", "Pf", "Pi", "Cf") or "W" in flags:
        bits |= CLOSING  # Pi too: German and Danish close with what others open with
    normal = (NOT_NFC if "N" in flags else 0) | (MAYBE_NFC if "M" in flags else 0)
    return bits | normal | (DECOMPOSES if "D" in flags else 0) | (DECOMPOSES_HIGH if "E" in flags else 0)


def _mark_chinese(table: Bits) -> None:
    """What GB 2312 has and Big5 lacks is simplified; what GB 2312 lacks of Big5's frequent part, traditional."""
    mainland = _encoded("gb2312", range(0xB0, 0xF8), (range(0xA1, 0xFF),))
    taiwan = _encoded("big5", range(0xA4, 0xFA), (range(0x40, 0x7F), range(0xA1, 0xFF)))
    frequent = _encoded("big5", range(0xA4, 0xC7), (range(0x40, 0x7F), range(0xA1, 0xFF)))
    table[sorted(mainland - taiwan)] |= SIMPLIFIED
    table[sorted(frequent - mainland)] |= TRADITIONAL


def _encoded(charset: str, leads: range, trails: tuple[range, ...]) -> set[int]:
    pairs = b"".join(bytes((lead, trail)) for lead in leads for block in trails for trail in block)
    return {ord(char) for char in pairs.decode(charset, "ignore") if "\u4e00" <= char <= "\u9fff"}


@kernel
def wide(a, b, c, d):  # type: ignore[no-untyped-def]
    """The code point of a lead byte above 0x7F and the three bytes after it (0 past the end), and its length in bytes.

    U+FFFD and 1 where they are no UTF-8. It takes numbers, because an array passed to a function called in a hot loop
    has its references counted there: ten times slower.
    """
    if a >= 0xC2:
        if a < 0xE0:
            if b & 0xC0 == 0x80:
                return (a & 0x1F) << 6 | (b & 0x3F), 2
        elif a < 0xF0:
            if b & 0xC0 == 0x80 and c & 0xC0 == 0x80:
                return (a & 0x0F) << 12 | (b & 0x3F) << 6 | (c & 0x3F), 3
        elif a < 0xF5 and b & 0xC0 == 0x80 and c & 0xC0 == 0x80 and d & 0xC0 == 0x80:
            code = (a & 0x07) << 18 | (b & 0x3F) << 12 | (c & 0x3F) << 6 | (d & 0x3F)
            if code < 0x110000:
                return code, 4
    return 0xFFFD, 1
