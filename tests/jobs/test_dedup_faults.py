"""Fuzzy deduplication that is killed in each phase, or loses a machine: the result is a clean run's."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.curate.test_duplicates import edited, text
from tests.jobs.conftest import Cluster

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FILES, ROWS = 6, 500
Snapshot = Callable[[Path], dict[str, str]]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3,000 documents in six files: of 1,100 texts, each two or three times, with up to 3 % of the words edited."""
    folder = tmp_path_factory.mktemp("near")
    for file in range(FILES):
        with (folder / f"{file}.jsonl").open("w") as out:
            for row in range(ROWS):
                number = file * ROWS + row
                words = edited(text(number % 1100, 80), 0.01 * (row % 4), number)
                out.write(json.dumps({"id": f"{file}-{row}", "text": " ".join(words)}) + "\n")
    return folder


def command(corpus: Path, out: Path, *options: str) -> list[str]:
    job = [sys.executable, str(ROOT / "jobs" / "dedup.py"), "--input", str(corpus), "--output", str(out)]
    return [*job, "--id-column", "id", *options]


def run(corpus: Path, out: Path, *options: str) -> None:
    done = subprocess.run(command(corpus, out, *options), capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def clean(corpus: Path, tmp_path_factory: pytest.TempPathFactory, snapshot: Snapshot) -> dict[str, str]:
    """What a run leaves that nothing disturbs."""
    out = tmp_path_factory.mktemp("clean") / "out"
    run(corpus, out, "--master", "local[2]")
    told = json.loads((out / "dedup.json").read_text())
    assert told["removed"]["fuzzy"] > 500 and told["removed"]["exact"] > 100
    return snapshot(out)


def begun(out: Path, step: str) -> bool:
    """Whether a step has done something."""
    return any((out / "ledger" / step).glob("*"))


def await_phase(child: subprocess.Popen[bytes], out: Path, step: str, seconds: float) -> None:
    """Some time after a step has begun, or when the run is over."""
    while child.poll() is None and not begun(out, step):
        time.sleep(0.02)
    if child.poll() is None:
        time.sleep(seconds)


# After a step's first receipt, and so many seconds: of dedup's stages none leaves a trace.
PHASES = [
    pytest.param("extract", 0.0, id="while documents are read"),
    pytest.param("measure", 0.0, id="while texts are signed"),
    pytest.param("judge", 0.1, id="as deduplication begins"),
    pytest.param("judge", 1.5, id="between its shuffles"),
    pytest.param("judge", 4.0, id="at its end"),
    pytest.param("dedup", 0.0, id="while verdicts are written"),
    pytest.param("cut", 0.0, id="while documents are cut"),
]


def test_a_kill_in_each_phase_changes_nothing(
    corpus: Path, tmp_path: Path, clean: dict[str, str], snapshot: Snapshot
) -> None:
    out = tmp_path / "out"
    killed = []
    for phase in PHASES:
        step, seconds = phase.values
        child = subprocess.Popen(
            command(corpus, out, "--master", "local[2]"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        await_phase(child, out, str(step), float(str(seconds)))
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
            killed.append(phase.id)
        child.wait()
    assert len(killed) >= 5, "the runs were over before they were killed"
    run(corpus, out, "--master", "local[2]")
    assert snapshot(out) == clean


@pytest.mark.parametrize("options", [("--master", "local[1]"), ("--master", "local[2]", "--tasks", "7")], ids=str)
def test_cores_and_tasks_change_nothing(
    corpus: Path, tmp_path: Path, clean: dict[str, str], snapshot: Snapshot, options: tuple[str, ...]
) -> None:
    run(corpus, tmp_path / "out", *options)
    assert snapshot(tmp_path / "out") == clean


def test_a_machine_that_is_lost_in_mid_shuffle_changes_nothing(
    cluster: Cluster, corpus: Path, tmp_path: Path, clean: dict[str, str], snapshot: Snapshot
) -> None:
    out = tmp_path / "out"
    conf = {"spark.executor.memory": "1g", "spark.driver.host": "127.0.0.1"}
    settings = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    log = tmp_path / "log"
    with log.open("wb") as file:
        child = subprocess.Popen(command(corpus, out, "--master", cluster.url, *settings), stdout=file, stderr=file)
        try:
            lost = False
            while child.poll() is None and not lost:
                lost = begun(out, "judge") and any(cluster.local.rglob("shuffle_*.data"))
                time.sleep(0.02)
            assert lost, f"no shuffle was seen: {log.read_text()[-2000:]}"
            assert not begun(out, "dedup"), "deduplication was over before the machine was lost"
            cluster.lose(0)
            assert child.wait(timeout=600) == 0, log.read_text()[-3000:]
        finally:
            child.kill()
            child.wait()
    assert snapshot(out) == clean
