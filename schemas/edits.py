"""Spans of texts that are left out, with a reason each: how a text is changed without losing what it was.

documents/ keeps every text as it was read. A table beside it (signals/, kept/) holds the edits as EDITS, and whoever
needs the text as it goes on applies them.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from glotmill.schemas.document import EDITS
from glotmill.schemas.errors import SchemaError

Offsets = npt.NDArray[np.int64]


def apply_edits(texts: pa.StringArray, edits: pa.ListArray) -> pa.StringArray:
    """n texts without the spans that `edits` leaves out; `texts` itself where there are none.

    Args:
        texts: n strings, no nulls.
        edits: n lists (EDITS): byte spans into the text, sorted and disjoint.

    Raises:
        SchemaError: another type, another length, or spans that no such text has.
    """
    if not len(_spans(edits)):
        _check(texts, edits)
        return texts
    data, offsets, starts, ends, bounds = _resolved(texts, edits)
    pieces = np.empty(2 * len(starts) + 2, np.int32)  # what is kept and what is left out, by turns
    pieces[0], pieces[-1] = offsets[0], offsets[-1]
    pieces[1:-1:2], pieces[2:-1:2] = starts, ends
    kept = _every_second(pa.binary(), pieces, data)
    gone = np.concatenate(([0], np.cumsum(ends - starts)))[bounds]
    left = (offsets - offsets[0] - gone).astype(np.int32)
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(left), kept.buffers()[2])


def left_out(texts: pa.StringArray, edits: pa.ListArray) -> pa.StringArray:
    """The spans themselves, one string for each of all lists' edits, in their order.

    Raises:
        SchemaError: as `apply_edits`.
    """
    if not len(_spans(edits)):
        _check(texts, edits)
        return pa.array([], pa.string())
    data, _, starts, ends, _ = _resolved(texts, edits)
    pieces = np.empty(2 * len(starts), np.int32)
    pieces[::2], pieces[1::2] = starts, ends
    return _every_second(pa.string(), pieces, data)


def _every_second(kind: pa.DataType, places: npt.NDArray[np.int32], data: pa.Buffer) -> pa.Array:
    """The bytes from places[0] to places[1], from places[2] to places[3], and so on."""
    all_of_them = pa.Array.from_buffers(kind, len(places) - 1, [None, pa.py_buffer(places), data])
    return all_of_them.take(pa.array(np.arange(0, len(places), 2)))


def _spans(edits: pa.ListArray) -> pa.StructArray:
    return edits.flatten()


def _check(texts: pa.StringArray, edits: pa.ListArray) -> None:
    if texts.type != pa.string() or texts.null_count:
        raise SchemaError(f"texts must be string without nulls, found {texts.type} with {texts.null_count} nulls")
    if not edits.type.equals(EDITS) or edits.null_count:
        raise SchemaError(f"edits must be {EDITS} without nulls, found {edits.type} with {edits.null_count} nulls")
    if len(texts) != len(edits):
        raise SchemaError(f"{len(edits)} lists of edits for {len(texts)} texts: both must come from one table")


def _resolved(
    texts: pa.StringArray, edits: pa.ListArray
) -> tuple[pa.Buffer, Offsets, Offsets, Offsets, npt.NDArray[np.int64]]:
    """The bytes of all texts, the n + 1 offsets of the texts, starts and ends of all spans as places in the bytes, and
    the n + 1 bounds of each text's spans."""
    _check(texts, edits)
    _, places, values = texts.buffers()
    data = values if values is not None else pa.py_buffer(b"")
    offsets = np.frombuffer(places, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    bounds = edits.offsets.to_numpy().astype(np.int64)
    bounds = bounds - bounds[0]
    spans = _spans(edits)
    counts = np.diff(bounds)
    first, last = np.repeat(offsets[:-1], counts), np.repeat(offsets[1:], counts)
    starts, ends = (first + spans.field(name).to_numpy(zero_copy_only=False) for name in ("start", "end"))
    before = np.maximum(first, np.concatenate(([0], ends[:-1])))
    codes = np.frombuffer(data, np.uint8)
    inside = (starts >= before) & (starts < ends) & (ends <= last)
    if not inside.all() or _within(codes, starts).any() or _within(codes, ends[ends < len(codes)]).any():
        raise SchemaError(
            "edits don't fit their texts: they were made for other ones; run again, which makes them anew"
        )
    return data, offsets, starts, ends, bounds


def _within(codes: npt.NDArray[np.uint8], places: Offsets) -> npt.NDArray[np.bool_]:
    """Whether a place is inside of a code point."""
    found: npt.NDArray[np.bool_] = (codes[places] & 0xC0) == 0x80
    return found
