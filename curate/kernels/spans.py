"""Spans of texts that are left out: put in order, and put together with those that were left out before."""

from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.compiled import kernel

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
