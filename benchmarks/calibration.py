"""What `glotmill calibrate` buys: clean text and planted junk removed before and after, in languages without limits.

    python -m benchmarks.calibration NTREX.jsonl.zst [--json FILE]

Each language's documents are cut into passages of ten sentences. Those of documents with even numbers are the
reference; those of the others are clean text, and what junk is made from. Every text counts as one of its language,
whatever a language model would say, so that junk in another language has to be found by its words.
"""

import argparse
import io
import json
import random
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import zstandard

from benchmarks.junk import KINDS
from glotmill.curate.calibrate.fit import fit
from glotmill.curate.calibrate.folder import limits, write
from glotmill.curate.calibrate.sample import kept, languages, measure_sample, signals
from glotmill.curate.language import language as measure_language
from glotmill.curate.lines import line_cuts
from glotmill.curate.measure import chain
from glotmill.curate.rules import ruleset
from glotmill.curate.signals import OF_TEXT, optional
from glotmill.schemas.languages import parse_language
from glotmill.schemas.recipe import Quality

SENTENCES = 10
CLEAN = "clean"


def passages(path: str) -> dict[str, tuple[list[str], list[str]]]:
    """By language, the passages of even and of odd documents."""
    found: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    numbers: dict[str, int] = {}
    tags: dict[str, str] = {}
    with zstandard.open(path, "rb") as file:
        for line in io.TextIOWrapper(file, "utf-8"):
            row = json.loads(line)
            number = numbers.setdefault(row["document"], len(numbers))
            try:
                language = parse_language(row["lang"].rpartition(".")[2])
            except ValueError:
                continue
            if tags.setdefault(language, row["lang"]) != row["lang"]:
                continue  # the same documents once more, in British English
            sentences = row["sentences"]
            for start in range(0, max(1, len(sentences) - SENTENCES // 2), SENTENCES):
                found[language][number % 2].append("\n".join(sentences[start : start + SENTENCES]))
    return {language: found[language] for language in sorted(found)}


def planted(texts: dict[str, list[str]], draw: random.Random) -> list[dict[str, str]]:
    """Clean and junk rows: language, kind, text."""
    rows = []
    for language, clean in texts.items():
        others = [name for name in texts if name[:3] != language[:3]]
        for text in clean:
            rows.append({"language": language, "kind": CLEAN, "text": text})
            other = draw.choice(texts[draw.choice(others)])
            rows += [{"language": language, "kind": kind.__name__, "text": kind(text, other, draw)} for kind in KINDS]
    return rows


def measured(rows: list[dict[str, str]], quality: Quality) -> pa.Table:
    """The rows with every signal; each is of the language that it is told to be."""
    batches = []
    for start in range(0, len(rows), 512):
        batch = pa.RecordBatch.from_pylist(rows[start : start + 512])
        given = measure_language(batch.select(["text"])).drop_columns(["language"])
        for name in ("language", "kind"):
            given = given.append_column(name, batch[name])
        batches.append(chain((line_cuts, *OF_TEXT, *optional(quality)))(given).drop_columns(["text", "cuts"]))
    return pa.Table.from_batches(batches)


Table = dict[str, dict[str, dict[str, float]]]


def compared(path: str) -> tuple[Table, dict[str, int]]:
    """By language, the shares of each kind removed before and after; and the passages of the reference."""
    texts = passages(path)
    counts = {language: len(even) for language, (even, _) in texts.items()}
    sample = measure_sample(lambda: _reference(texts), model="combined")
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), fit(languages(sample.table), signals(sample.table)), sample.words, facts={})
        quality = Quality(calibration=folder)
        rows = measured(planted({language: odd for language, (_, odd) in texts.items()}, random.Random(1)), quality)
        before, after = ruleset(Quality()), ruleset(quality, calibrated=limits(folder))
    return _shares(rows, {"before": ~kept(rows, before), "after": ~kept(rows, after)}), counts


def _reference(texts: dict[str, tuple[list[str], list[str]]]) -> list[pa.RecordBatch]:
    rows = [
        {"id": f"{language}/{number}", "text": text, "language_hint": language}
        for language, (even, _) in texts.items()
        for number, text in enumerate(even)
    ]
    return [pa.RecordBatch.from_pylist(rows[start : start + 512]) for start in range(0, len(rows), 512)]


def _shares(rows: pa.Table, gone: dict[str, Any]) -> Table:
    kinds, labels = rows["kind"].to_numpy(zero_copy_only=False), languages(rows)
    table: Table = {}
    for language in sorted(set(labels)):
        mine = labels == language
        table[language] = {
            when: {kind: float(of[mine & (kinds == kind)].mean()) for kind in (CLEAN, *(k.__name__ for k in KINDS))}
            | {"junk": float(of[mine & (kinds != CLEAN)].mean())}
            for when, of in gone.items()
        }
    return table


def good(table: Table) -> list[str]:
    """Languages that lose under a twentieth of clean text and at least four fifths of the junk."""
    return [name for name, of in table.items() if of["after"][CLEAN] < 0.05 and of["after"]["junk"] >= 0.8]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    table, counts = compared(args.path)
    report(table, counts)
    if args.json:
        args.json.write_text(json.dumps(table, indent=1))


def report(table: Table, counts: dict[str, int]) -> None:
    kinds = (CLEAN, "junk", *(kind.__name__ for kind in KINDS))
    print(f"{'language':10}{'reference':>10}{'clean before':>14}" + "".join(f"{kind:>20}" for kind in kinds))
    for language, of in sorted(table.items(), key=lambda item: item[1]["after"]["junk"]):
        shares = "".join(f"{of['after'][kind]:20.1%}" for kind in kinds)
        print(f"{language:10}{counts[language]:10}{of['before'][CLEAN]:14.1%}{shares}")
    print(f"clean under 5% and junk at least 80%: {len(good(table))} of {len(table)} languages")


if __name__ == "__main__":
    main()
