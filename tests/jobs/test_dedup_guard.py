"""A run of deduplication stops before it does harm, and says what it did when it didn't."""

import json
import random
import re
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from rich.console import Console
from rich.progress import Progress

from glotmill.curate.dedup import spark as plan
from glotmill.curate.dedup import summary
from glotmill.curate.dedup.stages import Parts
from glotmill.jobs import dedup, dedup_step, pipeline
from glotmill.jobs.reporting import Bar, Reporter, Watch
from glotmill.jobs.run import CURATION
from glotmill.jobs.state import State
from glotmill.schemas.errors import GuardError, InputError
from glotmill.schemas.recipe_file import from_mapping, with_sets

SETS = ("dedup.scope=all", "quality.preset=none", "quality.signals=needed", "language.model=none")
WORDS = [f"{a}{b}{c}" for a in "bdfgklm" for b in ("an", "el", "or", "ul") for c in ("ka", "ti", "so", "ne")]
Documents = list[tuple[str | None, str]]


def text(seed: int) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=120))


def edited(seed: int) -> str:
    """Like `text`, but for two words: similarity 106 / 126."""
    words = text(seed).split()
    return " ".join([*words[:40], "north", *words[41:80], "south", *words[81:]])


# 12 documents: of text 1 there are six and one like it, of text 2 two.
LAW: Documents = [("a", text(1)), ("b", text(2)), ("c", edited(1)), ("d", text(3))]
WEB: Documents = [*((f"w{n}", text(1)) for n in range(5)), ("x", text(2)), ("y", text(4)), ("z", text(5))]


def write(path: Path, documents: Iterable[tuple[str | None, str]]) -> None:
    lines = (json.dumps({"text": text} if id is None else {"id": id, "text": text}) for id, text in documents)
    path.write_text("".join(f"{line}\n" for line in lines))


def state(base: Path, out: Path, *sets: str, columns: tuple[str, ...] = ("law", "web")) -> State:
    sources: list[dict[str, Any]] = [
        {"name": name, "path": f"{name}*.jsonl", **({"columns": {"id": "id"}} if name in columns else {})}
        for name in ("law", "web")
    ]
    told: dict[str, Any] = {"name": "guarded", "sources": sources, "extract": {"unit_bytes": 65536}}
    return State(with_sets(from_mapping(told, where="test"), [*SETS, *sets]), base, out)


def bring(spark: SparkSession, of: State) -> dict[str, Any]:
    lines = pipeline.run(of, CURATION, spark=lambda: spark, reporter=Reporter(quiet=True))
    return {line.step: line for line in lines}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guarded")
    write(folder / "law.jsonl", LAW)
    write(folder / "web.jsonl", WEB)
    return folder


@pytest.fixture(scope="module")
def out(spark: SparkSession, base: Path) -> Path:
    bring(spark, state(base, base / "out"))
    return base / "out"


def rows(out: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pa.concat_tables(map(pq.read_table, (out / name).glob("*.parquet"))).to_pylist()
    return found


def test_a_run_that_would_remove_too_much_stops_with_examples_and_writes_nothing(
    spark: SparkSession, base: Path, tmp_path: Path
) -> None:
    with pytest.raises(GuardError) as stopped:
        bring(spark, state(base, tmp_path, "dedup.max_removed_share=0.5"))
    said = str(stopped.value)
    assert "would remove 7 of 12 documents, 58.3%" in said and "dedup.max_removed_share, 50.0%" in said
    assert "(exact 6, 50.0%; fuzzy 1, 8.3%)" in said and "max_removed_share to 0.584 or more" in said
    clusters = re.split(r"\n  \d+ documents\n", said)[1:]
    assert ["law.jsonl" in cluster or "web.jsonl" in cluster for cluster in clusters] == [True, True]
    kept, fuzzy, exact = clusters[0].splitlines()[:3]
    assert kept.split()[0] == "kept" and fuzzy.split()[:2] == ["0.84", "shingles"] and "law: law.jsonl@" in fuzzy
    assert exact.split()[:2] == ["1.00", "text"] and exact.split()[2:8] == kept.split()[1:7] == text(1).split()[:6]
    assert not list((tmp_path / "dedup").glob("*")) and not (tmp_path / summary.FILE).exists()
    assert state(base, tmp_path).receipts("dedup") == {} and GuardError.exit_code == 1


def test_a_run_that_removes_just_its_share_goes_on(spark: SparkSession, base: Path, tmp_path: Path) -> None:
    lines = bring(spark, state(base, tmp_path, f"dedup.max_removed_share={7 / 12}"))
    assert lines["dedup"].books.kept == 5


@pytest.mark.parametrize("mode", ["exact", "fuzzy"])
def test_equal_documents_of_one_file_are_shown_though_they_never_travel(
    spark: SparkSession, tmp_path: Path, mode: str
) -> None:
    write(tmp_path / "law.jsonl", [(str(n), text(1)) for n in range(9)])
    write(tmp_path / "web.jsonl", [("x", text(4))])
    with pytest.raises(GuardError) as stopped:
        bring(spark, state(tmp_path, tmp_path / "out", "dedup.max_removed_share=0.1", f"dedup.mode={mode}"))
    assert "(exact 8, 80.0%; fuzzy 0, 0.0%)" in str(stopped.value)
    assert str(stopped.value).count("1.00 text") == 2 and str(stopped.value).count("[law: law.jsonl@") == 3


@pytest.mark.parametrize(
    ("law", "web", "said"),
    [
        pytest.param(
            {"law1": [("a", 1), ("b", 2)], "law2": [("c", 3), ("b", 4), ("a", 5)]},
            {},
            "source law: the id 'a' is in law1.jsonl@0 and again in law2.jsonl@{}. 1 other id is repeated, too.",
            id="in two files",
        ),
        pytest.param(
            {"law": [("a", 1), ("a", 1), ("a", 1)]},
            {},
            "the id 'a' is in law.jsonl@0 and again in law.jsonl@{}. Give each record",
            id="three times, with one text",
        ),
        pytest.param({"law": [("a", 1)]}, {"web": [("a", 2)]}, None, id="in two sources"),
        pytest.param({"law": [(None, 1), (None, 2), ("a", 3)]}, {}, None, id="no id"),
    ],
)
def test_an_id_that_a_source_has_twice_is_an_error_with_both_places(
    spark: SparkSession,
    tmp_path: Path,
    law: dict[str, list[tuple[str | None, int]]],
    web: dict[str, list[tuple[str | None, int]]],
    said: str | None,
) -> None:
    files: dict[str, list[tuple[str | None, int]]] = {"web": [("w", 9)], **law, **web}
    for name, documents in files.items():
        write(tmp_path / f"{name}.jsonl", [(id, text(seed)) for id, seed in documents])
    asked = state(tmp_path, tmp_path / "out")
    if said is None:
        assert bring(spark, asked)["dedup"].books.records == sum(map(len, law.values())) + 1
        return
    with pytest.raises(InputError) as stopped:
        bring(spark, asked)
    first, second = said.split("{}")
    assert first in str(stopped.value) and second in str(stopped.value) and "unique_ids to false" in str(stopped.value)
    again = str(stopped.value).split("again in ")[1].split(". ")[0]
    records = {row["record"] for row in rows(tmp_path / "out", "documents") if row["source_id"] == "a"}
    assert again in records and asked.receipts("dedup") == {}


@pytest.mark.parametrize(
    ("columns", "sets"),
    [
        pytest.param(("web",), (), id="a source without an id column"),
        pytest.param(("law",), ("dedup.unique_ids=false",), id="switched off"),
        pytest.param(("law",), ("dedup.mode=off",), id="no deduplication"),
    ],
)
def test_ids_are_looked_at_only_where_they_should_be_unique(
    spark: SparkSession, tmp_path: Path, columns: tuple[str, ...], sets: tuple[str, ...]
) -> None:
    write(tmp_path / "law.jsonl", [("a", text(1)), ("a", text(2))])
    write(tmp_path / "web.jsonl", [("w", text(3))])
    assert bring(spark, state(tmp_path, tmp_path / "out", *sets, columns=columns))["dedup"].books.kept == 3


def test_the_summary_tells_what_the_tables_tell(out: Path) -> None:
    found = summary.load(out)
    assert found is not None
    table = {row["id"]: row for row in rows(out, "dedup")}
    documents = {row["id"]: row for row in rows(out, "documents")}
    gone = [row for row in table.values() if not row["keep"]]
    assert (found.documents, found.gone, found.removed) == (12, len(gone), {"exact": 6, "fuzzy": 1})
    assert found.sources == {"web": (8, 6), "law": (4, 1)} and list(found.languages.values()) == [(12, 7)]
    assert found.sizes == {1: 3, 2: 1, 7: 1} and found.run["removed"] == 7 and found.run["removed_fuzzy"] == 1
    assert [cluster.size for cluster in found.clusters] == [7, 2]
    for cluster in found.clusters:
        assert cluster.kept is not None and cluster.kept.text == documents[cluster.id]["text"][:300]
        for member in cluster.removed:
            row, document = table[member.id], documents[member.id]
            assert (row["twin"], row["similarity"], row["measured"]) == (
                cluster.id,
                member.similarity,
                member.measured,
            )
            assert member.excerpt is not None and member.excerpt.record == document["record"]
            assert member.excerpt.text == document["text"][:300]
    least = min(row["similarity"] for row in gone)
    assert found.clusters[0].removed[0].similarity == least < 1


def test_the_summary_is_made_again_where_it_is_missing_and_left_alone_where_it_holds(
    spark: SparkSession, base: Path, out: Path
) -> None:
    path = out / summary.FILE
    before = path.read_bytes(), path.stat().st_mtime_ns

    def no_spark() -> SparkSession:
        raise AssertionError("nothing is due")

    def again(*sets: str) -> None:
        pipeline.run(state(base, out, *sets), CURATION, spark=no_spark, reporter=Reporter(quiet=True))

    again()
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    for damage in (path.unlink, lambda: path.write_text("{"), lambda: path.write_text('{"format": 0}')):
        damage()
        again()
        assert path.read_bytes() == before[0]
    bring(spark, state(base, out, "dedup.mode=off"))
    assert not path.exists()  # what is no longer true isn't left lying
    bring(spark, state(base, out))
    assert path.read_bytes() == before[0]


def test_parts_of_the_shuffles_change_no_count(
    spark: SparkSession, base: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "sizes", lambda *_: Parts(3, 5, 2, 3))
    bring(spark, state(base, tmp_path))
    assert (tmp_path / summary.FILE).read_bytes() == (out / summary.FILE).read_bytes()


def test_the_job_prints_the_table_and_tells_the_counts_as_json(
    spark: SparkSession, base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["--input", str(base / "law.jsonl"), str(base / "web.jsonl"), "--output", str(tmp_path / "out")]
    argv += ["--id-column", "id", "--scope", "all"]
    assert dedup.main([*argv, "--max-removed-share", "0.2"]) == 1
    assert "dedup: deduplication would remove 7 of 12 documents" in capsys.readouterr().err
    assert dedup.main(argv) == 0
    said = capsys.readouterr()
    assert said.out == "" and "pairs compared" in said.err and "largest clusters\n  7 documents\n" in said.err
    assert dedup.main([*argv, "--json"]) == 0
    said = capsys.readouterr()
    told = json.loads(said.out)["duplicates"]
    assert said.err == "" and told["removed"] == {"exact": 6, "fuzzy": 1} and "clusters" not in told
    assert dedup.main([*argv, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_the_step_says_which_stage_runs(
    spark: SparkSession, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    does = State.does

    def heard(self: State, stage: str) -> None:
        said.append(stage)
        does(self, stage)

    monkeypatch.setattr(State, "does", heard)
    bring(spark, state(base, tmp_path))
    assert [stage for stage in said if stage] == ["ids", "texts and buckets", "signatures and verdicts", "writing"]
    assert said[-1] == ""


def test_the_bar_shows_the_stage() -> None:
    watch = Watch(units=3, tasks_done=2, tasks_known=8, stage="texts and buckets")
    progress = Progress(console=Console(file=StringIO()))
    Bar(progress, watch, "dedup").show()
    assert progress.tasks[0].fields["shown"].startswith("texts and buckets  2/8 tasks")


def test_the_ids_of_the_first_step_that_is_run_again_are_looked_at_again(
    spark: SparkSession, base: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[State] = []
    monkeypatch.setattr(dedup_step, "check_ids", lambda spark, state: looked.append(state))
    bring(spark, state(base, out))
    assert looked == []
    bring(spark, state(base, out, "dedup.similarity=0.8"))
    assert len(looked) == 1
