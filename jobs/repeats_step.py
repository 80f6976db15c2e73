"""The step that cuts repeated lines and stretches of text out of the documents that deduplication keeps."""

from collections.abc import Sequence
from functools import partial

from pyspark.sql import SparkSession

from glotmill.curate.dedup.repeats.documents import Asked
from glotmill.curate.dedup.repeats.spark import find_repeats
from glotmill.curate.dedup.repeats.unit import write_repeats
from glotmill.jobs.state import State
from glotmill.jobs.steps import Step
from glotmill.jobs.units import Desk, over_parts, raise_reported
from glotmill.schemas.code import code_version
from glotmill.schemas.ids import fingerprint
from glotmill.schemas.units import Unit


def repeats_step(state: State) -> Step:
    """Without `dedup.lines` and `dedup.substrings` it has no units."""
    dedup = state.recipe.dedup
    asked = Asked.of(dedup, [source.name for source in state.recipe.sources])

    def units(state: State) -> list[Unit]:
        """Every unit depends on every document that is kept: what repeats may lie anywhere."""
        if not dedup.cuts_repeats:
            return []
        parts = state.parts()
        everything = fingerprint(
            [
                sorted((key, part.digest) for key, part in parts.items()),
                sorted((key, r.digests["signals"]) for key, r in state.receipts("measure").items()),
                sorted((key, r.digests["dedup"]) for key, r in state.receipts("dedup").items()),
            ]
        )
        return [Unit("repeats", key, part.label, {}, (everything,)) for key, part in parts.items()]

    return Step(
        "repeats",
        ("repeats",),
        units,
        partial(cut_repeats, asked=asked),
        [dedup.model_dump(mode="json", include={"lines", "substrings"}), list(asked.sources), asked.reference],
        code_version(("glotmill.curate.dedup.repeats.spark", "glotmill.jobs.repeats_step")),
    )


def cut_repeats(spark: SparkSession, state: State, units: Sequence[Unit], desk: Desk, *, asked: Asked) -> None:
    """Compare all documents of a run, and write the table of some files."""
    receipts = state.receipts("measure")
    files = sorted(receipts)
    text_bytes = sum(receipt.bytes_in for receipt in receipts.values())
    tasks = max(1, min(len(files), state.tasks or len(files)))
    found = find_repeats(spark, files, out=state.out, asked=asked, text_bytes=text_bytes, tasks=tasks)
    try:
        write = partial(write_repeats, out=state.out, asked=asked)
        numbers = {key: number for number, key in enumerate(files)}
        by_number = {numbers[unit.key]: unit for unit in units}
        raise_reported(over_parts(found.blocks, by_number, write, desk, tasks=tasks).toArrow())
    finally:
        found.release()
