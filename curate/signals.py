"""The signals that rules may read: what documents are measured for."""

from collections.abc import Iterable

import pyarrow as pa

from glotmill.curate.calibrate.unigrams import UNIGRAM, unigrams
from glotmill.curate.datatrove import datatrove
from glotmill.curate.form import form
from glotmill.curate.language import language
from glotmill.curate.lines import line_cuts
from glotmill.curate.measure import Measure
from glotmill.curate.quality import quality
from glotmill.curate.repetition import repetition
from glotmill.curate.size import size
from glotmill.curate.stop_words import stop_words
from glotmill.curate.trained.classifier import classifier
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
    found = [*SIGNALS]
    if quality.semantics == "datatrove":
        found += numbers(datatrove)
    if quality.calibration is not None:
        found.append(UNIGRAM)
    return (*found, *(f"{name}_score" for name in quality.classifiers))


def of_text(quality: Quality, *, needed: Iterable[str] = ()) -> tuple[Measure, ...]:
    """The measures of every text; its size alone where a recipe asks for what is needed, and nothing else is.

    Args:
        needed: Columns that something other than a rule reads.
    """
    has_rules = quality.preset != "none" or quality.rules
    if quality.signals == "all" or has_rules or not set(size.adds.names).issuperset(set(needed) & set(SIGNALS)):
        return OF_TEXT
    return (size,)


def optional(quality: Quality) -> tuple[Measure, ...]:
    """The measures that only a recipe with this section asks for; its paths are absolute.

    Raises:
        RecipeError: a file that the section names is absent, or isn't what it should be.
    """
    found: list[Measure] = []
    if quality.semantics == "datatrove":
        found.append(datatrove.bind(terminal_lines=quality.preset == "c4"))
    if quality.calibration is not None:
        found.append(unigrams(quality.calibration))
    return (*found, *(classifier(name, of.model, of.label) for name, of in quality.classifiers.items()))
