"""The order of an epoch: a permutation by key, of any size, in no memory."""

from collections.abc import Sequence

import numpy as np
import xxhash
from numpy.typing import NDArray

from glotmill.train.reading.kernels.permutation import ROUNDS, permute


class Permutation:
    """A bijection of 0..size-1.

    Args:
        size: At most 2^62.
        key: Whatever the order depends on: seed, source, epoch.

    >>> sorted(Permutation(5, ["any", 1])(range(5)).tolist())
    [0, 1, 2, 3, 4]
    """

    def __init__(self, size: int, key: Sequence[str | int]) -> None:
        self.size = size
        name = "\0".join(map(str, key)).encode()
        self._keys = np.array([xxhash.xxh3_64_intdigest(name, seed=r) for r in range(ROUNDS)], np.uint64)

    def __call__(self, positions: "Sequence[int] | NDArray[np.int64]") -> NDArray[np.int64]:
        """int64 [n] in 0..size-1 -> int64 [n] in 0..size-1."""
        at = np.ascontiguousarray(positions, np.int64)
        out = np.empty_like(at)
        permute(at, self.size, self._keys, out)
        return out
