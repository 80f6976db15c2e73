"""CPU seconds and peak memory of a command with everything it starts.

Spark's Python daemon ignores SIGCHLD, so the CPU time of its workers never reaches rusage: the process tree is polled.
What rusage knows is exact, what was polled misses the last moments of each process; the larger of the two counts.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil


@dataclass(slots=True)
class Cost:
    """What a command cost.

    Args:
        wall_seconds: From start to end.
        cpu_seconds: User and system time of every process of the tree.
        peak_mb: By kind of process (java, python, other) and for `all`, the largest sum of resident memory seen, in
            10^6 bytes; pages that forked processes share count once for each.
        status: Exit status; negative for a signal.
        output: What the command wrote to standard output.
    """

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mb: dict[str, float] = field(default_factory=dict)
    status: int = 0
    output: str = ""


def cost(
    command: list[str],
    *,
    every: float = 0.1,
    core: int | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = float("inf"),
    errors: Path | None = None,
) -> Cost:
    """Run `command` to its end and tell its cost.

    Args:
        command: Program and arguments.
        every: Seconds between two looks at the process tree.
        core: Number of the core that the tree is pinned to; None for all.
        env: The environment variables; None for this process's.
        timeout: Wall seconds after which the tree is killed.
        errors: File that standard error is appended to; None for this process's.
    """
    with tempfile.TemporaryFile() as output, open(errors or os.devnull, "ab") as log:
        started = time.perf_counter()
        child = subprocess.Popen(
            command,
            stdout=output,
            stderr=log if errors else None,
            env=env,
            preexec_fn=None if core is None else lambda: os.sched_setaffinity(0, {core}),
        )
        watch = _Watch(child.pid, every, started + timeout)
        watch.start()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
        watch.stop.set()
        watch.join()
        output.seek(0)
        return Cost(
            wall_seconds=round(wall, 3),
            cpu_seconds=round(max(sum(watch.cpu.values()), usage.ru_utime + usage.ru_stime), 3),
            peak_mb={kind: round(size, 1) for kind, size in watch.peak.items()},
            status=child.returncode,
            output=output.read().decode("utf-8", "replace"),
        )


class _Watch(threading.Thread):
    """Looks at a process tree now and then, and kills it when its time is up."""

    def __init__(self, pid: int, every: float, deadline: float) -> None:
        super().__init__(daemon=True)
        self.pid, self.every, self.deadline = pid, every, deadline
        self.cpu: dict[tuple[int, float], float] = {}
        self.peak: dict[str, float] = {}
        self.stop = threading.Event()

    def run(self) -> None:
        while not self.stop.wait(self.every):
            tree = _tree(self.pid)
            self._look(tree)
            if time.perf_counter() > self.deadline:
                for process in tree:
                    _kill(process)

    def _look(self, tree: list[psutil.Process]) -> None:
        memory = {"all": 0.0}
        for process in tree:
            try:
                times, kind = process.cpu_times(), _kind(process.name())
                self.cpu[process.pid, process.create_time()] = times.user + times.system
                size = process.memory_info().rss / 1e6
            except psutil.Error:
                continue
            memory[kind] = memory.get(kind, 0.0) + size
            memory["all"] += size
        for kind, size in memory.items():
            self.peak[kind] = max(self.peak.get(kind, 0.0), size)


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.Error:
        pass


def _tree(pid: int) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []


def _kind(name: str) -> str:
    return next((kind for kind in ("java", "python") if kind in name), "other")


if __name__ == "__main__":
    done = asdict(cost(sys.argv[1:]))
    print(json.dumps({name: value for name, value in done.items() if name != "output"}))
