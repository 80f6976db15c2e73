"""Best-fit-decreasing bin packing in O(n log L)."""

import numpy as np

from glotmill.schemas.kernels.compiled import kernel


@kernel
def pack(lengths, capacity, bins, before):  # type: ignore[no-untyped-def]
    """Put each piece into the fullest bin that has room for it; returns the number of bins.

    Source: best-fit-decreasing as in "Fewer Truncations Improve Language Modeling" (Ding et al. 2024), with a tree
    over free capacities.

    Args:
        lengths: int64 [n], falling, each in 1..capacity.
        bins: int64 [n], filled: the bin of each piece.
        before: int64 [n], filled: tokens that stand before it in its bin.
    """
    leaves = 1
    while leaves < capacity + 1:
        leaves *= 2
    some = np.zeros(2 * leaves, np.uint8)  # a node is 1 where a bin has one of its free capacities
    head = np.full(capacity + 1, -1, np.int64)  # last bin put on the pile of each free capacity
    below = np.empty(len(lengths), np.int64)  # of each bin, the next on its pile
    made = 0
    for i in range(len(lengths)):
        need = lengths[i]
        node = leaves + need  # the least free capacity >= need: go up until a right neighbour has one, then down
        if not some[node]:
            while node > 1 and not (node % 2 == 0 and some[node + 1]):
                node //= 2
            if node > 1:
                node += 1
                while node < leaves:
                    node = 2 * node if some[2 * node] else 2 * node + 1
        if node > 1:
            free = node - leaves
            bin = head[free]
            head[free] = below[bin]
            if head[free] < 0:
                some[node] = 0
                node //= 2
                while node >= 1:
                    some[node] = some[2 * node] | some[2 * node + 1]
                    node //= 2
        else:
            free, bin = capacity, made
            made += 1
        bins[i] = bin
        before[i] = capacity - free
        left = free - need
        if left > 0:
            below[bin] = head[left]
            head[left] = bin
            node = leaves + left
            while node >= 1 and not some[node]:
                some[node] = 1
                node //= 2
    return made
