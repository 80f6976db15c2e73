"""What a table holds, as 32 hex digits that do not depend on chunks, slices or the writer of the file."""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc
import xxhash


def rows_digest(batches: Iterable[pa.RecordBatch | pa.Table]) -> str:
    """xxh3-128 over the rows of `batches`, in their order.

    Every batch is one update, so callers that cut the same rows differently must concatenate first; the readers and
    writers of glotmill cut by content and don't.
    """
    state = xxhash.xxh3_128()
    for batch in batches:
        update_digest(state, batch)
    return state.hexdigest()


def table_digest(table: pa.Table, *, by: tuple[str, ...] = ("id",)) -> str:
    """xxh3-128 over the rows of `table`, sorted by the columns `by`: equal for equal sets of rows."""
    return rows_digest([table.sort_by([(name, "ascending") for name in by]).combine_chunks()])


def update_digest(state: xxhash.xxh3_128, batch: pa.RecordBatch | pa.Table) -> None:
    """Feed names, types and values of one batch."""
    state.update(f"{batch.num_rows}\0".encode())
    for name in batch.schema.names:
        column = batch.column(name)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        state.update(f"{name}\0{column.type}\0".encode())
        _feed(state, column)


def _feed(state: xxhash.xxh3_128, array: pa.Array) -> None:
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks else pa.array([], array.type)
    kind = array.type
    state.update(pc.cast(array.is_valid(), pa.uint8()).to_numpy(zero_copy_only=False).tobytes())
    if pa.types.is_struct(kind):
        for child in array.flatten():
            _feed(state, child)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        _feed(state, pc.fill_null(pc.list_value_length(array), 0))
        _feed(state, array.flatten())
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        _feed(state, pc.fill_null(pc.binary_length(array), 0))
        _feed_bytes(state, pc.fill_null(array, "" if pa.types.is_string(kind) else b""))
    elif pa.types.is_null(kind):
        return
    else:
        values = pc.cast(array, pa.uint8()) if pa.types.is_boolean(kind) else array
        state.update(pc.fill_null(values, 0).to_numpy(zero_copy_only=False).tobytes())


def _feed_bytes(state: xxhash.xxh3_128, array: pa.Array) -> None:
    if len(array) == 0:
        return
    _, offsets, data = array.buffers()
    ends = memoryview(offsets).cast("i")[array.offset : array.offset + len(array) + 1]
    if data is not None:
        state.update(memoryview(data)[ends[0] : ends[-1]])
