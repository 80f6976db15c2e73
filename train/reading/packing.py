"""Best-fit packing: documents stay whole unless they are longer than a sample.

Pools of consecutive documents are packed one by one, so that memory is that of a pool. A document belongs to the pool
of `pool_tokens` in which it begins. One that is longer than L gives pieces of L tokens, the last one shorter; where
another piece follows, its first token is the label of the last, so no label inside a document is lost.
Pools come in a permuted order, and the bins of a pool in a permuted order.
"""

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glotmill.train.reading.kernels.best_fit import pack
from glotmill.train.reading.order import Permutation
from glotmill.train.reading.sequences import Cursor, Ints, Seen
from glotmill.train.reading.source import Opened

_KEPT = 4  # pools; a batch may reach from one into the next


@dataclass(frozen=True, slots=True)
class Packed:
    """Bins of a pool.

    Args:
        firsts: int64 [bins + 1], the first piece of each bin.
        start, count: int64 [pieces], first token of each piece in the source's line, and its tokens.
        at: int64 [pieces], tokens before it in its bin.
        goes_on: bool [pieces], another piece of the same document follows.
    """

    firsts: Ints
    start: Ints
    count: Ints
    at: Ints
    goes_on: NDArray[np.bool_]

    @property
    def bins(self) -> int:
        return len(self.firsts) - 1

    @property
    def tokens(self) -> int:
        return int(self.count.sum())


class BestFit:
    """A source's documents, packed.

    Args:
        pool: Tokens of a pool.
    """

    packed = True

    def __init__(self, source: Opened, pool: int, seed: int) -> None:
        self.source, self.pool, self.seed = source, pool, seed
        self.pools = -(-source.tokens // pool)
        self._kept: OrderedDict[tuple[int, int], Packed] = OrderedDict()

    def take(self, cursor: Cursor, samples: int, length: int) -> tuple[Ints, Cursor]:
        parts, (epoch, unit, part) = [np.empty((0, 3), np.int64)], cursor
        while samples:
            bins = self._bins_of(epoch, unit, length)
            some = min(samples, bins - part)
            if some > 0:
                numbers = np.arange(part, part + some, dtype=np.int64)
                parts.append(np.column_stack((np.full(some, epoch), np.full(some, unit), numbers)))
                samples -= some
                part += some
            if part >= bins:
                unit, part = unit + 1, 0
                if unit == self.pools:
                    epoch, unit = epoch + 1, 0
        return np.concatenate(parts), Cursor(epoch, unit, part)

    def aligned(self, cursor: Cursor, length: int, before: int) -> tuple[Cursor, int]:
        if not cursor.part:
            return cursor, 0
        place = int(self._order(cursor.epoch)([cursor.unit])[0])
        packed = self._pools(place, before)
        order = self._bins(cursor.epoch, cursor.unit, packed.bins)
        tokens = np.add.reduceat(packed.count, packed.firsts[:-1])
        left = int(tokens[order(np.arange(cursor.part, packed.bins))].sum())
        if cursor.unit + 1 == self.pools:
            return Cursor(cursor.epoch + 1), left
        return Cursor(cursor.epoch, cursor.unit + 1), left

    def ranges(self, refs: Ints, length: int) -> tuple[Ints, Ints, Ints, Ints]:
        sample, at, start, stop = [], [], [], []
        for n, (epoch, unit, part) in enumerate(refs.tolist()):
            packed = self._pools(int(self._order(epoch)([unit])[0]), length)
            b = int(self._bins(epoch, unit, packed.bins)([part])[0])
            mine = slice(packed.firsts[b], packed.firsts[b + 1])
            sample.append(np.full(mine.stop - mine.start, n, np.int64))
            at.append(packed.at[mine])
            start.append(packed.start[mine])
            stop.append(packed.start[mine] + packed.count[mine] + packed.goes_on[mine])
        return np.concatenate(sample), np.concatenate(at), np.concatenate(start), np.concatenate(stop)

    def unit(self, refs: Ints) -> tuple[Ints, Ints] | None:
        return None

    def seen(self, cursor: Cursor, length: int) -> Seen:
        """Whole pools by what they hold; their documents begin in them, but may end in the next."""
        places = self._order(cursor.epoch)(np.arange(cursor.unit))
        seen = sum(int(self._bounds(p + 1) - self._bounds(p)) for p in places.tolist())
        if cursor.part:
            packed = self._pools(int(self._order(cursor.epoch)([cursor.unit])[0]), length)
            order = self._bins(cursor.epoch, cursor.unit, packed.bins)
            tokens = np.add.reduceat(packed.count, packed.firsts[:-1])
            seen += int(tokens[order(np.arange(cursor.part))].sum())
        return Seen(cursor.epoch, seen, self.source.tokens - seen, 0)

    def fill_rate(self, pools: int, length: int) -> float:
        """Share of the samples' places that hold a token, in the first pools of the line."""
        some = [self._pools(p, length) for p in range(min(pools, self.pools))]
        return sum(p.tokens for p in some) / max(1, length * sum(p.bins for p in some))

    def _bins_of(self, epoch: int, unit: int, length: int) -> int:
        return self._pools(int(self._order(epoch)([unit])[0]), length).bins

    def _pools(self, pool: int, length: int) -> Packed:
        """A pool's bins; the last few are kept."""
        key = (pool, length)
        if key not in self._kept:
            self._kept[key] = self._pack(pool, length)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]

    def _order(self, epoch: int) -> Permutation:
        return Permutation(self.pools, [self.seed, self.source.name, epoch])

    def _bins(self, epoch: int, unit: int, bins: int) -> Permutation:
        return Permutation(bins, [self.seed, self.source.name, epoch, unit])

    def _bounds(self, pool: int) -> int:
        """The first token of the first document that begins in or after a pool."""
        token = min(pool * self.pool, self.source.tokens)
        at = int(np.searchsorted(self.source.starts, token, "right")) - 1
        if at == len(self.source.shards):
            return self.source.tokens
        shard = self.source.shards[at]
        first = shard.first_document(token - int(self.source.starts[at]))
        if first == shard.documents:
            return int(self.source.starts[at + 1])
        return int(self.source.starts[at]) + int(shard.pointers(first, first + 1)[0]) // shard.itemsize

    def _pack(self, pool: int, length: int) -> Packed:
        start, count = self._documents(pool)
        pieces = -(-count // length)
        document = np.repeat(np.arange(len(count)), pieces)
        number = np.arange(len(document)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        begin = start[document] + number * length
        tokens = np.minimum(count[document] - number * length, length)
        goes_on = number + 1 < pieces[document]
        falling = np.argsort(-tokens, kind="stable")
        bins, at = np.empty(len(tokens), np.int64), np.empty(len(tokens), np.int64)
        made = int(pack(tokens[falling], length, bins, at))
        order = np.argsort(bins, kind="stable")
        firsts = np.searchsorted(bins[order], np.arange(made + 1))
        chosen = falling[order]
        return Packed(firsts, begin[chosen], tokens[chosen], at[order], goes_on[chosen])

    def _documents(self, pool: int) -> tuple[Ints, Ints]:
        """First token and tokens of the documents that begin in a pool; empty ones are left out."""
        begin, end = pool * self.pool, min((pool + 1) * self.pool, self.source.tokens)
        starts, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for _, s, first, tokens in self.source.located(np.array([begin]), np.array([end])).tolist():
            shard = self.source.shards[s]
            low, high = shard.first_document(first), shard.first_document(first + tokens)
            starts.append(int(self.source.starts[s]) + shard.pointers(low, high) // shard.itemsize)
            counts.append(shard.lengths(low, high))
        start, count = np.concatenate(starts), np.concatenate(counts)
        return start[count > 0], count[count > 0]
