"""Parquet rows to documents, row group by row group."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from glotmill.curate.extract.intake import Intake
from glotmill.curate.extract.jsonl import BadRecordError, Mapping
from glotmill.curate.extract.split import Opened
from glotmill.schemas.errors import InputError
from glotmill.schemas.reasons import Quarantined
from glotmill.schemas.recipe import Columns

_ROWS = 512
_FAILURES = (pa.ArrowException, OSError, ValueError, MemoryError)


def read_parquet(opened: Opened, intake: Intake, columns: Columns, *, limit: int) -> Iterator[None]:
    """The documents of the row groups `start` to before `end`; yields after each batch of rows.

    A row group that can't be read is one quarantine row, which counts as many records as rows are lost.
    """
    try:
        file = pq.ParquetFile(opened.path)
        wanted = wanted_columns(file.schema_arrow, columns)
    except _FAILURES as error:
        intake.begin()
        intake.quarantine(f"{opened.name}#0", Quarantined.CORRUPT_PARQUET, str(error), opened.head)
        opened.stopped(None)
        return
    with file:
        mapping, metadata = Mapping(columns), file.metadata
        row = sum(metadata.row_group(i).num_rows for i in range(min(opened.start, metadata.num_row_groups)))
        groups = range(opened.start, min(opened.end, metadata.num_row_groups))
        for group in groups:
            yield from _group(file, group, row, opened.name, intake, mapping, wanted, limit)
            row += metadata.row_group(group).num_rows
        opened.read_range(*_bytes(metadata, groups, opened))


def _group(
    file: pq.ParquetFile,
    group: int,
    row: int,
    name: str,
    intake: Intake,
    mapping: Mapping,
    wanted: list[str],
    limit: int,
) -> Iterator[None]:
    end = row + file.metadata.row_group(group).num_rows
    try:
        for batch in file.iter_batches(batch_size=_ROWS, row_groups=[group], columns=wanted):
            for values in zip(*(_values(column) for column in batch.columns), strict=True):
                intake.begin()
                _take(f"{name}#{row}", dict(zip(batch.schema.names, values, strict=True)), intake, mapping, limit)
                row += 1
                yield
    except _FAILURES as error:
        problem = str(error)
    else:
        problem = f"row group {group} holds {end - row} rows less than its metadata says"
    if row < end:
        intake.begin(end - row)
        intake.quarantine(f"{name}#{row}", Quarantined.CORRUPT_PARQUET, problem, records=end - row)


def _take(record: str, values: dict[str, Any], intake: Intake, mapping: Mapping, limit: int) -> None:
    try:
        text, fields = mapping.document(_texts(values))
    except BadRecordError as bad:
        intake.quarantine(record, bad.reason, bad.error)
        return
    except UnicodeDecodeError as error:
        bad_byte = error.object[error.start : error.start + 1].hex()
        intake.quarantine(
            record, Quarantined.INVALID_UTF8, f"byte 0x{bad_byte} at {error.start}: {error.reason}", error.object
        )
        return
    size = len(text.encode("utf-8", "replace"))
    if size > limit:
        intake.quarantine(
            record,
            Quarantined.TOO_LARGE,
            f"a text of {size} bytes is over max_record_bytes, {limit}",
            text[:256].encode(),
        )
        return
    intake.body_bytes += size
    intake.keep(record, text, fields)


def _texts(value: Any) -> Any:
    """Bytes decoded, in nested values too."""
    if isinstance(value, bytes):
        return value.decode()
    return {key: _texts(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def _values(column: pa.Array) -> list[Any]:
    """Python values; strings as bytes, since Arrow doesn't promise that they are UTF-8."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = column.cast(pa.binary() if pa.types.is_string(kind) else pa.large_binary())
    found: list[Any] = column.to_pylist()
    return found


def wanted_columns(schema: pa.Schema, columns: Columns) -> list[str]:
    """The columns to read: names as they are, or dotted paths into structs. Those that don't exist are left out."""
    names = [name for name in columns.model_dump().values() if name is not None]
    return list(dict.fromkeys(name for name in names if column_type(schema, name) is not None))


def column_type(schema: pa.Schema, name: str) -> pa.DataType | None:
    """Type of a column, or of a struct's field by its dotted path; None where there is none."""
    if name in schema.names:
        return schema.field(name).type
    first, *rest = name.split(".")
    kind = schema.field(first).type if first in schema.names else None
    for key in rest:
        if kind is None or not pa.types.is_struct(kind) or kind.get_field_index(key) < 0:
            return None
        kind = kind.field(key).type
    return kind


def check_columns(path: Path, columns: Columns) -> None:
    """Raise InputError unless the file has every mapped column, and text in the one for text.

    A file whose schema can't be read passes: extraction quarantines it.
    """
    try:
        schema = pq.read_schema(path)
    except _FAILURES:
        return
    for field, name in columns.model_dump().items():
        if name is None:
            continue
        kind = column_type(schema, name)
        if kind is None:
            have = ", ".join(map(repr, schema.names))
            raise InputError(
                f"{path} has no column {name!r}, which the recipe maps to {field!r}; it has: {have}. "
                f"Set columns: {{{field}: ...}} of this source"
            )
        if field == "text" and not is_text(kind):
            raise InputError(
                f"{path}: column {name!r} is {kind}, and text must be a string; "
                "set columns: {text: ...} of this source"
            )
        if field != "text" and pa.types.is_nested(kind):
            raise InputError(f"{path}: column {name!r} is {kind}, and {field!r} must be one value; map another column")


def is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary)
    return any(test(kind) for test in (*tests, pa.types.is_large_binary, pa.types.is_binary_view))


def row_groups(path: Path) -> list[int]:
    """Compressed bytes of each row group; one of no bytes for a file that can't be read."""
    try:
        metadata = pq.read_metadata(path)
    except _FAILURES:
        return [0]
    return [_extent(metadata, group)[1] - _extent(metadata, group)[0] for group in range(metadata.num_row_groups)]


def _extent(metadata: pq.FileMetaData, group: int) -> tuple[int, int]:
    """Where a row group's bytes are in the file."""
    found = metadata.row_group(group)
    chunks = [found.column(i) for i in range(found.num_columns)]
    starts = [
        chunk.data_page_offset
        if chunk.dictionary_page_offset is None
        else min(chunk.dictionary_page_offset, chunk.data_page_offset)
        for chunk in chunks
    ]
    ends = [start + chunk.total_compressed_size for start, chunk in zip(starts, chunks, strict=True)]
    return min(starts, default=0), max(ends, default=0)


def _bytes(metadata: pq.FileMetaData, groups: range, opened: Opened) -> tuple[int, int]:
    """The bytes of the row groups read; of the whole file when they are all, so that its footer counts."""
    if len(groups) == metadata.num_row_groups:
        return 0, opened.size
    extents = [_extent(metadata, group) for group in groups]
    return min((start for start, _ in extents), default=0), max((end for _, end in extents), default=0)
