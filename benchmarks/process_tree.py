"""CPU seconds and peak memory of a command with everything it starts.

Spark's Python daemon ignores SIGCHLD, so the CPU time of its workers never reaches rusage: the process tree is polled.
"""

import json
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, field

import psutil


@dataclass(slots=True)
class Cost:
    """What a command cost.

    Args:
        wall_seconds: From start to end.
        cpu_seconds: User and system time of every process of the tree, as last seen alive.
        peak_mb: By kind of process (java, python, other), the largest sum of resident memory seen, in 10^6 bytes;
            pages that forked processes share count once for each.
        status: Exit status.
    """

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mb: dict[str, float] = field(default_factory=dict)
    status: int = 0


def cost(command: list[str], *, every: float = 0.1) -> Cost:
    """Run `command` to its end and tell its cost."""
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    seen: dict[tuple[int, float], float] = {}
    result = Cost()
    stop = threading.Event()

    def poll() -> None:
        while not stop.wait(every):
            memory: dict[str, float] = {}
            for process in _tree(child.pid):
                try:
                    times, kind = process.cpu_times(), _kind(process.name())
                    seen[process.pid, process.create_time()] = times.user + times.system
                    memory[kind] = memory.get(kind, 0.0) + process.memory_info().rss / 1e6
                except psutil.Error:
                    continue
            for kind, size in memory.items():
                result.peak_mb[kind] = round(max(result.peak_mb.get(kind, 0.0), size), 1)

    watcher = threading.Thread(target=poll, daemon=True)
    watcher.start()
    result.status = child.wait()
    stop.set()
    watcher.join()
    result.wall_seconds = round(time.perf_counter() - started, 2)
    result.cpu_seconds = round(sum(seen.values()), 2)
    return result


def _tree(pid: int) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []


def _kind(name: str) -> str:
    return next((kind for kind in ("java", "python") if kind in name), "other")


if __name__ == "__main__":
    print(json.dumps(asdict(cost(sys.argv[1:]))))
