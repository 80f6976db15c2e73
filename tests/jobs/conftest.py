"""A Spark cluster on loopback."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest

from glotmill.jobs.java import java_home


@dataclass(frozen=True, slots=True)
class Cluster:
    """A master and its workers.

    Args:
        workers: Leaders of process groups in which their executors are, too.
        local: Folder of what executors shuffle.
    """

    url: str
    workers: tuple[subprocess.Popen[bytes], ...]
    local: Path

    def lose(self, worker: int) -> None:
        """Kill a worker and its executor."""
        os.killpg(self.workers[worker].pid, signal.SIGKILL)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A standalone Spark master with two workers of one core each, on loopback."""
    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "JAVA_HOME": str(java_home()),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_DIRS": str(tmp_path / "local"),
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
        yield Cluster(url, tuple(started[1:]), tmp_path / "local")
    finally:
        for process in started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _told(log: Path, pattern: str) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if found := re.search(pattern, log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.2)
    raise AssertionError(f"Spark's master did not start: {log.read_text(errors='replace')[-2000:]}")
