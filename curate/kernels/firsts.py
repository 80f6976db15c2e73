"""Equal 128-bit keys: which of them comes first, and where one stands among others. Time is linear in their number."""

from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.schemas.kernels.compiled import kernel

Hashes = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]


def firsts(high: Hashes, low: Hashes, rank: npt.NDArray[Any], place: npt.NDArray[Any]) -> Ints:
    """Of each of n keys the place, among the n, of the equal one with the smallest (rank, place).

    Args:
        high, low: uint64 (n,), the halves of the keys; random bits.
        rank, place: int64 (n,), no two of them equal for one key.
    """
    found: Ints = _firsts(high, low, rank.astype(np.int64), place.astype(np.int64))
    return found


def find(high: Hashes, low: Hashes, wanted_high: Hashes, wanted_low: Hashes) -> Ints:
    """Of each wanted key its place among n different ones; -1 for one that isn't among them."""
    found: Ints = _find(high, low, wanted_high, wanted_low)
    return found


@kernel
def _firsts(high, low, rank, place):  # type: ignore[no-untyped-def]
    n = len(high)
    size = 4
    while size < 2 * n:
        size *= 2
    mask = np.uint64(size - 1)
    best = np.full(size, -1, np.int64)
    slots = np.empty(n, np.int64)
    for i in range(n):
        at = high[i] & mask
        while best[at] >= 0 and (high[best[at]] != high[i] or low[best[at]] != low[i]):
            at = (at + np.uint64(1)) & mask
        slots[i] = at
        b = best[at]
        if b < 0 or rank[i] < rank[b] or (rank[i] == rank[b] and place[i] < place[b]):
            best[at] = i
    for i in range(n):
        slots[i] = best[slots[i]]
    return slots


@kernel
def _find(high, low, wanted_high, wanted_low):  # type: ignore[no-untyped-def]
    size = 4
    while size < 2 * len(high):
        size *= 2
    mask = np.uint64(size - 1)
    table = np.full(size, -1, np.int64)
    for i in range(len(high)):
        at = high[i] & mask
        while table[at] >= 0:
            at = (at + np.uint64(1)) & mask
        table[at] = i
    out = np.empty(len(wanted_high), np.int64)
    for i in range(len(wanted_high)):
        at = wanted_high[i] & mask
        while table[at] >= 0 and (high[table[at]] != wanted_high[i] or low[table[at]] != wanted_low[i]):
            at = (at + np.uint64(1)) & mask
        out[i] = table[at]
    return out
