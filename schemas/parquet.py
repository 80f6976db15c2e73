"""One way to write a table: Parquet, zstd, streamed, with the digest of what was written."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from glotmill.schemas.digest import update_digest


def write_table(path: Path, batches: Iterable[pa.RecordBatch | pa.Table], schema: pa.Schema) -> tuple[int, str]:
    """Write `batches` as one Parquet file; memory holds one batch.

    Returns:
        Rows written, and the digest of schema and rows in their order.
    """
    rows = 0
    state = xxhash.xxh3_128()
    with pq.ParquetWriter(path, schema, **_encoding(schema)) as writer:
        for batch in batches:
            if batch.num_rows:
                batch = batch.cast(schema)
                writer.write(batch)
                update_digest(state, batch)
                rows += batch.num_rows
    return rows, state.hexdigest()


def _encoding(schema: pa.Schema) -> dict[str, Any]:
    """Zstandard for all columns but those of hashes, which can't be compressed: trying to takes longest of all."""
    leaves = {leaf: pa.types.is_fixed_size_list(field.type) for field in schema for leaf in _leaves(field)}
    return {
        "compression": {leaf: "NONE" if hashed else "ZSTD" for leaf, hashed in leaves.items()},
        "compression_level": {leaf: 3 for leaf, hashed in leaves.items() if not hashed},
        "use_dictionary": [leaf for leaf, hashed in leaves.items() if not hashed],
    }


def _leaves(field: pa.Field, above: str = "") -> list[str]:
    """Paths of a column's values, as Parquet names them."""
    name = f"{above}{field.name}"
    if pa.types.is_struct(field.type):
        return [leaf for part in field.type.fields for leaf in _leaves(part, f"{name}.")]
    if pa.types.is_list(field.type) or pa.types.is_fixed_size_list(field.type):
        return _leaves(field.type.value_field.with_name("element"), f"{name}.list.")
    return [name]
