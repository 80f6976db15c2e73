"""Deduplicators that are compared: each runs its whole job, from JSONL to JSONL, in a fresh process tree."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks import environments
from benchmarks.harness import OURS, SCRIPTS, spoken
from benchmarks.process_tree import Cost, cost

JOB = Path(__file__).parents[1] / "jobs" / "dedup.py"
_BASES = {"text_dedup": "3.12"}  # the Python it needs, where ours is too old
_PEER_ENV = {
    **dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
    ),
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
}


@dataclass(frozen=True, slots=True)
class Tool:
    """A deduplicator with its settings.

    Args:
        name: As tables show it; ours begin with "glotmill".
        environment: Name of the peer's environment; empty for ours.
        variant: Of the peer's script, peers/dedup_ENVIRONMENT.py unless `script` is told.
        sets: Ours: KEY=VALUE of the recipe.
    """

    name: str
    environment: str = ""
    variant: str = "words"
    script: str = ""
    sets: tuple[str, ...] = ()

    @property
    def ours(self) -> bool:
        return not self.environment


@dataclass(slots=True)
class Outcome:
    """What a tool did to a corpus.

    Args:
        kept: Ids of the documents it kept.
        twins: Of each removed document the one that stayed in its place and their similarity, as the tool says; None
            for a tool that doesn't say.
        settings: In words.
        error: Why there is nothing else.
    """

    tool: Tool
    cost: Cost
    kept: set[str] = field(default_factory=set)
    twins: dict[str, tuple[str, float]] | None = None
    version: str = ""
    settings: str = ""
    error: str = ""


GLOTMILL = Tool(OURS)
PEERS = (
    Tool("datatrove", "datatrove"),
    Tool("text-dedup", "text_dedup"),
    Tool("text-dedup, checked", "text_dedup", "checked"),
    Tool("data-juicer", "data_juicer"),
    Tool("datasketch", "minhash", script="dedup_datasketch.py"),
    Tool("rensa", "minhash", script="dedup_rensa.py"),
)
CHARACTER_PEERS = (
    Tool("data-juicer, characters", "data_juicer", "characters"),
    Tool("datasketch, characters", "minhash", "characters", script="dedup_datasketch.py"),
    Tool("rensa, characters", "minhash", "characters", script="dedup_rensa.py"),
)


def chosen(tools: Sequence[Tool], names: Sequence[str]) -> list[Tool]:
    """Those whose name, or its part before a comma, is among `names`; all for no names. Exits for an unknown name."""
    known = {tool.name for tool in tools} | {family(tool) for tool in tools}
    unknown = set(names) - known
    if unknown:
        sys.exit(f"--tools: there is no {', '.join(sorted(unknown))}; there are: {', '.join(sorted(known))}")
    return [tool for tool in tools if not names or tool.name in names or family(tool) in names]


def family(tool: Tool) -> str:
    return tool.name.split(",")[0]


def run(
    tool: Tool,
    documents: Path,
    work: Path,
    *,
    sets: Sequence[str] = (),
    scope: str = "all",
    core: int | None = None,
    envs: Path = environments.CACHE,
    timeout: float = 3600,
) -> Outcome:
    """Deduplicate `documents`.

    Args:
        documents: JSONL with `id` and `text`.
        work: A folder that is made, and emptied if there is one.
        sets: KEY=VALUE of the recipe for ours, beside the tool's own.
        scope: Ours: where twins are sought; peers always seek everywhere.
        core: That the process tree is pinned to; None for all cores.
        envs: Folder of the peers' environments.
    """
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        command, env = _ours(tool, documents, work, sets, scope) if tool.ours else _peer(tool, documents, work, envs)
    except environments.EnvironmentProblem as problem:
        return Outcome(tool, Cost(), error=str(problem))
    log = work / "errors.log"
    done = cost(command, every=0.05, core=core, env=env, timeout=timeout, errors=log)
    if done.status:
        lines = (log.read_text(encoding="utf-8", errors="replace") + done.output).strip().splitlines()[-3:]
        return Outcome(tool, done, error=f"status {done.status} after {done.wall_seconds:.0f} s: {' / '.join(lines)}")
    return _read_ours(tool, done, work, sets, scope) if tool.ours else _read_peer(tool, done, work)


def _ours(tool: Tool, documents: Path, work: Path, sets: Sequence[str], scope: str) -> tuple[list[str], dict[str, str]]:
    command = [sys.executable, str(JOB), "--input", str(documents), "--output", str(work / "out"), "--quiet"]
    command += ["--id-column", "id", "--scope", scope]
    for pair in (*tool.sets, *sets):
        command += ["--set", pair]
    return command, dict(os.environ)


def _read_ours(tool: Tool, done: Cost, work: Path, sets: Sequence[str], scope: str) -> Outcome:
    rows = pq.read_table(work / "out" / "dedup", columns=["id", "source_id", "keep", "twin", "similarity"]).to_pylist()
    names = {row["id"]: row["source_id"] for row in rows}
    gone = [row for row in rows if not row["keep"]]
    return Outcome(
        tool,
        done,
        kept={row["source_id"] for row in rows if row["keep"]},
        twins={row["source_id"]: (names[row["twin"]], float(row["similarity"])) for row in gone},
        settings=" ".join((f"scope {scope}", *tool.sets, *sets)),
    )


def _peer(tool: Tool, documents: Path, work: Path, envs: Path) -> tuple[list[str], dict[str, str]]:
    interpreter = environments.python(tool.environment, envs, _base(tool.environment))
    script = SCRIPTS / (tool.script or f"dedup_{tool.environment}.py")
    env = {**os.environ, **_PEER_ENV}
    env.pop("PYTHONPATH", None)  # it may hold our packages, in versions that a peer's don't fit
    return [str(interpreter), str(script), str(documents), str(work), "--variant", tool.variant], env


def _base(environment: str) -> str:
    """The Python that an environment is made from: a command on PATH that works, or one of pyenv's."""
    wanted = _BASES.get(environment)
    if wanted is None:
        return sys.executable
    installed = sorted((Path.home() / ".pyenv" / "versions").glob(f"{wanted}*/bin/python"))
    for path in (shutil.which(f"python{wanted}"), *map(str, installed)):
        if path and not subprocess.run([path, "--version"], capture_output=True).returncode:
            return path
    raise environments.EnvironmentProblem(f"{environment} needs Python {wanted}, which isn't here")


def _read_peer(tool: Tool, done: Cost, work: Path) -> Outcome:
    said = spoken(done.output) or {}
    kept: set[str] = set()
    for file in sorted((work / "kept").glob("*.jsonl")):
        with file.open(encoding="utf-8", newline="\n") as lines:
            kept.update(str(json.loads(line)["id"]) for line in lines)
    return Outcome(tool, done, kept, version=said.get("version", ""), settings=said.get("settings", ""))
