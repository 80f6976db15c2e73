"""Receipts: what was done, from what, by which code, leaving which files.

`OUT/ledger/<step>/<unit>.json` is written after the files it names are in place. A unit is done when its receipt's
fingerprint is the one of today's work and its files are the ones of the receipt; otherwise it is done again.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from glotmill.schemas.atomic import TEMPORARY, RangeStamp, Stamp, Transaction, transaction, write_atomic
from glotmill.schemas.errors import LedgerError
from glotmill.schemas.ids import fingerprint
from glotmill.schemas.units import Books, Outcome, Unit

LEDGER = "ledger"
RUN = "run.json"


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof that a unit was done; see the fields of Unit and Outcome."""

    step: str
    unit: str
    label: str
    fingerprint: str
    inputs: tuple[RangeStamp, ...]  # stretches of raw files, paths as `source:name`
    files: tuple[Stamp, ...]  # paths relative to OUT
    books: Books
    digests: dict[str, str]
    bytes_in: int
    facts: dict[str, Any]
    seconds: float

    def to_json(self) -> bytes:
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True, indent=1).encode("utf-8", "surrogateescape")

    @classmethod
    def from_json(cls, data: bytes) -> "Receipt":
        raw = json.loads(data.decode("utf-8", "surrogateescape"))
        raw["inputs"] = tuple(RangeStamp(**stamp) for stamp in raw["inputs"])
        raw["files"] = tuple(Stamp(**stamp) for stamp in raw["files"])
        raw["books"] = Books(**raw["books"])
        return cls(**raw)


def unit_fingerprint(unit: Unit, *, config: Any, code: str) -> str:
    """What a unit's result depends on, besides its raw input files."""
    return fingerprint([unit.step, unit.key, unit.payload, list(unit.upstream), config, code])


class Ledger:
    """The receipts of one output folder."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self._folder = out / LEDGER
        self._read: dict[Path, tuple[int, Receipt]] = {}

    def receipt_path(self, step: str, unit: str) -> Path:
        return self._folder / step / f"{unit}.json"

    def receipt(self, step: str, unit: str) -> Receipt | None:
        """One receipt; a torn or foreign file is none."""
        path = self.receipt_path(step, unit)
        try:
            written = path.stat().st_mtime_ns
            if self._read.get(path, (None,))[0] != written:
                self._read[path] = written, Receipt.from_json(path.read_bytes())
            return self._read[path][1]
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None

    def receipts(self, step: str) -> dict[str, Receipt]:
        """By unit, every readable receipt of a step."""
        units = sorted(path.stem for path in (self._folder / step).glob("*.json") if not path.name.startswith("."))
        return {unit: receipt for unit in units if (receipt := self.receipt(step, unit)) is not None}

    def steps(self) -> list[str]:
        return sorted(path.name for path in self._folder.iterdir() if path.is_dir()) if self._folder.is_dir() else []

    def outputs_hold(self, receipt: Receipt) -> bool:
        return all(stamp.matches(self.out / stamp.path) for stamp in receipt.files)

    def forget(self, step: str, units: Iterable[str]) -> None:
        """Remove units that no input asks for any more: receipts first, so that no receipt ever names a lost file."""
        for unit in units:
            receipt = self.receipt(step, unit)
            self.receipt_path(step, unit).unlink(missing_ok=True)
            for path in _paths(receipt):
                (self.out / path).unlink(missing_ok=True)

    def orphans(self, folders: Iterable[str]) -> list[Path]:
        """Files below `folders` that no receipt of any step names: left by a kill between rename and receipt."""
        named = {self.out / path for step in self.steps() for r in self.receipts(step).values() for path in _paths(r)}
        below = (path for folder in folders for path in (self.out / folder).rglob("*") if path.is_file())
        return sorted(path for path in below if path not in named)

    def begin(self, run: str) -> None:
        """Make `run` the only run that may commit, and sweep what killed runs left unfinished."""
        write_atomic(self._folder / RUN, json.dumps({"run": run}).encode())
        for path in self.out.rglob(f".*{TEMPORARY}"):
            path.unlink(missing_ok=True)

    def holds(self, run: str) -> bool:
        """Whether `run` may still commit: an orphaned worker of a killed run may not."""
        try:
            return bool(json.loads((self._folder / RUN).read_bytes())["run"] == run)
        except (FileNotFoundError, ValueError, KeyError):
            return False


@contextmanager
def committing(out: Path, run: str, token: str) -> Iterator[tuple[Transaction, Callable[[Receipt], Receipt]]]:
    """A transaction, and the function that turns it into a receipt: files first, receipt last.

    Raises:
        LedgerError: another run took the folder over in the meantime.
    """
    ledger = Ledger(out)
    with transaction(out, token) as files:

        def commit(receipt: Receipt) -> Receipt:
            if not ledger.holds(run):
                raise LedgerError(f"{out} now belongs to another run: this one stops without writing")
            before = ledger.receipt(receipt.step, receipt.unit)
            done = replace(receipt, files=files.commit())
            write_atomic(ledger.receipt_path(done.step, done.unit), done.to_json())
            for stamp in set(_paths(before)) - set(_paths(done)):  # written by an earlier recipe, not by this one
                (out / stamp).unlink(missing_ok=True)
            return done

        yield files, commit


def _paths(receipt: Receipt | None) -> list[str]:
    return [stamp.path for stamp in receipt.files] if receipt else []


def do_unit(
    unit: Unit,
    work: Callable[[Unit, Transaction], tuple[Outcome, tuple[RangeStamp, ...]]],
    *,
    out: Path,
    run: str,
    token: str,
    config: Any,
    code: str,
    clock: Callable[[], float],
) -> Receipt:
    """Do one unit and leave its receipt. `work` returns the outcome and the stamps of the raw files it read."""
    started = clock()
    with committing(out, run, token) as (files, commit):
        outcome, inputs = work(unit, files)
        outcome.books.check(f"{unit.step} of {unit.label}")
        return commit(
            Receipt(
                step=unit.step,
                unit=unit.key,
                label=unit.label,
                fingerprint=unit_fingerprint(unit, config=config, code=code),
                inputs=inputs,
                files=(),
                books=outcome.books,
                digests=outcome.digests,
                bytes_in=outcome.bytes_in,
                facts=outcome.facts,
                seconds=clock() - started,
            )
        )
