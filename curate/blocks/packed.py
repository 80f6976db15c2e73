"""Record batches as the bytes of few rows, each with the part that it is for."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

MOST_BYTES = 4 << 20  # of one row: Spark hands hundreds of rows to Python at once

BLOCK = pa.schema([("part", pa.int32()), ("kind", pa.string()), ("data", pa.binary())])


def spread(records: pa.RecordBatch, parts: npt.NDArray[np.integer[Any]], kind: str) -> Iterator[pa.RecordBatch]:
    """Rows of BLOCK: the records of each part, in their order.

    Args:
        records: n records of one kind; every block of a kind has the same schema.
        parts: int (n,), the part that each record goes to.
        kind: Name of what the records are.
    """
    if not records.num_rows:
        return
    order = np.argsort(parts, kind="stable")
    sorted_parts = parts[order]
    cuts = np.flatnonzero(np.diff(sorted_parts)) + 1
    ordered = records.take(pa.array(order))
    starts = np.concatenate(([0], cuts)).tolist()
    ends = [*cuts.tolist(), len(parts)]
    rows = [
        (int(sorted_parts[start]), data)
        for start, end in zip(starts, ends, strict=True)
        for data in _pieces(ordered.slice(start, end - start))
    ]
    yield block([part for part, _ in rows], kind, [data for _, data in rows])


def block(parts: Sequence[int], kind: str, data: Sequence[bytes]) -> pa.RecordBatch:
    """Rows of BLOCK."""
    columns = [pa.array(parts, pa.int32()), pa.array([kind] * len(parts), pa.string()), pa.array(data, pa.binary())]
    return pa.RecordBatch.from_arrays(columns, schema=BLOCK)


def pack(records: pa.RecordBatch) -> bytes:
    """A record batch as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, records.schema) as writer:
        writer.write_batch(records)
    return bytes(sink.getvalue())


def unpack(data: bytes | pa.Buffer) -> pa.RecordBatch:
    """What `pack` packed, without a copy."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()


class Kinds:
    """The records of one part by kind, as they come in; order within a kind is whatever the shuffle made of it."""

    def __init__(self) -> None:
        self._batches: dict[str, list[pa.RecordBatch]] = {}

    def add(self, kind: str, data: pa.Buffer) -> None:
        self._batches.setdefault(kind, []).append(unpack(data))

    def table(self, kind: str, schema: pa.Schema) -> pa.RecordBatch:
        """All records of a kind as one batch; of none, an empty one of `schema`."""
        batches = self._batches.get(kind)
        if not batches:
            return pa.RecordBatch.from_pylist([], schema=schema)
        return pa.concat_batches(batches)


def by_part(rows: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Kinds]]:
    """From rows of BLOCK that come sorted by part, each part with its records."""
    part, kinds = -1, Kinds()
    for batch in rows:
        for number, kind, data in zip(batch["part"].to_pylist(), batch["kind"].to_pylist(), batch["data"], strict=True):
            if number != part:
                if part >= 0:
                    yield part, kinds
                part, kinds = number, Kinds()
            kinds.add(kind, data.as_buffer())
    if part >= 0:
        yield part, kinds


def numbers(column: Any) -> npt.NDArray[Any]:
    """A column of numbers without nulls as an array, without a copy."""
    found: npt.NDArray[Any] = column.to_numpy()
    return found


def _pieces(records: pa.RecordBatch) -> Iterator[bytes]:
    """The records as blobs of about MOST_BYTES or less; a record larger than that is one alone."""
    if records.num_rows <= 1 or records.get_total_buffer_size() == 0 or records.nbytes <= MOST_BYTES:
        yield pack(records)
        return
    middle = records.num_rows // 2
    yield from _pieces(records.slice(0, middle))
    yield from _pieces(records.slice(middle))
