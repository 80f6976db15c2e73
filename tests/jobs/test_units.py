"""Units on Spark: what workers commit, what they report, and what a full disk says."""

import errno
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from glotmill.jobs.units import Desk, finish_empty, over_groups, over_units, raise_reported
from glotmill.schemas.atomic import RangeStamp, Transaction
from glotmill.schemas.errors import InputError, LedgerError
from glotmill.schemas.ledger import Ledger
from glotmill.schemas.units import Books, Outcome, Unit

UNITS = [Unit("step", f"u{number}", f"unit {number}") for number in range(5)]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    Ledger(tmp_path).begin("run")
    return Desk(str(tmp_path), "run", None, "code")


@pytest.mark.parametrize("tasks", [1, 3, None])
def test_every_unit_is_done_once_by_some_worker(spark: SparkSession, desk: Desk, tasks: int | None) -> None:
    def work(unit: Unit, files: Transaction) -> tuple[Outcome, tuple[RangeStamp, ...]]:
        files.path(f"table/{unit.key}.txt").write_text(unit.label)
        return Outcome(Books(1, 1)), ()

    raise_reported(over_units(spark, UNITS, work, desk, tasks=tasks).toArrow())
    receipts = Ledger(Path(desk.out)).receipts("step")
    assert sorted(receipts) == [unit.key for unit in UNITS]
    assert (Path(desk.out) / "table/u3.txt").read_text() == "unit 3"


def test_an_error_that_someone_must_mend_keeps_its_class_and_costs_no_neighbour(
    spark: SparkSession, desk: Desk
) -> None:
    def work(unit: Unit, files: Transaction) -> tuple[Outcome, tuple[RangeStamp, ...]]:
        if unit.key == "u1":
            raise InputError("u1 changed while it was read: leave it alone, and run again")
        return Outcome(), ()

    with pytest.raises(InputError, match="u1 changed"):
        raise_reported(over_units(spark, UNITS, work, desk, tasks=2).toArrow())
    assert sorted(Ledger(Path(desk.out)).receipts("step")) == ["u0", "u2", "u3", "u4"]


def test_a_full_disk_is_said_and_leaves_nothing_half_written(desk: Desk) -> None:
    def work(unit: Unit, files: Transaction) -> tuple[Outcome, tuple[RangeStamp, ...]]:
        files.path("table/a.bin").write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(LedgerError, match="No space left on device.*run the same command again"):
        desk.do(UNITS[0], work)
    out = Path(desk.out)
    assert [path for path in out.rglob("*") if path.is_file()] == [out / "ledger" / "run.json"]


def test_groups_are_units_and_those_without_rows_are_done_too(spark: SparkSession, desk: Desk) -> None:
    rows = pa.table({"unit": ["u0", "u2", "u0", "other"], "id": ["a", "b", "c", "d"]})
    schema = pa.schema({"id": pa.string()})

    def work(unit: Unit, files: Transaction, group: pa.Table) -> Outcome:
        assert group.schema.names == ["id"]
        return Outcome(Books(group.num_rows, group.num_rows), facts={"ids": sorted(group["id"].to_pylist())})

    raise_reported(over_groups(spark.createDataFrame(rows), UNITS, work, desk).toArrow())
    finish_empty(UNITS, schema, work, desk, "step")
    receipts = Ledger(Path(desk.out)).receipts("step")
    assert {key: receipt.facts["ids"] for key, receipt in receipts.items()} == {
        "u0": ["a", "c"],
        "u1": [],
        "u2": ["b"],
        "u3": [],
        "u4": [],
    }
