"""Connected components of a graph that fits into memory: union-find."""

import numpy as np
import numpy.typing as npt

from glotmill.schemas.kernels.compiled import kernel

Nodes = npt.NDArray[np.int64]


def components(left: Nodes, right: Nodes) -> tuple[Nodes, Nodes]:
    """Of each node of some edges, in ascending order, the smallest node of its component.

    Union by the smaller root with path halving (Tarjan and van Leeuwen 1984).

    Args:
        left, right: (edges,), the two ends of each edge; any int64.

    Returns:
        (nodes,) the different nodes, sorted, and (nodes,) the smallest node that is connected with each.
    """
    nodes, places = np.unique(np.concatenate((left, right)), return_inverse=True)
    roots = _roots(places[: len(left)], places[len(left) :], len(nodes))
    return nodes, nodes[roots]


@kernel
def _find(parent, node):  # type: ignore[no-untyped-def]
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@kernel
def _roots(left, right, n):  # type: ignore[no-untyped-def]
    parent = np.arange(n)
    for e in range(len(left)):
        a, b = _find(parent, left[e]), _find(parent, right[e])
        if a < b:
            parent[b] = a
        else:
            parent[a] = b
    for node in range(n):
        parent[node] = _find(parent, node)
    return parent
