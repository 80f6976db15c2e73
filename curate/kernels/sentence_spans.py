"""Where sentences lie in a text, and the spans that leave some of them out."""

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.pieces import Pieces
from glotmill.curate.kernels.scan import cut_table, terminal_after
from glotmill.curate.kernels.unicode import CLOSING, KIND, SCRIPT_SHIFT, SPACE, TERMINAL, wide
from glotmill.schemas.kernels.compiled import kernel

Ints = npt.NDArray[np.int64]


def covered_sentences(cut: Pieces, document: Ints, start: Ints, end: Ints) -> npt.NDArray[np.bool_]:
    """Whether a sentence lies in a run of units, whole.

    Args:
        document, start, end: int64 (r,): runs, each with the text that it is in, its first unit and one past its last.
    """
    found: npt.NDArray[np.bool_] = _covered(cut.sentence_bounds, cut.sentence_unit, document, start, end)
    return found


def sentence_spans(cut: Pieces, is_cut: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], Ints, Ints, Ints]:
    """The lines that are cut whole, and the spans of the sentences that are cut out of other lines.

    A line goes when all its sentences do. One without a sentence (a row of asterisks) goes when the sentences before
    and after it do. Elsewhere a span begins at the sentence's first byte, what stands before its first word included
    (a quote, a bullet), and ends where the next one begins; the last of its line goes from the end of the sentence
    before it to the end of the line.

    Args:
        is_cut: bool (sentences,).

    Returns:
        bool (lines,); then of each span the text it is in, start and end in bytes of the text, int64, sorted.
    """
    found: tuple[npt.NDArray[np.bool_], Ints, Ints, Ints] = _spans(
        cut.data, cut.offsets, cut_table(), terminal_after(), cut.line_bounds, cut.line_start, cut.line_end,
        cut.line_unit, cut.sentence_bounds, cut.sentence_unit, cut.unit_start, cut.unit_end, is_cut,
    )  # fmt: skip
    return found


@kernel
def _covered(bounds, sentence_unit, document, start, end):  # type: ignore[no-untyped-def]
    out = np.zeros(len(sentence_unit) - 1, np.bool_)
    for r in range(len(document)):
        low, high = bounds[document[r]], bounds[document[r] + 1]
        last = high
        while low < high:  # the first sentence that begins in the run
            middle = (low + high) // 2
            if sentence_unit[middle] < start[r]:
                low = middle + 1
            else:
                high = middle
        while low < last and sentence_unit[low + 1] <= end[r]:
            out[low] = True
            low += 1
    return out


@kernel
def _spans(  # type: ignore[no-untyped-def]
    data,
    offsets,
    table,
    terminal_after,
    line_bounds,
    line_start,
    line_end,
    line_unit,
    bounds,
    sentence_unit,
    unit_start,
    unit_end,
    is_cut,
):
    whole = np.zeros(len(line_start), np.bool_)
    most = is_cut.sum()
    documents, starts, ends = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    found = 0
    for d in range(len(offsets) - 1):
        base = np.int64(offsets[d])
        s = np.int64(bounds[d])
        for k in range(line_bounds[d], line_bounds[d + 1]):
            first = s
            gone = 0
            while s < bounds[d + 1] and sentence_unit[s] < line_unit[k + 1]:
                gone += is_cut[s]
                s += 1
            if first == s:
                whole[k] = s > bounds[d] and s < bounds[d + 1] and is_cut[s - 1] and is_cut[s]
                continue
            if gone == s - first:
                whole[k] = True
                continue
            i = first
            while gone > 0 and i < s:
                if not is_cut[i]:
                    i += 1
                    continue
                j = i + 1
                while j < s and is_cut[j]:
                    j += 1
                gone -= j - i
                start, end = np.int64(line_start[k]), np.int64(line_end[k])
                if i > first:
                    u = sentence_unit[i]
                    before, start = _gap(data, table, terminal_after, unit_start[u - 1], unit_end[u - 1], unit_start[u])
                    if j == s:
                        start = before
                if j < s:
                    u = sentence_unit[j]
                    _, end = _gap(data, table, terminal_after, unit_start[u - 1], unit_end[u - 1], unit_start[u])
                documents[found], starts[found], ends[found] = d, start - base, end - base
                found += 1
                i = j
    return whole, documents[:found], starts[:found], ends[:found]


@kernel
def _gap(data, table, terminal_after, letter, start, end):  # type: ignore[no-untyped-def]
    """Where one sentence ends and where the next begins, in data[start:end] between the units of both.

    `letter` is the place of a letter of the unit before. The marks are those of pieces._ends.
    """
    script = np.int64(-1)
    ended = full_width = False
    space, after_space = np.int64(-1), np.int64(-1)  # the first white space
    i = np.int64(start)
    end = np.int64(end)
    while i < end:
        at = i
        code, step = _code(data, i, end)
        i += step
        bits = table[code]
        if bits & np.uint32(KIND) == SPACE:
            while i < end:
                code, step = _code(data, i, end)
                if table[code] & np.uint32(KIND) != SPACE:
                    break
                i += step
            if ended:
                return at, i
            if space < 0:
                space, after_space = at, i
            continue
        if bits & np.uint32(TERMINAL):
            ended = True
            full_width |= code >= 0x3000
            continue
        if script < 0 and code < 128:
            first, _ = _code(data, np.int64(letter), np.int64(start))
            script = np.int64((table[first] >> np.uint32(SCRIPT_SHIFT)) & np.uint32(255))
        if code < 128 and terminal_after[code, script]:
            ended = True
        elif bits & np.uint32(CLOSING) == 0:
            if full_width:
                return at, at
            ended = False
    if (ended and full_width) or space < 0:
        return end, end
    return space, after_space


@kernel
def _code(data, i, end):  # type: ignore[no-untyped-def]
    code = np.int64(data[i])
    if code < 0x80:
        return code, np.int64(1)
    b = np.int64(data[i + 1]) if i + 1 < end else np.int64(0)
    c = np.int64(data[i + 2]) if i + 2 < end else np.int64(0)
    d = np.int64(data[i + 3]) if i + 3 < end else np.int64(0)
    code, step = wide(code, b, c, d)
    return np.int64(code), np.int64(step)
