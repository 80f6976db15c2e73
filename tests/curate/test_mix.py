"""What a plan asks, what it takes, and where each use of a document lands."""

from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from glotmill.curate.mix.aim import aim
from glotmill.curate.mix.plan import Plan, nearest_cut
from glotmill.curate.mix.spark import order_key as key_column
from glotmill.curate.mix.spark import placed, plan_mix
from glotmill.schemas.ids import PICK, order_key
from glotmill.schemas.recipe import Mix


def plan_of(table: DataFrame, *, budget: int | None, max_epochs: float, seed: int) -> Plan:
    asked = Mix(tokens=budget, max_epochs=max_epochs)
    return plan_mix(table, aimed=partial(aim, asked, base=Path()), max_epochs=max_epochs, seed=seed)


@given(
    st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 1000)), unique_by=lambda pair: pair[0]),
    st.integers(0, 9999),
)
def test_a_cut_takes_a_prefix_by_key_that_comes_nearest(rows: list[tuple[int, int]], wanted: int) -> None:
    keys, tokens = np.array([k for k, _ in rows], np.uint64), np.array([t for _, t in rows], np.int64)
    cut, documents, taken = nearest_cut(keys, tokens, wanted)
    chosen = [t for k, t in rows if cut and k <= int(cut, 16)]
    assert (len(chosen), sum(chosen)) == (documents, taken)
    prefixes = np.concatenate([[0], np.cumsum([t for _, t in sorted(rows)])])
    assert abs(taken - wanted) == min(abs(p - wanted) for p in prefixes)


@given(
    st.integers(0, 2**40),
    st.integers(-1, 5),
    st.lists(st.text("0123456789abcdef", min_size=32, max_size=32), min_size=1, max_size=3),
)
def test_order_keys_are_64_bits(seed: int, epoch: int, ids: list[str]) -> None:
    assert all(0 <= order_key(seed, epoch, id) < 2**64 for id in ids)


def index(spark: SparkSession, documents: int = 400):  # type: ignore[no-untyped-def]
    rows = [
        {"id": f"{n:032x}", "cell": "ita_Latn.web" if n % 3 else "tha_Thai.law", "tokens": 10 + n * 7 % 90}
        for n in range(documents)
    ]
    return spark.createDataFrame(pa.Table.from_pylist(rows))


def test_spark_and_python_agree_on_order_keys(spark: SparkSession) -> None:
    rows = index(spark, 20).select("id", key_column(17, 3).alias("key")).collect()
    assert all(row.key % 2**64 == order_key(17, 3, row.id) for row in rows)


@pytest.mark.parametrize("budget", [None, 1, 500, 5_000, 20_000, 50_000])
def test_what_is_planned_is_what_is_placed(spark: SparkSession, budget: int | None) -> None:
    table = index(spark)
    plan = plan_of(table, budget=budget, max_epochs=4.0, seed=5)
    rows = placed(table, plan, shards=3).toArrow().to_pylist()
    assert sum(row["tokens"] for row in rows) == plan.planned
    assert len(rows) == plan.uses
    for name, share in plan.cells.items():
        mine = [row for row in rows if row["cell"] == name]
        assert sum(row["tokens"] for row in mine) == share.planned
        assert abs(share.planned - share.asked) <= 50
        picked = {row["id"] for row in mine if order_key(5, PICK, row["id"]) <= int(share.cut or "-1", 16)}
        assert len(picked) == share.picked
    assert all(0 <= row["key"] < 1 and row["shard"] == int(row["key"] * 3) for row in rows)


def test_everything_once_is_every_document_once(spark: SparkSession) -> None:
    table = index(spark)
    rows = placed(table, plan_of(table, budget=None, max_epochs=1.0, seed=0), shards=1).toArrow()
    assert Counter(rows["id"].to_pylist()).most_common(1)[0][1] == 1 and rows.num_rows == 400


def test_a_larger_budget_contains_a_smaller_one(spark: SparkSession) -> None:
    table = index(spark)

    def uses(budget: int) -> Counter[str]:
        plan = plan_of(table, budget=budget, max_epochs=3.0, seed=5)
        return Counter(placed(table, plan, shards=1).toArrow()["id"].to_pylist())

    small, large = uses(4_000), uses(30_000)
    assert not small - large and small.total() < large.total()


def test_partitioning_changes_no_plan_and_no_place(spark: SparkSession) -> None:
    table = index(spark)
    plans = []
    for shuffled in (table.repartition(1), table.orderBy(F.rand(3)).repartition(7)):
        plan = plan_of(shuffled, budget=9_000, max_epochs=1.0, seed=5)
        plans.append((plan.to_json(), sorted(placed(shuffled, plan, shards=4).toArrow().to_pylist(), key=str)))
    assert plans[0] == plans[1]


def test_cells_are_spread_over_the_whole_order(spark: SparkSession) -> None:
    table = index(spark)
    rows = placed(table, plan_of(table, budget=30_000, max_epochs=3.0, seed=5), shards=1).toArrow().to_pylist()
    for cell in ("ita_Latn.web", "tha_Thai.law"):
        keys = np.sort([row["key"] for row in rows if row["cell"] == cell])
        assert np.abs(keys - np.linspace(0, 1, len(keys))).max() < 0.1


def test_a_plan_survives_its_json(spark: SparkSession) -> None:
    plan = plan_of(index(spark), budget=5_000, max_epochs=1.0, seed=5)
    assert Plan.from_json(plan.to_json()) == plan


def test_two_uses_of_a_document_lie_half_an_epoch_apart(spark: SparkSession) -> None:
    table = index(spark)
    for budget in (30_000, 45_000, 53_000):  # about 1.5, 2.2 and 2.7 epochs
        plan = plan_of(table, budget=budget, max_epochs=3.0, seed=5)
        rows = placed(table, plan, shards=1).toArrow().to_pylist()
        for cell, share in plan.cells.items():
            places: dict[str, list[float]] = {}
            for row in rows:
                if row["cell"] == cell:
                    places.setdefault(row["id"], []).append(row["key"] * share.epochs)
            gaps = [b - a for found in places.values() for a, b in pairwise(sorted(found))]
            assert gaps and min(gaps) > 0.45  # a partial epoch's end is counted in tokens, its halves in documents


def test_each_epoch_has_an_order_of_its_own(spark: SparkSession) -> None:
    table = index(spark)
    rows = placed(table, plan_of(table, budget=60_000, max_epochs=3.0, seed=5), shards=1).toArrow().sort_by("key")
    mine = [(row["epoch"], row["id"]) for row in rows.to_pylist() if row["cell"] == "ita_Latn.web"]
    first, second = ([id for epoch, id in mine if epoch == number] for number in (0, 1))
    neighbours = set(pairwise(first)) & set(pairwise(second))
    assert set(first) == set(second) and len(neighbours) < len(first) / 20
