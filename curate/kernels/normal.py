"""Texts as they are compared for equality: NFC, full case folding, white space folded."""

import unicodedata
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.buffers import Bytes, Offsets, strings, utf8
from glotmill.curate.kernels.unicode import (
    CLASS_SHIFT,
    DECOMPOSES,
    DECOMPOSES_HIGH,
    KIND,
    MAYBE_NFC,
    NOT_NFC,
    SPLITS,
    UPPER,
    Bits,
    rows,
    unicode_table,
    wide,
)
from glotmill.schemas.kernels.compiled import kernel

Ints = npt.NDArray[np.int64]

_GROWTH = 3  # by full case folding: two bytes may become six
ABOVE = 230  # combining class of most accents
_FOLDED = 0x1F000  # no code point from here on has a case
_LOWER = {0x130: 0x69, 0x1E9E: 0xDF}  # capitals that fold to more than their lower case: dotted I, sharp S
_IOTA, _IOTA_BELOW = 0x3B9, 0x345


def normal_form(text: str) -> str:
    """`text` in NFC, then case-folded (Unicode's full folding), white space runs made one space, none at the ends.

    Marks, digits and punctuation stay: kul and kuul, 1 and 2 remain different in every script.
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def normal_forms(texts: Any) -> tuple[Bytes, Offsets]:
    """`normal_form` of n texts, as UTF-8 bytes and n + 1 offsets; broken UTF-8 is kept as it is.

    The kernel does texts that are in NFC already, nearly all; Python brings the others into it first.
    """
    data, offsets = utf8(texts)
    size = int(offsets[-1]) - int(offsets[0])
    tables = (unicode_table(), *_foldings(), *compositions())
    out, bounds, is_hard = _normal(data, offsets, *tables, False, size + size // 8)
    hard = np.flatnonzero(is_hard)
    if len(hard) == 0:
        return out, bounds
    raw = [_nfc(data[offsets[i] : offsets[i + 1]].tobytes()) for i in hard]
    ends = np.cumsum([0, *map(len, raw)])
    again, ends, _ = _normal(np.frombuffer(b"".join(raw), np.uint8), ends, *tables, True, _GROWTH * int(ends[-1]))
    pieces = [out[bounds[i] : bounds[i + 1]] for i in range(len(texts))]
    for place, index in enumerate(hard.tolist()):
        pieces[index] = again[ends[place] : ends[place + 1]]
    lengths = [len(piece) for piece in pieces]
    return np.concatenate(pieces), np.cumsum([0, *lengths])


def composed(texts: Any, places: npt.NDArray[np.int64]) -> Any:
    """The same string array, but for the texts at `places`, which are in NFC now; broken UTF-8 is kept as it is."""
    data, offsets = utf8(texts)
    pieces = [data[offsets[i] : offsets[i + 1]] for i in range(len(texts))]
    for place in places.tolist():
        pieces[place] = np.frombuffer(_nfc(pieces[place].tobytes()), np.uint8)
    return strings(np.concatenate(pieces), np.cumsum([0, *map(len, pieces)]).astype(np.int32))


def _nfc(raw: bytes) -> bytes:
    text = unicodedata.normalize("NFC", raw.decode("utf-8", "surrogateescape"))
    return text.encode("utf-8", "surrogateescape")


@cache
def _foldings() -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """By code point, what it folds to, or -1 - k where that is row k of the second table, 0 after its end."""
    simple = np.arange(_FOLDED, dtype=np.int32)
    long: list[list[int]] = []
    for code, folded in rows("casefold.tsv"):
        to = [int(part, 16) for part in folded.split()]
        if len(to) == 1:
            simple[int(code, 16)] = to[0]
        else:
            simple[int(code, 16)] = -1 - len(long)
            long.append(to + [0] * (3 - len(to)))
    return simple, np.array(long, np.int32)


@cache
def simple_lower() -> npt.NDArray[np.int32]:
    """By code point below 0x1F000, its simple lower-case mapping.

    It is the case folding of the upper-case letters. Cherokee folds the other way and stays as it is, which suits its
    texts: they are mostly written in the letters that Unicode calls upper case.
    """
    simple, long = _foldings()
    lower = np.arange(_FOLDED, dtype=np.int32)
    capitals = np.flatnonzero(unicode_table()[:_FOLDED] & KIND == UPPER)
    lower[capitals] = simple[capitals]
    for code in capitals[simple[capitals] < 0].tolist():
        # Greek: the iota that folding parts goes back below its letter
        first, second, _ = long[-1 - simple[code]].tolist()
        below = unicodedata.normalize("NFC", chr(first) + chr(second if second != _IOTA else _IOTA_BELOW))
        lower[code] = _LOWER.get(code) or ord(below)
    lower.flags.writeable = False
    return lower


@cache
def compositions() -> tuple[Ints, Ints]:
    """Sorted pairs that NFC composes, as first << 21 | second; and the bounds of Hangul's algorithmic ones."""
    pairs = sorted(int(first, 16) << 21 | int(second, 16) for first, second in rows("compose.tsv"))
    return np.array(pairs, np.int64), np.array([0x1100, 0x1113, 0xAC00, 0xD7A4], np.int64)


@kernel
def _normal(  # type: ignore[no-untyped-def]
    data: Bytes,
    offsets: Offsets,
    table: Bits,
    simple: npt.NDArray[np.int32],
    long: npt.NDArray[np.int32],
    pairs: Ints,
    hangul: Ints,
    is_nfc: bool,
    size: int,
):
    out = np.empty(size + 1024, np.uint8)
    bounds = np.zeros(len(offsets), np.int64)
    is_hard = np.zeros(len(offsets) - 1, np.bool_)
    for d in range(len(offsets) - 1):
        end = _normalise(data, offsets[d], offsets[d + 1], table, simple, long, pairs, hangul, is_nfc, out, bounds[d])
        is_hard[d] = end < 0
        bounds[d + 1] = bounds[d] if end < 0 else end
    return out, bounds, is_hard


@kernel
def _normalise(data, start, end, table, simple, long, pairs, hangul, is_nfc, out, at):  # type: ignore[no-untyped-def]
    """Write one text's normal form at `at`; where it ends, or -1 if the text may not be in NFC or has no room."""
    i = np.int64(start)
    begin = at
    room = len(out) - 16  # no character takes more, folded
    gap = False
    starter = np.int64(0)
    last_class = 0
    while i < end:
        if at > room:
            return -1
        code = np.int64(data[i])
        i += 1
        if code < 0x80:
            if code <= 32 and table[code] & SPLITS:
                gap = at > begin
            else:
                if gap:
                    out[at] = 32
                    at += 1
                    gap = False
                out[at] = code + 32 if code >= 65 and code <= 90 else code
                at += 1
            starter = code
            last_class = 0
            continue
        b = np.int64(data[i]) if i < end else 0
        c = np.int64(data[i + 1]) if i + 1 < end else 0
        lead = code
        code, step = wide(code, b, c, np.int64(data[i + 2]) if i + 2 < end else 0)
        i += step - 1
        bits = table[code]
        if bits & SPLITS:
            gap = at > begin
            starter = code
            last_class = 0
            continue
        if gap:
            out[at] = 32
            at += 1
            gap = False
        if step == 1:  # a byte that is no UTF-8
            out[at] = lead
            at += 1
            starter = code
            continue
        combining = bits >> CLASS_SHIFT
        if not is_nfc and (bits & NOT_NFC or (combining > 0 and combining < last_class)):
            return -1
        if not is_nfc and bits & MAYBE_NFC:
            if table[starter] & DECOMPOSES_HIGH or (table[starter] & DECOMPOSES and combining < ABOVE):
                return -1  # E with grave, then a dot below: the dot goes under the bare E
            if _composes(starter, code, pairs, hangul):
                return -1
        last_class = combining
        if combining == 0:
            starter = code
        folded = np.int64(simple[code]) if code < len(simple) else code
        if folded == code:  # as it is; no call, which would count references at every character
            for k in range(step):
                out[at + k] = data[i - step + k]
            at += step
        elif folded >= 0:
            at = put(out, at, folded)
        else:
            for k in range(3):
                part = np.int64(long[-1 - folded, k])
                if part > 0:
                    at = put(out, at, part)
    return at


@kernel
def _composes(first, second, pairs, hangul):  # type: ignore[no-untyped-def]
    """Whether NFC may compose the two."""
    if second >= 0x1161 and second <= 0x11C2:
        return (first >= hangul[0] and first < hangul[1]) or (first >= hangul[2] and first < hangul[3])
    key = first << 21 | second
    place = np.searchsorted(pairs, key)
    return place < len(pairs) and pairs[place] == key


@kernel
def put(out, at, code):  # type: ignore[no-untyped-def]
    """Write a code point as UTF-8; where the next one goes."""
    if code < 0x80:
        out[at] = code
        return at + 1
    if code < 0x800:
        out[at] = 0xC0 | code >> 6
        out[at + 1] = 0x80 | (code & 0x3F)
        return at + 2
    if code < 0x10000:
        out[at] = 0xE0 | code >> 12
        out[at + 1] = 0x80 | (code >> 6 & 0x3F)
        out[at + 2] = 0x80 | (code & 0x3F)
        return at + 3
    out[at] = 0xF0 | code >> 18
    out[at + 1] = 0x80 | (code >> 12 & 0x3F)
    out[at + 2] = 0x80 | (code >> 6 & 0x3F)
    out[at + 3] = 0x80 | (code & 0x3F)
    return at + 4
