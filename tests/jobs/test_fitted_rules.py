"""Limits and classifiers that a user makes, from the commands that make them to the verdicts of a run."""

import json
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from glotmill.jobs import pipeline
from glotmill.jobs.cli import main
from glotmill.jobs.reporting import Reporter
from glotmill.jobs.run import CURATION
from glotmill.jobs.state import State
from glotmill.schemas.recipe_file import load

SENTENCES = {
    "eng": "The keeper of the harbour writes the height of the tide into a large book that is kept with care",
    "deu": "Im Museum hängt eine Karte auf der jede Mühle am Fluss mit einem Rad verzeichnet ist und bleibt",
}
FOREIGN = "Nel mezzo del cammin di nostra vita mi ritrovai per una selva oscura ché la diritta via era smarrita. "
RECIPE = """
name: fitted
sources: [{name: pages, path: pages.jsonl, columns: {id: id}}]
language: {model: lid176}
quality:
  calibration: calibration
  classifiers: {edu: {model: models/model.bin}}
  rules: {dull: edu_score < 0.5}
"""


def prose(language: str, draw: random.Random) -> str:
    words = SENTENCES[language].split()
    return "\n".join(" ".join(draw.sample(words, len(words))) + "." for _ in range(6))


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recipe, and what `calibrate` and `train-quality` wrote there."""
    folder, draw = tmp_path_factory.mktemp("fitted"), random.Random(5)
    good = [{"text": prose(language, draw), "language": language} for language in SENTENCES for _ in range(70)]
    bad = [{"text": row["text"].replace("e", "xq").replace("a", "zj"), "language": row["language"]} for row in good]
    trusted = write(folder / "good.jsonl", good)
    dull = write(folder / "bad.jsonl", bad)
    arguments = ["--input", str(trusted), "--language-column", "language", "--model", "lid176"]
    assert main(["calibrate", *arguments, "--output", str(folder / "calibration")]) == 0
    sets = ["--positive", str(trusted), "--negative", str(dull), "--language-column", "language"]
    assert main(["train-quality", *sets, "--output", str(folder / "models"), "--min-documents", "2"]) == 0
    pages = [{"id": f"{language}-{n}", "text": prose(language, draw)} for language in SENTENCES for n in range(4)]
    pages.append({"id": "bad", "text": bad[0]["text"]})
    pages.append({"id": "foreign", "text": "The book. " + FOREIGN * 3})
    write(folder / "pages.jsonl", pages)
    (folder / "recipe.yaml").write_text(RECIPE)
    return folder


def run(spark: SparkSession, base: Path, *sets: str) -> dict[str, int]:
    """Units that each step did."""
    state = State(load(base / "recipe.yaml", list(sets)), base, base / "out", None)
    done = pipeline.run(state, CURATION, spark=lambda: spark, reporter=Reporter(quiet=True))
    return {line.step: line.units - line.done_before for line in done if line.units != line.done_before}


def verdicts(base: Path) -> dict[str, dict[str, Any]]:
    rows = [row for path in (base / "out" / "verdicts").glob("*.parquet") for row in pq.read_table(path).to_pylist()]
    return {row["source_id"]: row for row in rows}


def test_a_run_judges_by_fitted_limits_and_classifiers(spark: SparkSession, base: Path) -> None:
    run(spark, base)
    found = verdicts(base)
    assert {id for id, row in found.items() if not row["keep"]} == {"bad", "foreign"}
    broken = {rule["reason"]: rule for rule in found["bad"]["reasons"]}
    assert broken["dull"]["signal"] == "edu_score" and broken["dull"]["value"] < 0.5
    signals = pq.read_table(next((base / "out" / "signals").glob("*.parquet")))
    assert {"edu_score", "unigram_logprob"} <= set(signals.column_names)
    kept = [row["margin_rule"] for row in found.values() if row["keep"]]
    assert all(kept)


def test_an_edited_limit_judges_anew_and_measures_nothing(spark: SparkSession, base: Path) -> None:
    run(spark, base)
    limits = base / "calibration" / "limits.yaml"
    text = limits.read_text(encoding="utf-8")
    assert "eng_Latn" in text
    try:
        edited = text.replace("eng_Latn:\n", "eng_Latn:\n  shorter: words < 100000\n")
        limits.write_text(edited, encoding="utf-8")
        assert run(spark, base).keys() == {"judge", "dedup", "cut"}
        assert {id for id, row in verdicts(base).items() if row["keep"]} == {f"deu-{n}" for n in range(4)}
    finally:
        limits.write_text(text, encoding="utf-8")


def test_counterfactuals_tell_what_a_rule_alone_removes(
    spark: SparkSession, base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(spark, base)
    arguments = ["counterfactuals", str(base / "recipe.yaml"), "--out", str(base / "out"), "--languages"]
    capsys.readouterr()
    assert main([*arguments, "--json", "--set", "quality.rules.tall=words > 1"]) == 0
    told = json.loads(capsys.readouterr().out)
    rows = {row["reason"]: row for row in told["*"]}
    assert rows[None]["breaks"] == rows["tall"]["breaks"] == 10
    assert rows["tall"]["only"] == 8 and rows["dull"]["only"] == 0
    assert sum(row["breaks"] for language, of in told.items() if language != "*" for row in of[1:]) == sum(
        row["breaks"] for row in told["*"][1:]
    )
    assert main(arguments) == 0
    assert "all languages: 10 documents" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["counterfactuals", "recipe.yaml", "--out", "nowhere"], "holds no signals", id="no run"),
        pytest.param(["calibrate", "--input", "gone.jsonl", "--output", "c"], "gone.jsonl", id="no reference"),
        pytest.param(["calibrate", "--input", "pages.jsonl", "--output", "c"], "--min-documents", id="too few"),
        pytest.param(["calibrate", "--input", "pages.jsonl", "--output", "c", "--budget", "2"], "--budget", id="share"),
        pytest.param(
            ["calibrate", "--input", "pages.jsonl", "--output", "c", "--preset", "gofer"], "gopher", id="no preset"
        ),
        pytest.param(
            ["run", "recipe.yaml", "--set", "quality.calibration=no"], "unigrams.parquet", id="no calibration"
        ),
        pytest.param(["run", "recipe.yaml", "--set", "quality.classifiers.edu.model=no.bin"], "no.bin", id="no model"),
        pytest.param(
            ["run", "recipe.yaml", "--set", "quality.classifiers.edu.label=__label__good"], "__label__hq", id="no label"
        ),
        pytest.param(
            ["run", "recipe.yaml", "--set", "quality.semantics=datatrove"], "glotmill", id="semantics of no peer"
        ),
    ],
)
def test_what_a_person_can_mend_ends_with_2(
    base: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(base)
    extra = ["--out", "never"] if arguments[0] == "run" else []
    assert main([*arguments, *extra]) == 2
    told = capsys.readouterr().err
    assert said in told and "Traceback" not in told
    assert not (base / "never").exists() and not (base / "c").exists()


@pytest.mark.parametrize("preset", ["gopher", "c4", "fineweb"])
def test_a_run_may_take_the_semantics_of_datatrove(spark: SparkSession, base: Path, preset: str) -> None:
    run(spark, base, f"quality.preset={preset}", "quality.semantics=datatrove", "quality.calibration=null")
    broken = [rule["signal"] for row in verdicts(base).values() for rule in row["reasons"]]
    assert [signal for signal in broken if signal.startswith("dt_")]
