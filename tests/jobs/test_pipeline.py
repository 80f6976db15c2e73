"""A run redoes exactly what changed, and what it leaves never depends on how it got there."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from glotmill.jobs import pipeline
from glotmill.jobs.planning import plan_text
from glotmill.jobs.reporting import Reporter, StepLine
from glotmill.jobs.run import ALL
from glotmill.jobs.state import State, held
from glotmill.jobs.verify import verify
from glotmill.schemas.errors import InputError, LedgerError, RecipeError
from glotmill.schemas.recipe_file import from_mapping

Snapshot = Callable[[Path], dict[str, str]]

PROSE = {
    "ita": "La biblioteca del paese apre ogni mattina alle nove e resta aperta fino a sera per tutti i lettori. ",
    "deu": "Die Bibliothek des Dorfes öffnet jeden Morgen um neun Uhr und bleibt bis zum Abend für alle Leser offen. ",
    "rus": "Сельская библиотека открывается каждое утро в девять часов и работает до вечера для всех читателей. ",
    "tha": "ห้องสมุดของหมู่บ้านเปิดทุกเช้าเวลาเก้าโมงและเปิดจนถึงเย็นสำหรับผู้อ่านทุกคนที่ต้องการยืมหนังสือ ",
}


def lines(language: str, count: int, start: int = 0) -> str:
    texts = (
        "".join(f"{PROSE[language]}{n * 7 + k} {language}. \n" for k in range(4)) for n in range(start, start + count)
    )
    return "".join(
        json.dumps({"text": text, "id": f"{language}-{n}"}, ensure_ascii=False) + "\n" for n, text in enumerate(texts)
    )


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "daten à 100%"
    folder.mkdir()
    for language in PROSE:
        (folder / f"{language} ü.jsonl").write_text(lines(language, 12), encoding="utf-8")
    (folder / "bad.jsonl").write_text(
        lines("ita", 2) + "null\n" + '{"id": 3}\n' + lines("deu", 2, 100), encoding="utf-8"
    )
    return folder


def recipe(**sections: Any) -> dict[str, Any]:
    sources = [{"name": "notes", "path": "*.jsonl", "columns": {"id": "id"}}]
    shards = {"vocabulary": 600, "shard_tokens": 2000}
    return {
        "name": "test",
        "seed": 3,
        "sources": sources,
        "shards": shards,
        "extract": {"unit_bytes": 1 << 16},
        **sections,
    }


@pytest.fixture
def go(spark: SparkSession, base: Path) -> Callable[..., dict[str, StepLine]]:
    """Run into a folder; the closing lines by step."""

    def run(out: Path, *, tasks: int | None = None, start: bool = True, **sections: Any) -> dict[str, StepLine]:
        def open_spark() -> SparkSession:
            assert start, "a run with nothing to do must not start Spark"
            return spark

        state = State(from_mapping(recipe(**sections), where="test"), base, out, tasks)
        done = pipeline.run(state, ALL, spark=open_spark, reporter=Reporter(quiet=True))
        return {line.step: line for line in done}

    return run


def redone(steps: dict[str, StepLine]) -> dict[str, int]:
    return {name: line.units - line.done_before for name, line in steps.items() if line.units != line.done_before}


def test_a_run_leaves_balanced_books_and_a_verified_output(go: Any, tmp_path: Path) -> None:
    steps = go(tmp_path / "out")
    extract = steps["extract"].books
    assert (extract.records, extract.kept) == (54, 52)
    assert extract.quarantined == {"not_an_object": 1, "no_text": 1}
    assert steps["dedup"].books.dropped == {"exact_duplicate": 2}  # bad.jsonl repeats the first two of ita
    assert verify(tmp_path / "out", sample=1.0, say=lambda _: None) == []


def test_a_second_run_does_nothing_and_starts_no_spark(go: Any, tmp_path: Path, snapshot: Snapshot) -> None:
    go(tmp_path / "out")
    before = snapshot(tmp_path / "out")
    assert redone(go(tmp_path / "out", start=False)) == {}
    assert snapshot(tmp_path / "out") == before


@pytest.mark.parametrize("tasks", [1, 2, 7, 16])
def test_the_number_of_tasks_changes_no_byte(
    go: Any, tmp_path: Path, snapshot: Snapshot, spark: SparkSession, tasks: int, reference: dict[str, str]
) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", str(tasks))
    try:
        go(tmp_path / "out", tasks=tasks)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", str(before))
    assert snapshot(tmp_path / "out") == reference


@pytest.fixture
def reference(go: Any, tmp_path: Path, snapshot: Snapshot) -> dict[str, str]:
    """What a clean run leaves."""
    go(tmp_path / "reference")
    return snapshot(tmp_path / "reference")


def test_a_new_file_redoes_its_own_units_and_what_looks_at_everything(
    go: Any, base: Path, tmp_path: Path, snapshot: Snapshot
) -> None:
    units = go(tmp_path / "out")["extract"].units
    (base / "extra.jsonl").write_text(lines("rus", 5, 500), encoding="utf-8")
    again = redone(go(tmp_path / "out"))
    assert again["extract"] == again["measure"] == again["judge"] == 1
    assert again["dedup"] == units + 1 and again["cut"] == 1  # dedup looks at all, and finds the same for the others
    go(tmp_path / "clean")
    assert snapshot(tmp_path / "out") == snapshot(tmp_path / "clean")


def test_a_removed_file_leaves_nothing_behind(go: Any, base: Path, tmp_path: Path, snapshot: Snapshot) -> None:
    go(tmp_path / "out")
    (base / "tha ü.jsonl").unlink()
    go(tmp_path / "out")
    go(tmp_path / "clean")
    assert snapshot(tmp_path / "out") == snapshot(tmp_path / "clean")


def test_a_changed_threshold_redoes_the_judgement_not_the_measuring(
    go: Any, tmp_path: Path, snapshot: Snapshot
) -> None:
    go(tmp_path / "out")
    stricter = {"quality": {"rules": {"stricter": "chars < 330"}}}
    again = redone(go(tmp_path / "out", **stricter))
    assert not {"extract", "measure"} & again.keys() and {"judge", "dedup"} <= again.keys()
    go(tmp_path / "clean", **stricter)
    assert snapshot(tmp_path / "out") == snapshot(tmp_path / "clean")


def test_a_new_budget_redoes_the_mix_and_the_shards_only(go: Any, tmp_path: Path) -> None:
    go(tmp_path / "out")
    assert set(redone(go(tmp_path / "out", mix={"tokens": 1500}))) == {"mix", "shard", "manifest", "report"}


@pytest.mark.parametrize("table", ["documents", "signals", "verdicts", "dedup", "kept", "tokens", "shards"])
def test_a_deleted_output_is_made_again_and_nothing_else(
    go: Any, tmp_path: Path, snapshot: Snapshot, table: str, reference: dict[str, str]
) -> None:
    out = tmp_path / "out"
    shutil.copytree(tmp_path / "reference", out)
    lost = sorted(p for p in (out / table).rglob("*") if p.suffix in (".parquet", ".bin"))[0]
    lost.unlink()
    again = redone(go(out))
    assert list(again.values()) == [1], again
    assert snapshot(out) == reference


def test_a_damaged_output_is_made_again(go: Any, tmp_path: Path, snapshot: Snapshot, reference: dict[str, str]) -> None:
    out = tmp_path / "out"
    shutil.copytree(tmp_path / "reference", out)
    shard = sorted((out / "shards").glob("*.bin"))[0]
    data = bytearray(shard.read_bytes())
    data[3] ^= 1
    shard.write_bytes(data)
    assert any(shard.name in problem for problem in verify(out, sample=1.0, say=lambda _: None))
    assert redone(go(out)) == {"shard": 1}
    assert snapshot(out) == reference


def test_touching_an_input_without_changing_it_redoes_nothing(go: Any, base: Path, tmp_path: Path) -> None:
    go(tmp_path / "out")
    for path in base.iterdir():
        path.touch()
    assert redone(go(tmp_path / "out", start=False)) == {}


def test_two_runs_cannot_hold_one_folder(go: Any, tmp_path: Path) -> None:
    with held(tmp_path / "out"), pytest.raises(LedgerError, match="held by another run"):
        go(tmp_path / "out")


def test_nothing_kept_is_a_clear_error_that_names_where_to_look(go: Any, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="no document was kept.*dropped"):
        go(tmp_path / "out", quality={"rules": {"all_of_them": "chars >= 0"}})


def test_a_budget_beyond_the_caps_is_said_with_what_would_do(go: Any, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="Lower mix.tokens"):
        go(tmp_path / "out", mix={"tokens": 10**9})


def test_the_plan_says_what_is_due_and_why(go: Any, base: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    told = plan_text(from_mapping(recipe(), where="test"), base, out)
    assert "source notes: 5 files" in told and "new: " in told and "follows extract" in told
    assert not out.exists()
    go(out)
    told = plan_text(from_mapping(recipe(), where="test"), base, out)
    assert "to do" not in told and "available tokens" in told
    changed = recipe(quality={"rules": {"stricter": "chars < 330"}})
    assert "judge" in plan_text(from_mapping(changed, where="test"), base, out).split("to do")[0].splitlines()[-1]


def test_an_input_that_matches_nothing_is_an_error_before_any_work(go: Any, tmp_path: Path) -> None:
    nothing = [{"name": "notes", "path": "*.nothing"}]
    with pytest.raises(InputError, match="nothing"):
        go(tmp_path / "out", start=False, sources=nothing)


def test_dropped_documents_say_why_and_of_whom(go: Any, tmp_path: Path) -> None:
    go(tmp_path / "out")
    rows = [row for path in (tmp_path / "out/dropped").glob("*.parquet") for row in pq.read_table(path).to_pylist()]
    assert [(row["step"], row["reason"], row["similarity"]) for row in rows] == [("dedup", "exact_duplicate", 1.0)] * 2
    kept = {row for path in (tmp_path / "out/kept").glob("*.parquet") for row in pq.read_table(path)["id"].to_pylist()}
    assert all(row["twin"] in kept and row["excerpt"] for row in rows)


@pytest.fixture(autouse=True)
def _no_leftovers(tmp_path: Path) -> Iterator[None]:
    yield
    assert not list(tmp_path.rglob(".*.tmp")), "an unfinished file was left behind"
