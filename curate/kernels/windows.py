"""Short stretches of a text, spread evenly over it, for a model that need not read it all."""

from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.buffers import Bytes, Offsets, strings, utf8
from glotmill.curate.kernels.unicode import wide
from glotmill.schemas.kernels.compiled import kernel


def windows(texts: Any, *, count: int, size: int) -> tuple[Any, npt.NDArray[np.int64]]:
    """Up to `count` windows of about `size` UTF-8 bytes of each text.

    A text of at most `count * size` bytes is one window, whole. Windows begin and end between words where there is
    white space near, else between characters; control characters and broken UTF-8 become spaces, so that each window
    is one line.

    Returns:
        The windows of all texts, one string array; and n + 1 offsets into it.
    """
    data, offsets = utf8(texts)
    sizes = np.diff(offsets.astype(np.int64))
    whole = sizes <= count * size
    firsts = np.concatenate([[0], np.cumsum(np.where(whole, 1, count))])
    capacity = int(np.where(whole, sizes, count * (size + 2 * _REACH)).sum())
    out, bounds = _windows(data, offsets, firsts, count, size, capacity)
    return strings(out[: bounds[-1]], bounds), firsts


_REACH = 32  # bytes within which a cut looks for white space


@kernel
def _windows(data: Bytes, offsets: Offsets, firsts: npt.NDArray[np.int64], count: int, size: int, capacity: int):  # type: ignore[no-untyped-def]
    out = np.empty(capacity, np.uint8)
    bounds = np.zeros(firsts[-1] + 1, np.int32)
    written = 0
    for d in range(len(offsets) - 1):
        start, end = np.int64(offsets[d]), np.int64(offsets[d + 1])
        pieces = firsts[d + 1] - firsts[d]
        for w in range(pieces):
            low, high = start, end
            if pieces > 1 or end - start > count * size:
                slack = end - start - size
                low = start + (slack * w // (count - 1) if count > 1 else slack // 2)
                high = low + size
                low = _cut(data, start, end, low)
                high = _cut(data, start, end, high)
            written = _copy_line(data, low, high, out, written)
            bounds[firsts[d] + w + 1] = written
    return out, bounds


@kernel
def _cut(data, start, end, at):  # type: ignore[no-untyped-def]
    """The nearest place from `at` on that follows white space, else that begins a character."""
    if at <= start or at >= end:
        return at
    for i in range(at, min(at + _REACH, end)):
        if data[i - 1] <= 32:
            return i
    while at < end and data[at] & 0xC0 == 0x80:
        at += 1
    return at


@kernel
def _copy_line(data, low, high, out, written):  # type: ignore[no-untyped-def]
    i = low
    while i < high:
        a = np.int64(data[i])
        if a < 0x80:
            out[written] = a if a > 32 and a != 127 else 32
            written += 1
            i += 1
            continue
        b = np.int64(data[i + 1]) if i + 1 < high else 0
        c = np.int64(data[i + 2]) if i + 2 < high else 0
        code, step = wide(a, b, c, np.int64(data[i + 3]) if i + 3 < high else 0)
        if step == 1 or (code >= 0xD800 and code < 0xE000):
            step = 1
            out[written] = 32
        else:
            for k in range(step):
                out[written + k] = data[i + k]
        written += step
        i += step
    return written
