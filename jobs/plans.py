"""The Spark plans of a run: its tables read back, joined with the functions of the wings."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from glotmill.curate.mix.plan import Plan
from glotmill.curate.mix.spark import placed
from glotmill.curate.rules import RuleSet
from glotmill.curate.spark import judge
from glotmill.jobs.state import State

_GLOB = str.maketrans({character: f"\\{character}" for character in "\\*?[]{}"})


def parquet(spark: SparkSession, paths: Sequence[Path]) -> DataFrame:
    """Files of one table, with `unit`: the part of each file's name before the first dot."""
    table = spark.read.option("mergeSchema", "false").parquet(*(_url(path) for path in paths))
    return table.withColumn("unit", F.substring_index(F.col("_metadata.file_name"), ".", 1))


def _url(path: Path) -> str:
    """A path as Spark's readers want it: on the shared file system, and no glob."""
    return f"file:{str(path).translate(_GLOB)}"


def signals(spark: SparkSession, state: State, units: Iterable[str] | None = None) -> DataFrame:
    """Without `cuts`, which no rule reads and which would travel through the shuffles."""
    wanted = set(units) if units is not None else None
    paths = state.paths("measure", ".parquet")
    return parquet(spark, [path for path in paths if wanted is None or path.stem in wanted]).drop("cuts")


def verdicts(spark: SparkSession, state: State, ruleset: RuleSet, units: Sequence[str] | None) -> DataFrame:
    """The signals with the judgement's columns and unit; evaluated in the JVM, no shuffle."""
    return judge(signals(spark, state, units), ruleset.narrowed(_languages(state)))


def _languages(state: State) -> set[str]:
    """Those that some document is in."""
    return {language for receipt in state.receipts("measure").values() for language in receipt.facts["languages"]}


def index(spark: SparkSession, state: State) -> DataFrame | None:
    """The token store's document index with `cell`; None when nothing was kept."""
    paths = state.paths("tokenize", ".docs.parquet")
    if not paths:
        return None
    return parquet(spark, paths).withColumn("cell", F.concat_ws(".", "language", "domain"))


def shard_rows(spark: SparkSession, state: State, plan: Plan, shards: int) -> DataFrame:
    """What write_shard reads, with `shard`, the shard's unit key."""
    table = index(spark, state)
    assert table is not None, "a plan without documents has no shards"
    rows = placed(table, plan, shards=shards)
    return rows.withColumn("shard", F.format_string(f"{state.recipe.name}-%05d", "shard"))
