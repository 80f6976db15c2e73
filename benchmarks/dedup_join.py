"""All pairs of similar documents of a corpus, found exactly and without MinHash: the truth that tools are judged by.

Prefix filtering (Bayardo, Ma and Srikant 2007, "Scaling up all pairs similarity search"): with its n shingles ordered
from rare to frequent, a document shares one of its first n - ceil(s n) + 1 with every document whose Jaccard similarity
to it is s or more. Pairs that do are counted out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from glotmill.curate.dedup.shingles import Shingling, shingles

Array = npt.NDArray[np.int64]
_ROWS = 1024  # documents whose shingles are made at once
_CHECKED = 4_000_000  # shingles that are looked up at once


@dataclass(frozen=True, slots=True)
class ShingleSets:
    """n sets of shingles. A shingle is known by its rank: 0 is the rarest of the corpus.

    Args:
        ranks: int64, each set's different shingles, ascending.
        bounds: int64 (n + 1).
    """

    ranks: Array
    bounds: Array

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def sizes(self) -> Array:
        return np.diff(self.bounds)

    def of(self, row: int) -> Array:
        return self.ranks[self.bounds[row] : self.bounds[row + 1]]

    def similarity(self, a: int, b: int) -> float:
        """Jaccard; of two empty sets 0: no two texts without words are alike."""
        one, other = self.of(a), self.of(b)
        common = len(np.intersect1d(one, other, assume_unique=True))
        return common / max(1, len(one) + len(other) - common)


def shingle_sets(texts: Sequence[str], how: Shingling = Shingling()) -> ShingleSets:  # noqa: B008 (frozen)
    """The shingles of texts, as the job's own kernels cut and hash them."""
    hashes, sizes = [], []
    for at in range(0, len(texts), _ROWS):
        found, bounds = shingles(pa.array(texts[at : at + _ROWS], pa.string()), how)
        hashes.append(found)
        sizes.append(np.diff(bounds))
    every, size = np.concatenate([*hashes, np.empty(0, np.uint64)]), np.concatenate([*sizes, np.empty(0, np.int64)])
    _, ids, counts = np.unique(every, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    keys = np.unique(np.repeat(np.arange(len(size)), size) * max(1, len(counts)) + rank[ids])
    row, ranks = np.divmod(keys, max(1, len(counts)))
    return ShingleSets(ranks, np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(size))))))


def similar_pairs(sets: ShingleSets, least: float) -> list[tuple[int, int, float]]:
    """All pairs (a, b, Jaccard) with a < b and a similarity of `least` or more, sorted. Empty sets are in none.

    Equal sets are compared with the others once, then written out.
    """
    groups = _equal_sets(sets)
    first = np.array([group[0] for group in groups], np.int64)
    found: list[tuple[int, int, float]] = []
    for group in groups:
        found += [(a, b, 1.0) for at, a in enumerate(group) for b in group[at + 1 :]]
    for one, other, similarity in _checked(sets, first, _candidates(sets, first, least), least):
        found += [(min(a, b), max(a, b), similarity) for a in groups[one] for b in groups[other]]
    return sorted(found)


def _equal_sets(sets: ShingleSets) -> list[list[int]]:
    groups: dict[bytes, list[int]] = {}
    for row in range(len(sets)):
        if sets.bounds[row] < sets.bounds[row + 1]:
            groups.setdefault(sets.of(row).tobytes(), []).append(row)
    return list(groups.values())


def _candidates(sets: ShingleSets, rows: Array, least: float) -> Array:
    """int64 (pairs, 2), places in `rows`: pairs that share a shingle of both prefixes and whose sizes allow `least`."""
    sizes = sets.sizes[rows]
    prefix = sizes - np.ceil(least * sizes - 1e-9).astype(np.int64) + 1
    owner = np.repeat(np.arange(len(rows)), prefix)
    inside = np.arange(len(owner)) - np.repeat(np.cumsum(prefix) - prefix, prefix)
    ranks = sets.ranks[sets.bounds[rows][owner] + inside]
    order = np.lexsort((owner, ranks))
    ranks, owner = ranks[order], owner[order]
    starts = np.flatnonzero(np.concatenate(([True], ranks[1:] != ranks[:-1])))
    ends = np.append(starts[1:], len(ranks))
    # the t-th next posting of the same shingle, for t = 1, 2, ...: as many rounds as the longest list has postings
    end = np.repeat(ends, ends - starts)
    place = np.arange(len(ranks))
    keys = np.empty(0, np.int64)
    step = 1
    pending: list[Array] = []
    while len(place):
        place = place[place + step < end[place]]
        a, b = owner[place], owner[place + step]
        small, large = np.minimum(sizes[a], sizes[b]), np.maximum(sizes[a], sizes[b])
        near = small >= least * large - 1e-9
        pending.append(np.unique(a[near] * len(rows) + b[near]))
        if sum(map(len, pending)) > 5_000_000 or step % 64 == 0:
            keys, pending = np.unique(np.concatenate([keys, *pending])), []
        step += 1
    keys = np.unique(np.concatenate([keys, *pending]))
    return np.stack(np.divmod(keys, max(1, len(rows))), axis=1)


def _checked(sets: ShingleSets, rows: Array, pairs: Array, least: float) -> Iterator[tuple[int, int, float]]:
    """Those of `pairs` (places in `rows`) that are as similar as `least`, with their similarity."""
    sizes = sets.sizes
    every = max(1, int(sets.ranks.max(initial=0)) + 1)
    keys = np.repeat(np.arange(len(sets)), sizes) * every + sets.ranks
    swap = sizes[rows[pairs[:, 0]]] > sizes[rows[pairs[:, 1]]]
    small, large = np.where(swap, pairs[:, 1], pairs[:, 0]), np.where(swap, pairs[:, 0], pairs[:, 1])
    ends = np.cumsum(sizes[rows[small]])
    at = 0
    while at < len(pairs):
        before = int(ends[at - 1]) if at else 0
        stop = max(at + 1, int(np.searchsorted(ends, before + _CHECKED)))
        a, b = rows[small[at:stop]], rows[large[at:stop]]
        length = sizes[a]
        inside = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        wanted = np.repeat(b * every, length) + sets.ranks[np.repeat(sets.bounds[a], length) + inside]
        hit = keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] == wanted
        common = np.add.reduceat(hit, np.cumsum(length) - length, dtype=np.int64)
        similarity = common / (sizes[a] + sizes[b] - common)
        for k in np.flatnonzero(similarity >= least):
            yield int(pairs[at + k, 0]), int(pairs[at + k, 1]), float(similarity[k])
        at = stop
