"""The documents that were kept, as they are tokenized: without what the line rules cut out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from glotmill.schemas.edits import apply_edits
from glotmill.schemas.errors import SchemaError

_ROWS = 2048  # documents read at a time


def kept_documents(
    out: Path, key: str, *, columns: Sequence[str] = (), joined: Sequence[str] = (), ids: pa.Array | None = None
) -> Iterator[pa.RecordBatch]:
    """The kept documents of a unit, in the order of documents/, found by id.

    Args:
        out: Output folder of a run.
        key: The unit's, which names the files of documents/ and kept/.
        columns: Of documents/, beside id and text.
        joined: Of kept/.
        ids: Those wanted; by default all.

    Yields:
        Batches with rows: id, text, columns, joined. `text` lacks what `cuts` of kept/ leaves out.

    Raises:
        SchemaError: kept/ cuts what a text doesn't have: the two tables don't belong together.
    """
    kept = pq.read_table(out / "kept" / f"{key}.parquet", columns=["id", "cuts", *joined])
    if ids is not None:
        kept = kept.filter(pc.is_in(kept["id"], value_set=ids))
    if not kept.num_rows:
        return
    kept = kept.combine_chunks()
    names = kept["id"].combine_chunks()
    with pq.ParquetFile(out / "documents" / f"{key}.parquet") as file:
        for batch in file.iter_batches(_ROWS, columns=["id", "text", *columns]):
            places = pc.index_in(batch["id"], value_set=names)
            batch, places = batch.filter(places.is_valid()), places.drop_null()
            if batch.num_rows:
                mine = kept.take(places)
                found = {name: batch[name] for name in ("id", *columns)}
                found |= {name: mine[name].combine_chunks() for name in joined}
                try:
                    found["text"] = apply_edits(batch["text"], mine["cuts"].combine_chunks())
                except SchemaError as error:
                    raise SchemaError(f"kept/{key}.parquet: {error}") from error
                yield pa.RecordBatch.from_pydict(found)
