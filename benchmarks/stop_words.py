"""Write curate/data/stop_words.tsv: the most frequent words of each language, from parallel text.

    python benchmarks/stop_words.py NTREX.jsonl.zst > curate/data/stop_words.tsv

A stop word is one of the twelve most frequent units of letters that at least half of the documents of a
language hold. Only documents of even number are read: the others are for tests.
"""

import io
import json
import sys
from collections import Counter, defaultdict

import pyarrow as pa
import zstandard

from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.kernels.scan import DIGITS
from glotmill.schemas.languages import parse_language

WORDS = 12
SHARE = 0.5
# Rae et al. 2021 (Gopher), section A.1.1
GOPHER = ("the", "be", "to", "of", "and", "that", "have", "with")


def main(path: str) -> None:
    documents: dict[str, dict[str, list[str]]] = defaultdict(dict)
    with zstandard.open(path, "rb") as file:
        for line in io.TextIOWrapper(file, "utf-8"):
            row = json.loads(line)
            documents[row["lang"].rpartition(".")[2]][row["document"]] = row["sentences"]
    found: dict[str, tuple[str, ...]] = {}
    for tag, texts in sorted(documents.items()):
        try:
            language = parse_language(tag)
        except ValueError as error:
            print(f"left out: {tag}: {error}", file=sys.stderr)
            continue
        even = [text for number, (_, text) in enumerate(sorted(texts.items())) if number % 2 == 0]
        found.setdefault(language, frequent(["\n".join(sentences).lower() for sentences in even]))
    found["eng_Latn"] = GOPHER
    print("# Stop words: language, its most frequent words or, without spaces between words, letters.")
    for language, words in sorted(found.items()):
        print(language, " ".join(words), sep="\t")


def frequent(texts: list[str]) -> tuple[str, ...]:
    counts: Counter[str] = Counter()
    holding: Counter[str] = Counter()
    for text in texts:
        cut = pieces(pa.array([text]))
        words = [
            bytes(cut.data[start:end]).decode()
            for start, end, kind in zip(cut.unit_start, cut.unit_end, cut.unit_kind, strict=True)
            if kind != DIGITS
        ]
        counts.update(words)
        holding.update(set(words))
    common = [word for word, _ in counts.most_common() if holding[word] >= SHARE * len(texts)]
    return tuple(common[:WORDS])


if __name__ == "__main__":
    main(sys.argv[1])
