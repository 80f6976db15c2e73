"""What is counted in every line of every text, over the cut that `pieces` made."""

from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.pieces import Pieces, space_ends
from glotmill.curate.kernels.scan import WORD, terminal_after
from glotmill.curate.kernels.unicode import (
    CLOSING,
    KIND,
    LETTER,
    LOWER,
    MARK,
    NUMBER,
    SCRIPT_SHIFT,
    SPACE,
    TERMINAL,
    UPPER,
    unicode_table,
    wide,
)
from glotmill.schemas.kernels.compiled import kernel

Ints = npt.NDArray[np.int64]

# What `line_counts` counts, in its columns' order.
VISIBLE, LETTERS, NUMBERS, CASED, UPPERS, BRACES, ENDS = range(7)
COLUMNS = 7
KEPT = -1  # a line that no rule cuts


def line_counts(cut: Pieces) -> Ints:
    """int64 (lines, COLUMNS): code points that aren't white space, letters with marks, numbers, letters with case,
    upper-case ones, "{", and 1 where the line ends a sentence; each as `scan` counts it for a text, but that where no
    mark ends sentences (Thai, Lao) every line does.
    """
    found: Ints = _counts(
        cut.data,
        unicode_table(),
        terminal_after(),
        space_ends(),
        cut.line_bounds,
        cut.line_start,
        cut.line_end,
        COLUMNS,
    )
    return found


@kernel
def _counts(data, table, terminal_after, space_ends, bounds, starts, ends, columns):  # type: ignore[no-untyped-def]
    out = np.zeros((len(starts), columns), np.int64)
    for d in range(len(bounds) - 1):
        letter = np.uint32(0)  # the last one before the mark, maybe of an earlier line
        for k in range(bounds[d], bounds[d + 1]):
            i = np.int64(starts[k])
            end = np.int64(ends[k])
            is_end = False
            visible = letters = numbers = cased = uppers = braces = 0
            while i < end:
                code = np.int64(data[i])
                if code >= 0x80:
                    b = np.int64(data[i + 1]) if i + 1 < end else 0
                    c = np.int64(data[i + 2]) if i + 2 < end else 0
                    code, step = wide(code, b, c, np.int64(data[i + 3]) if i + 3 < end else 0)
                    i += step - 1
                i += 1
                bits = table[code]
                kind = bits & KIND
                if kind == SPACE:
                    continue
                visible += 1
                if kind >= UPPER and kind <= NUMBER:
                    is_end = False
                    letters += kind <= MARK
                    numbers += kind == NUMBER
                    cased += kind <= LOWER
                    uppers += kind == UPPER
                    if kind <= LETTER:
                        letter = bits
                    continue
                braces += code == 123
                if bits & TERMINAL:
                    is_end = True
                elif bits & CLOSING == 0:
                    is_end = code < 128 and terminal_after[code, (letter >> SCRIPT_SHIFT) & 255] > 0
            out[k, VISIBLE] = visible
            out[k, LETTERS] = letters
            out[k, NUMBERS] = numbers
            out[k, CASED] = cased
            out[k, UPPERS] = uppers
            out[k, BRACES] = braces
            out[k, ENDS] = is_end or space_ends[(letter >> SCRIPT_SHIFT) & 255]
    return out


def line_words(cut: Pieces) -> tuple[npt.NDArray[np.float64], Ints]:
    """Of each line, its words, as fractions where no space parts them, and the code points of its longest word."""
    weights, longest = _words(cut.line_unit, cut.unit_weight, cut.unit_chars)
    return weights / WORD, longest


@kernel
def _words(line_unit, weights, chars):  # type: ignore[no-untyped-def]
    total = np.zeros(len(line_unit) - 1, np.int64)
    longest = np.zeros(len(line_unit) - 1, np.int64)
    for k in range(len(line_unit) - 1):
        for u in range(line_unit[k], line_unit[k + 1]):
            total[k] += weights[u]
            if weights[u] == WORD:
                longest[k] = max(longest[k], chars[u])
    return total, longest


def repeated_lines(cut: Pieces) -> npt.NDArray[np.bool_]:
    """Whether a line occurred earlier in its text."""
    found: npt.NDArray[np.bool_] = _repeated(cut.line_bounds, cut.line_hash)
    return found


@kernel
def _repeated(bounds, hashes):  # type: ignore[no-untyped-def]
    """An open-addressed table of the first line of each kind, anew for each text."""
    out = np.zeros(len(hashes), np.bool_)
    for d in range(len(bounds) - 1):
        size = 4
        while size < 2 * (bounds[d + 1] - bounds[d]):
            size *= 2
        first = np.full(size, -1, np.int64)
        mask = np.uint64(size - 1)
        for k in range(bounds[d], bounds[d + 1]):
            at = (hashes[k] ^ (hashes[k] >> np.uint64(32))) & mask
            while first[at] >= 0 and hashes[first[at]] != hashes[k]:
                at = (at + np.uint64(1)) & mask
            if first[at] < 0:
                first[at] = k
            else:
                out[k] = True
    return out


def spans(cut: Pieces, why: npt.NDArray[np.int16]) -> tuple[Any, Any, Any, Any]:
    """Where the lines lie that are cut: whole ones, with the white space around them and their line break.

    Neighbours with the same reason are one span.

    Args:
        why: Of each line, the number of its reason, or KEPT.

    Returns:
        int32 (n + 1), the bounds of each text's spans; then, of each span, int32 start and end, in bytes of the text,
        and int16, the number of the reason.
    """
    found: tuple[Any, Any, Any, Any] = _spans(
        cut.data, cut.offsets, cut.line_bounds, cut.line_start, cut.line_end, why, int((why != KEPT).sum())
    )
    return found


@kernel
def _spans(data, offsets, bounds, line_start, line_end, why, most):  # type: ignore[no-untyped-def]
    places = np.zeros(len(offsets), np.int32)
    starts, ends = np.empty(most, np.int32), np.empty(most, np.int32)
    reasons = np.empty(most, np.int16)
    s = 0
    for d in range(len(offsets) - 1):
        base = np.int64(offsets[d])
        last = np.int64(-1)  # where the text's last span ended
        for k in range(bounds[d], bounds[d + 1]):
            if why[k] == KEPT:
                continue
            floor = np.int64(line_end[k - 1]) if k > bounds[d] else base
            i = np.int64(line_start[k])
            while i > floor and not after_break(data, i, floor):
                i -= 1
            end = np.int64(offsets[d + 1])
            j = np.int64(line_end[k])
            floor = j
            while j < end:
                j += 1
                if after_break(data, j, floor):
                    j += data[j - 1] == 13 and j < end and data[j] == 10
                    break
            if i == last and reasons[s - 1] == why[k]:
                ends[s - 1] = j - base
            else:
                starts[s] = i - base
                ends[s] = j - base
                reasons[s] = why[k]
                s += 1
            last = j
        places[d + 1] = s
    return places, starts[:s], ends[:s], reasons[:s]


@kernel
def after_break(data, i, floor):  # type: ignore[no-untyped-def]
    """Whether a line break ends at byte `i`; all bytes from `floor` on are white space."""
    if i <= floor:
        return False
    a = data[i - 1]
    if (a >= 10 and a <= 13) or (a >= 28 and a <= 30):
        return True
    if a == 0x85:
        return i - 1 > floor and data[i - 2] == 0xC2
    return (a == 0xA8 or a == 0xA9) and i - 2 > floor and data[i - 2] == 0x80 and data[i - 3] == 0xE2
