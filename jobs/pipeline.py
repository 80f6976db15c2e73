"""Steps one after another: what is done already stays, what is not is done, and the books must balance."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from glotmill.jobs.reporting import Reporter, StepLine, Watch
from glotmill.jobs.state import State, held
from glotmill.jobs.steps import Step
from glotmill.jobs.units import Desk
from glotmill.jobs.watch import watched
from glotmill.schemas.errors import BooksError, LedgerError
from glotmill.schemas.ledger import Ledger, Receipt, unit_fingerprint
from glotmill.schemas.units import Books, Unit

MakeStep = Callable[[State], Step]
OpenSpark = Callable[[], SparkSession]


@dataclass(frozen=True, slots=True)
class Due:
    """A unit that must be done, and why."""

    unit: Unit
    why: str


def run(state: State, steps: Sequence[MakeStep], *, spark: OpenSpark, reporter: Reporter) -> list[StepLine]:
    """Bring every step up to date.

    Args:
        spark: Called when the first unit is due, so that a run with nothing to do starts no Spark.

    Raises:
        GlotmillError: Of the class that says who must act; what was committed before stays and is not redone.
    """
    state.look()
    made = [make(state) for make in steps]  # what is wrong with a rule or a tokenizer is found here, before any work
    with held(state.out):
        state.ledger.begin(state.run)
        return [_bring_up_to_date(step, state, spark, reporter) for step in made]


def _bring_up_to_date(step: Step, state: State, spark: OpenSpark, reporter: Reporter) -> StepLine:
    started = time.perf_counter()
    units = step.units(state)
    if len({unit.key for unit in units}) != len(units):
        raise BooksError(f"{step.name} has two units with one key; report it with the recipe")
    ledger = state.ledger
    due = pending(step, units, ledger, state.roots)
    ledger.forget(step.name, ledger.receipts(step.name).keys() - {unit.key for unit in units})
    if due:
        _do(step, [item.unit for item in due], state, spark, reporter)
    receipts = _settled(step, units, ledger)
    for orphan in ledger.orphans(step.folders):
        orphan.unlink(missing_ok=True)
    books = total(receipts.values())
    books.check(step.name)
    if step.close is not None:
        step.close(state)
    again = [receipts[item.unit.key] for item in due]
    line = StepLine(
        step.name,
        len(units),
        len(units) - len(due),
        books,
        time.perf_counter() - started,
        sum(receipt.bytes_in for receipt in again),
    )
    reporter.finished(line)
    return line


def pending(step: Step, units: Iterable[Unit], ledger: Ledger, roots: dict[str, str]) -> list[Due]:
    """The units without a receipt that still holds, and what is wrong with each receipt."""
    receipts = ledger.receipts(step.name)
    reasons = ((unit, _why(step, unit, receipts.get(unit.key), ledger, roots)) for unit in units)
    return [Due(unit, why) for unit, why in reasons if why]


def _why(step: Step, unit: Unit, receipt: Receipt | None, ledger: Ledger, roots: dict[str, str]) -> str:
    if receipt is None:
        return "new"
    if receipt.fingerprint != unit_fingerprint(unit, config=step.config, code=step.code):
        return "recipe, code or an earlier step changed"
    for stamp in receipt.inputs:
        source, _, name = stamp.path.partition(":")
        if not stamp.matches(Path(roots[source]) / name):
            return f"input {name} changed"
    return "" if ledger.outputs_hold(receipt) else "output missing or changed"


def _do(step: Step, units: Sequence[Unit], state: State, spark: OpenSpark, reporter: Reporter) -> None:
    desk = Desk(str(state.out), state.run, step.config, step.code)
    watch = Watch(units=len(units))
    seen: set[str] = set()
    with reporter.bar(step.name, watch) as bar:
        bar.show()
        session = spark()

        def tick(done: int, known: int) -> None:
            watch.tasks_done, watch.tasks_known, watch.stage = done, known, state.doing
            if reporter.shows_bars:
                _count_new(step, units, desk, state.ledger, seen, watch)
                bar.show()

        try:
            watched(session, f"{step.name}-{state.run}", lambda: step.act(session, state, units, desk), tick)
        finally:
            state.does("")


def _count_new(step: Step, units: Sequence[Unit], desk: Desk, ledger: Ledger, seen: set[str], watch: Watch) -> None:
    for unit in units:
        if unit.key in seen or not ledger.receipt_path(step.name, unit.key).exists():
            continue
        receipt = ledger.receipt(step.name, unit.key)
        if receipt and desk.is_todays(receipt, unit):
            seen.add(unit.key)
            watch.done += 1
            watch.bytes_in += receipt.bytes_in
            watch.books.add(receipt.books)


def _settled(step: Step, units: Sequence[Unit], ledger: Ledger) -> dict[str, Receipt]:
    """The receipts of all units; each must be today's."""
    receipts = ledger.receipts(step.name)
    for unit in units:
        receipt = receipts.get(unit.key)
        if receipt is None or receipt.fingerprint != unit_fingerprint(unit, config=step.config, code=step.code):
            raise LedgerError(f"{step.name} ended without doing {unit.label}: run again; if it stays so, report it")
    return receipts


def total(receipts: Iterable[Receipt]) -> Books:
    books = Books()
    for receipt in receipts:
        books.add(receipt.books)
    return books
