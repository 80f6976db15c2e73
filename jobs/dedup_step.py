"""The step that finds duplicates: what it is asked, how Spark does it, and what stops it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from glotmill.curate import signals
from glotmill.curate.blocks.spark import exchange, few_rows_at_once, of_items
from glotmill.curate.dedup import guard, ids, summary
from glotmill.curate.dedup import spark as plan
from glotmill.curate.dedup.options import Options, options
from glotmill.curate.dedup.summary import Cluster
from glotmill.curate.dedup.write import write_dedup
from glotmill.jobs.indexing import AGAINST, comparing
from glotmill.jobs.state import State
from glotmill.jobs.units import Desk, over_parts, raise_reported
from glotmill.schemas.errors import GuardError
from glotmill.schemas.units import Unit


def dedup_options(state: State) -> Options:
    """The options of a run's recipe.

    Raises:
        RecipeError: the section `dedup` asks for what can't be.
    """
    recipe = state.recipe
    return options(recipe.dedup, [source.name for source in recipe.sources], signals=signals.names(recipe.quality))


def find_duplicates(spark: SparkSession, state: State, units: Sequence[Unit], desk: Desk, *, options: Options) -> None:
    """Compare all documents of a run, and write the table of some files.

    Raises:
        InputError: two documents of a source have one id.
        GuardError: more would be removed than dedup.max_removed_share allows; nothing was written.
    """
    files = sorted(state.receipts("measure"))
    numbers = {key: number for number, key in enumerate(files)}
    documents = sum(receipt.books.kept for receipt in state.receipts("judge").values())
    nothing = plan.each_file(spark, len(files))
    with comparing(state, units[0].payload.get(AGAINST, []), len(files)) as known:
        if state.recipe.dedup.mode == "off":
            options = replace(options, compare_all=False)
            found = plan.Duplicates(nothing, {})
        else:
            check_ids(spark, state)
            says = partial(_says, spark, state)
            found = plan.duplicates(
                spark, files, out=state.out, options=options, documents=documents, known=known, doing=says
            )
        try:
            _guard(found, state, guard.Shown(files, state.out, options), documents)
            _says(spark, state, "writing")
            write = partial(write_dedup, out=state.out, options=options, index=known)
            blocks = found.blocks.unionByName(nothing)
            by_number = {numbers[unit.key]: unit for unit in units}
            tasks = max(1, min(len(files), state.tasks or len(files)))
            raise_reported(over_parts(blocks, by_number, write, desk, tasks=tasks).toArrow())
        finally:
            found.release()


def check_ids(spark: SparkSession, state: State) -> None:
    """Raise InputError if two documents of a source with an id column have one id; see ids.check.

    Cost: one shuffle of 24 bytes a document of those sources.
    """
    named = {source.name for source in state.recipe.sources if source.columns.id is not None}
    if not named or not state.recipe.dedup.unique_ids:
        return
    _says(spark, state, "ids")
    sources = ((key, source) for key, source in sorted(state.sources().items()) if source in named)
    files = [ids.File(number, key, source) for number, (key, source) in enumerate(sources)]
    documents = sum(receipt.books.records for receipt in state.receipts("judge").values())
    parts = plan.parts_of(documents, ids.BYTES, spark.sparkContext.defaultParallelism)
    few_rows_at_once(spark)
    blocks = of_items(spark, files, partial(ids.hashed, out=state.out, parts=parts))
    found = exchange(blocks, ids.repeats, parts=parts, schema=ids.REPEATS)
    ids.check(found.toArrow(), files, state.out)


def _says(spark: SparkSession, state: State, stage: str) -> None:
    """Name the stage on the bar and in Spark's own pages."""
    state.does(stage)
    spark.sparkContext.setJobDescription(f"dedup: {stage}")


def _guard(found: plan.Duplicates, state: State, shown: guard.Shown, documents: int) -> None:
    dedup = state.recipe.dedup
    if dedup.max_removed_share is None:
        return

    def samples() -> Sequence[Cluster]:
        schema = from_arrow_schema(guard.CANDIDATE)
        return shown.clusters(found.blocks.mapInArrow(guard.candidates, schema).toArrow())

    said = guard.message(dedup, dedup.max_removed_share, documents, found.counts, samples)
    if said is not None:
        raise GuardError(said)


def sum_up(state: State) -> None:
    """Bring OUT/dedup.json up to date; without deduplication there is none."""
    if state.recipe.dedup.mode == "off":
        (state.out / summary.FILE).unlink(missing_ok=True)
    else:
        summary.bring_up_to_date(state.ledger)
