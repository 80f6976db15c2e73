"""The signals that rules may read: what every document is measured for."""

import pyarrow as pa

from glotmill.curate.language import language
from glotmill.curate.measure import Measure
from glotmill.curate.quality import quality
from glotmill.curate.repetition import repetition

MEASURES = (language, quality, repetition)


def numbers(*measures: Measure) -> tuple[str, ...]:
    """Those of the measures' columns that a rule can compare with a limit."""
    return tuple(
        column.name
        for measure in measures
        for column in measure.adds
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    )


SIGNALS = numbers(*MEASURES)
