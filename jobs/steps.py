"""The steps of a run, in order: what units each has, what they depend on, and how Spark does them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from pyspark.sql import SparkSession

from glotmill.curate import measure_unit, verdicts
from glotmill.curate.cut import cut_unit
from glotmill.curate.extract import files
from glotmill.curate.extract.unit import extract_unit
from glotmill.curate.line_rules import line_rules
from glotmill.jobs import plans
from glotmill.jobs.dedup_step import dedup_options, find_duplicates, sum_up
from glotmill.jobs.indexing import AGAINST, Pairs, against, checked_index
from glotmill.jobs.located import contents, located, recipe_rules
from glotmill.jobs.state import State
from glotmill.jobs.units import Desk, finish_empty, over_groups, over_units, raise_reported
from glotmill.schemas.code import code_version
from glotmill.schemas.document import VERDICT
from glotmill.schemas.ids import fingerprint
from glotmill.schemas.units import Unit

_MEASURED_BY = tuple(
    f"glotmill.curate:data/{name}"
    for name in (
        "lid.176.ftz",
        "language_reliability.tsv",
        "language_thresholds.tsv",
        "lookalikes.tsv",
        "unicode.tsv",
        "casefold.tsv",
        "compose.tsv",
        "boilerplate.tsv",
        "stop_words.tsv",
    )
)

Action = Callable[[SparkSession, State, Sequence[Unit], Desk], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Args:
        name: As in the ledger.
        folders: Below OUT, whose files are this step's.
        units: All units of today, from the inputs and the receipts of earlier steps.
        act: Do some of them; returns when their receipts lie.
        config: JSON value of all settings that decide the result.
        code: Version of the code that makes it.
        close: Called when every unit is done: brings a file up to date that sums them up.
    """

    name: str
    folders: tuple[str, ...]
    units: Callable[[State], list[Unit]]
    act: Action
    config: Any
    code: str
    close: Callable[[State], None] | None = None


def over(work: Callable[[State], Any]) -> Action:
    """An action that does each unit in a Python worker, alone."""

    def act(spark: SparkSession, state: State, units: Sequence[Unit], desk: Desk) -> None:
        raise_reported(over_units(spark, units, work(state), desk, tasks=state.tasks).toArrow())

    return act


def extract_step(state: State) -> Step:
    extract = state.recipe.extract

    def units(state: State) -> list[Unit]:
        return [
            unit
            for source in state.recipe.sources
            for unit in files.units(source, state.found[source.name], extract.unit_bytes)
        ]

    parsers = ("fastwarc", "resiliparse") + (("trafilatura",) if extract.extractor == "trafilatura" else ())
    return Step(
        "extract",
        ("documents", "quarantine"),
        units,
        over(lambda state: partial(extract_unit, roots=state.roots, extract=extract)),
        extract.model_dump(mode="json", exclude={"unit_bytes"}),
        code_version(("glotmill.curate.extract.unit",), parsers),
    )


def measure_step(state: State) -> Step:
    recipe = located(state)

    def act(spark: SparkSession, state: State, units: Sequence[Unit], desk: Desk) -> None:
        work = partial(measure_unit.measure_unit, out=state.out, measures=measure_unit.measures(recipe))
        raise_reported(over_units(spark, units, work, desk, tasks=state.tasks).toArrow())

    return Step(
        "measure",
        ("signals",),
        partial(following, "measure", ()),
        act,
        {
            "language": recipe.language.model_dump(mode="json", include={"windows", "window_bytes"}),
            "contents": contents(recipe),
            "lines": [asdict(rule) for rule in line_rules(recipe.quality)],
        },
        code_version(("glotmill.curate.measure_unit",), ("fasttext-numpy2-wheel", "pycld2"), _MEASURED_BY),
    )


def judge_step(state: State) -> Step:
    ruleset = recipe_rules(state)

    def act(spark: SparkSession, state: State, units: Sequence[Unit], desk: Desk) -> None:
        if not ruleset.rules:
            work = partial(verdicts.keep_all, out=state.out)
            raise_reported(over_units(spark, units, work, desk, tasks=state.tasks).toArrow())
            return
        judged = plans.verdicts(spark, state, ruleset, [unit.key for unit in units]).select(*VERDICT.names, "unit")
        raise_reported(over_groups(judged, units, verdicts.write_verdicts, desk).toArrow())
        finish_empty(units, VERDICT, verdicts.write_verdicts, desk, "judge")

    return Step(
        "judge",
        ("verdicts",),
        partial(following, "judge", (("measure", "signals"),)),
        act,
        ruleset.written,
        code_version(("glotmill.curate.spark", "glotmill.curate.verdicts")),
    )


def dedup_step(state: State) -> Step:
    dedup = state.recipe.dedup
    asked = dedup_options(state)
    checked_index(state, asked)
    sources = [source.name for source in state.recipe.sources]
    config = [dedup.model_dump(mode="json", exclude={"lines", "substrings", "index", "index_add"}), sources]
    code = code_version(("glotmill.curate.dedup.spark", "glotmill.curate.dedup.write", "glotmill.jobs.dedup_step"))

    def units(state: State) -> list[Unit]:
        """Every unit depends on every document's signals and verdict: twins may lie anywhere, and in an index."""
        everything = fingerprint(
            [
                sorted((key, r.digests["signals"]) for key, r in state.receipts("measure").items()),
                sorted((key, r.digests["verdicts"]) for key, r in state.receipts("judge").items()),
            ]
        )

        def of(generations: Pairs) -> list[Unit]:
            payload = {AGAINST: [list(pair) for pair in generations]} if generations else {}
            return [Unit("dedup", key, part.label, payload, (everything,)) for key, part in state.parts().items()]

        return of(against(state, of, config=config, code=code))

    return Step("dedup", ("dedup",), units, partial(find_duplicates, options=asked), config, code, sum_up)


def cut_step(state: State) -> Step:
    repeats = state.recipe.dedup.cuts_repeats
    upstream: tuple[tuple[str, str], ...] = (("measure", "signals"), ("judge", "verdicts"), ("dedup", "dedup"))
    upstream += (("repeats", "repeats"),) if repeats else ()
    return Step(
        "cut",
        ("kept", "dropped"),
        partial(following, "cut", upstream),
        over(lambda state: partial(cut_unit, out=state.out, repeats=repeats)),
        None,
        code_version(("glotmill.curate.cut",)),
    )


def following(step: str, upstream: tuple[tuple[str, str], ...], state: State) -> list[Unit]:
    """A unit for each file of documents, depending on its content and on the digests of what else it reads."""
    receipts = [(state.receipts(name), digest) for name, digest in upstream]
    return [
        Unit(step, key, part.label, {}, (part.digest, *(of[key].digests[digest] for of, digest in receipts)))
        for key, part in state.parts().items()
    ]
