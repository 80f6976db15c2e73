"""How much a text repeats itself."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glotmill.curate.kernels import ngrams, scan
from glotmill.curate.kernels.compress import compressed_bytes
from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.measure import Columns, measure
from glotmill.curate.quality import ratio

_TOP = range(2, 5)
_DUPLICATE = range(5, ngrams.LONGEST + 1)
_RUNS = {f"top_{n}_gram_share": n for n in _TOP} | {f"duplicate_{n}_gram_share": n for n in _DUPLICATE}


@measure(
    reads=["text"],
    adds={
        "duplicate_line_share": pa.float64(),
        "duplicate_paragraph_share": pa.float64(),
        "duplicate_paragraph_char_share": pa.float64(),
        **{name: pa.float64() for name in _RUNS},
        "unique_word_share": pa.float64(),
        "unit_entropy": pa.float64(),
        "compressed_share": pa.float64(),
    },
)
def repetition(batch: pa.RecordBatch) -> Columns:
    """Repeated lines, paragraphs and runs of words. Every share is in [0, 1], and 0 where its whole is empty.

    After Gopher (Rae et al. 2021, table A1), read strictly: characters that several repeats cover count once, a run
    must occur twice to be one, and in scripts without spaces a run of n words is as many letters as n words have on
    average, so that one limit means about as much text in every script. Case doesn't count, nor does what stands
    between words.

    Args:
        batch: n rows with `text: string`, no nulls.

    Adds:
        duplicate_line_share: Lines that occurred earlier in the text / lines.
        duplicate_paragraph_share: Paragraphs (blank lines part them) that occurred earlier / paragraphs.
        duplicate_paragraph_char_share: Code points in those / code points in paragraphs.
        top_2_gram_share, top_3_gram_share, top_4_gram_share: Code points of units in the most frequent run of so many
            words / code points of units.
        duplicate_5_gram_share, duplicate_6_gram_share, duplicate_7_gram_share, duplicate_8_gram_share,
        duplicate_9_gram_share, duplicate_10_gram_share: Code points of units in any run of so many words that occurs
            twice / code points of units.
        unique_word_share: Distinct units / units.
        unit_entropy: Bits per unit under the distribution of the text's own units; Shannon 1948. At most log2(units).
        compressed_share: Bytes left when what repeats is replaced by three bytes, as LZ4 does it / bytes; 1 for a text
            without repeats, and for an empty one.
    """
    cut = pieces(batch["text"])
    runs = ngrams.repeats(cut)
    paragraphs = ngrams.paragraph_repeats(cut)
    size = pc.binary_length(batch["text"]).to_numpy().astype(np.int64)
    units = runs[:, ngrams.UNITS]
    compressed = np.where(size > 0, ratio(compressed_bytes(batch["text"]), size), 1.0)
    return {
        "duplicate_line_share": pa.array(ratio(cut.counts[:, scan.REPEATED_LINES], cut.counts[:, scan.LINES])),
        "duplicate_paragraph_share": pa.array(ratio(paragraphs[:, ngrams.REPEATED], paragraphs[:, ngrams.PARAGRAPHS])),
        "duplicate_paragraph_char_share": pa.array(
            ratio(paragraphs[:, ngrams.REPEATED_CHARS], paragraphs[:, ngrams.CHARS])
        ),
        **{
            name: pa.array(ratio(runs[:, ngrams.COVERED + n - 2], runs[:, ngrams.UNIT_CHARS]))
            for name, n in _RUNS.items()
        },
        "unique_word_share": pa.array(ratio(runs[:, ngrams.DISTINCT], units)),
        "unit_entropy": pa.array(ratio(runs[:, ngrams.SURPRISE], units) / ngrams.MILLIBITS),
        "compressed_share": pa.array(compressed),
    }
