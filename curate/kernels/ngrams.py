"""Runs of units that repeat within a text, and how much of it they cover."""

from functools import cache

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.pieces import Pieces
from glotmill.curate.kernels.scan import WORD
from glotmill.schemas.kernels.compiled import kernel

Counts = npt.NDArray[np.int64]

LONGEST = 10  # words of the longest run that is looked at
# What `repeats` counts, in its columns' order; then covered characters of the most frequent run of 2, 3 and 4 words,
# and of all repeated runs of 5 to 10.
UNITS, UNIT_CHARS, DISTINCT, SURPRISE, COVERED = range(5)
_COLUMNS = COVERED + LONGEST - 1
MILLIBITS = 1000
_BASE = np.uint64(0xD6E8FEB86659FD93)


def repeats(pieces: Pieces) -> Counts:
    """int64 (n, 13): units, their characters, distinct units, thousandths of a bit in all units under the text's own
    distribution, then the characters that repeated runs of 2 to 10 words cover.

    A run of k words begins at each unit and ends with the unit at which the weights of its units reach k words: k words
    where spaces part them, and about as much text in scripts without spaces. It goes over line ends. A character that
    several occurrences cover counts once. Of runs of 2, 3 and 4 words the most frequent one counts, if it occurs twice
    or more, and of equally frequent ones the one that covers most; of longer runs, all that occur twice or more.
    """
    found: Counts = _repeats(pieces.unit_bounds, pieces.unit_hash, pieces.unit_chars, pieces.unit_weight, _logs())
    return found


@cache
def _logs() -> npt.NDArray[np.float64]:
    """log2 of 1 to 4095; of 0, 0."""
    return np.log2(np.maximum(np.arange(4096), 1))


@kernel
def _repeats(bounds, hashes, chars, weights, logs):  # type: ignore[no-untyped-def]
    n = len(bounds) - 1
    out = np.zeros((n, _COLUMNS), np.int64)
    most = np.int64(1)
    for d in range(n):
        most = max(most, bounds[d + 1] - bounds[d])
    size = np.int64(4)
    while size < 2 * most:
        size *= 2
    keys = np.empty(size, np.uint64)
    counts = np.zeros(size, np.int32)
    last = np.empty(size, np.int32)
    cover = np.empty(size, np.int64)
    sums = np.empty(most + 1, np.uint64)  # sums[i] is the hash of units 0 to i
    powers = np.empty(most + 1, np.uint64)
    before = np.empty(most + 1, np.int64)  # characters of the units before i
    slots = np.empty(most + 1, np.int32)
    places = np.empty(most + 1, np.int32)  # where a run begins that is still worth looking at
    run_ends = np.empty(most + 1, np.int32)
    run_weights = np.empty(most + 1, np.int32)
    powers[0] = np.uint64(1)
    for i in range(1, most + 1):
        powers[i] = powers[i - 1] * _BASE
    for d in range(n):
        first = bounds[d]
        units = bounds[d + 1] - first
        if units == 0:
            continue
        size = np.int64(4)
        while size < 2 * units:
            size *= 2
        mask = np.uint64(size - 1)
        sums[0] = np.uint64(0)
        before[0] = 0
        alive = np.int64(units)
        for i in range(units):
            sums[i + 1] = sums[i] * _BASE + hashes[first + i]
            before[i + 1] = before[i] + chars[first + i]
            places[i] = i
            run_ends[i] = i + 1
            run_weights[i] = weights[first + i]
        total = before[units]
        out[d, UNITS] = units
        out[d, UNIT_CHARS] = total
        for words in range(1, LONGEST + 1):
            counts[:size] = 0
            wanted = words * WORD
            kept = np.int64(0)
            distinct = np.int64(0)
            best = np.int32(1)
            for p in range(alive):
                i = np.int64(places[p])
                e = np.int64(run_ends[p])
                w = np.int64(run_weights[p])
                if words > 1:
                    while w < wanted and e < units:
                        w += weights[first + e]
                        e += 1
                    if w < wanted:
                        break  # runs that begin later are cut off, too
                h = sums[e] - sums[i] * powers[e - i]
                h ^= h >> np.uint64(32)
                at = np.int64((h * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & mask)
                while counts[at] > 0 and keys[at] != h:
                    at = (at + 1) & np.int64(mask)
                if counts[at] == 0:
                    keys[at] = h
                    distinct += 1
                    cover[at] = 0
                    last[at] = 0
                counts[at] += 1
                best = max(best, counts[at])
                covered_from = max(np.int64(last[at]), i)
                cover[at] += before[e] - before[covered_from]
                last[at] = e
                slots[kept] = at
                places[kept] = i
                run_ends[kept] = e
                run_weights[kept] = w
                kept += 1
            if words == 1:
                out[d, DISTINCT] = distinct
                surprise = 0.0
                for p in range(kept):
                    count = counts[slots[p]]
                    surprise += logs[count] if count < 4096 else np.log2(np.float64(count))
                out[d, SURPRISE] = np.int64((units * np.log2(np.float64(units)) - surprise) * MILLIBITS)
            alive = np.int64(0)
            reached = np.int64(0)
            covered = np.int64(0)
            top = np.int64(0)
            for p in range(kept):
                at = np.int64(slots[p])
                if counts[at] < 2:
                    continue
                i = np.int64(places[p])
                e = np.int64(run_ends[p])
                if counts[at] == best:
                    top = max(top, cover[at])
                covered += before[e] - before[max(i, min(reached, e))]
                reached = max(reached, e)
                places[alive] = i
                run_ends[alive] = e
                run_weights[alive] = run_weights[p]
                alive += 1
            if words > 1:
                out[d, COVERED + words - 2] = top if words <= 4 else covered
            if alive == 0:
                break
    return out


# What `paragraph_repeats` counts.
PARAGRAPHS, REPEATED, CHARS, REPEATED_CHARS = range(4)


def paragraph_repeats(pieces: Pieces) -> Counts:
    """int64 (n, 4): paragraphs, those that occurred earlier in the text, characters of all, and of those that did."""
    found: Counts = _paragraph_repeats(
        pieces.paragraph_bounds, pieces.paragraph_line, pieces.line_hash, pieces.line_chars
    )
    return found


@kernel
def _paragraph_repeats(bounds, lines, hashes, chars):  # type: ignore[no-untyped-def]
    out = np.zeros((len(bounds) - 1, 4), np.int64)
    most = np.int64(1)
    for d in range(len(bounds) - 1):
        most = max(most, bounds[d + 1] - bounds[d])
    size = np.int64(4)
    while size < 2 * most:
        size *= 2
    keys = np.zeros(size, np.uint64)
    for d in range(len(bounds) - 1):
        size = np.int64(4)
        while size < 2 * (bounds[d + 1] - bounds[d]):
            size *= 2
        keys[:size] = np.uint64(0)
        for p in range(bounds[d], bounds[d + 1]):
            h = np.uint64(lines[p + 1] - lines[p])
            length = np.int64(0)
            for k in range(lines[p], lines[p + 1]):
                h = h * _BASE + hashes[k]
                length += chars[k]
            h |= np.uint64(1)  # 0 is an empty slot
            at = np.int64(h >> np.uint64(32)) & (size - 1)
            while keys[at] != 0 and keys[at] != h:
                at = (at + 1) & (size - 1)
            out[d, PARAGRAPHS] += 1
            out[d, CHARS] += length
            if keys[at] == h:
                out[d, REPEATED] += 1
                out[d, REPEATED_CHARS] += length
            keys[at] = h
    return out
