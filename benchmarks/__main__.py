"""python -m benchmarks STAGE [STAGE ...]: ours beside its peers, in one run on this machine."""

import argparse
import json
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import environments
from benchmarks.harness import contest, results, table, verdict
from benchmarks.inputs import ARCHIVE, DOCUMENTS, archive, sample
from benchmarks.stages import STAGES

PEERS = sorted({one.environment for stage in STAGES.values() for one in stage.contestants} - {""})


def main() -> int:
    args = _parser().parse_args()
    unknown = set(args.peers) - set(PEERS)
    if unknown:
        sys.exit(f"--peers: there is no {', '.join(sorted(unknown))}; there are: {', '.join(PEERS)}")
    failed = False
    for name in args.stages:
        rows = _stage(name, args)
        if args.json:
            with args.json.open("a", encoding="utf-8") as out:
                out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        print(f"\n{name}: {STAGES[name].about}\n\n{table(rows)}\n{verdict(rows, STAGES[name].target)}", flush=True)
        failed |= any("error" in row for row in rows)
    return int(failed)


def _stage(name: str, args: argparse.Namespace) -> list[dict[str, Any]]:
    stage = STAGES[name]
    source = args.input or (ARCHIVE if stage.archive else DOCUMENTS)
    if not source.is_file():
        sys.exit(f"--input {source}: no such file")

    @cache
    def interpreter(environment: str) -> Path:
        return environments.python(environment, args.envs) if environment else Path(sys.executable)

    with tempfile.TemporaryDirectory() as folder:
        read = archive(source) if stage.archive else sample(source, args.documents or None, Path(folder))
        runs = contest(
            tuple(one for one in stage.contestants if not one.environment or one.environment in args.peers),
            read,
            python=lambda one: interpreter(one.environment),
            reps=args.reps,
            core=args.core,
            timeout=args.timeout,
            progress=lambda line: print(f"{name}: {line}", file=sys.stderr),
        )
    return results(name, runs, read)


def _parser() -> argparse.ArgumentParser:
    about = "\n".join(f"  {name}: {stage.about}" for name, stage in STAGES.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=f"stages:\n{about}\n\npeers: {', '.join(PEERS)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("stages", nargs="+", choices=STAGES, metavar="STAGE")
    parser.add_argument(
        "--input", type=Path, help="JSONL with a text a line, plain or .zst; a WARC file for extraction"
    )
    parser.add_argument("--documents", type=int, default=2000, help="how many, chosen by hash; 0 for all")
    parser.add_argument(
        "--peers",
        type=lambda names: names.split(",") if names else [],
        default=PEERS,
        help="comma between them; all by default; an empty word for ours alone",
    )
    parser.add_argument("--reps", type=int, default=2)
    parser.add_argument("--json", type=Path, help="append one JSON line a contestant to this file")
    parser.add_argument("--envs", type=Path, default=environments.CACHE, help="folder of the peers' environments")
    parser.add_argument(
        "--core", type=int, default=max(os.sched_getaffinity(0)), help="that every contestant is pinned to"
    )
    parser.add_argument("--timeout", type=float, default=1800, help="seconds a run may take")
    return parser


if __name__ == "__main__":
    sys.exit(main())
