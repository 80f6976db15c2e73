"""Concatenate and cut: a source's documents in one line, cut into sequences, blocks of them in a permuted order.

Sequence k of length L covers the tokens kL to kL + L, both included: L inputs and L labels, with one token of overlap,
so that every token but the first is a label exactly once in an epoch. What is permuted are blocks of `block_tokens`, a
multiple of L: L may change between phases without a token seen twice.
"""

import numpy as np

from glotmill.schemas.errors import ShardError
from glotmill.train.reading.order import Permutation
from glotmill.train.reading.sequences import Cursor, Ints, Seen


class Concatenated:
    """A source's line of tokens in blocks.

    Args:
        name: Of the source; part of the order's key.
        tokens: Of the source.
        block: Tokens of a block.
    """

    packed = False

    def __init__(self, name: str, tokens: int, block: int, seed: int) -> None:
        self.name, self.tokens, self.block, self.seed = name, tokens, block, seed
        self.blocks = (tokens - 1) // block
        if not self.blocks:
            raise ShardError(
                f"source {name} holds {tokens} tokens, no block of {block} and one more; take shorter sequences or "
                "blocks, or leave the source out"
            )

    def take(self, cursor: Cursor, samples: int, length: int) -> tuple[Ints, Cursor]:
        begin = cursor.unit * self.block + cursor.part
        at = begin + np.arange(samples + 1, dtype=np.int64) * length
        epoch, rest = np.divmod(at, self.blocks * self.block)
        unit, part = np.divmod(rest, self.block)
        refs = np.column_stack((epoch + cursor.epoch, unit, part))
        return refs[:-1], Cursor(*refs[-1].tolist())

    def aligned(self, cursor: Cursor, length: int, before: int) -> tuple[Cursor, int]:
        leap = -cursor.part % length
        _, moved = self.take(cursor._replace(part=0), (cursor.part + leap) // length, length)
        return moved, leap

    def ranges(self, refs: Ints, length: int) -> tuple[Ints, Ints, Ints, Ints]:
        start = self.placed(refs) + refs[:, 2]
        sample = np.arange(len(refs))
        return sample, np.zeros(len(refs), np.int64), start, start + length + 1

    def unit(self, refs: Ints) -> tuple[Ints, Ints] | None:
        start = self.placed(refs)
        return start, start + self.block + 1

    def placed(self, refs: Ints) -> Ints:
        """First token of each sample's block."""
        out = np.empty(len(refs), np.int64)
        for epoch in np.unique(refs[:, 0]).tolist():
            mine = refs[:, 0] == epoch
            out[mine] = Permutation(self.blocks, [self.seed, self.name, epoch])(refs[mine, 1]) * self.block
        return out

    def seen(self, cursor: Cursor, length: int) -> Seen:
        whole, seen = self.blocks * self.block, cursor.unit * self.block + cursor.part
        return Seen(cursor.epoch, seen, whole - seen, self.tokens - 1 - whole)
