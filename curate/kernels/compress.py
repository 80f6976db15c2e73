"""How far a text shrinks when what it repeats is written once: greedy matching, as LZ4 does it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.buffers import utf8
from glotmill.schemas.kernels.compiled import kernel

_SLOTS = 1 << 12
_LEAST = 5  # bytes of the shortest match: three bytes of one letter of most scripts wouldn't tell repetition
_MATCH_BYTES = 3  # what a match costs: two of distance, one of length
_PATIENCE = 4  # after each 2^4 misses in a row, steps get one byte longer: what doesn't repeat is left behind quickly
_PRIME = np.uint64(889523592379)


def compressed_bytes(texts: Any) -> npt.NDArray[np.int64]:
    """int64 (n,): bytes left of each text: literals, and three bytes for each match with earlier text.

    A match is found through the last place whose five bytes had the same hash, and is as long as it goes: the scheme of
    LZ4's fast mode, without a window.
    """
    found: npt.NDArray[np.int64] = _compressed(*utf8(texts))
    return found


@kernel
def _compressed(data, offsets):  # type: ignore[no-untyped-def]
    out = np.zeros(len(offsets) - 1, np.int64)
    places = np.full(_SLOTS, -1, np.int64)  # a place before the text's start is another text's
    for d in range(len(offsets) - 1):
        start, end = np.int64(offsets[d]), np.int64(offsets[d + 1])
        i = start
        left = np.int64(0)
        misses = np.int64(0)
        while i + _LEAST <= end:
            word = (
                np.uint64(data[i])
                | np.uint64(data[i + 1]) << np.uint64(8)
                | np.uint64(data[i + 2]) << np.uint64(16)
                | np.uint64(data[i + 3]) << np.uint64(24)
                | np.uint64(data[i + 4]) << np.uint64(32)
            )
            at = np.int64((word * _PRIME >> np.uint64(28)) & np.uint64(_SLOTS - 1))
            j = places[at]
            places[at] = i
            length = np.int64(0)
            if j >= start:
                while i + length < end and data[j + length] == data[i + length]:
                    length += 1
            if length >= _LEAST:
                left += _MATCH_BYTES
                i += length
                misses = 0
            else:
                step = 1 + (misses >> _PATIENCE)
                misses += 1
                left += min(step, end - i)
                i = min(i + step, end)
        out[d] = left + end - i
    return out
