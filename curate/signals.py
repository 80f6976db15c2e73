"""The signals that rules may read: what documents are measured for."""

import pyarrow as pa

from glotmill.curate.form import form
from glotmill.curate.language import language
from glotmill.curate.lines import line_cuts
from glotmill.curate.measure import Measure
from glotmill.curate.quality import quality
from glotmill.curate.repetition import repetition
from glotmill.curate.stop_words import stop_words
from glotmill.curate.unigrams import UNIGRAM, unigrams
from glotmill.schemas.recipe import Quality

OF_TEXT = (form, quality, repetition, stop_words)
MEASURES = (line_cuts, language, *OF_TEXT)  # of every document


def numbers(*measures: Measure) -> tuple[str, ...]:
    """Those of the measures' columns that a rule can compare with a limit."""
    return tuple(
        column.name
        for measure in measures
        for column in measure.adds
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    )


SIGNALS = numbers(*MEASURES)


def names(quality: Quality) -> tuple[str, ...]:
    """The signals that a recipe with this section has measured."""
    return (*SIGNALS, *((UNIGRAM,) if quality.calibration else ()))


def optional(quality: Quality) -> tuple[Measure, ...]:
    """The measures that only a recipe with this section asks for; its paths are absolute."""
    return (unigrams(quality.calibration),) if quality.calibration else ()
