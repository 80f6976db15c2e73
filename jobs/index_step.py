"""The step that adds the documents a run kept to the index that its recipe names."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from glotmill.curate.blocks.spark import few_rows_at_once, of_items
from glotmill.curate.dedup import spark as plan
from glotmill.curate.dedup.index import files
from glotmill.curate.dedup.index.format import (
    Generation,
    Index,
    pairs,
    path_of,
    read_index,
    with_generation,
    write_index,
)
from glotmill.curate.dedup.index.locks import changing, in_use, sweep
from glotmill.curate.dedup.index.parameters import check_parameters, parameters
from glotmill.curate.dedup.options import Options
from glotmill.jobs.dedup_step import dedup_options
from glotmill.jobs.indexing import AGAINST, identity, index_folder
from glotmill.jobs.state import State
from glotmill.jobs.steps import Step, dedup_step
from glotmill.jobs.units import Desk, Shelf, over_parts, over_units, raise_reported
from glotmill.schemas.code import code_version
from glotmill.schemas.errors import LedgerError
from glotmill.schemas.ids import fingerprint
from glotmill.schemas.units import Books, Outcome, Unit

ONLY = "all"


def index_step(state: State) -> Step:
    """One unit: what the whole run adds appears at once, when index.json names it. None without an index."""
    folder = index_folder(state)
    dedup = dedup_step(state)
    adds = folder is not None and state.recipe.dedup.index_add

    def units(state: State) -> list[Unit]:
        if folder is None or not adds:
            return []
        compared = dedup.units(state)
        seen = compared[0].payload.get(AGAINST, []) if compared else []
        content = _content(state)
        own = read_index(folder).of(identity(state.out))
        if own is None or (own.content, [list(pair) for pair in own.against]) != (content, seen):
            state.ledger.forget("index", [ONLY])  # written by a run that was killed, or taken out since
        return [Unit("index", ONLY, str(folder), {AGAINST: seen}, (content,))]

    return Step(
        "index",
        (),
        units,
        partial(add_to_index, options=dedup_options(state)),
        None,
        code_version(("glotmill.curate.dedup.index.files", "glotmill.jobs.index_step")),
    )


def _content(state: State) -> str:
    """Of all that entries are made from: whom the others repeat is not among it."""
    return fingerprint(
        [
            sorted((key, receipt.digests[digest]) for key, receipt in state.receipts(step).items())
            for step, digest in (("measure", "signals"), ("dedup", "kept"))
        ]
    )


def add_to_index(spark: SparkSession, state: State, units: Sequence[Unit], desk: Desk, *, options: Options) -> None:
    """Write a generation, and have index.json name it.

    Raises:
        LedgerError: another run added something that this one's documents were not compared with.
    """
    folder = index_folder(state)
    assert folder is not None, "a run without an index has no unit of this step"
    (unit,) = units
    content, seen = unit.upstream[0], tuple((name, digest) for name, digest in unit.payload[AGAINST])
    run = identity(state.out, make=True)
    with ExitStack() as using:
        using.enter_context(in_use(folder))
        made = _unchanged(read_index(folder), run, content)
        if made is None or made.against != seen:
            made = made or _write(spark, state, folder, run, content, options)
            made = replace(made, against=seen)
            with changing(folder):
                index = read_index(folder)
                check_parameters(index, options)
                _check_all_seen(state, index, made)
                index = with_generation(index, made, parameters(options))
                write_index(index)
                using.close()
                sweep(index)
    kept = sum(receipt.books.kept for receipt in state.receipts("dedup").values())
    entries = made.entries + made.removed
    skipped = {"reference": kept - entries} if kept > entries else {}
    outcome = Outcome(Books(kept, entries, skipped=skipped), {"index": made.digest}, facts={"generation": made.name})
    desk.do(unit, lambda unit, files: (outcome, ()))


def _unchanged(index: Index, run: str, content: str) -> Generation | None:
    """What the run added before, if it would add the same again."""
    own = index.of(run)
    return own if own is not None and own.content == content else None


def _check_all_seen(state: State, index: Index, made: Generation) -> None:
    """Also that the generation which is to be named again is still there: its files are nobody's otherwise."""
    news = [name for name, digest in pairs(index.others(made.run)) if (name, digest) not in made.against]
    if state.recipe.dedup.compare != "self" and news:
        raise LedgerError(
            f"{', '.join(news)} came into the index {index.folder} after this run's documents were compared with it: "
            "run the same command again, which compares them with that, too"
        )
    own = index.of(made.run)
    if not index.path(made).is_dir() or (own is not None and own.removed > made.removed):
        raise LedgerError(f"the index {index.folder} changed while this run added to it: run the same command again")


def _write(spark: SparkSession, state: State, folder: Path, run: str, content: str, options: Options) -> Generation:
    """The files of a generation, in a folder that nothing names yet."""
    name = f"{state.recipe.name}-{run[:8]}"
    receipts = state.receipts("dedup")
    keys = tuple(sorted(receipts))
    documents = sum(receipt.books.kept for receipt in receipts.values())
    chunks = files.chunks_for(documents)
    made = Generation(name, run, content, (), f"{name}-{state.run[:12]}", 0, keys, chunks)
    shelf = Shelf(str(path_of(folder, made)), state.run, None, "")
    units = [Unit("index", key, receipts[key].label) for key in keys]
    write = partial(files.write_entries, out=state.out, options=options)
    raise_reported(over_units(spark, units, write, shelf, tasks=state.tasks).toArrow())
    signed = [shelf.folder / files.signatures_file(key) for key in keys]
    _write_bands(spark, state, made, shelf, documents, options)
    return replace(made, entries=sum(pq.read_metadata(path).num_rows for path in signed))


def _write_bands(
    spark: SparkSession, state: State, made: Generation, shelf: Shelf, documents: int, options: Options
) -> None:
    """The keys of its entries, by band and key. One shuffle: 16 bytes a key, one key a band and entry."""
    few_rows_at_once(spark)
    names = files.band_names(options, made.chunks)
    read: Any = partial(files.band_blocks, folder=shelf.folder, options=options, chunks=made.chunks)
    blocks = of_items(spark, list(enumerate(made.files)), read, tasks=state.tasks) if made.files else None
    every = plan.each_file(spark, len(names))
    parts = plan.sizes(documents, options, spark.sparkContext.defaultParallelism).bands
    write = partial(files.write_band, chunks=made.chunks)
    by_number = {number: Unit("index", name, name) for number, name in enumerate(names)}
    blocks = every if blocks is None else blocks.unionByName(every)
    raise_reported(over_parts(blocks, by_number, write, shelf, tasks=min(len(names), parts)).toArrow())
