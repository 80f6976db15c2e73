"""Blocks on Spark: made in workers, shuffled to their parts, worked on part by part."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from glotmill.curate.blocks.packed import BLOCK, Kinds, by_part

Item = TypeVar("Item")
Blocks = Iterator[pa.RecordBatch]

_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
ROWS_AT_ONCE = "256"  # of at most packed.MOST_BYTES each: below the 2 GiB of one Arrow column


def of_items(
    spark: SparkSession, items: Sequence[Item], work: Callable[[Item], Blocks], *, tasks: int | None = None
) -> DataFrame:
    """Rows of BLOCK that `work` makes of each item; no shuffle. One task an item unless `tasks` says less."""
    slices = max(1, min(len(items), tasks or len(items)))

    def run(batches: Iterable[pa.RecordBatch]) -> Blocks:
        for batch in batches:
            for index in batch["id"].to_pylist():
                yield from work(items[index])

    return spark.range(0, len(items), 1, slices).mapInArrow(run, from_arrow_schema(BLOCK))


def exchange(
    blocks: DataFrame, work: Callable[[int, Kinds], Blocks], *, parts: int, schema: pa.Schema = BLOCK
) -> DataFrame:
    """Rows (of BLOCK, or of `schema`) that `work` makes of each part's records. One shuffle of `blocks`.

    Args:
        blocks: Rows of BLOCK.
        work: Called once for each part that has records, with all of them. It may be called again for the same part
            when Spark repeats a task, and sees the records in another order then.
        parts: Tasks: about as many as there are parts.
    """

    def run(batches: Iterable[pa.RecordBatch]) -> Blocks:
        for part, kinds in by_part(batches):
            yield from work(part, kinds)

    placed = blocks.repartition(parts, "part").sortWithinPartitions("part")
    return placed.mapInArrow(run, from_arrow_schema(schema))


def few_rows_at_once(spark: SparkSession) -> None:
    """Blocks are large rows: hand few of them to Python in one batch."""
    spark.conf.set(_ROWS, ROWS_AT_ONCE)
