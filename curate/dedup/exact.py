"""Which texts are the same but for case, spacing and Unicode form."""

import numpy as np
import pyarrow as pa
import xxhash

from glotmill.curate.kernels.buffers import utf8
from glotmill.curate.kernels.normal import normal_forms
from glotmill.curate.measure import Columns, measure

_HEX = 32


@measure(reads=["text"], adds={"text_hash": pa.string()})
def text_hash(batch: pa.RecordBatch, *, raw: bool = False) -> Columns:
    """A name for each text that equal texts share.

    Args:
        batch: n rows with `text: string`, no nulls.
        raw: Only texts that are equal byte for byte are equal.

    Adds:
        text_hash: 32 hex digits, xxh3-128 of the text in NFC, case-folded, white space folded and trimmed. Marks,
            digits and punctuation count: texts that differ in a vowel sign, a tone mark or a number differ.
    """
    data, bounds = utf8(batch["text"]) if raw else normal_forms(batch["text"])
    view = data.data
    ends = bounds.tolist()
    digests = b"".join(xxhash.xxh3_128_digest(view[start:end]) for start, end in zip(ends[:-1], ends[1:], strict=True))
    offsets = np.arange(0, _HEX * len(ends), _HEX, dtype=np.int32)
    names = pa.py_buffer(digests.hex().encode())
    return {"text_hash": pa.StringArray.from_buffers(batch.num_rows, pa.py_buffer(offsets), names)}
