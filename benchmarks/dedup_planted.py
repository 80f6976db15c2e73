"""python -m benchmarks.dedup_planted: recall and precision of deduplicators on planted clusters, by language.

Real documents in 28 languages and 19 scripts, each with copies of which 1 to 15 % of the words (characters, where no
spaces part words) were replaced, inserted or deleted, or paragraphs moved. All pairs of the corpus with a Jaccard
similarity of 0.5 or more are counted out exactly (dedup_join.py), with the job's own shingles. A pair is found when at
least one of its documents is removed.
"""

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import environments
from benchmarks.dedup_corpus import SCRIPTS, Document, Original, copies, is_unspaced, originals, read, words_of, write
from benchmarks.dedup_join import ShingleSets, shingle_sets, similar_pairs
from benchmarks.dedup_score import (
    SCORE_HEADER,
    WANTED,
    Pair,
    bin_names,
    bin_of,
    markdown,
    recall,
    score,
    score_row,
)
from benchmarks.dedup_tools import GLOTMILL, PEERS, Outcome, chosen, run
from benchmarks.inputs import DOCUMENTS
from glotmill.curate.dedup.bands import chosen_bands, found_probability
from glotmill.schemas.recipe import Dedup

LANGUAGES = (
    "en", "de", "fr", "es", "tr", "vi", "fi", "hu", "om", "ru", "uk", "sr", "el", "he", "ar", "fa", "hi", "bn", "ta",
    "te", "th", "km", "dz", "zh-CN", "ja", "ko", "chr", "arm",
)  # fmt: skip
EDGES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
LEAST_CHARS = 300  # of an original
MOST_CHARS = 20_000
SEED = 4


@dataclass(frozen=True, slots=True)
class Planted:
    """A corpus with all its pairs of a similarity of EDGES[0] or more.

    Args:
        sets: Shingles of the documents, in their order.
    """

    documents: list[Document]
    sets: ShingleSets
    pairs: list[Pair]

    @property
    def languages(self) -> dict[str, str]:
        return {document.id: document.language for document in self.documents}


def planted(
    source: Path = DOCUMENTS, *, languages: Sequence[str] = LANGUAGES, clusters: int = 60, seed: int = SEED
) -> Planted:
    """`clusters` documents of each language, each with one to five copies; the same for the same arguments.

    A language with fewer documents of LEAST_CHARS to MOST_CHARS gives those that it has.
    """
    by_language: dict[str, list[Original]] = defaultdict(list)
    for one in originals(source):
        if one.language in languages and LEAST_CHARS <= len(one.text) <= MOST_CHARS:
            by_language[one.language].append(one)
    rng = np.random.default_rng(seed)
    documents: list[Document] = []
    for language in languages:
        rows = sorted(by_language[language], key=lambda one: one.id)
        order = rng.permutation(len(rows)).tolist()
        foreign = words_of((rows[at].text for at in reversed(order)), unspaced=is_unspaced(language))
        for at in order[:clusters]:
            one = rows[at]
            documents.append(Document(one.id, language, one.text, one.id))
            documents += copies(one, int(rng.integers(1, 6)), rng, foreign)
    documents = [documents[at] for at in rng.permutation(len(documents)).tolist()]
    return measured(documents)


def measured(documents: list[Document]) -> Planted:
    sets = shingle_sets([document.text for document in documents])
    pairs = [(documents[a].id, documents[b].id, s) for a, b, s in similar_pairs(sets, EDGES[0])]
    return Planted(documents, sets, pairs)


def twin_similarities(corpus: Planted, twins: Mapping[str, tuple[str, float]]) -> dict[str, float]:
    """By removed document, the true similarity to its named twin; 1 for two texts without shingles."""
    row = {document.id: at for at, document in enumerate(corpus.documents)}
    empty = corpus.sets.sizes == 0
    return {
        name: 1.0 if empty[row[name]] and empty[row[twin]] else corpus.sets.similarity(row[name], row[twin])
        for name, (twin, _) in twins.items()
    }


def by_language(corpus: Planted, outcome: Outcome, similarity: float) -> list[list[str]]:
    """A row a language: documents, pairs at WANTED or above, their recall, removals, and those that are wrong."""
    languages = corpus.languages
    pairs: dict[str, list[Pair]] = defaultdict(list)
    for pair in corpus.pairs:
        pairs[languages[pair[0]]].append(pair)
    true = twin_similarities(corpus, outcome.twins or {})
    rows = []
    for language in sorted(set(languages.values())):
        mine = [name for name, its in languages.items() if its == language]
        bins, wanted = recall(pairs[language], outcome.kept, EDGES)
        gone = [name for name in mine if name not in outcome.kept]
        wrong = sum(true[name] < similarity - 1e-9 for name in gone if name in true)
        precision = f"{1 - wrong / len(gone):.4f}" if gone and outcome.twins is not None else "-"
        cells = [f"{found} ({found.pairs})" if found.pairs else "-" for found in bins.values()]
        script = SCRIPTS.get(language, "Latn")
        rows.append([language, script, str(len(mine)), *cells, f"{wanted} ({wanted.pairs})", str(len(gone)), precision])
    return rows


def by_bin(corpus: Planted, outcome: Outcome, similarity: float, bands: int, rows: int) -> list[list[str]]:
    """A row a bin: pairs, recall, what LSH alone finds of its pairs by theory, removals whose twin is in it."""
    bins, _ = recall(corpus.pairs, outcome.kept, EDGES)
    theory: dict[str, list[float]] = defaultdict(list)
    for _, _, s in corpus.pairs:
        theory[bin_of(s, EDGES) or ""].append(found_probability(s, bands, rows))
    gone: dict[str, int] = defaultdict(int)
    for s in twin_similarities(corpus, outcome.twins or {}).values():
        gone[bin_of(s, EDGES) or ""] += 1
    table = [
        [name, f"{found.pairs:,}", str(found), f"{np.mean(theory[name]):.4f}" if theory[name] else "-", gone[name]]
        for name, found in bins.items()
    ]
    return [[f"below {EDGES[0]:.2f}", "", "", "", gone[""]], *table]  # type: ignore[list-item]


def faults(corpus: Planted, outcome: Outcome, similarity: float) -> list[str]:
    """What should not be: a language whose recall at WANTED is below 0.97, a twin less alike than `similarity`."""
    languages = corpus.languages
    found = []
    for language in sorted(set(languages.values())):
        wanted = recall([p for p in corpus.pairs if languages[p[0]] == language], outcome.kept, EDGES)[1]
        if wanted.pairs and wanted.share < 0.97:
            found.append(f"{language}: recall of pairs at {WANTED} and above is {wanted}")
    for name, s in twin_similarities(corpus, outcome.twins or {}).items():
        if s < similarity - 1e-9:
            found.append(
                f"{name}: its twin {outcome.twins[name][0]} is {s:.4f} alike, not {outcome.twins[name][1]:.4f}"
            )  # type: ignore[index]
    return found


def main() -> int:
    args = _parser().parse_args()
    settings = Dedup()
    if not args.corpus:
        corpus = planted(args.input, clusters=args.clusters, seed=args.seed)
    else:
        corpus = measured(read(args.corpus))
    similarity = args.similarity
    failed = False
    with tempfile.TemporaryDirectory(dir=args.work) as folder:
        path = args.out or Path(folder) / "documents.jsonl"
        write(corpus.documents, path)
        languages = corpus.languages
        scripts = {SCRIPTS.get(language, "Latn") for language in languages.values()}
        print(
            f"{len(corpus.documents):,} documents in {len(set(languages.values()))} languages and {len(scripts)} "
            f"scripts; {len(corpus.pairs):,} pairs at {EDGES[0]} and above\n"
        )
        table = []
        for tool in chosen([GLOTMILL, *PEERS], args.tools):
            print(f"planted: {tool.name}", file=sys.stderr, flush=True)
            done = run(tool, path, Path(folder) / "work", sets=args.set, scope=args.scope, envs=args.envs)
            if done.error:
                failed = True
                print(f"{tool.name}: left out: {done.error}\n")
                continue
            table.append(score_row(tool.name, score(_from_70(corpus.pairs), list(languages), done.kept, done.twins)))
            if not tool.ours:
                continue
            bands, rows = chosen_bands(similarity, settings.permutations, None, None)
            header = ("language", "script", "docs", *bin_names(EDGES), ">= 0.8", "removed", "precision")
            print(markdown(header, by_language(corpus, done, similarity)), "\n")
            header = ("similarity", "pairs", "recall", f"theory, {bands} x {rows}", "removals by their twin's")
            print(markdown(header, by_bin(corpus, done, similarity, bands, rows)), "\n")
            found = faults(corpus, done, similarity)
            failed |= bool(found)
            print(*found, f"{len(found)} faults\n", sep="\n")
        print(markdown(SCORE_HEADER, table), flush=True)
        if args.json:
            args.json.write_text(json.dumps([dict(zip(SCORE_HEADER, row, strict=True)) for row in table], indent=1))
    return int(failed)


def _from_70(pairs: list[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair[2] >= 0.7]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, default=DOCUMENTS, help="JSONL with id, lang_hint and text")
    parser.add_argument("--corpus", type=Path, help="a corpus that --out wrote, instead of a new one")
    parser.add_argument("--out", type=Path, help="write the corpus there, as JSONL")
    parser.add_argument("--clusters", type=int, default=60, help="of each language")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--similarity", type=float, default=Dedup().similarity, help="that ours are asked for")
    parser.add_argument("--scope", default="all", help="of ours: all or language")
    parser.add_argument("--tools", type=lambda names: names.split(","), default=["glotmill"], help="comma between")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the recipe, for ours")
    parser.add_argument("--envs", type=Path, default=environments.CACHE, help="folder of the peers' environments")
    parser.add_argument("--work", type=Path, help="folder for temporary files")
    parser.add_argument("--json", type=Path, help="write the summary there")
    return parser


if __name__ == "__main__":
    sys.exit(main())
