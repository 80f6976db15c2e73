"""Whether documents of one source share the input's own id."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from glotmill.curate.blocks.packed import Kinds, numbers, spread
from glotmill.curate.dedup.documents import nodes, place_of
from glotmill.curate.kernels.buffers import utf8
from glotmill.schemas.errors import InputError

ID = "id"
REPEATS = pa.schema([("ids", pa.int64()), ("first", pa.int64()), ("second", pa.int64())])
BYTES = 24  # of a document
_ID = pa.schema([("high", pa.uint64()), ("low", pa.uint64()), ("node", pa.int64())])


@dataclass(frozen=True, slots=True)
class File:
    """A file of OUT/documents.

    Args:
        number: Among those that are looked at.
    """

    number: int
    key: str
    source: str


def hashed(file: File, *, out: Path, parts: int) -> Iterator[pa.RecordBatch]:
    """Blocks of the ids of one file, to the part of their hash: 24 bytes a document that has one."""
    column = pq.read_table(out / "documents" / f"{file.key}.parquet", columns=["source_id"])["source_id"]
    rows = np.flatnonzero(column.is_valid().to_numpy())
    data, bounds = utf8(column.drop_null().combine_chunks())
    view, ends, seed = data.data, bounds.tolist(), xxhash.xxh3_64_intdigest(file.source.encode())
    digest = xxhash.xxh3_128_digest
    digests = b"".join(digest(view[start:end], seed) for start, end in zip(ends[:-1], ends[1:], strict=True))
    pairs = np.frombuffer(digests, ">u8").reshape(-1, 2).astype(np.uint64)
    node = nodes(file.number, rows, np.ones(len(rows), np.bool_))
    columns = [pairs[:, 0], pairs[:, 1], node]
    records = pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=_ID)
    yield from spread(records, (pairs[:, 0] % np.uint64(parts)).astype(np.int32), ID)


def repeats(part: int, kinds: Kinds) -> Iterator[pa.RecordBatch]:
    """Of the ids of one part: how many occur more than once, and the first two places of the first of them."""
    records = kinds.table(ID, _ID)
    high, low, node = (numbers(records[name]) for name in _ID.names)
    order = np.lexsort((node, low, high))
    high, low, node = high[order], low[order], node[order]
    again = np.flatnonzero((high[1:] == high[:-1]) & (low[1:] == low[:-1]))  # equal to the next one
    if len(again):
        first = again[np.concatenate(([True], np.diff(again) > 1))]
        at = first[np.argmin(node[first])]
        yield pa.RecordBatch.from_arrays(
            [pa.array([value]) for value in (len(first), node[at], node[at + 1])], schema=REPEATS
        )


def check(found: pa.Table, files: Sequence[File], out: Path) -> None:
    """Raise InputError if some id occurs twice.

    Args:
        found: Rows of `repeats`.
    """
    if not found.num_rows:
        return
    first = min(found.to_pylist(), key=lambda row: int(row["first"]))
    source, id, place = _place(files, out, first["first"])
    _, _, again = _place(files, out, first["second"])
    others = sum(found["ids"].to_pylist()) - 1
    more = f" {others:,} other {'id is' if others == 1 else 'ids are'} repeated, too." if others else ""
    raise InputError(
        f"source {source}: the id {id!r} is in {place} and again in {again}.{more} Give each record an id of its own, "
        "name another column as columns.id (or --id-column), or set dedup.unique_ids to false to take ids as they come"
    )


def _place(files: Sequence[File], out: Path, node: int) -> tuple[str, str, str]:
    """Source, id and record of a document."""
    (number,), (row,) = place_of(np.array([node]))
    file = files[number]
    documents = pq.read_table(out / "documents" / f"{file.key}.parquet", columns=["source_id", "record"])
    about = documents.slice(int(row), 1).to_pylist()[0]
    return file.source, about["source_id"], about["record"]
