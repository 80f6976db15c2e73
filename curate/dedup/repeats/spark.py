"""The search for repeats on Spark: the stages of unit.py with a shuffle of blocks before each. No text enters the JVM.

Shuffled are, of every line that is long enough, 48 bytes; of every fingerprint 17 bytes (about one in 13 words where 50
are asked for); of the words in stretches that occur twice 28 bytes each, once a file; of each stretch that is cut 28.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from glotmill.curate.blocks.packed import pack
from glotmill.curate.blocks.spark import exchange, few_rows_at_once, of_items
from glotmill.curate.dedup.repeats import unit
from glotmill.curate.dedup.repeats.documents import Asked
from glotmill.curate.dedup.repeats.lines import LAST, LAST_SCHEMA
from glotmill.curate.dedup.repeats.substrings import OWNER, ROW, RUN, SHARED, WINDOW

_PART_BYTES = 32 << 20  # of text whose records go to one part
_LEVEL = StorageLevel.MEMORY_AND_DISK


class Repeats:
    """What was found, before anything is written.

    Args:
        blocks: Rows of BLOCK: LAST and RUN to the files of the documents; at least one to every file.
        held: What is cached; `release` lets go of it.
    """

    def __init__(self, blocks: DataFrame, held: Sequence[DataFrame]) -> None:
        self.blocks, self._held = blocks, held

    def release(self) -> None:
        for frame in self._held:
            frame.unpersist()


def find_repeats(
    spark: SparkSession, files: Sequence[str], *, out: Path, asked: Asked, text_bytes: int, tasks: int | None = None
) -> Repeats:
    """Compare all kept documents of some files.

    Args:
        files: Keys of all files of OUT/documents, sorted.
        text_bytes: About how much text they hold.
        tasks: Tasks that read files, at the most.
    """
    few_rows_at_once(spark)
    parts = parts_of(text_bytes, spark.sparkContext.defaultParallelism)
    first = of_items(spark, list(enumerate(files)), partial(unit.read, out=out, asked=asked, parts=parts), tasks=tasks)
    told = exchange(first, partial(unit.compare, asked=asked), parts=parts).persist(_LEVEL)
    held = [told]
    blocks = _each_file(spark, len(files)).unionByName(_of_kind(told, LAST))
    if asked.substrings is not None:
        again = partial(unit.reread, files=tuple(files), out=out, asked=asked, parts=parts)
        windows = exchange(_of_kind(told, SHARED, ROW), again, parts=min(len(files), tasks or len(files))).persist(
            _LEVEL
        )
        held.append(windows)
        found = exchange(_of_kind(windows, WINDOW, OWNER), unit.locate, parts=parts)
        blocks = blocks.unionByName(_of_kind(windows, RUN)).unionByName(found)
    return Repeats(blocks, held)


def parts_of(text_bytes: int, cores: int) -> int:
    """Into how many parts records go: enough that each is small, and for all cores where there is work for them."""
    return int(max(1, min(cores, text_bytes >> 20), -(-text_bytes // _PART_BYTES)))


def _each_file(spark: SparkSession, files: int) -> DataFrame:
    """A block without records for each file, so that a file about which nothing is told is a part, too."""
    nothing = pack(pa.RecordBatch.from_pylist([], schema=LAST_SCHEMA))
    return spark.range(files).select(
        F.col("id").cast("int").alias("part"), F.lit(LAST).alias("kind"), F.lit(nothing).alias("data")
    )


def _of_kind(blocks: DataFrame, *kinds: str) -> DataFrame:
    return blocks.where(F.col("kind").isin(*kinds))
