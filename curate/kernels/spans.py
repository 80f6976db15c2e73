"""Spans of texts that are left out: put in order, and put together with those that were left out before."""

from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.lines import after_break
from glotmill.curate.kernels.pieces import Pieces, breaks
from glotmill.curate.kernels.unicode import KIND, SPACE, unicode_table, wide
from glotmill.schemas.kernels.compiled import kernel

Ints = npt.NDArray[np.int64]
Spans = tuple[
    Ints, Ints, Ints, Ints
]  # n + 1 bounds of the texts; of each span start, end (bytes), number of its reason


def sorted_spans(n: int, document: Any, start: Any, end: Any, reason: Any) -> Spans:
    """Disjoint spans of n texts by text and place: n + 1 bounds, starts, ends, reasons; neighbours with one reason are
    one.
    """
    order = np.lexsort((start, document))
    document, start, end, reason = (v[order].astype(np.int64) for v in (document, start, end, reason))
    joins = np.zeros(len(order), np.bool_)
    joins[1:] = (document[1:] == document[:-1]) & (start[1:] == end[:-1]) & (reason[1:] == reason[:-1])
    first = np.flatnonzero(~joins)
    last = np.append(first[1:], len(order))[: len(first)] - 1
    bounds = np.concatenate(([0], np.cumsum(np.bincount(document[first], minlength=n))))
    return bounds, start[first], end[last], reason[first]


def with_blank_lines(cut: Pieces, spans: Spans) -> Spans:
    """Spans of whole lines with the blank lines after them, where a blank line or nothing stands before them.

    So paragraphs that go leave one gap between their neighbours, and none of these grow together.

    Args:
        spans: Of the texts of `cut`, sorted and disjoint.
    """
    bounds, start, end, reason = spans
    ends = _with_blank_lines(cut.data, cut.offsets, unicode_table(), bounds, start, end)
    document = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return sorted_spans(len(bounds) - 1, document, start, ends, reason)


@kernel
def _with_blank_lines(data, offsets, table, bounds, starts, ends):  # type: ignore[no-untyped-def]
    out = ends.copy()
    for d in range(len(bounds) - 1):
        base, last = np.int64(offsets[d]), np.int64(offsets[d + 1])
        before = base  # where the span before ends
        is_line = is_blank = True  # whether that is of whole lines, and a blank line or nothing stands before it
        for s in range(bounds[d], bounds[d + 1]):
            start, end = base + starts[s], base + ends[s]
            if start > before or not is_line:
                i = start
                while i > before:
                    step = _space_before(data, table, i, before)
                    if step == 0:
                        break
                    i -= step
                found = breaks(data, i, start)
                is_blank = found > 1 or (i == before and is_line and (found > 0 or is_blank))
            at_start = start == base or after_break(data, start, base)
            is_line = at_start and (end == last or after_break(data, end, start))
            if is_line and is_blank and end < last:
                i = end
                while i < last:
                    step = _space_at(data, table, i, last)
                    if step == 0:
                        break
                    i += step
                    if after_break(data, i, end) and not (data[i - 1] == 13 and i < last and data[i] == 10):
                        end = i
            out[s] = end - base
            before = end
    return out


@kernel
def _space_at(data, table, i, end):  # type: ignore[no-untyped-def]
    """Bytes of the white space at `i`; 0 for anything else."""
    a = np.int64(data[i])
    step = np.int64(1)
    if a >= 0x80:
        b = np.int64(data[i + 1]) if i + 1 < end else np.int64(0)
        c = np.int64(data[i + 2]) if i + 2 < end else np.int64(0)
        a, step = wide(a, b, c, np.int64(0))
    return np.int64(step) if table[a] & np.uint32(KIND) == SPACE else np.int64(0)


@kernel
def _space_before(data, table, i, start):  # type: ignore[no-untyped-def]
    """Bytes of the white space that ends at `i`; 0 for anything else."""
    at = i - 1
    while at > start and data[at] & 0xC0 == 0x80 and at > i - 4:
        at -= 1
    return i - at if _space_at(data, table, at, i) == i - at else np.int64(0)


def after_cuts(cuts: Spans, spans: Spans) -> Spans:
    """Cuts of n texts and spans of what they leave, as spans of the texts: bounds, starts, ends, reasons.

    Sorted and disjoint, neighbours with one reason joined; within a span a cut keeps its own reason.

    Args:
        cuts: Bounds (n + 1), starts, ends and reasons in places of the texts.
        spans: The same, in places of the texts without the cuts.
    """
    found: Spans = _after_cuts(*cuts, *spans)
    return found


@kernel
def _after_cuts(bounds, starts, ends, reasons, span_bounds, span_starts, span_ends, span_reasons):  # type: ignore[no-untyped-def]
    most = len(span_starts) + 2 * len(starts)
    out = np.empty((3, most), np.int64)
    places = np.zeros(len(bounds), np.int64)
    n = 0
    for d in range(len(bounds) - 1):
        first = n
        c = bounds[d]
        gone = np.int64(0)  # bytes cut out so far
        for s in range(span_bounds[d], span_bounds[d + 1]):
            at = np.int64(span_starts[s])
            while c < bounds[d + 1] and starts[c] - gone < span_ends[s]:
                until = starts[c] - gone
                if until > at:
                    n = _add(out, first, n, at + gone, until + gone, span_reasons[s])
                    at = until
                n = _add(out, first, n, starts[c], ends[c], reasons[c])
                gone += ends[c] - starts[c]
                c += 1
            n = _add(out, first, n, at + gone, span_ends[s] + gone, span_reasons[s])
        while c < bounds[d + 1]:
            n = _add(out, first, n, starts[c], ends[c], reasons[c])
            c += 1
        places[d + 1] = n
    return places, out[0, :n], out[1, :n], out[2, :n]


@kernel
def _add(out, first, n, start, end, reason):  # type: ignore[no-untyped-def]
    if n > first and out[1, n - 1] == start and out[2, n - 1] == reason:
        out[1, n - 1] = end
        return n
    out[0, n], out[1, n], out[2, n] = start, end, reason
    return n + 1
