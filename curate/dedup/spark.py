"""Exact duplicates on Spark: small columns only, ties by id, so the answer doesn't depend on partitioning."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

SCOPES = {"all": (), "language": ("language",), "source": ("source",)}


def exact_duplicates(
    signals: DataFrame, *, scope: str, keep: Sequence[str], sources: Sequence[str], unit: str = "unit"
) -> DataFrame:
    """Which of the documents in `signals` repeat another one's normalised text.

    Args:
        signals: id, source_id, source, language, chars, text_hash, and the column named by `unit`.
        scope: all, language or source: twins are sought within this.
        keep: Criteria for who stays, first one first: source_priority (the order of `sources`), longest.
        sources: Names, most trusted first.

    Returns:
        The columns of schemas.document.DEDUP and `unit`, one row a document.

    Cost: one shuffle of (id, hash, criteria, unit) by hash; no text. A hash that occurs a million times is one
    group of a million small rows: sorted by Spark on disk, never held in memory.
    """
    group = Window.partitionBy("text_hash", *SCOPES[scope])
    order = [*(_criterion(name, sources) for name in keep), F.col("id")]
    ranked = signals.select(
        "id",
        "source_id",
        unit,
        F.first("id").over(group.orderBy(*order)).alias("leader"),
        F.count("*").over(group).alias("cluster_size"),
    )
    stays = F.col("id") == F.col("leader")
    repeated = F.col("cluster_size") > 1
    return ranked.select(
        "id",
        "source_id",
        stays.alias("keep"),
        F.when(repeated, F.lit("exact")).alias("kind"),
        F.when(~stays, F.col("leader")).alias("twin"),
        F.when(~stays, F.lit(1.0)).alias("similarity"),
        F.when(repeated, F.col("leader")).alias("cluster"),
        "cluster_size",
        unit,
    )


def no_duplicates(signals: DataFrame, *, unit: str = "unit") -> DataFrame:
    """The same table when deduplication is off: everybody stays. No shuffle."""
    nothing = F.lit(None)
    return signals.select(
        "id",
        "source_id",
        F.lit(True).alias("keep"),
        nothing.cast("string").alias("kind"),
        nothing.cast("string").alias("twin"),
        nothing.cast("double").alias("similarity"),
        nothing.cast("string").alias("cluster"),
        F.lit(1).cast("bigint").alias("cluster_size"),
        unit,
    )


def _criterion(name: str, sources: Sequence[str]) -> Column:
    if name == "longest":
        return F.col("chars").desc()
    ranks = F.create_map(*(part for rank, source in enumerate(sources) for part in (F.lit(source), F.lit(rank))))
    return F.coalesce(ranks[F.col("source")], F.lit(len(sources))).asc()
