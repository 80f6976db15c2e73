"""What documents repeat of one another is cut out by a run, and by the dedup job."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from glotmill.jobs import dedup, pipeline
from glotmill.jobs.reporting import Reporter
from glotmill.jobs.run import CURATION
from glotmill.jobs.state import State
from glotmill.schemas.recipe import Recipe
from glotmill.schemas.recipe_file import from_mapping, with_sets
from glotmill.tokenize.kept import kept_documents

NOTICE = "Subscribe to our weekly letter and never miss a story"
QUOTED = " ".join(
    f"In the year {year} the town council of {place} decided that the {thing} should be moved beyond the river."
    for year, place, thing in zip(range(1801, 1811), "Aa Bb Cc Dd Ee Ff Gg Hh Ii Jj".split(), "abcdefghij", strict=True)
)
OWN = {
    name: f"{name} writes about {topic} and asks what became of it.\nNobody in {name} knows an answer to that."
    for name, topic in (
        ("alba", "mills"),
        ("brno", "bridges"),
        ("cork", "harbours"),
        ("delft", "canals"),
        ("evora", "walls"),
    )
}
TEXTS = {
    "alba": f"{NOTICE}\n{OWN['alba']}\n\n{QUOTED}\n",
    "brno": f"{OWN['brno']}\n\nSo they said: {QUOTED} That is all.\n{NOTICE}",
    "cork": f"{NOTICE}\r\n{OWN['cork']}",
    "delft": f"{NOTICE}\n{OWN['delft']}\nAnd once more:\n{QUOTED}",
    "evora": f"{QUOTED}\n\n{NOTICE}\n",
}
SETS = (
    "dedup.mode=exact",
    "dedup.lines.within=all",
    "dedup.substrings.units=50",
    "quality.preset=none",
    "language.model=lid176",
)


def recipe(*sets: str) -> Recipe:
    told: dict[str, Any] = {
        "name": "repeats",
        "sources": [
            {"name": "first", "path": "alba.jsonl", "columns": {"id": "id"}},
            {"name": "then", "path": "*.jsonl", "columns": {"id": "id"}},
        ],
        "extract": {"unit_bytes": 65536},
    }
    return with_sets(from_mapping(told, where="test"), [*SETS, *sets])


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repeats")
    for name, text in TEXTS.items():
        (folder / f"{name}.jsonl").write_text(json.dumps({"id": name, "text": text}) + "\n")
    return folder


def bring(spark: SparkSession, base: Path, out: Path, *sets: str) -> dict[str, Any]:
    state = State(recipe(*sets), base, out)
    return {
        line.step: line for line in pipeline.run(state, CURATION, spark=lambda: spark, reporter=Reporter(quiet=True))
    }


def texts(out: Path) -> dict[str, str]:
    """By source_id, what is tokenized."""
    found = {}
    for path in (out / "kept").glob("*.parquet"):
        for batch in kept_documents(out, path.stem, columns=["source_id"], joined=["bytes"]):
            for row in batch.to_pylist():
                assert row["bytes"] == len(row["text"].encode())
                found[row["source_id"]] = row["text"]
    return found


def table(out: Path, name: str) -> pa.Table:
    return pa.concat_tables([pq.read_table(path) for path in sorted((out / name).glob("*.parquet"))])


@pytest.fixture(scope="module")
def out(spark: SparkSession, base: Path) -> Path:
    bring(spark, base, base / "out")
    return base / "out"


def test_later_documents_lose_what_earlier_ones_have(out: Path) -> None:
    left = texts(out)
    assert left["alba"] == TEXTS["alba"]
    assert (
        left["brno"] == f"{OWN['brno']}\n\nSo they said: {QUOTED.split('. ')[0]}. That is all.\n"
    )  # it begins outside
    assert left["cork"] == OWN["cork"]
    assert left["delft"] == f"{OWN['delft']}\nAnd once more:\n"


def test_a_document_of_which_nothing_is_left_is_dropped_with_its_reason(out: Path) -> None:
    gone = {row["source_id"]: row for row in table(out, "dropped").to_pylist()}
    assert (gone["evora"]["step"], gone["evora"]["reason"]) == ("dedup", "repeated_text")
    assert gone["evora"]["excerpt"] == TEXTS["evora"][:300]
    assert gone["alba"]["reason"] == "exact_duplicate"  # the second source has its file, too


def test_the_books_and_facts_tell_what_was_cut(spark: SparkSession, base: Path, out: Path) -> None:
    lines = bring(spark, base, out)
    assert lines["repeats"].books.records == 5 and lines["repeats"].books.dropped == {"repeated_text": 1}
    assert all(line.units == line.done_before for line in lines.values())  # a second run has nothing to do
    state = State(recipe(), base, out)
    cuts = [receipt.facts["cuts"] for receipt in state.receipts("repeats").values()]
    assert (
        sum(of.get("repeated_line", {"lines": 0})["lines"] for of in cuts) == 6
    )  # the notice, and where the quotation is a line


def test_switched_off_the_texts_are_whole_again_and_the_step_has_no_units(
    spark: SparkSession, base: Path, out: Path
) -> None:
    lines = bring(spark, base, out, "dedup.lines=null", "dedup.substrings=null")
    assert lines["repeats"].units == 0 and not list((out / "repeats").glob("*.parquet"))
    assert lines["dedup"].done_before == lines["dedup"].units  # who is a duplicate doesn't depend on it
    assert texts(out) == TEXTS
    bring(spark, base, out)
    assert texts(out)["cork"] == OWN["cork"]


def test_the_dedup_job_takes_the_options(
    spark: SparkSession, base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = [
        "--input",
        str(base / "*.jsonl"),
        "--output",
        str(tmp_path / "out"),
        "--id-column",
        "id",
        "--json",
        "--mode",
        "exact",
    ]
    for key in ("lines={within: all, min_documents: 2}", "substrings={}"):
        argv += ["--set", f"dedup.{key}"]
    assert dedup.main(argv) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert steps["repeats"]["records"] == 5
    left = texts(tmp_path / "out")
    assert sum(NOTICE in text for text in left.values()) == 1
    assert sum(QUOTED in text for text in left.values()) == 1
