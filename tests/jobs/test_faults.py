"""Kills and clusters: whatever happens on the way, the result is a clean run's."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyspark
import pytest

from glotmill.jobs.java import java_home

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "recipes" / "quickstart.yaml"
Snapshot = Callable[[Path], dict[str, str]]


def command(out: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "glotmill.jobs.cli", "run", str(RECIPE), "--out", str(out), *options]


def test_kills_at_ten_random_moments_change_nothing(tmp_path: Path, demo_out: Path, snapshot: Snapshot) -> None:
    moments = random.Random(20240501)
    for _ in range(10):
        child = subprocess.Popen(command(tmp_path / "out", "--master", "local[2]", "--quiet"), start_new_session=True)
        try:
            child.wait(timeout=moments.uniform(2, 24))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)  # the driver alone: JVM and workers must notice by themselves
            child.wait()
    subprocess.run(command(tmp_path / "out", "--quiet"), check=True, timeout=600)
    assert snapshot(tmp_path / "out") == snapshot(demo_out)


@pytest.mark.parametrize("master", ["local[1]", "local[2]"])
def test_cores_change_nothing(tmp_path: Path, demo_out: Path, snapshot: Snapshot, master: str) -> None:
    subprocess.run(command(tmp_path / "out", "--master", master, "--tasks", "7", "--quiet"), check=True, timeout=600)
    assert snapshot(tmp_path / "out") == snapshot(demo_out)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """A standalone Spark master with two workers of one core each, on loopback; yields its URL."""
    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "JAVA_HOME": str(java_home()),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    log = tmp_path / "master.log"
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str, log: Path) -> None:
        with log.open("wb") as file:
            line = [str(home / "bin" / "spark-class"), *arguments]
            started.append(subprocess.Popen(line, env=environment, stdout=file, stderr=file, start_new_session=True))

    deploy = "org.apache.spark.deploy"
    try:
        ports = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        start(f"{deploy}.master.Master", *ports, log=log)
        url = _told(log, r"(spark://127\.0\.0\.1:\d+)")
        for number in (1, 2):
            own = tmp_path / f"worker-{number}"
            own.mkdir()
            sizes = ("--cores", "1", "--memory", "2g", "--work-dir", str(own))
            start(f"{deploy}.worker.Worker", *ports, *sizes, url, log=tmp_path / f"worker-{number}.log")
        yield url
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _told(log: Path, pattern: str) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if found := re.search(pattern, log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.2)
    raise AssertionError(f"Spark's master did not start: {log.read_text(errors='replace')[-2000:]}")


def test_a_standalone_cluster_of_two_workers_gives_the_same_bytes(
    cluster: str, tmp_path: Path, demo_out: Path, snapshot: Snapshot
) -> None:
    options = (
        "--master",
        cluster,
        "--conf",
        "spark.executor.memory=1g",
        "--conf",
        "spark.driver.host=127.0.0.1",
        "--quiet",
    )
    subprocess.run(command(tmp_path / "out", *options), check=True, timeout=900)
    assert snapshot(tmp_path / "out") == snapshot(demo_out)


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """README's zip of the code."""
    ship = tmp_path / "ship"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(ship), str(ROOT)], check=True, timeout=300)
    archive = tmp_path / "glotmill.zip"
    subprocess.run([sys.executable, "-m", "zipfile", "-c", str(archive), "glotmill"], cwd=ship, check=True)
    return archive


@pytest.fixture
def python_without_glotmill(tmp_path: Path) -> Path:
    """This interpreter with the installed dependencies, but blind to the editable installation of glotmill."""
    packages = ":".join(path for path in sys.path if path.endswith("site-packages"))
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{packages}" exec {sys.executable} -S "$@"\n')
    wrapper.chmod(0o755)
    return wrapper


def test_spark_submit_ships_the_zip_to_a_cluster_that_has_no_glotmill(
    cluster: str, shipped: Path, python_without_glotmill: Path, tmp_path: Path, demo_out: Path, snapshot: Snapshot
) -> None:
    blind = subprocess.run([python_without_glotmill, "-c", "import glotmill"], capture_output=True, cwd=tmp_path)
    assert blind.returncode != 0, "the test proves nothing where glotmill is installed"
    python = f"{python_without_glotmill}"
    conf = {
        "spark.pyspark.python": python,
        "spark.pyspark.driver.python": python,
        "spark.executor.memory": "1g",
        "spark.driver.host": "127.0.0.1",
    }
    settings = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    submit = [str(Path(sys.executable).with_name("spark-submit")), "--master", cluster, *settings]
    script = [str(ROOT / "jobs" / "run.py"), str(RECIPE), "--out", str(tmp_path / "out"), "--quiet"]
    environment = {**os.environ, "JAVA_HOME": str(java_home()), "SPARK_LOCAL_IP": "127.0.0.1"}
    del environment["PYSPARK_PYTHON"]
    done = subprocess.run(
        [*submit, "--py-files", str(shipped), *script],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert snapshot(tmp_path / "out") == snapshot(demo_out)
