"""Units on Spark: one task does some units, each committed by the worker that did it, with its receipt."""

import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from glotmill.curate.blocks.packed import Kinds
from glotmill.curate.blocks.spark import exchange
from glotmill.schemas import errors
from glotmill.schemas.atomic import RangeStamp, Transaction, transaction
from glotmill.schemas.errors import GlotmillError, LedgerError
from glotmill.schemas.ledger import Ledger, Receipt, do_unit, unit_fingerprint
from glotmill.schemas.units import Outcome, Unit

Work = Callable[[Unit, Transaction], tuple[Outcome, tuple[RangeStamp, ...]]]
PartWork = Callable[[Unit, Transaction, int, Kinds], Outcome]
GroupWork = Callable[[Unit, Transaction, pa.Table], Outcome]

_FULL_OR_CLOSED = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)
_REPORT = "unit string, kind string, message string"
_MAX_TASKS = 20_000


@dataclass(frozen=True, slots=True)
class Desk:
    """What a worker needs to commit a unit: where, for which run, under which configuration and code."""

    out: str
    run: str
    config: Any
    code: str

    def do(self, unit: Unit, work: Work) -> None:
        """Do one unit and leave its receipt.

        Raises:
            LedgerError: The output folder is full or can't be written any more; nothing half-written stays.
        """
        token = f"{os.getpid()}-{time.monotonic_ns():x}"
        out = Path(self.out)
        clock = time.perf_counter
        with _room(unit, out):
            do_unit(unit, work, out=out, run=self.run, token=token, config=self.config, code=self.code, clock=clock)

    def is_todays(self, receipt: Receipt, unit: Unit) -> bool:
        return receipt.fingerprint == unit_fingerprint(unit, config=self.config, code=self.code)


@dataclass(frozen=True, slots=True)
class Shelf(Desk):
    """A desk that leaves files without receipts, below a folder that isn't an output folder."""

    @property
    def folder(self) -> Path:
        return Path(self.out)

    def do(self, unit: Unit, work: Work) -> None:
        with _room(unit, self.folder), transaction(self.folder, f"{os.getpid()}-{time.monotonic_ns():x}") as files:
            work(unit, files)
            files.commit()


@contextmanager
def _room(unit: Unit, folder: Path) -> Iterator[None]:
    """What the file system refuses is told with the remedy."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL_OR_CLOSED:
            raise
        raise LedgerError(
            f"{unit.step} of {unit.label} could not write to {folder}: {os.strerror(error.errno)}. "
            "Make room or allow it, and run the same command again: what was finished stays"
        ) from error


def over_units(spark: SparkSession, units: Sequence[Unit], work: Work, desk: Desk, *, tasks: int | None) -> DataFrame:
    """Do every unit in Python workers, one pass, no shuffle: one row (unit, kind, message) a unit, kind null when done.

    Args:
        tasks: Spark tasks at the most; by default one a unit.
    """
    slices = max(1, min(len(units), tasks or _MAX_TASKS))

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for index in batch["id"].to_pylist():
                yield _report(units[index], lambda unit: desk.do(unit, work))

    return spark.range(0, len(units), 1, slices).mapInArrow(run, _REPORT)


def over_groups(table: DataFrame, units: Sequence[Unit], work: GroupWork, desk: Desk, *, by: str = "unit") -> DataFrame:
    """Do a unit from each group of rows whose column `by` holds the unit's key. One shuffle of `table`.

    A unit without rows has no group: `finish_empty` does those.
    """
    known = {unit.key: unit for unit in units}
    rows = table.where(table[by].isin(list(known))) if len(known) <= 1000 else table

    def run(key: tuple[Any, ...], group: pa.Table) -> pa.Table:
        unit = known.get(key[0].as_py())
        if unit is None:  # another unit's rows, read because the table is read whole
            return pa.Table.from_batches([], _report_schema())
        done = _report(unit, lambda unit: desk.do(unit, lambda u, f: (work(u, f, group.drop_columns([by])), ())))
        return pa.Table.from_batches([done])

    return rows.groupBy(by).applyInArrow(run, _REPORT)


def over_parts(blocks: DataFrame, units: Mapping[int, Unit], work: PartWork, desk: Desk, *, tasks: int) -> DataFrame:
    """Do a unit from the blocks of each part whose number `units` knows. One shuffle of `blocks`."""

    def run(part: int, kinds: Kinds) -> Iterator[pa.RecordBatch]:
        unit = units.get(part)
        if unit is not None:
            yield _report(unit, lambda unit: desk.do(unit, lambda u, f: (work(u, f, part, kinds), ())))

    return exchange(blocks, run, parts=tasks, schema=_report_schema())


def finish_empty(units: Sequence[Unit], schema: pa.Schema, work: GroupWork, desk: Desk, step: str) -> None:
    """Do, here and now, the units that got no rows."""
    done = Ledger(Path(desk.out))
    for unit in units:
        receipt = done.receipt(step, unit.key)
        if receipt is None or not desk.is_todays(receipt, unit):
            desk.do(unit, lambda u, f: (work(u, f, schema.empty_table()), ()))


def _report(unit: Unit, do: Callable[[Unit], None]) -> pa.RecordBatch:
    """Errors that a retry can't mend come back as rows; others are raised, so that Spark tries again."""
    kind = message = None
    try:
        do(unit)
    except GlotmillError as error:
        kind, message = type(error).__name__, str(error)
    return pa.RecordBatch.from_arrays(
        [pa.array([v], pa.string()) for v in (unit.key, kind, message)], schema=_report_schema()
    )


def _report_schema() -> pa.Schema:
    return pa.schema([(name, pa.string()) for name in ("unit", "kind", "message")])


def raise_reported(reports: pa.Table) -> None:
    """Raise the first error that a worker reported, as its own class."""
    for row in reports.to_pylist():
        if row["kind"] is not None:
            raise getattr(errors, row["kind"], GlotmillError)(row["message"])
