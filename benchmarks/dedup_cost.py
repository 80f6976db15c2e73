"""python -m benchmarks.dedup_cost: what a whole deduplication costs, tool by tool, on one core.

The corpus: real documents, and copies of them (`--duplicates` of all: a third of them exact, the others with 1 to 15 %
of the words edited), written once as JSONL. Each tool reads it, removes duplicates and writes what it keeps, in a fresh
process tree on one core; all of that is in its CPU seconds, as are interpreters, imports and Spark's start. Recall and
wrong removals are against all pairs of the corpus at a Jaccard similarity of 0.7 and above, natural ones included,
found by an exact join (dedup_join.py) with our shingles; tools that cut words otherwise differ a little by definition.
"""

import argparse
import json
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import environments
from benchmarks.dedup_corpus import Document, copies, is_unspaced, originals, read, words_of, write
from benchmarks.dedup_join import shingle_sets, similar_pairs
from benchmarks.dedup_score import SCORE_HEADER, SIMILAR, Pair, markdown, score, score_row
from benchmarks.dedup_tools import GLOTMILL, PEERS, Outcome, chosen, run
from benchmarks.harness import yardstick
from benchmarks.inputs import DOCUMENTS

SEED = 9
LEAST_CHARS = 200  # shorter texts of the source are left out, so that the mean is that of web text
EXACT = 1 / 3  # of the copies
MOST_COPIES = 6  # of one document, in one round


def corpus(source: Path, count: int, duplicates: float, seed: int = SEED) -> Iterator[Document]:
    """`count` documents in a random order, of which a share `duplicates` are copies.

    Where the source has fewer than are needed, its documents occur again with every paragraph's words shuffled: as
    long, in the same words, and like nothing else.
    """
    rng = np.random.default_rng(seed)
    rows = sorted((one for one in originals(source) if len(one.text) >= LEAST_CHARS), key=lambda one: one.id)
    texts: dict[str, list[str]] = defaultdict(list)
    for one in rows:
        texts[one.language].append(one.text)
    foreign = {name: words_of(found, unspaced=is_unspaced(name)) for name, found in texts.items()}
    wanted = count - round(count * duplicates)
    documents = [Document(one.id, one.language, one.text, one.id) for one in rows]
    documents = [documents[at] for at in rng.permutation(len(documents))[:wanted].tolist()]
    first = len(documents)
    while len(documents) < wanted:
        one = documents[len(documents) % first]
        name = f"{one.id}+{len(documents) // first}"
        documents.append(Document(name, one.language, _shuffled(one, rng), name))
    copied = 0
    while copied < count - wanted:
        one = documents[rng.integers(wanted)]
        some = min(int(rng.integers(1, MOST_COPIES + 1)), count - wanted - copied)
        found = list(copies(one, some, rng, foreign[one.language], exact=EXACT))
        documents += [_renamed(copy, copied + at) for at, copy in enumerate(found)]
        copied += some
    return iter([documents[at] for at in rng.permutation(len(documents)).tolist()])


def _renamed(copy: Document, number: int) -> Document:
    name = f"{copy.cluster}~~{number}"  # a document may be drawn again
    return Document(name, copy.language, copy.text, copy.cluster, copy.kind, copy.share)


def _shuffled(one: Document, rng: np.random.Generator) -> str:
    lines = []
    for line in one.text.split("\n"):
        units = list(line) if is_unspaced(one.language) else line.split(" ")
        lines.append(("" if is_unspaced(one.language) else " ").join(units[at] for at in rng.permutation(len(units))))
    return "\n".join(lines)


def prepared(path: Path, source: Path, count: int, duplicates: float) -> tuple[set[str], list[Pair], float]:
    """Ids, pairs and 10^6 bytes of text; the corpus is written to `path`, and its pairs beside it, if need be."""
    truth = path.with_suffix(".pairs.json")
    if not path.exists():
        write(corpus(source, count, duplicates), path)
        truth.unlink(missing_ok=True)
    documents = read(path)
    if not truth.exists():
        sets = shingle_sets([document.text for document in documents])
        pairs = [(documents[a].id, documents[b].id, s) for a, b, s in similar_pairs(sets, SIMILAR)]
        truth.write_text(json.dumps(pairs), encoding="utf-8")
    pairs = [(a, b, s) for a, b, s in json.loads(truth.read_text(encoding="utf-8"))]
    return {document.id for document in documents}, pairs, sum(len(one.text.encode()) for one in documents) / 1e6


def row(done: Outcome, megabytes: float, ours: float | None) -> list[str]:
    """Cells under HEADER; `ours` are the CPU seconds of our first run."""
    spent = done.cost
    return [
        done.tool.name,
        done.version,
        f"{spent.cpu_seconds:.1f}",
        f"{spent.wall_seconds:.1f}",
        f"{megabytes / spent.cpu_seconds:.2f}",
        f"{spent.peak_mb.get('all', 0):,.0f}",
        f"{spent.cpu_seconds / ours:.1f}" if ours else "-",
    ]


HEADER = ("tool", "version", "CPU s", "wall s", "MB / CPU s", "peak MB", "ours / this")


def main() -> int:
    args = _parser().parse_args()
    failed = False
    with tempfile.TemporaryDirectory(dir=args.work) as folder:
        path = args.corpus or Path(folder) / "documents.jsonl"
        ids, pairs, megabytes = prepared(path, args.input, args.documents, args.duplicates)
        costs, scores, notes, ours = [], [], [], None
        for tool in chosen([GLOTMILL, *PEERS], args.tools):
            print(f"cost: {tool.name}", file=sys.stderr, flush=True)
            quick = yardstick(args.core)
            where = Path(folder) / "work"
            done = run(tool, path, where, sets=args.set, core=args.core, envs=args.envs, timeout=args.timeout)
            if done.error:
                failed = True
                notes.append(f"{tool.name}: left out: {done.error}")
                continue
            if tool.ours and ours is None:
                ours = done.cost.cpu_seconds
            costs.append(row(done, megabytes, ours))
            scores.append(score_row(tool.name, score(pairs, ids, done.kept, done.twins)))
            notes.append(f"{tool.name} {done.version}: {done.settings}; yardstick {quick:.3f} CPU s")
            if args.json:
                facts = dict(zip(HEADER, costs[-1], strict=True)) | dict(zip(SCORE_HEADER, scores[-1], strict=True))
                with args.json.open("a", encoding="utf-8") as out:
                    out.write(json.dumps({**facts, "documents": len(ids), "megabytes": megabytes}) + "\n")
    print(f"\n{len(ids):,} documents, {megabytes:.1f} MB of text, {len(pairs):,} pairs at {SIMILAR} and above\n")
    print(markdown(HEADER, costs), "", markdown(SCORE_HEADER, scores), "", *notes, sep="\n", flush=True)
    return int(failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--duplicates", type=float, default=0.3, help="share of the documents that are copies")
    parser.add_argument("--input", type=Path, default=DOCUMENTS, help="JSONL with id, lang_hint and text")
    parser.add_argument("--corpus", type=Path, help="where the corpus is kept; used again if it is there")
    parser.add_argument(
        "--tools", type=lambda names: names.split(","), default=[], help="comma between; all by default"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the recipe, for ours")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="that every tool is pinned to")
    parser.add_argument("--envs", type=Path, default=environments.CACHE, help="folder of the peers' environments")
    parser.add_argument("--work", type=Path, help="folder for temporary files")
    parser.add_argument("--timeout", type=float, default=7200, help="seconds a tool may take")
    parser.add_argument("--json", type=Path, help="append one JSON line a tool to this file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
