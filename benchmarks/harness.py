"""Run the contestants of a stage in turns, each in fresh processes on one core, and compare what they cost."""

import hashlib
import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.inputs import Sample
from benchmarks.process_tree import Cost, cost

SCRIPTS = Path(__file__).parent / "peers"
OURS = "glotmill"
# One thread each: a peer whose library starts one a core would otherwise only take turns with itself.
_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "RAYON_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "POLARS_MAX_THREADS",
    ),
    "1",
)
_OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}


@dataclass(frozen=True, slots=True)
class Contestant:
    """A program that does a stage's work.

    Args:
        name: As the table shows it; ours begin with "glotmill".
        script: File in peers/ (see peers/contestant.py for what it takes and prints), or a path.
        task: Which of the script's tasks.
        environment: Name of the peer's environment; empty for the one that runs the harness.
        least_mb: 10^6 bytes to work on at least: a smaller sample is gone through so often that it takes long enough to
            be measured.
    """

    name: str
    script: str
    task: str
    environment: str = ""
    least_mb: float = 0

    @property
    def ours(self) -> bool:
        return self.name.startswith(OURS)

    def passes(self, sample: Sample) -> int:
        return max(1, math.ceil(self.least_mb / sample.megabytes))


@dataclass(slots=True)
class Runs:
    """What a contestant's repetitions cost (idle: all but the work; whole) and said; or why there are none."""

    contestant: Contestant
    idle: list[Cost] = field(default_factory=list)
    whole: list[Cost] = field(default_factory=list)
    yardsticks: list[float] = field(default_factory=list)
    said: list[dict[str, Any]] = field(default_factory=list)
    error: str = ""
    stderr: str = ""


def contest(
    contestants: tuple[Contestant, ...],
    sample: Sample,
    *,
    python: Callable[[Contestant], Path],
    reps: int,
    core: int | None,
    timeout: float,
    progress: Callable[[str], None],
) -> list[Runs]:
    """Each contestant `reps` times, in turns, so that a noisy neighbour hits all of them.

    A turn is an idle run (imports, models, a warm-up on one text, reading the sample) and a whole one (the same, and
    the work). One idle run before the first turn isn't counted: it fills caches of compiled code and of files. A
    contestant that fails is out, with its reason; the others go on.
    """
    runs = [Runs(contestant) for contestant in contestants]
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(reps + 1):
            for run in (run for run in runs if not run.error):
                progress(f"turn {turn} of {reps}: {run.contestant.name}")
                try:
                    interpreter = python(run.contestant)
                except Exception as problem:  # of whatever kind: the other contestants go on
                    run.error = str(problem) or repr(problem)
                    continue
                once = partial(_once, run, interpreter, sample, Path(folder), core=core, timeout=timeout)
                run.yardsticks.append(yardstick(core))
                idle = once(idle=True)
                if turn and not run.error:
                    run.idle.append(idle)
                    run.whole.append(once(idle=False))
    return runs


def yardstick(core: int | None) -> float:
    """CPU seconds of a fixed piece of work on `core`: how much slower a busy machine makes a CPU second."""
    allowed = os.sched_getaffinity(0)
    if core is not None:
        os.sched_setaffinity(0, {core})
    try:
        started = time.process_time()
        counts: dict[int, int] = {}
        for number in range(300_000):
            key = number * 2654435761 & 0xFFFF
            counts[key] = counts.get(key, 0) + 1
        hashlib.blake2b(bytes(32 << 20)).digest()
        return time.process_time() - started
    finally:
        os.sched_setaffinity(0, allowed)


def _once(
    run: Runs, interpreter: Path, sample: Sample, folder: Path, *, idle: bool, core: int | None, timeout: float
) -> Cost:
    contestant = run.contestant
    log = folder / "errors"
    log.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        command = [
            str(interpreter),
            str(SCRIPTS / contestant.script),
            contestant.task,
            str(sample.path),
            work,
            f"--passes={0 if idle else contestant.passes(sample)}",
        ]
        env = {**os.environ, **_ONE_THREAD, **_OFFLINE}
        if contestant.environment:
            env.pop("PYTHONPATH", None)  # it may hold our packages, in versions that a peer's don't fit
        done = cost(command, every=0.05, core=core, env=env, timeout=timeout, errors=log)
    said = spoken(done.output)
    if done.status or said is None:
        run.stderr = log.read_text(encoding="utf-8", errors="replace").strip()[-4000:]
        last = run.stderr.splitlines()[-1] if run.stderr else "no message"
        run.error = f"status {done.status} after {done.wall_seconds:.0f} s: {last}"
    elif not idle:
        run.said.append(said)
    return done


def spoken(output: str) -> dict[str, Any] | None:
    """The last JSON object that a contestant printed on a line of its own; peers may print before it."""
    for line in reversed(output.splitlines()):
        if line.startswith("{"):
            try:
                return dict(json.loads(line))
            except ValueError:
                continue
    return None


def results(stage: str, runs: list[Runs], sample: Sample) -> list[dict[str, Any]]:
    """One JSON object for each contestant: the least of its repetitions, and how ours compare.

    `*_cpu_s` are CPU seconds of the process tree for one pass. `startup_cpu_s` is of the idle runs; `net_cpu_s` of the
    whole runs without it; `total_cpu_s` start-up and one pass. Rates are net. `first_batch_s` is wall time from the
    start of the process until a batch of one text was done. `ours_by_this` is the net rate of our first contestant by
    this one's. `yardstick_cpu_s`: see `yardstick`.
    """
    rows = [_row(stage, run, sample) for run in runs]
    first = next((row for row in rows if row["ours"] and "error" not in row), None)
    for row in rows:
        if first and "error" not in row:
            row["ours_by_this"] = round(row["net_cpu_s"] / first["net_cpu_s"], 2)
    return rows


def _row(stage: str, run: Runs, sample: Sample) -> dict[str, Any]:
    contestant = run.contestant
    row: dict[str, Any] = {"stage": stage, "contestant": contestant.name, "ours": contestant.ours}
    if run.error:
        return {**row, "error": run.error, "stderr": run.stderr}
    said = run.said[-1] | {name: min(one[name] for one in run.said) for name in _FIRST if name in run.said[-1]}
    docs = said.pop("docs") or sample.docs
    passes = contestant.passes(sample)
    startup = min(one.cpu_seconds for one in run.idle)
    nets = [(one.cpu_seconds - startup) / passes for one in run.whole]
    net = max(min(nets), 0.001)  # faster can't be told
    wall = min(one.wall_seconds for one in run.whole) - min(one.wall_seconds for one in run.idle)
    return {
        **row,
        "version": said.pop("version"),
        "docs": docs,
        "mb": round(sample.megabytes, 3),
        "passes": passes,
        "reps": len(run.whole),
        "startup_cpu_s": round(startup, 3),
        "net_cpu_s": round(net, 4),
        "total_cpu_s": round(startup + net, 3),
        "net_wall_s": round(wall / passes, 4),
        "docs_per_cpu_s": round(docs / net, 1),
        "mb_per_cpu_s": round(sample.megabytes / net, 3),
        "yardstick_cpu_s": round(min(run.yardsticks), 4),
        "peak_mb": max(one.peak_mb.get("all", 0.0) for one in run.whole),
        "each_net_cpu_s": [round(one, 4) for one in nets],
        **said,
    }


_FIRST = ("first_batch_s", "first_batch_cpu_s")
_COLUMNS: Mapping[str, tuple[str, str]] = {
    "contestant": ("contestant", "{}"),
    "version": ("version", "{}"),
    "first_batch_s": ("first batch after s", "{:.2f}"),
    "startup_cpu_s": ("start-up CPU s", "{:.2f}"),
    "net_cpu_s": ("work CPU s", "{:.3f}"),
    "docs_per_cpu_s": ("docs / CPU s", "{:,.0f}"),
    "mb_per_cpu_s": ("MB / CPU s", "{:.2f}"),
    "peak_mb": ("peak MB", "{:,.0f}"),
    "ours_by_this": ("ours / this", "{:,.1f}"),
}


def table(rows: list[dict[str, Any]]) -> str:
    """A Markdown table of what `results` yields; contestants that failed stand under it with their reason."""
    good = [row for row in rows if "error" not in row]
    cells = [[title for title, _ in _COLUMNS.values()], ["---"] * len(_COLUMNS)]
    cells += [[form.format(row[key]) if key in row else "" for key, (_, form) in _COLUMNS.items()] for row in good]
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    failed = [f"{row['contestant']}: left out: {row['error']}" for row in rows if "error" in row]
    return "\n".join([*lines, *([""] if failed else []), *failed])


def verdict(rows: list[dict[str, Any]], target: float = 0) -> str:
    """A line that says how ours compare with the first peer, and with the target if there is one."""
    peer = next((row for row in rows if not row["ours"] and "ours_by_this" in row), None)
    if peer is None:
        return ""
    wanted = f" (target: {target:g})" if target else ""
    return f"\nWork per CPU second, ours by {peer['contestant']}: {peer['ours_by_this']:.1f}{wanted}\n"
