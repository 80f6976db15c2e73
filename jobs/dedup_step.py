"""The step that finds duplicates: what it is asked, and how Spark does it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pyspark.sql import SparkSession

from glotmill.curate import signals
from glotmill.curate.dedup import spark as plan
from glotmill.curate.dedup.options import Options, options
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
    """Compare all documents of a run, and write the table of some files."""
    files = sorted(state.receipts("measure"))
    numbers = {key: number for number, key in enumerate(files)}
    documents = sum(receipt.books.kept for receipt in state.receipts("judge").values())
    nothing = plan.each_file(spark, len(files))
    with comparing(state, units[0].payload.get(AGAINST, []), len(files)) as known:
        if state.recipe.dedup.mode == "off":
            options = replace(options, compare_all=False)
            found = plan.Duplicates(nothing, {})
        else:
            found = plan.duplicates(spark, files, out=state.out, options=options, documents=documents, known=known)
        try:
            _guard(state, found.counts.get("removed", 0), documents)
            write = partial(write_dedup, out=state.out, options=options, index=known)
            blocks = found.blocks.unionByName(nothing)
            by_number = {numbers[unit.key]: unit for unit in units}
            tasks = max(1, min(len(files), state.tasks or len(files)))
            raise_reported(over_parts(blocks, by_number, write, desk, tasks=tasks).toArrow())
        finally:
            found.release()


def _guard(state: State, removed: int, documents: int) -> None:
    """Raises GuardError when more would be removed than the recipe allows."""
    limit = state.recipe.dedup.max_removed_share
    if limit is not None and removed > limit * documents:
        raise GuardError(
            f"{removed:,} of {documents:,} documents ({removed / documents:.1%}) would be removed as duplicates, more "
            f"than dedup.max_removed_share, {limit:g}, allows; nothing was written. Raise it if that is right, or look "
            "at dedup.similarity, dedup.digits and dedup.shingles"
        )
