"""Runs of units that texts share: windows of so many words, and the rarest-looking run in each.

Winnowing (Schleimer, Wilkerson, Aiken 2003, "Winnowing: local algorithms for document fingerprinting") takes from every
window of consecutive k-grams the one with the least hash. A window here is the shortest run of units from a place on
that weighs `words` words, its k-grams the shortest ones that weigh half of it; which one is taken depends on what is in
the window alone. So two equal windows have one fingerprint, wherever they stand, and every run of at least so many
words that two texts share holds windows that are equal.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.line_keys import mixed
from glotmill.curate.kernels.pieces import Pieces
from glotmill.curate.kernels.scan import WORD
from glotmill.schemas.kernels.compiled import kernel

Hashes = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

_A, _B = np.uint64(0xD6E8FEB86659FD93), np.uint64(0x9FB21C651E98DF25)
_TURN = np.uint64(0x9E3779B97F4A7C15)
_NO_WINDOW = -1


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of n texts.

    Args:
        units: int64 (w,), the first unit of each window, ascending; a place among the units of all texts.
        ends: int64 (w,), one past its last unit.
        prints: uint64 (w,), its fingerprint: the least hash of its k-grams.
        places: int64 (w,), the first unit of the k-gram that has it, the last one of equal ones.
    """

    units: Ints
    ends: Ints
    prints: Hashes
    places: Ints

    def runs(self) -> tuple[Hashes, Ints]:
        """The fingerprint of each k-gram that was taken, and how many windows it stands for."""
        if not len(self.prints):
            return self.prints, np.zeros(0, np.int64)
        starts = np.concatenate(([0], np.flatnonzero(self.places[1:] != self.places[:-1]) + 1))
        return self.prints[starts], np.diff(np.append(starts, len(self.prints)))

    def among(self, prints: Hashes) -> "Windows":
        """Those with a fingerprint among `prints`, which are sorted."""
        mine, counts = self.runs()
        if not len(prints) or not len(mine):
            return self._take(slice(0, 0))
        at = np.searchsorted(prints, mine)
        at[at == len(prints)] = 0
        taken = np.repeat(prints[at] == mine, counts)
        return self._take(taken)

    def _take(self, taken: Any) -> "Windows":
        return Windows(self.units[taken], self.ends[taken], self.prints[taken], self.places[taken])


def windows(cut: Pieces, *, words: int) -> Windows:
    """All windows that weigh `words` words: one from each unit on, but where the text ends before.

    A letter of a script without spaces weighs a fraction of a word (Pieces.unit_weight). Time is linear.
    """
    most = words * WORD
    powers = _powers(most + 1)
    prints, places, ends = _windows(cut.unit_bounds, cut.unit_hash, cut.unit_weight, most, max(1, most // 2), powers[0])
    units = np.flatnonzero(ends != _NO_WINDOW)
    return Windows(units, ends[units], prints[units], places[units])


def window_ends(cut: Pieces, *, words: int) -> Ints:
    """int64 (units,): one past the last unit of the window that begins at each; -1 where the text ends before."""
    found: Ints = _ends(cut.unit_bounds, cut.unit_weight, words * WORD)
    return found


def window_keys(cut: Pieces, found: Windows) -> tuple[Hashes, Hashes]:
    """Two independent 64-bit hashes of each window's units."""
    longest = int((found.ends - found.units).max()) if len(found.units) else 0
    keys: tuple[Hashes, Hashes] = _keys(cut.unit_hash, found.units, found.ends, _powers(longest))
    return keys


def _powers(longest: int) -> Any:
    """uint64 (2, longest + 1): the powers of both bases, modulo 2^64."""
    powers = np.ones((2, longest + 1), np.uint64)
    with np.errstate(over="ignore"):
        powers[0, 1:] = np.multiply.accumulate(np.full(longest, _A, np.uint64))
        powers[1, 1:] = np.multiply.accumulate(np.full(longest, _B, np.uint64))
    return powers


@kernel
def _windows(bounds, hashes, weights, most, gram, powers):  # type: ignore[no-untyped-def]
    units = len(hashes)
    sums = np.empty(units + 1, np.uint64)  # of a run: sums[end] - sums[start] * powers[end - start]
    sums[0] = 0
    for u in range(units):
        sums[u + 1] = sums[u] * _A + mixed(hashes[u])
    prints, places = np.empty(units, np.uint64), np.empty(units, np.int64)
    ends = np.full(units, _NO_WINDOW, np.int64)
    queue, values = np.empty(units, np.int64), np.empty(units, np.uint64)  # k-grams that may yet be the least
    for d in range(len(bounds) - 1):
        last = np.int64(bounds[d + 1])
        end = gram_end = np.int64(bounds[d])
        weight = gram_weight = np.int64(0)
        j = end  # the next k-gram
        head = tail = 0
        for p in range(bounds[d], bounds[d + 1]):
            while end < last and weight < most:
                weight += weights[end]
                end += 1
            if weight < most:
                break
            while True:  # k-grams from j on that end within the window
                while gram_end < end and gram_weight < gram:
                    gram_weight += weights[gram_end]
                    gram_end += 1
                if gram_weight < gram:
                    break
                size = gram_end - j
                h = mixed(sums[gram_end] - sums[j] * powers[size])
                while tail > head and values[tail - 1] >= h:
                    tail -= 1
                queue[tail], values[tail] = j, h
                tail += 1
                gram_weight -= weights[j]
                j += 1
            while queue[head] < p:
                head += 1
            prints[p], places[p], ends[p] = values[head], queue[head], end
            weight -= weights[p]
    return prints, places, ends


@kernel
def _ends(bounds, weights, most):  # type: ignore[no-untyped-def]
    out = np.full(len(weights), _NO_WINDOW, np.int64)
    for d in range(len(bounds) - 1):
        end = np.int64(bounds[d])
        weight = np.int64(0)
        for p in range(bounds[d], bounds[d + 1]):
            while end < bounds[d + 1] and weight < most:
                weight += weights[end]
                end += 1
            if weight < most:
                break
            out[p] = end
            weight -= weights[p]
    return out


@kernel
def _keys(hashes, starts, ends, powers):  # type: ignore[no-untyped-def]
    units = len(hashes)
    a, b = np.empty(units + 1, np.uint64), np.empty(units + 1, np.uint64)
    a[0] = b[0] = 0
    for u in range(units):
        a[u + 1] = a[u] * _A + mixed(hashes[u] + _TURN)
        b[u + 1] = b[u] * _B + mixed(hashes[u] ^ _TURN)
    n = len(starts)
    high, low = np.empty(n, np.uint64), np.empty(n, np.uint64)
    for i in range(n):
        start, end = starts[i], ends[i]
        size = end - start
        high[i] = mixed(a[end] - a[start] * powers[0, size])
        low[i] = mixed(b[end] - b[start] * powers[1, size])
    return high, low
