"""How likely the words of a text are in its language."""

from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from glotmill.curate.kernels import vocabulary as table
from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.kernels.vocabulary import Vocabulary, look_up, vocabulary
from glotmill.curate.measure import Columns, Measure
from glotmill.curate.quality import ratio
from glotmill.schemas.errors import RecipeError

UNIGRAM = "unigram_logprob"
UNIGRAMS = "unigrams.parquet"  # in a calibration's folder
SCHEMA = pa.schema({"language": pa.string(), "unit": pa.uint64(), "logprob": pa.float32()})
UNSEEN = 0  # in place of a unit: the probability of one that the reference lacks


def unigrams(folder: str) -> Measure:
    """The measure of how likely a text's words are, against the reference of a calibration.

    It reads `text: string` and `language: string` and adds unigram_logprob, the mean over the text's units of letters
    of the natural logarithm of their probability in the language's reference, with add-one smoothing. About -7 to -9
    for running text, lower for lists of names and keywords and for text in another language; 0 in a language without
    reference and for a text without units of letters. After the unigram filter of Wikipedia-trained pipelines (Brants
    et al. 2007 for smoothing; datatrove's UnigramLogProbFilter).

    Raises:
        RecipeError: `folder` holds no table of a calibration.
    """
    _load(folder)
    return Measure(_unigrams, ("text", "language"), pa.schema({UNIGRAM: pa.float64()}), {"folder": folder})


def _unigrams(batch: pa.RecordBatch, *, folder: str) -> Columns:
    found = look_up(pieces(batch["text"]), batch["language"], _load(folder))
    return {UNIGRAM: pa.array(ratio(found[:, table.SUM], found[:, table.UNITS]))}


@cache
def _load(folder: str) -> Vocabulary:
    path = Path(folder) / UNIGRAMS
    try:
        rows = pq.read_table(path, schema=SCHEMA).sort_by([("language", "ascending"), ("unit", "ascending")])
    except (OSError, pa.ArrowInvalid) as error:
        raise RecipeError(
            f"quality.calibration: {path} can't be read ({error}); name a folder that `glotmill calibrate` wrote"
        ) from None
    languages = rows["language"].to_numpy(zero_copy_only=False)
    units, values = rows["unit"].to_numpy(), rows["logprob"].to_numpy().astype(np.float64)
    names, firsts = np.unique(languages, return_index=True)
    bounds = [*firsts.tolist(), len(languages)]
    parts = [slice(start, end) for start, end in zip(bounds, bounds[1:], strict=False)]
    # A language's first row is that of unseen units: 0 sorts first.
    unseen = np.array([values[part.start] for part in parts])
    return vocabulary(names.tolist(), [units[part][1:] for part in parts], [values[part][1:] for part in parts], unseen)
