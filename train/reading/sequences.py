"""What the two ways to cut a source into samples have in common."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from glotmill.train.reading.kernels.fill import COLUMNS
from glotmill.train.reading.shard import Shard
from glotmill.train.reading.source import Opened
from glotmill.train.reading.stored import Local, Remote

Ints = NDArray[np.int64]


class Cursor(NamedTuple):
    """Where a source is: everything before it in the order of its epoch has been taken.

    `unit` counts the permuted units of the epoch: blocks of tokens, or pools of documents. `part` is how much of the
    unit was taken: tokens of a block, or bins of a pool.
    """

    epoch: int = 0
    unit: int = 0
    part: int = 0


class Pieces(NamedTuple):
    """Of a batch: int64 [pieces, COLUMNS] (see kernels/fill.py), and the arrays that its addresses point into."""

    rows: Ints
    alive: list[Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """Of a source's current epoch.

    Args:
        epoch: From 0.
        seen: Tokens that came.
        unseen: Tokens that are still to come in this epoch.
        left_out: Tokens that no epoch gives: the last that fill no block.
    """

    epoch: int
    seen: int
    unseen: int
    left_out: int


class Sequences(Protocol):
    """A source cut into samples, in an order."""

    packed: bool

    def take(self, cursor: Cursor, samples: int, length: int) -> tuple[Ints, Cursor]:
        """The next samples, int64 [samples, 3]: epoch, unit and part of each; and the cursor behind them."""

    def aligned(self, cursor: Cursor, length: int, before: int) -> tuple[Cursor, int]:
        """The cursor from which samples of another length can be taken, and the tokens that this leaps over."""

    def ranges(self, refs: Ints, length: int) -> tuple[Ints, Ints, Ints, Ints]:
        """What samples are made of: sample's number, place in it, first and last (excluded) token of the source."""

    def unit(self, refs: Ints) -> "tuple[Ints, Ints] | None":
        """The range of tokens that will be wanted whole, of each sample: what a remote store is asked for at once."""

    def seen(self, cursor: Cursor, length: int) -> Seen: ...


def pieces(source: Opened, sequences: Sequences, refs: Ints, rows: Ints, length: int) -> Pieces:
    """Where the tokens of samples lie.

    Args:
        refs: int64 [n, 3].
        rows: int64 [n], the row of the batch that each goes to.
    """
    sample, at, start, stop = sequences.ranges(refs, length)
    located = source.located(start, stop)
    number, shard, first, count = located.T
    begin = np.cumsum(count) - count
    first_of = np.searchsorted(number, number)  # a range over several shards goes on where it ended in the one before
    out = np.zeros((len(located), COLUMNS), np.int64)
    out[:, 0] = rows[sample[number]]
    out[:, 1] = at[number] + begin - begin[first_of]
    out[:, 2] = count
    alive: list[Any] = []
    for s in np.unique(shard).tolist():
        one = source.shards[s]
        mine = np.flatnonzero(shard == s)
        if isinstance(one.store, Local):
            tokens, index, loss = one.addresses
            out[mine, 3] = tokens + first[mine] * one.itemsize
            out[mine, 4] = one.itemsize
            out[mine, 5] = first[mine] * one.itemsize
            out[mine, 6] = index
            out[mine, 7] = one.documents
            out[mine, 8] = loss + first[mine] if loss else 0
            continue
        units = sequences.unit(refs)
        asked = []
        for k in mine.tolist():
            unit = None if units is None else _within(one, int(source.starts[s]), units, int(sample[number[k]]))
            asked.append(partial(_fetched, one, int(first[k]), int(count[k]), unit, alive, sequences.packed))
        out[mine, 3:] = one.store.in_parallel(asked)
    return Pieces(out, alive)


def _within(shard: Shard, base: int, units: tuple[Ints, Ints], sample: int) -> tuple[int, int]:
    """The part of a sample's unit that lies in a shard whose first token is number `base` of the source."""
    start, stop = (min(max(int(edge[sample]) - base, 0), shard.tokens) for edge in units)
    return start, stop


def _fetched(
    shard: Shard, first: int, count: int, whole: tuple[int, int] | None, alive: list[Any], packed: bool
) -> tuple[int, int, int, int, int, int]:
    """A piece of a remote shard, in memory, with the begins of the documents within it."""
    assert isinstance(shard.store, Remote)
    shard.checked()
    size = shard.itemsize
    start, stop = first * size, (first + count) * size
    unit = None if whole is None else (whole[0] * size, whole[1] * size)
    tokens = np.ascontiguousarray(shard.store.read(shard.bin, start, stop, unit=unit))
    pointers = np.empty(0, np.int64) if packed else np.ascontiguousarray(shard.pointers_within(start, stop))
    alive += [tokens, pointers]
    loss = 0
    if shard.loss:
        learnt = np.ascontiguousarray(shard.store.read(shard.loss_bin, first, first + count, unit=whole))
        alive.append(learnt)
        loss = learnt.ctypes.data
    return tokens.ctypes.data, size, start, pointers.ctypes.data, len(pointers), loss
