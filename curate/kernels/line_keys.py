"""Names for lines that no two different ones share."""

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.pieces import Pieces
from glotmill.curate.kernels.unicode import KIND, SPACE, unicode_table, wide
from glotmill.schemas.kernels.compiled import kernel

Hashes = npt.NDArray[np.uint64]

_A, _B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_C, _D = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)


def line_keys(cut: Pieces, lines: npt.NDArray[np.int64]) -> tuple[Hashes, Hashes]:
    """Two independent 64-bit hashes of each line's bytes, its length mixed in.

    Capitals count, and so do composed and decomposed letters; a run of white space counts as one space.

    Args:
        lines: int64 (n,), places among the lines of `cut`.

    Returns:
        uint64 (n,), twice. Of a trillion different lines two share both with a probability below one in 10^14.
    """
    found: tuple[Hashes, Hashes] = _keys(cut.data, cut.line_start, cut.line_end, lines, unicode_table())
    return found


@kernel
def mixed(h):  # type: ignore[no-untyped-def]
    """Every bit of the number depends on all of them (the finaliser of MurmurHash3)."""
    h = (h ^ (h >> np.uint64(33))) * _C
    h = (h ^ (h >> np.uint64(33))) * _D
    return h ^ (h >> np.uint64(33))


@kernel
def _keys(data, starts, ends, lines, table):  # type: ignore[no-untyped-def]
    n = len(lines)
    high, low = np.empty(n, np.uint64), np.empty(n, np.uint64)
    for k in range(n):
        i, end = np.int64(starts[lines[k]]), np.int64(ends[lines[k]])
        x, y = _A, _B
        size = np.uint64(0)
        gap = False
        while i < end:
            a = np.int64(data[i])
            step = 1
            if a < 0x80:
                space = table[a] & KIND == SPACE
            elif a == 0xC2 or a == 0xE0 or a == 0xE1 or a == 0xE2 or a == 0xE3:  # no other begins a white space
                b = np.int64(data[i + 1]) if i + 1 < end else 0
                c = np.int64(data[i + 2]) if i + 2 < end else 0
                code, step = wide(a, b, c, 0)
                space = table[code] & KIND == SPACE
                step = step if space else 1
            else:
                space = False
            i += step
            if space:
                gap = True
                continue
            if gap:
                x = (x ^ np.uint64(32)) * _A
                y = (y + np.uint64(33)) * _B
                x ^= x >> np.uint64(32)
                y ^= y >> np.uint64(29)
                size += np.uint64(1)
                gap = False
            x = (x ^ np.uint64(a)) * _A
            y = (y + np.uint64(a + 1)) * _B
            x ^= x >> np.uint64(32)
            y ^= y >> np.uint64(29)
            size += np.uint64(1)
        high[k], low[k] = mixed(x ^ size), mixed(y + size)
    return high, low
