"""One way to write a table: Parquet, zstd, streamed, with the digest of what was written."""

from collections.abc import Iterable
from pathlib import Path

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
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=3) as writer:
        for batch in batches:
            if batch.num_rows:
                batch = batch.cast(schema)
                writer.write(batch)
                update_digest(state, batch)
                rows += batch.num_rows
    return rows, state.hexdigest()
