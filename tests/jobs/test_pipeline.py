"""A run redoes exactly what changed, and what it leaves never depends on how it got there."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from importlib import resources
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


def lines(language: str, count: int, start: int = 0, *, ids: str = "") -> str:
    texts = (
        "".join(f"{PROSE[language]}{n * 7 + k} {language}. \n" for k in range(4)) for n in range(start, start + count)
    )
    return "".join(
        json.dumps({"text": text, "id": f"{ids}{language}-{n}"}, ensure_ascii=False) + "\n"
        for n, text in enumerate(texts, start)
    )


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs") / "daten à 100%"
    folder.mkdir()
    for language in PROSE:
        (folder / f"{language} ü.jsonl").write_text(lines(language, 12), encoding="utf-8")
    (folder / "bad.jsonl").write_text(
        lines("ita", 2, ids="bad-") + "null\n" + '{"id": 3}\n' + lines("deu", 2, 100, ids="bad-"),
        encoding="utf-8",
    )
    return folder


@pytest.fixture
def base(inputs: Path, tmp_path: Path) -> Path:
    """A test's own copy of the inputs, times included."""
    return shutil.copytree(inputs, tmp_path / inputs.name)


# The texts say nearly the same four times over, which the default rules would drop.
REPEATS = dict.fromkeys(
    ("top_2_gram", "top_3_gram", "top_4_gram", "duplicate_5_gram", "duplicate_10_gram", "compressible")
)


def recipe(*, quality: dict[str, Any] | None = None, **sections: Any) -> dict[str, Any]:
    sources = [{"name": "notes", "path": "*.jsonl", "columns": {"id": "id"}}]
    shards = {"vocabulary": 600, "shard_tokens": 2000}
    return {
        "name": "test",
        "seed": 3,
        "sources": sources,
        "shards": shards,
        "extract": {"unit_bytes": 1 << 16},
        "quality": {"rules": {**REPEATS, **(quality or {}).get("rules", {})}},
        **sections,
    }


Go = Callable[..., dict[str, StepLine]]


def bring_up_to_date(
    spark: SparkSession, base: Path, out: Path, tasks: int | None, start: bool, **sections: Any
) -> Any:
    def open_spark() -> SparkSession:
        assert start, "a run with nothing to do must not start Spark"
        return spark

    state = State(from_mapping(recipe(**sections), where="test"), base, out, tasks)
    done = pipeline.run(state, ALL, spark=open_spark, reporter=Reporter(quiet=True))
    return {line.step: line for line in done}


@pytest.fixture
def go(spark: SparkSession, base: Path) -> Go:
    """Run into a folder; the closing lines by step."""

    def run(out: Path, *, tasks: int | None = None, start: bool = True, **sections: Any) -> dict[str, StepLine]:
        done: dict[str, StepLine] = bring_up_to_date(spark, base, out, tasks, start, **sections)
        return done

    return run


@pytest.fixture(scope="module")
def finished(spark: SparkSession, inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean run of the inputs."""
    out = tmp_path_factory.mktemp("finished") / "out"
    bring_up_to_date(spark, inputs, out, None, True)
    return out


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    """A test's own copy of a clean run."""
    return shutil.copytree(finished, tmp_path / "out")


def redone(steps: dict[str, StepLine]) -> dict[str, int]:
    return {name: line.units - line.done_before for name, line in steps.items() if line.units != line.done_before}


def test_a_run_leaves_balanced_books_and_a_verified_output(go: Go, out: Path) -> None:
    steps = go(out, start=False)
    extract = steps["extract"].books
    assert (extract.records, extract.kept) == (54, 52)
    assert extract.quarantined == {"not_an_object": 1, "no_text": 1}
    assert steps["dedup"].books.dropped == {"exact_duplicate": 2}  # bad.jsonl repeats the first two of ita
    assert verify(out, sample=1.0, say=lambda _: None) == []


def test_a_second_run_does_nothing_and_starts_no_spark(go: Go, out: Path, finished: Path, snapshot: Snapshot) -> None:
    assert redone(go(out, start=False)) == {}
    assert snapshot(out) == snapshot(finished)


@pytest.mark.parametrize("tasks", [1, 2, 7, 16])
def test_the_number_of_tasks_changes_no_byte(
    go: Go, tmp_path: Path, finished: Path, snapshot: Snapshot, spark: SparkSession, tasks: int
) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", str(tasks))
    try:
        go(tmp_path / "out", tasks=tasks)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", str(before))
    assert snapshot(tmp_path / "out") == snapshot(finished)


def test_a_new_file_redoes_its_own_units_and_what_looks_at_everything(
    go: Go, base: Path, out: Path, tmp_path: Path, snapshot: Snapshot
) -> None:
    units = go(out, start=False)["extract"].units
    (base / "extra.jsonl").write_text(lines("rus", 300, 500), encoding="utf-8")  # a unit of its own by its size
    again = redone(go(out))
    assert again["extract"] == again["measure"] == again["judge"] == again["cut"]
    assert again["dedup"] == units + again["extract"]  # dedup looks at all, and finds the same for the others
    go(tmp_path / "clean")
    assert snapshot(out) == snapshot(tmp_path / "clean")


def test_a_removed_file_leaves_nothing_behind(
    go: Go, base: Path, out: Path, tmp_path: Path, snapshot: Snapshot
) -> None:
    (base / "tha ü.jsonl").unlink()
    go(out)
    go(tmp_path / "clean")
    assert snapshot(out) == snapshot(tmp_path / "clean")


def test_a_changed_threshold_redoes_the_judgement_not_the_measuring(
    go: Go, out: Path, tmp_path: Path, snapshot: Snapshot
) -> None:
    stricter = {"quality": {"rules": {"stricter": "chars < 330"}}}
    again = redone(go(out, **stricter))
    assert not {"extract", "measure"} & again.keys() and {"judge", "dedup"} <= again.keys()
    go(tmp_path / "clean", **stricter)
    assert snapshot(out) == snapshot(tmp_path / "clean")


def test_a_new_budget_redoes_the_mix_and_the_shards_only(go: Go, out: Path) -> None:
    assert set(redone(go(out, mix={"tokens": 1500}))) == {"mix", "shard", "manifest", "report"}


@pytest.mark.parametrize("table", ["documents", "signals", "verdicts", "dedup", "kept", "tokens", "shards"])
def test_a_deleted_output_is_made_again_and_nothing_else(
    go: Go, out: Path, finished: Path, snapshot: Snapshot, table: str
) -> None:
    lost = sorted(path for path in (out / table).rglob("*") if path.suffix in (".parquet", ".bin"))[0]
    lost.unlink()
    assert list(redone(go(out)).values()) == [1]
    assert snapshot(out) == snapshot(finished)


def test_a_damaged_output_is_found_and_made_again(go: Go, out: Path, finished: Path, snapshot: Snapshot) -> None:
    shard = sorted((out / "shards").glob("*.bin"))[0]
    data = bytearray(shard.read_bytes())
    data[3] ^= 1
    shard.write_bytes(data)
    assert any(shard.name in problem for problem in verify(out, sample=1.0, say=lambda _: None))
    assert redone(go(out)) == {"shard": 1}
    assert snapshot(out) == snapshot(finished)


def test_touching_an_input_without_changing_it_redoes_nothing(go: Go, base: Path, out: Path) -> None:
    for path in base.iterdir():
        path.touch()
    assert redone(go(out, start=False)) == {}


def test_two_runs_cannot_hold_one_folder(go: Go, tmp_path: Path) -> None:
    with held(tmp_path / "out"), pytest.raises(LedgerError, match="held by another run"):
        go(tmp_path / "out")


def test_nothing_kept_is_a_clear_error_that_names_where_to_look(go: Go, out: Path) -> None:
    with pytest.raises(RecipeError, match="no document was kept.*dropped"):
        go(out, quality={"rules": {"all_of_them": "chars >= 0"}})


def test_a_budget_beyond_the_caps_is_said_with_what_would_do(go: Go, out: Path) -> None:
    with pytest.raises(RecipeError, match="Lower mix.tokens"):
        go(out, mix={"tokens": 10**9})


def test_a_bad_target_of_the_mix_stops_a_run_before_any_work(go: Go, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="the shares sum to 0.9, not to 1"):
        go(tmp_path / "out", start=False, mix={"target": {"it": 0.5, "de": 0.4}})
    assert not list((tmp_path / "out").glob("documents/*"))


def test_the_plan_says_what_is_due_and_why(base: Path, out: Path, tmp_path: Path) -> None:
    told = plan_text(from_mapping(recipe(), where="test"), base, tmp_path / "nowhere")
    assert "source notes: 5 files" in told and "new: " in told and "follows extract" in told
    assert not (tmp_path / "nowhere").exists()
    told = plan_text(from_mapping(recipe(), where="test"), base, out)
    assert "to do" not in told and "available tokens" in told
    changed = from_mapping(recipe(quality={"rules": {"stricter": "chars < 330"}}), where="test")
    assert re.search(r"measure +up to date.*\njudge +\d+ of \d+ units to do", plan_text(changed, base, out))


def test_a_language_model_that_is_not_there_is_an_error_before_any_work(go: Go, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="gone.bin"):
        go(tmp_path / "out", start=False, language={"model": "gone.bin"})


def test_a_language_model_is_found_beside_the_recipe_and_counts_by_its_content(go: Go, base: Path, out: Path) -> None:
    lid176 = resources.files("glotmill.curate").joinpath("data/lid.176.ftz").read_bytes()
    (base / "mine.ftz").write_bytes(lid176)
    go(out, language={"model": "lid176"})
    again = redone(go(out, language={"model": "mine.ftz"}))
    assert set(again) == {"measure", "manifest", "report"}  # measured again, with the same result


def test_an_input_that_matches_nothing_is_an_error_before_any_work(go: Go, tmp_path: Path) -> None:
    nothing = [{"name": "notes", "path": "*.nothing"}]
    with pytest.raises(InputError, match="nothing"):
        go(tmp_path / "out", start=False, sources=nothing)


def test_dropped_documents_say_why_and_of_whom(out: Path) -> None:
    rows = [row for path in (out / "dropped").glob("*.parquet") for row in pq.read_table(path).to_pylist()]
    assert [(row["step"], row["reason"], row["similarity"]) for row in rows] == [("dedup", "exact_duplicate", 1.0)] * 2
    kept = {id for path in (out / "kept").glob("*.parquet") for id in pq.read_table(path)["id"].to_pylist()}
    assert all(row["twin"] in kept and row["excerpt"] for row in rows)


@pytest.fixture(autouse=True)
def _no_leftovers(tmp_path: Path) -> Iterator[None]:
    yield
    assert not list(tmp_path.rglob(".*.tmp")), "an unfinished file was left behind"
