"""The words that every text of a language holds."""

from functools import cache

import numpy as np
import pyarrow as pa

from glotmill.curate.kernels import vocabulary as table
from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.kernels.unicode import rows
from glotmill.curate.kernels.vocabulary import Vocabulary, look_up, vocabulary
from glotmill.curate.measure import Columns, measure
from glotmill.curate.quality import ratio


@measure(reads=["text", "language"], adds={"stop_words": pa.int64(), "stop_word_share": pa.float64()})
def stop_words(batch: pa.RecordBatch) -> Columns:
    """Stop words of each text, of the list that curate/data/stop_words.tsv has for its language, whatever their case.

    Args:
        batch: n rows with `text: string` and `language: string`, no null texts.

    Adds:
        stop_words: Distinct ones; of English, "the", "be", "to", "of", "and", "that", "have", "with" are looked for. 0
            in a language without a list, for which no preset has a rule about them. Gopher (Rae et al. 2021) asks for
            two.
        stop_word_share: Stop words / words; of the text's units of letters, by the words that they weigh.
    """
    found = look_up(pieces(batch["text"]), batch["language"], _vocabulary())
    return {
        "stop_words": pa.array(found[:, table.DISTINCT].astype(np.int64)),
        "stop_word_share": pa.array(ratio(found[:, table.KNOWN_WEIGHT], found[:, table.WEIGHT])),
    }


@cache
def lists() -> dict[str, tuple[str, ...]]:
    """By language, its stop words."""
    return {language: tuple(words.split()) for language, words in rows("stop_words.tsv")}


@cache
def _vocabulary() -> Vocabulary:
    languages = tuple(lists())
    units = [pieces(pa.array([" ".join(lists()[language])])).unit_hash for language in languages]
    return vocabulary(languages, units, [np.zeros(len(of)) for of in units], np.zeros(len(languages)))
