"""From an Arrow column of strings to the bytes and offsets that kernels read."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from glotmill.schemas.errors import SchemaError

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int32]


def utf8(texts: Any, *, name: str = "text") -> tuple[Bytes, Offsets]:
    """The UTF-8 bytes of n strings and their n + 1 offsets into them, without a copy; right for slices.

    Raises:
        SchemaError: `texts` is no string array, or holds a null.
    """
    if texts.type != pa.string() or texts.null_count:
        raise SchemaError(
            f"column {name!r} must be string without nulls, found {texts.type} with {texts.null_count} nulls: "
            "cast it, and quarantine the rows without text first"
        )
    data, bounds = np.empty(0, np.uint8), np.zeros(1, np.int32)
    if len(texts):
        _, offsets, values = texts.buffers()
        bounds = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
        data = data if values is None else np.frombuffer(values, np.uint8)
    # Some buffers are read-only and some are not: a kernel would be compiled for each combination.
    data.flags.writeable = bounds.flags.writeable = False
    return data, bounds


def strings(data: Bytes, offsets: Offsets) -> Any:
    """The string array whose value i is `data[offsets[i]:offsets[i + 1]]`; `data` must be UTF-8 there."""
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
