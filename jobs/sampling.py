"""Text to train a tokenizer on: documents in the order of a hash, balanced over languages."""

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

from glotmill.curate.mix.spark import pick_key
from glotmill.jobs import plans
from glotmill.jobs.state import State
from glotmill.tokenize.kept import kept_documents
from glotmill.tokenize.vocabulary import EXCERPT_BYTES


def training_texts(spark: SparkSession, state: State, *, budget_bytes: int, seed: int) -> pa.StringArray:
    """Texts of kept documents, at most about `budget_bytes`, sorted by id; the same for every partitioning.

    Every language gives the same bytes, as far as it has them; what small languages leave goes to the large ones.

    Cost: one aggregation by language, one sort of the candidates' (key, id, bytes) by language; then the files that
    hold a chosen text are read, and the chosen texts alone reach the driver.
    """
    paths = state.paths("cut", ".parquet")
    kept = plans.parquet(spark, [path for path in paths if path.parent.name == "kept"])
    kept = kept.withColumn("bytes", F.least("bytes", F.lit(EXCERPT_BYTES)))  # no more of a text is read
    counted = kept.groupBy("language").agg(F.sum("bytes").alias("bytes"), F.count("*").alias("documents"))
    totals = {row["language"]: (row["bytes"], row["documents"]) for row in counted.collect()}
    cap = fair_cap({language: size for language, (size, _) in totals.items()}, budget_bytes)
    key = pick_key(seed)
    # Four times the wanted share by hash, and a hundred documents, fill a cap; 10^9 of a language stay unsorted.
    wanted = {name: min(1.0, 4 * cap / max(size, 1) + 100 / count) for name, (size, count) in totals.items()}
    if not wanted:
        return pa.array([], pa.string())
    share = F.create_map(*(F.lit(part) for pair in sorted(wanted.items()) for part in pair))[F.col("language")]
    place = key.cast("double") / float(1 << 64) + 0.5
    window = Window.partitionBy("language").orderBy("key", "id").rowsBetween(Window.unboundedPreceding, -1)
    before = F.coalesce(F.sum("bytes").over(window), F.lit(0))
    chosen = kept.withColumn("key", key).where(place <= share).withColumn("before", before).where(F.col("before") < cap)
    by_unit: dict[str, list[str]] = {}
    for row in chosen.select("unit", "id").toArrow().to_pylist():
        by_unit.setdefault(row["unit"], []).append(row["id"])
    return _texts(spark, state, by_unit)


def fair_cap(sizes: Mapping[str, int], budget: int) -> int:
    """The largest cap for which the sum of min(size, cap) stays within the budget (water-filling).

    >>> fair_cap({"a": 10, "b": 100, "c": 1000}, 110)
    50
    """
    left, languages = budget, sorted(sizes.values())
    for place, size in enumerate(languages):
        share = left // (len(languages) - place)
        if size >= share:
            return share
        left -= size
    return max(languages, default=0)


def _texts(spark: SparkSession, state: State, by_unit: Mapping[str, list[str]]) -> pa.StringArray:
    units = sorted(by_unit.items())
    out = state.out

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for index in batch["id"].to_pylist():
                unit, ids = units[index]
                yield from kept_documents(out, unit, ids=pa.array(ids, pa.string()))

    slices = max(1, min(len(units), state.tasks or len(units)))
    texts = spark.range(0, len(units), 1, slices).mapInArrow(read, "id string, text string").toArrow()
    return texts.sort_by("id")["text"].combine_chunks()
