"""Runs that share an index: what the second leaves out, what is added when, and what a kill leaves."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from glotmill.curate.dedup.index.format import Generation, read_index, write_index
from glotmill.jobs import cli, dedup, index_step, pipeline
from glotmill.jobs.planning import plan_text
from glotmill.jobs.reporting import Reporter
from glotmill.jobs.run import CURATION
from glotmill.jobs.state import State
from glotmill.jobs.verify import verify
from glotmill.schemas.errors import InputError, LedgerError, RecipeError
from glotmill.schemas.recipe import Recipe
from glotmill.schemas.recipe_file import from_mapping, with_sets

WORDS = [f"w{i}" for i in range(3000)]


def prose(seed: int) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, 80))


# By recipe: documents by their own id. `later` repeats five of `first`, one of them three times, and one word.
FIRST = {**{f"f{n}": prose(n) for n in range(12)}, "word": "Mill"}
LATER = {
    **{f"l{n}": prose(n) for n in range(8, 20)},
    "near": f"new {prose(3)}",
    "again": prose(8) + "!",
    "upper": prose(8).upper(),
    "word": "mill",
}
GONE = {"l8": "f8", "l9": "f9", "l10": "f10", "l11": "f11", "near": "f3", "again": "f8", "upper": "f8", "word": "word"}


class Place:
    """Recipes `first` and `later` in one folder, with an index beside them."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.folder, self.spark = folder, spark
        self.write("first", FIRST)
        self.write("later", LATER)

    def write(self, name: str, documents: dict[str, str]) -> None:
        lines = [json.dumps({"id": id, "text": text}) for id, text in documents.items()]
        half = len(lines) // 2
        for part, of in enumerate((lines[:half], lines[half:])):
            (self.folder / f"{name}-{part}.jsonl").write_text("\n".join(of) + "\n")

    def recipe(self, name: str, *sets: str) -> Recipe:
        told: dict[str, Any] = {
            "name": name,
            "sources": [
                {"name": f"s{part}", "path": f"{name}-{part}.jsonl", "columns": {"id": "id"}} for part in range(2)
            ],
            "language": {"model": "none"},
            "quality": {"preset": "none", "signals": "needed"},
            "dedup": {"index": "index"},
        }
        return with_sets(from_mapping(told, where="test"), sets)

    def out(self, name: str) -> Path:
        return self.folder / f"out-{name}"

    def run(self, name: str, *sets: str) -> dict[str, int]:
        """Units that each step did."""
        state = State(self.recipe(name, *sets), self.folder, self.out(name))
        done = pipeline.run(state, CURATION, spark=lambda: self.spark, reporter=Reporter(quiet=True))
        return {line.step: line.units - line.done_before for line in done if line.units != line.done_before}

    def table(self, name: str) -> dict[str, dict[str, Any]]:
        found = [pq.read_table(path).to_pylist() for path in sorted((self.out(name) / "dedup").glob("*.parquet"))]
        return {row["source_id"]: row for rows in found for row in rows}

    def kept(self, name: str) -> set[str]:
        return {id for id, row in self.table(name).items() if row["keep"]}

    @property
    def index(self) -> Path:
        return self.folder / "index"

    def generations(self) -> dict[str, Generation]:
        return {found.name.rpartition("-")[0]: found for found in read_index(self.index).generations}

    def held(self) -> dict[str, str]:
        """Every file of the index."""
        return {
            str(path.relative_to(self.index)): path.read_bytes().hex()
            for path in sorted(self.index.rglob("*"))
            if path.is_file()
        }


@pytest.fixture(scope="module")
def done(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Both have run, one after the other."""
    place = Place(tmp_path_factory.mktemp("index"), spark)
    place.run("first")
    place.run("later")
    return place


@pytest.fixture
def place(done: Place, tmp_path: Path) -> Place:
    """A copy of that, to be changed."""
    shutil.copytree(done.folder, tmp_path / "place")
    copy = Place.__new__(Place)
    copy.folder, copy.spark = tmp_path / "place", done.spark
    return copy


@pytest.fixture
def fresh(spark: SparkSession, tmp_path: Path) -> Place:
    """Nothing has run."""
    return Place(tmp_path, spark)


def test_a_later_run_leaves_out_what_an_earlier_one_kept(done: Place) -> None:
    assert done.kept("first") == FIRST.keys()
    first, later = done.table("first"), done.table("later")
    assert {id for id, row in later.items() if not row["keep"]} == GONE.keys()
    (name,) = (found.name for found in read_index(done.index).generations if found.name.startswith("first-"))
    for id, twin in GONE.items():
        row = later[id]
        assert (row["twin"], row["cluster"], row["index"]) == (first[twin]["id"], first[twin]["id"], name)
        assert row["similarity"] >= 0.75
    assert later["l8"]["cluster_size"] == 4 and later["l15"]["cluster_size"] == 1
    dropped = [pq.read_table(path).to_pylist() for path in (done.out("later") / "dropped").glob("*.parquet")]
    assert {row["source_id"] for rows in dropped for row in rows} == GONE.keys()


def test_the_index_holds_what_both_kept(done: Place) -> None:
    first, later = done.generations()["first"], done.generations()["later"]
    assert (first.entries, later.entries) == (len(FIRST), len(LATER) - len(GONE))
    assert first.against == () and later.against == ((first.name, first.digest),)
    entries = pq.read_table([path for path in done.index.rglob("signatures/*.parquet")])
    assert set(entries["source_id"].to_pylist()) == FIRST.keys() | (LATER.keys() - GONE.keys())
    assert len(entries["minhash"][0]) == 128


def test_the_promises_hold_on_a_run_with_an_index(done: Place) -> None:
    assert verify(done.out("later"), sample=1.0, say=lambda _: None) == []


def test_the_same_run_again_changes_nothing(done: Place) -> None:
    before = done.held()
    for name in ("first", "later", "first"):  # `later` came after it, and it is not compared with that
        assert done.run(name) == {}
    assert done.held() == before
    assert "index      up to date" in plan_text(done.recipe("first"), done.folder, done.out("first"))


def test_the_index_may_be_asked_without_being_added_to(place: Place) -> None:
    shutil.rmtree(place.out("later"))
    place.write("third", {**LATER, "own": prose(99)})
    before = place.held()
    did = place.run("third", "dedup.index_add=false")
    assert "index" not in did and place.held() == before
    assert place.kept("third") == {"own"}


def test_documents_may_be_added_without_asking_the_index(place: Place) -> None:
    place.write("third", {"copy": FIRST["f1"], "twin": FIRST["f1"]})
    place.run("third", "dedup.compare=self")
    assert len(place.kept("third")) == 1
    third = place.generations()["third"]
    assert (third.entries, third.against) == (1, ())
    assert place.run("third", "dedup.compare=self") == {}


def test_what_is_new_in_an_old_folder_is_compared_with_all_that_came_since(place: Place) -> None:
    place.write("first", {**FIRST, "new": LATER["l15"], "own": prose(50)})
    did = place.run("first")
    assert did["dedup"] == 2 and did["index"] == 1
    assert place.kept("first") == FIRST.keys() | {"own"}
    row, later = place.table("first")["new"], place.generations()["later"]
    assert row["index"] == later.name and row["twin"] == place.table("later")["l15"]["id"]
    first = place.generations()["first"]
    assert first.entries == len(FIRST) + 1 and [name for name, _ in first.against] == [later.name]
    assert place.run("first") == {}
    place.run("later")  # which was compared with what `first` was
    assert place.kept("later") == LATER.keys() - GONE.keys()
    assert place.run("later") == {} and place.run("first") == {}


def test_a_folder_that_was_moved_is_still_the_same(place: Place) -> None:
    place.out("first").rename(place.folder / "moved")
    (place.folder / "moved").rename(place.out("first"))
    shutil.move(place.folder, place.folder.parent / "elsewhere")
    place.folder = place.folder.parent / "elsewhere"
    assert place.run("first").keys() <= {"extract"}
    assert len(read_index(place.index).generations) == 2


# Kills and races.


def killed(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "last",
    [
        pytest.param("_write_bands", id="before the bands"),
        pytest.param("write_index", id="before index.json"),
        pytest.param("sweep", id="before the sweep"),
    ],
)
def test_after_a_kill_the_next_run_adds_what_is_missing(
    done: Place, fresh: Place, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(index_step, last, killed)
        with pytest.raises(KeyboardInterrupt):
            fresh.run("first")
    named = read_index(fresh.index).generations
    assert len(named) == (last == "sweep")
    if named:  # it is whole
        assert named[0].entries == len(FIRST)
    assert fresh.run("first").keys() == {"index"}
    (made,) = read_index(fresh.index).generations
    assert made.entries == len(FIRST)
    folders = {path.name for path in (fresh.index / "generations").iterdir()}
    assert folders == {made.folder}  # what the killed run left is gone
    fresh.run("later")
    assert fresh.kept("later") == done.kept("later")


def test_a_run_whose_receipt_is_lost_adds_nothing_twice(place: Place) -> None:
    before = place.held()
    (place.out("first") / "ledger" / "index" / "all.json").unlink()
    assert place.run("first").keys() == {"index"}
    assert place.held() == before


def test_two_runs_at_a_time_don_t_miss_each_other(fresh: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = index_step._write

    def meanwhile(*given: Any, **of: Any) -> Generation:
        monkeypatch.setattr(index_step, "_write", plain)
        fresh.run("first")
        return plain(*given, **of)

    monkeypatch.setattr(index_step, "_write", meanwhile)
    with pytest.raises(LedgerError, match=r"first-\w+ came into the index .* run the same command again"):
        fresh.run("later")
    assert fresh.kept("later") >= {"l9", "l10"}  # which `first` has, too
    assert fresh.generations().keys() == {"first"}
    assert fresh.run("later").keys() == {"dedup", "cut", "index"}
    assert fresh.kept("later") == LATER.keys() - GONE.keys()
    folders = {path.name for path in (fresh.index / "generations").iterdir()}
    assert folders == {found.folder for found in read_index(fresh.index).generations}


def test_a_generation_that_vanished_is_added_again(place: Place) -> None:
    index = read_index(place.index)
    write_index(replace(index, generations=index.generations[1:]))
    assert place.run("first").keys() >= {"index"}
    assert place.generations()["first"].entries == len(FIRST)


# Errors before any work.


@pytest.mark.parametrize(
    ("sets", "error", "message"),
    [
        (["dedup.seed=2"], RecipeError, "dedup.seed is 2 here and 1 there"),
        (["dedup.similarity=0.9"], RecipeError, "set dedup.bands=18, dedup.rows=7"),
        (["dedup.mode=exact"], RecipeError, "dedup.mode is exact here and fuzzy there"),
        (["dedup.mode=off"], RecipeError, "set dedup.index to null"),
        (["dedup.index=first-0.jsonl"], InputError, "is a file, and an index is a folder"),
        (["dedup.index=."], InputError, "and no index.json"),
    ],
)
def test_an_index_that_doesn_t_fit_is_an_error_before_any_work(
    done: Place, sets: list[str], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        done.run("first", "name=other", *sets)
    state = State(done.recipe("first", *sets), done.folder, done.folder / "nothing")
    with pytest.raises(error, match=message):
        pipeline.run(state, CURATION, spark=lambda: done.spark, reporter=Reporter(quiet=True))
    assert not (done.folder / "nothing").exists()


def test_another_similarity_may_ask_the_index(place: Place) -> None:
    near = prose(3).split()
    place.write("third", {"near": " ".join([*near[:20], "new", *near[20:60], "words", *near[60:]]), "copy": prose(3)})
    place.run("third", "dedup.similarity=0.95", "dedup.bands=18", "dedup.rows=7")
    assert place.kept("third") == {"near"}


# The commands.


def test_the_command_shows_an_index(done: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["index", str(done.index)]) == 0
    shown = capsys.readouterr().out
    assert "bands 18, rows 7" in shown and "probe" not in shown
    lines = {line.split()[0].rpartition("-")[0]: line.split() for line in shown.splitlines() if "-" in line}
    assert lines["first"][1:3] == ["13", "0"] and lines["later"][1] == "8" and lines["later"][4].startswith("first-")
    assert cli.main(["index", str(done.index), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"] == 21


def test_the_command_removes_documents(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    ids = place.folder / "ids"
    ids.write_text("f8\n f9 \n\nnobody\n")
    assert cli.main(["index", str(place.index), "remove", "--ids", str(ids), "--column", "source_id"]) == 0
    assert capsys.readouterr().out == "2 documents removed; 1 of 3 ids not found\n"
    assert place.run("first") == {}  # it isn't added again by the run that had added it
    assert place.generations()["first"].entries == len(FIRST) - 2
    assert place.run("later").keys() == {"dedup", "cut", "index"}
    back = place.kept("later") & GONE.keys()
    assert "l9" in back and len(back) == 2 and back & {"l8", "again", "upper"}
    assert place.generations()["later"].entries == len(LATER) - len(GONE) + 2


def test_the_command_removes_a_generation(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    name = place.generations()["first"].name
    assert cli.main(["index", str(place.index), "remove", "--generation", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"removed": 13, "generations": [name]}
    assert place.generations().keys() == {"later"}


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["remove"], "remove needs either --ids FILE or --generation NAME"),
        (["--ids", "x"], "say what goes"),
        (["remove", "--ids", "absent"], "--ids wants a text file"),
        (["remove", "--generation", "absent"], "has no generation 'absent'"),
    ],
)
def test_the_command_says_what_is_wrong(
    done: Place, capsys: pytest.CaptureFixture[str], argv: list[str], message: str
) -> None:
    assert cli.main(["index", str(done.index), *argv]) == 2
    assert message in capsys.readouterr().err
    assert cli.main(["index", str(done.folder)]) == 2
    assert "holds no index.json" in capsys.readouterr().err


def test_the_dedup_job_takes_an_index(
    spark: SparkSession, fresh: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(fresh.folder)

    def job(name: str, *more: str) -> dict[str, Any]:
        given = ["--input", f"{name}-*.jsonl", "--output", f"out-{name}", "--id-column", "id", "--json"]
        assert dedup.main([*given, "--index", "shared/index", *more]) == 0
        steps: dict[str, Any] = json.loads(capsys.readouterr().out)["steps"]
        return steps

    assert job("first", "--scope", "all")["index"]["kept"] == len(FIRST)
    asked = job("later", "--scope", "all", "--index-add", "false")
    assert asked["dedup"]["kept"] == len(LATER) - len(GONE) and asked["index"]["units"] == 0
    assert job("later", "--scope", "all")["index"]["kept"] == len(LATER) - len(GONE)
    assert (fresh.folder / "shared" / "index" / "index.json").exists()


def test_a_plan_knows_the_index(fresh: Place) -> None:
    assert "index      follows extract" in plan_text(fresh.recipe("first"), fresh.folder, fresh.out("first"))
    assert not fresh.index.exists()
