"""python -m benchmarks.dedup_truth: recall and wrong removals of deduplicators on real documents whose pairs are known.

Two sets, each with all pairs of Jaccard similarity 0.7 and above, found by an exact join: English package descriptions
(5-grams of words parted by white space) and help pages in Chinese, Japanese and Korean (8-grams of characters). The
tools cut words in their own ways, so some of what is near a limit falls on its other side by definition.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks import environments
from benchmarks.dedup_score import SCORE_HEADER, Pair, markdown, score, score_row
from benchmarks.dedup_tools import CHARACTER_PEERS, GLOTMILL, PEERS, Tool, chosen, run
from benchmarks.inputs import _DATA, _lines

SETS = {"pkgdesc_en": False, "libreoffice_cjk": True}  # and whether runs of characters are a fair choice
OURS_CHARACTERS = Tool("glotmill, characters", sets=("dedup.shingles=chars",))


def load(folder: Path, name: str, out: Path) -> tuple[set[str], list[Pair]]:
    """Write the documents of a set as plain JSONL with id and text, and give their ids and the pairs."""
    ids = set()
    with out.open("w", encoding="utf-8") as file:
        for line in _lines(folder / f"{name}.docs.jsonl.zst"):
            row = json.loads(line)
            ids.add(row["id"])
            file.write(json.dumps({"id": row["id"], "text": row["text"]}, ensure_ascii=False) + "\n")
    cells = (line.rstrip("\n").split("\t") for line in _lines(folder / f"{name}.pairs.tsv.zst"))
    return ids, [(a, b, float(similarity)) for a, b, similarity in cells]


def main() -> int:
    args = _parser().parse_args()
    failed = False
    for name in args.sets:
        if not (args.set_dir / f"{name}.docs.jsonl.zst").is_file():
            sys.exit(f"--set-dir {args.set_dir}: it lacks {name}.docs.jsonl.zst")
        with tempfile.TemporaryDirectory(dir=args.work) as folder:
            documents = Path(folder) / f"{name}.jsonl"
            ids, pairs = load(args.set_dir, name, documents)
            tools = [GLOTMILL, *PEERS, *([OURS_CHARACTERS, *CHARACTER_PEERS] if SETS[name] else [])]
            rows, notes = [], []
            for tool in chosen(tools, args.tools):
                print(f"{name}: {tool.name}", file=sys.stderr, flush=True)
                done = run(tool, documents, Path(folder) / "work", sets=args.set, envs=args.envs, timeout=args.timeout)
                if done.error:
                    failed = True
                    notes.append(f"{tool.name}: left out: {done.error}")
                    continue
                one = score(pairs, ids, done.kept, done.twins)
                rows.append([*score_row(tool.name, one), f"{done.cost.cpu_seconds:.0f}"])
                notes.append(f"{tool.name} {done.version}: {done.settings}")
                if args.json:
                    _append(args.json, name, tool, rows[-1])
        print(f"\n{name}: {len(ids):,} documents, {len(pairs):,} pairs\n")
        print(markdown((*SCORE_HEADER, "CPU s"), rows), "", *notes, sep="\n", flush=True)
    return int(failed)


def _append(path: Path, name: str, tool: Tool, row: list[str]) -> None:
    facts = dict(zip((*SCORE_HEADER, "CPU s"), row, strict=True))
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps({"set": name, **facts, "tool": tool.name}) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set-dir", type=Path, default=_DATA / "dedup")
    parser.add_argument("--sets", type=lambda names: names.split(","), default=list(SETS))
    parser.add_argument(
        "--tools", type=lambda names: names.split(","), default=[], help="comma between; all by default"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the recipe, for ours")
    parser.add_argument("--envs", type=Path, default=environments.CACHE, help="folder of the peers' environments")
    parser.add_argument("--work", type=Path, help="folder for temporary files")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds a tool may take")
    parser.add_argument("--json", type=Path, help="append one JSON line a tool to this file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
