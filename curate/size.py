"""How large a text is: what later steps need where nobody asks for its quality."""

import pyarrow as pa
import pyarrow.compute as pc

from glotmill.curate.measure import Columns, measure


@measure(reads=["text"], adds={"chars": pa.int64(), "bytes": pa.int64()})
def size(batch: pa.RecordBatch) -> Columns:
    """Code points, and bytes of UTF-8, as the measure `quality` counts them.

    Args:
        batch: n rows with `text: string`, no nulls.
    """
    texts = batch["text"]
    return {"chars": pc.utf8_length(texts).cast(pa.int64()), "bytes": pc.binary_length(texts).cast(pa.int64())}
