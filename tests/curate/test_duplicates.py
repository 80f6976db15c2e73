"""Who stays of equal texts, who goes and of whom: whatever the order and the partitions."""

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from glotmill.curate.dedup.spark import exact_duplicates, no_duplicates
from glotmill.schemas.document import DEDUP

#        id   source   language    chars  text_hash
ROWS = [
    ("a", "web", "ita_Latn", 10, "h1"),
    ("b", "law", "ita_Latn", 10, "h1"),
    ("c", "law", "fra_Latn", 12, "h1"),
    ("d", "web", "ita_Latn", 99, "h1"),
    ("e", "web", "ita_Latn", 50, "h2"),
]


@pytest.fixture(scope="module")
def signals(spark: SparkSession) -> DataFrame:
    names = ("id", "source", "language", "chars", "text_hash")
    rows = [dict(zip(names, row, strict=True)) | {"source_id": None, "unit": f"u{row[0]}"} for row in ROWS]
    schema = pa.schema({name: pa.int64() if name == "chars" else pa.string() for name in (*names, "source_id", "unit")})
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema))


def found(signals: DataFrame, **options: Any) -> dict[str, dict[str, Any]]:
    asked = {"scope": "all", "keep": ("source_priority", "longest"), "sources": ("law", "web")} | options
    return {row["id"]: row for row in exact_duplicates(signals, **asked).toArrow().to_pylist()}


@pytest.mark.parametrize(
    ("options", "twins"),
    [
        pytest.param({}, {"a": "c", "b": "c", "d": "c"}, id="the trusted source's longest stays"),
        pytest.param({"sources": ("web", "law")}, {"a": "d", "b": "d", "c": "d"}, id="the other source is trusted"),
        pytest.param({"keep": ("longest",)}, {"a": "d", "b": "d", "c": "d"}, id="the longest stays"),
        pytest.param({"keep": ()}, {"b": "a", "c": "a", "d": "a"}, id="ties go to the smallest id"),
        pytest.param({"scope": "language"}, {"a": "b", "d": "b"}, id="within a language"),
        pytest.param({"scope": "source"}, {"a": "d", "b": "c"}, id="within a source"),
    ],
)
def test_of_equal_texts_one_stays_and_is_named(signals: DataFrame, options: Any, twins: dict[str, str]) -> None:
    rows = found(signals, **options)
    assert {id: row["twin"] for id, row in rows.items() if not row["keep"]} == twins
    for row in rows.values():
        assert (row["similarity"], row["kind"]) == ((1.0, "exact") if not row["keep"] else (None, row["kind"]))
        assert row["twin"] is None or rows[row["twin"]]["keep"]


def test_a_cluster_tells_its_size_and_its_keeper(signals: DataFrame) -> None:
    rows = found(signals)
    assert {row["cluster_size"] for id, row in rows.items() if id != "e"} == {4}
    assert {row["cluster"] for id, row in rows.items() if id != "e"} == {"c"}
    assert (rows["e"]["cluster_size"], rows["e"]["cluster"], rows["e"]["kind"]) == (1, None, None)


def test_order_and_partitions_change_nothing(signals: DataFrame) -> None:
    assert found(signals.orderBy(F.rand(5)).repartition(4)) == found(signals.repartition(1))


def test_switched_off_everybody_stays(signals: DataFrame) -> None:
    rows = no_duplicates(signals).toArrow().to_pylist()
    assert all(row["keep"] and row["cluster_size"] == 1 and row["twin"] is None for row in rows) and len(rows) == 5


def test_both_give_the_table_of_the_contract(signals: DataFrame) -> None:
    for table in (exact_duplicates(signals, scope="all", keep=(), sources=()), no_duplicates(signals)):
        arrow = table.toArrow().select(DEDUP.names)
        assert arrow.cast(DEDUP).num_rows == 5
