"""Web addresses in running text."""

from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.buffers import Bytes, Offsets, utf8
from glotmill.curate.kernels.compiled import kernel

_COLON, _SLASH, _DOT, _W = 58, 47, 46, 119


def url_chars(texts: Any) -> npt.NDArray[np.int64]:
    """int64 (n,): code points of web addresses: what stands between white space and holds "://" or begins with
    "www.".
    """
    found: npt.NDArray[np.int64] = _url_chars(*utf8(texts))
    return found


@kernel
def _url_chars(data: Bytes, offsets: Offsets) -> npt.NDArray[np.int64]:
    out = np.zeros(len(offsets) - 1, np.int64)
    for d in range(len(offsets) - 1):
        start, end = np.int64(offsets[d]), np.int64(offsets[d + 1])
        i = start
        while i < end:
            a = data[i]
            is_url = a == _COLON and i + 2 < end and data[i + 1] == _SLASH and data[i + 2] == _SLASH
            if (
                a == _DOT
                and i >= start + 3
                and data[i - 1] | 32 == _W
                and data[i - 2] | 32 == _W
                and data[i - 3] | 32 == _W
            ):
                is_url = i == start + 3 or data[i - 4] <= 40
            i += 1
            if not is_url:
                continue
            first = i - 1
            while first > start and data[first - 1] > 32:
                first -= 1
            while i < end and data[i] > 32:
                i += 1
            for k in range(first, i):
                out[d] += data[k] & 0xC0 != 0x80
    return out
