"""A keyed permutation of 0..size-1 without a table: a Feistel network, walked until it lands inside."""

import numpy as np

from glotmill.schemas.kernels.compiled import kernel

ROUNDS = 8


@kernel
def _mixed(x, key):  # type: ignore[no-untyped-def]
    x = (x ^ key) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(29))


@kernel
def permute(positions, size, keys, out):  # type: ignore[no-untyped-def]
    """out[i] = the image of positions[i] (int64, in 0..size-1) under the permutation of `keys` (uint64 [ROUNDS]).

    The network permutes 2^(2h) numbers, the least even power of two that holds `size`, but 256 at least. A number
    outside 0..size-1 is sent through again: walking along its cycle comes back inside, and stays a bijection.
    """
    half = np.uint64(4)
    while half < np.uint64(31) and (np.uint64(1) << (half + half)) < np.uint64(size):
        half += np.uint64(1)
    mask = (np.uint64(1) << half) - np.uint64(1)
    for i in range(len(positions)):
        x = np.uint64(positions[i])
        while True:
            left, right = x >> half, x & mask
            for r in range(len(keys)):
                left, right = right, left ^ (_mixed(right, keys[r]) & mask)
            x = (left << half) | right
            if x < np.uint64(size):
                break
        out[i] = np.int64(x)
