"""All steps of a recipe, raw records to shards. `spark-submit jobs/run.py RECIPE --out DIR` is `glotmill run`."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from glotmill.jobs import pipeline, steps, token_steps
from glotmill.jobs.index_step import index_step
from glotmill.jobs.pipeline import MakeStep
from glotmill.jobs.repeats_step import repeats_step
from glotmill.jobs.report_step import report_step
from glotmill.jobs.reporting import Reporter, StepLine
from glotmill.jobs.session import QUICK_BYTES, session
from glotmill.jobs.state import State
from glotmill.schemas.recipe import Recipe

CURATION: tuple[MakeStep, ...] = (
    steps.extract_step,
    steps.measure_step,
    steps.judge_step,
    steps.dedup_step,
    repeats_step,
    steps.cut_step,
    index_step,
)
TOKENS: tuple[MakeStep, ...] = (
    token_steps.tokenizer_step,
    token_steps.tokenize_step,
    token_steps.mix_step,
    token_steps.shard_step,
    token_steps.manifest_step,
)
ALL: tuple[MakeStep, ...] = (*CURATION, *TOKENS, report_step)


def run_recipe(
    recipe: Recipe,
    *,
    base: Path,
    out: Path,
    reporter: Reporter,
    master: str | None = None,
    tasks: int | None = None,
    conf: Mapping[str, str] | None = None,
    make: Sequence[MakeStep] = ALL,
) -> list[StepLine]:
    """Bring `out` up to date with a recipe; see pipeline.run for what is raised.

    Args:
        base: Folder that the recipe's relative paths start from.
        master: Spark master; None means every core of this machine, or what spark-submit said.
        tasks: Spark tasks a step uses at the most.
        conf: Spark settings.
    """
    opened: list[SparkSession] = []

    def spark() -> SparkSession:
        if not opened:
            quick = sum(file.size for found in state.found.values() for file in found.files) < QUICK_BYTES
            opened.append(session(f"glotmill {recipe.name}", master=master, conf=conf, quick=quick))
        return opened[0]

    state = State(recipe, base, out.absolute(), tasks)
    return pipeline.run(state, make, spark=spark, reporter=reporter)


def books_json(name: str, out: Path, lines: Sequence[StepLine], more: Mapping[str, Any] | None = None) -> str:
    """One line: what became of every record, step by step, and more that a job tells."""
    told: dict[str, Any] = {
        "name": name,
        "output": str(out),
        "steps": {
            line.step: {
                "records": line.books.records,
                "kept": line.books.kept,
                "dropped": line.books.dropped,
                "skipped": line.books.skipped,
                "quarantined": line.books.quarantined,
                "units": line.units,
                "up_to_date": line.done_before,
                "seconds": round(line.seconds, 3),
                "bytes": line.bytes_in,
            }
            for line in lines
        },
        **(more or {}),
    }
    return json.dumps(told, ensure_ascii=False)


def main(argv: Sequence[str] | None = None) -> int:
    from glotmill.jobs.cli import main as command

    return command(["run", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    sys.exit(main())
