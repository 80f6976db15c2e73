"""Windows as a language model learnt to read them: composed, and not all in capitals.

A model of character n-grams knows a letter by its bytes: it takes a decomposed letter, or a capital, for another one.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.buffers import Bytes, Offsets, strings, utf8
from glotmill.curate.kernels.normal import ABOVE, Ints, composed, compositions, put, simple_lower
from glotmill.curate.kernels.unicode import (
    CLASS_SHIFT,
    DECOMPOSES,
    DECOMPOSES_HIGH,
    KIND,
    LOWER,
    MAYBE_NFC,
    NOT_NFC,
    UPPER,
    Bits,
    unicode_table,
    wide,
)
from glotmill.curate.kernels.windows import windows
from glotmill.schemas.kernels.compiled import kernel

_TURKISH_I = 0x130  # capital I with a dot
_DOTLESS = 0x131


def read_windows(texts: Any, *, count: int, size: int) -> tuple[Any, Any, npt.NDArray[np.int64]]:
    """The windows of n texts, as `windows` cuts them, in the form that a model reads.

    A text whose windows are not in NFC is composed whole and cut again, so that both its forms have the same windows.
    A text most of whose cased letters are upper case, within its windows, has them lowered one by one (Unicode's simple
    mapping): a sigma at a word's end stays σ, and SS doesn't become ß. I becomes ı where the windows hold İ, which only
    the Turkic alphabets that have ı use, and i elsewhere; İ becomes i.

    Returns:
        The texts, composed where they were not; the windows of all; and n + 1 offsets into these.
    """
    lines, firsts = windows(texts, count=count, size=size)
    cases, is_composed = _traits(*utf8(lines), firsts, unicode_table(), *compositions())
    if not is_composed.all():
        texts = composed(texts, np.flatnonzero(~is_composed))
        lines, firsts = windows(texts, count=count, size=size)
        cases, _ = _traits(*utf8(lines), firsts, unicode_table(), *compositions())
    if (cases[:, 0] > cases[:, 1]).any():
        lines = strings(*_lowered(*utf8(lines), firsts, cases, simple_lower()))
    return texts, lines, firsts


@kernel
def _traits(data: Bytes, offsets: Offsets, firsts: Ints, table: Bits, pairs: Ints, hangul: Ints):  # type: ignore[no-untyped-def]
    """For each text: letters of upper case, of lower case, dotted capital I's; and whether NFC leaves its windows."""
    cases = np.zeros((len(firsts) - 1, 3), np.int64)
    is_composed = np.ones(len(firsts) - 1, np.bool_)
    for d in range(len(firsts) - 1):
        for w in range(firsts[d], firsts[d + 1]):
            upper, lower, dotted, is_nfc = _line_traits(data, offsets[w], offsets[w + 1], table, pairs, hangul)
            cases[d, 0] += upper
            cases[d, 1] += lower
            cases[d, 2] += dotted
            is_composed[d] &= is_nfc
    return cases, is_composed


@kernel
def _line_traits(data, start, end, table, pairs, hangul):  # type: ignore[no-untyped-def]
    """The quick check of UAX #15, section 9, that looks a doubtful pair up instead of answering maybe."""
    upper = lower = dotted = np.int64(0)
    is_nfc = True
    starter = last_class = np.int64(0)
    i = np.int64(start)
    while i < end:
        code = np.int64(data[i])
        if code < 0x80:
            upper += np.int64((code - 65) & 0xFF < 26)
            lower += np.int64((code - 97) & 0xFF < 26)
            starter, last_class = code, np.int64(0)
            i += 1
            continue
        b = np.int64(data[i + 1]) if i + 1 < end else 0
        c = np.int64(data[i + 2]) if i + 2 < end else 0
        code, step = wide(code, b, c, np.int64(data[i + 3]) if i + 3 < end else 0)
        i += step
        bits = np.int64(table[code])
        upper += np.int64(bits & KIND == UPPER)
        lower += np.int64(bits & KIND == LOWER)
        dotted += np.int64(code == _TURKISH_I)
        combining = bits >> CLASS_SHIFT
        if bits & NOT_NFC or (combining > 0 and combining < last_class):
            is_nfc = False
        elif bits & MAYBE_NFC and is_nfc:
            before = np.int64(table[starter])
            if before & DECOMPOSES_HIGH or (before & DECOMPOSES and combining < ABOVE):
                is_nfc = False
            elif code >= 0x1161 and code <= 0x11C2:
                is_nfc = not (hangul[0] <= starter < hangul[1] or hangul[2] <= starter < hangul[3])
            else:
                place = np.searchsorted(pairs, starter << 21 | code)
                is_nfc = place == len(pairs) or pairs[place] != starter << 21 | code
        last_class = combining
        if combining == 0:
            starter = code
    return upper, lower, dotted, is_nfc


@kernel
def _lowered(data: Bytes, offsets: Offsets, firsts: Ints, cases: Ints, lower: npt.NDArray[np.int32]):  # type: ignore[no-untyped-def]
    """The lines, lowered where their text is mostly upper case; as bytes and offsets."""
    out = np.empty(2 * (np.int64(offsets[-1]) - offsets[0]) + 8, np.uint8)  # I becomes ı: no letter grows more
    bounds = np.zeros(len(offsets), np.int32)
    at = np.int64(0)
    for d in range(len(firsts) - 1):
        is_upper = cases[d, 0] > cases[d, 1]
        for w in range(firsts[d], firsts[d + 1]):
            if is_upper:
                at = _lower_line(data, offsets[w], offsets[w + 1], lower, cases[d, 2] > 0, out, at)
            else:
                for i in range(offsets[w], offsets[w + 1]):
                    out[at] = data[i]
                    at += 1
            bounds[w + 1] = at
    return out[:at], bounds


@kernel
def _lower_line(data, start, end, lower, is_turkic, out, at):  # type: ignore[no-untyped-def]
    i = np.int64(start)
    while i < end:
        code, step = np.int64(data[i]), 1
        if code >= 0x80:
            b = np.int64(data[i + 1]) if i + 1 < end else 0
            c = np.int64(data[i + 2]) if i + 2 < end else 0
            code, step = wide(code, b, c, np.int64(data[i + 3]) if i + 3 < end else 0)
        if code < len(lower):
            code = np.int64(_DOTLESS if is_turkic and code == 73 else lower[code])
        at = put(out, at, code)
        i += step
    return at
