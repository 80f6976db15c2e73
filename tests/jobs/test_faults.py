"""Kills and clusters: whatever happens on the way, the result is a clean run's."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from glotmill.jobs.java import java_home
from tests.jobs.conftest import Cluster

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


def test_a_standalone_cluster_of_two_workers_gives_the_same_bytes(
    cluster: Cluster, tmp_path: Path, demo_out: Path, snapshot: Snapshot
) -> None:
    options = (
        "--master",
        cluster.url,
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
    cluster: Cluster, shipped: Path, python_without_glotmill: Path, tmp_path: Path, demo_out: Path, snapshot: Snapshot
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
    submit = [str(Path(sys.executable).with_name("spark-submit")), "--master", cluster.url, *settings]
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
