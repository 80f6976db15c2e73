"""Files are whole or absent, receipts come last, and only the current run may commit."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from glotmill.schemas.atomic import RangeStamp, Stamp, Transaction, transaction, write_atomic
from glotmill.schemas.errors import BooksError, LedgerError
from glotmill.schemas.ledger import Ledger, Receipt, do_unit, unit_fingerprint
from glotmill.schemas.units import Books, Outcome, Unit

Work = Callable[[Unit, Transaction], tuple[Outcome, tuple[RangeStamp, ...]]]
UNIT = Unit("extract", "a", "first file")


def done(out: Path, work: Work, *, run: str = "r", unit: Unit = UNIT, config: object = 1) -> Receipt:
    return do_unit(unit, work, out=out, run=run, token="t", config=config, code="c", clock=lambda: 0.0)


def writes(*names: str, text: str = "x") -> Work:
    def work(unit: Unit, files: Transaction) -> tuple[Outcome, tuple[RangeStamp, ...]]:
        for name in names:
            files.path(name).write_text(text)
        return Outcome(Books(1, 1)), ()

    return work


def names(out: Path) -> list[str]:
    return sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file() and "ledger" not in p.parts)


def test_a_transaction_shows_nothing_before_its_commit(tmp_path: Path) -> None:
    with transaction(tmp_path, "t") as files:
        files.path("documents/a.parquet").write_text("half")
        assert not (tmp_path / "documents/a.parquet").exists()
    assert names(tmp_path) == []


def test_a_commit_stamps_what_it_wrote(tmp_path: Path) -> None:
    with transaction(tmp_path, "t") as files:
        files.path("b/c.bin").write_bytes(b"12345")
        (stamp,) = files.commit()
    assert stamp.path == "b/c.bin" and stamp.size == 5 and stamp.matches(tmp_path / "b/c.bin")


def test_a_stamp_notices_other_bytes_and_forgives_another_time(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"abc")
    stamp = Stamp.of(file, "f")
    os.utime(file, ns=(1, 1))
    assert stamp.matches(file)
    file.write_bytes(b"abd")
    assert not stamp.matches(file)
    file.unlink()
    assert not stamp.matches(file)


def test_a_range_stamp_hashes_its_range_only(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"aaabbb")
    first, second = (RangeStamp.of(file, "s:f", *span) for span in ((0, 3), (3, 6)))
    file.write_bytes(b"aaaccc")
    os.utime(file, ns=(1, 1))
    assert first.matches(file) and not second.matches(file)


def test_a_unit_leaves_its_files_and_then_its_receipt(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.begin("r")
    receipt = done(tmp_path, writes("documents/a.parquet"))
    assert ledger.receipts("extract") == {"a": receipt}
    assert receipt.fingerprint == unit_fingerprint(UNIT, config=1, code="c")
    assert ledger.outputs_hold(receipt)
    (tmp_path / "documents/a.parquet").unlink()
    assert not ledger.outputs_hold(receipt)


def test_a_receipt_survives_its_own_json(tmp_path: Path) -> None:
    Ledger(tmp_path).begin("r")
    receipt = done(tmp_path, writes("documents/a.parquet"))
    assert Receipt.from_json(receipt.to_json()) == receipt


def test_redoing_a_unit_removes_what_it_no_longer_writes(tmp_path: Path) -> None:
    Ledger(tmp_path).begin("r")
    done(tmp_path, writes("tokens/a/1.bin", "tokens/b/1.bin"))
    done(tmp_path, writes("tokens/b/1.bin", "tokens/c/1.bin"))
    assert names(tmp_path) == ["tokens/b/1.bin", "tokens/c/1.bin"]


def test_an_orphan_of_a_killed_run_may_not_commit(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.begin("new")
    with pytest.raises(LedgerError, match="another run"):
        done(tmp_path, writes("documents/a.parquet"), run="old")
    assert names(tmp_path) == [] and ledger.receipts("extract") == {}


def test_books_that_do_not_balance_leave_nothing(tmp_path: Path) -> None:
    def loses(unit: Unit, files: Transaction) -> tuple[Outcome, tuple[RangeStamp, ...]]:
        files.path("documents/a.parquet").write_text("x")
        return Outcome(Books(records=3, kept=1, quarantined={"invalid_json": 1})), ()

    Ledger(tmp_path).begin("r")
    with pytest.raises(BooksError, match="3 records went in and 2 came out"):
        done(tmp_path, loses)
    assert names(tmp_path) == []


def test_a_torn_receipt_is_no_receipt(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.begin("r")
    done(tmp_path, writes("documents/a.parquet"))
    path = ledger.receipt_path("extract", "a")
    path.write_bytes(path.read_bytes()[:40])
    assert Ledger(tmp_path).receipts("extract") == {}


def test_beginning_a_run_sweeps_unfinished_files_of_ours_only(tmp_path: Path) -> None:
    write_atomic(tmp_path / "documents/notes.tmp", b"the user's")
    (tmp_path / "documents/.a.parquet.123.tmp").write_text("half")
    Ledger(tmp_path).begin("r")
    assert names(tmp_path) == ["documents/notes.tmp"]


def test_forgetting_a_unit_removes_its_files(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.begin("r")
    done(tmp_path, writes("documents/a.parquet"))
    ledger.forget("extract", ["a"])
    assert names(tmp_path) == [] and ledger.receipts("extract") == {}


def test_a_file_that_no_receipt_names_is_an_orphan(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.begin("r")
    done(tmp_path, writes("documents/a.parquet"))
    write_atomic(tmp_path / "documents/b.parquet", b"x")
    assert ledger.orphans(["documents"]) == [tmp_path / "documents/b.parquet"]


@pytest.mark.parametrize("change", [{"config": 2}, {"unit": Unit("extract", "a", "first file", {}, ("upstream",))}])
def test_a_fingerprint_changes_with_settings_and_upstream(change: dict[str, object]) -> None:
    unit = change.get("unit", UNIT)
    assert isinstance(unit, Unit)
    assert unit_fingerprint(unit, config=change.get("config", 1), code="c") != unit_fingerprint(
        UNIT, config=1, code="c"
    )


def test_a_label_is_for_people_and_changes_no_fingerprint() -> None:
    renamed = Unit("extract", "a", "other label")
    assert unit_fingerprint(renamed, config=1, code="c") == unit_fingerprint(UNIT, config=1, code="c")


def test_receipts_are_plain_json(tmp_path: Path) -> None:
    Ledger(tmp_path).begin("r")
    done(tmp_path, writes("documents/a.parquet"))
    raw = json.loads((tmp_path / "ledger/extract/a.json").read_bytes())
    assert raw["books"]["records"] == 1 and raw["files"][0]["path"] == "documents/a.parquet"
