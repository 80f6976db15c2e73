"""python -m benchmarks STAGE [STAGE ...] --input FILE: ours beside its peers, in one run on this machine."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import environments
from benchmarks.harness import Contestant, contest, results, table
from benchmarks.inputs import archive, sample
from benchmarks.stages import STAGES


def main() -> int:
    args = _parser().parse_args()
    wanted = None if args.peers is None else set(args.peers.split(","))
    unknown = (wanted or set()) - {one.environment for stage in STAGES.values() for one in stage.contestants}
    if unknown:
        sys.exit(
            f"--peers: there is no {', '.join(sorted(unknown))}; peers are named by their environments: {_peers()}"
        )

    if not args.input.is_file():
        sys.exit(f"--input {args.input}: no such file")

    @cache
    def interpreter(environment: str) -> Path:
        return environments.python(environment, args.envs) if environment else Path(sys.executable)

    failed = False
    for name in args.stages:
        rows = _stage(name, wanted, args, lambda one: interpreter(one.environment))
        if args.json:
            with args.json.open("a", encoding="utf-8") as out:
                out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        print(f"\n{name}: {STAGES[name].about}\n\n{table(rows)}")
        failed |= any("error" in row for row in rows)
    return int(failed)


def _stage(
    name: str, wanted: set[str] | None, args: argparse.Namespace, python: Callable[[Contestant], Path]
) -> list[dict[str, Any]]:
    stage = STAGES[name]
    contestants = tuple(
        one for one in stage.contestants if not one.environment or wanted is None or one.environment in wanted
    )
    with tempfile.TemporaryDirectory() as folder:
        read = archive(args.input) if stage.archive else sample(args.input, args.sample, Path(folder))
        runs = contest(
            contestants,
            read,
            python=python,
            reps=args.reps,
            core=args.core,
            timeout=args.timeout,
            progress=lambda line: print(f"{name}: {line}", file=sys.stderr),
        )
    return list(results(name, runs, read))


def _peers() -> str:
    return ", ".join(sorted({one.environment for stage in STAGES.values() for one in stage.contestants} - {""}))


def _parser() -> argparse.ArgumentParser:
    about = "\n".join(f"  {name}: {stage.about}" for name, stage in STAGES.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=f"stages:\n{about}\n\npeers: {_peers()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("stages", nargs="+", choices=STAGES, metavar="STAGE")
    parser.add_argument(
        "--input", type=Path, required=True, help="JSONL with a text a line, plain or .zst; a WARC file for extraction"
    )
    parser.add_argument("--sample", type=int, help="documents, chosen by hash; all by default")
    parser.add_argument("--peers", help="comma between them; all by default; an empty word for ours alone")
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--json", type=Path, help="append one JSON line a contestant to this file")
    parser.add_argument("--envs", type=Path, default=environments.CACHE, help="folder of the peers' environments")
    parser.add_argument(
        "--core", type=int, default=max(os.sched_getaffinity(0)), help="that every contestant is pinned to"
    )
    parser.add_argument("--timeout", type=float, default=1800, help="seconds a run may take")
    return parser


if __name__ == "__main__":
    sys.exit(main())
