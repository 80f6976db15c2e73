"""Derive curate/data/language_reliability.tsv and language_thresholds.tsv from half of NTREX-128's documents.

python -m glotmill.benchmarks.lid_reliability NTREX.jsonl.zst [--out FOLDER]

NTREX-128 (Federmann et al. 2022, CC-BY-SA-4.0) is 62 news documents in 129 files, {lang, document, sentences}.
Documents 0 to 30, in the file's order, are read here; 31 to 61 are for tests and never seen. The units are whole
documents and passages of three sentences; and single sentences, where it is measured when lid.176 is trusted.
"""

import argparse
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import zstandard

from glotmill import curate
from glotmill.curate.identify import combined
from glotmill.curate.identify.cld2 import Opinion, joined, opinion
from glotmill.curate.identify.lookalikes import groups, marked
from glotmill.curate.identify.models import lid176
from glotmill.curate.identify.reliability import EVERY, Reliability, reliabilities
from glotmill.curate.identify.scores import true_label
from glotmill.curate.kernels.reading import read_windows
from glotmill.curate.kernels.scripts import main_scripts
from glotmill.schemas.language_table import written
from glotmill.schemas.languages import from_lid176

HALF, PASSAGE = 31, 3
PRIOR = 2.0  # statements that count as right as often as the model is for all languages
GRID = [round(0.3 + 0.05 * step, 2) for step in range(14)]
UNSEEN_FROM = 0.8  # lid.176 isn't believed alone below it for languages that NTREX lacks


class Statement(NamedTuple):
    """What one model said of one unit."""

    model: str
    label: str
    confidence: float
    truth: str


def units(path: Path, *, first: int, last: int, sizes: tuple[int, ...]) -> tuple[list[str], list[str]]:
    """Texts of the documents `first` to before `last`, and their true labels.

    Args:
        sizes: Sentences of a text; 0 for all of the document.
    """
    order: dict[str, int] = {}
    texts, truths = [], []
    with zstandard.open(path, "rb") as file:
        for line in io.TextIOWrapper(file, encoding="utf-8"):
            row = json.loads(line)
            place = order.setdefault(row["document"], len(order))
            if not first <= place < last:
                continue
            sentences = row["sentences"]
            parts = [
                sentences[i : i + (size or len(sentences))]
                for size in sizes
                for i in range(0, len(sentences), size or len(sentences))
            ]
            texts += ["\n".join(part) for part in parts]
            truths += [true_label(row["lang"])] * len(parts)
    return texts, truths


def statements(texts: list[str], truths: list[str]) -> Iterable[Statement]:
    """What both models say first, each of the glance that `combined` reads first."""
    array, glanced, at = read_windows(pa.array(texts), count=combined.GLANCES, size=combined.GLANCE_BYTES)
    scripts = main_scripts(array)
    glances = joined(glanced, at)
    said = lid176().candidates(glances, np.arange(len(glances) + 1))
    for text, script, candidates, truth in zip(glances.cast("binary").to_pylist(), scripts, said, truths, strict=True):
        for code, chance in _summed((from_lid176(label, script), chance) for label, chance in candidates)[:1]:
            yield Statement("lid176", code, chance, truth)
        second: Opinion = opinion(text, script)
        for code, share in _summed((written(iso, script), share) for iso, share in second.shares)[:1]:
            yield Statement("cld2" if second.is_sure else "cld2_unsure", code, share, truth)


def _summed(votes: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    sums: dict[str, float] = defaultdict(float)
    for code, value in votes:
        if combined.allowed(code):
            sums[code] += value
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))


def derived(said: list[Statement], short: list[Statement]) -> dict[str, Reliability]:
    """The reliabilities of every label that was said, and of all others.

    A label whose language NTREX lacks can't be right there: it is taken to be said as often as the median label, right
    as often as the model is over all labels, and wrong as often as it was besides.
    """
    present = {each.truth for each in said}
    labels = sorted({each.label for each in (*said, *short)})
    columns = {model: _precisions(said, model, labels, present) for model in ("lid176", "cld2", "cld2_unsure")}
    limits = _limits([each for each in (*said, *short) if each.model == "lid176"], labels, present)
    table = {
        label: Reliability(*(round(column[label], 3) for column in columns.values()), limits[label])
        for label in (EVERY, *labels)
    }
    return {label: row for label, row in table.items() if label == EVERY or row != table[EVERY]}


def _precisions(said: list[Statement], model: str, labels: list[str], present: set[str]) -> dict[str, float]:
    own = [each for each in said if each.model == model]
    can_say = {each.label for each in own}
    # What a model can't say and marks tell apart afterwards, such as Cantonese, speaks neither for nor against it.
    right, wrong = _sums(
        each for each in own if each.truth in can_say or not (marked(each.label) and _alike(each.label, each.truth))
    )
    usual = float(np.median([right[label] for label in labels if label in present and right[label] > 0]))
    overall = sum(right.values()) / (sum(right.values()) + sum(wrong.values()))

    def precision(label: str) -> float:
        own = right[label] + wrong[label] if label in present else usual + wrong[label]
        good = right[label] if label in present else usual * overall
        return float((good + PRIOR * overall) / (own + PRIOR))

    return {label: precision(label) for label in (EVERY, *labels)}


def _alike(label: str, other: str) -> bool:
    return other in groups()[label].members


def _sums(said: Iterable[Statement]) -> tuple[Counter[str], Counter[str]]:
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for each in said:
        (right if each.label == each.truth else wrong)[each.label] += each.confidence  # type: ignore[assignment]  # Counter takes floats
    return right, wrong


def _limits(said: list[Statement], labels: list[str], present: set[str]) -> dict[str, float]:
    """By label, the lowest confidence of GRID from which on enough of its statements are right; 2 for none."""
    usual = float(np.median(list(Counter(each.truth for each in said if each.label == each.truth).values())))
    limits = {EVERY: UNSEEN_FROM}
    for label in labels:
        own = [each for each in said if each.label == label]
        limits[label] = combined.NEVER
        for limit in GRID if label in present else [step for step in GRID if step >= UNSEEN_FROM]:
            sure = [each.truth == label for each in own if each.confidence >= limit]
            right = sum(sure) if label in present else usual
            if right / (right + len(sure) - sum(sure) + 1) >= combined.TRUST:
                limits[label] = limit
                break
    return limits


def limits_of_scores(texts: list[str], truths: list[str]) -> dict[str, float]:
    """By label, the median less the standard deviation of the scores of correct texts, clipped to [0.3, 0.9].

    No limit is over the second percentile: scores that crowd at one value have a standard deviation of almost 0, and
    the rule alone would call a quarter of all Arabic uncertain.
    """
    scores = defaultdict(list)
    _, found = combined.Combined.load().read(pa.array(texts), count=3, size=600)
    for candidates, truth in zip(found, truths, strict=True):
        if candidates and candidates[0][0] == truth:
            scores[truth].append(candidates[0][1])
    own = {code: _limit(values) for code, values in scores.items() if len(values) >= HALF}
    return {EVERY: round(float(np.median(list(own.values()))), 3), **dict(sorted(own.items()))}


def _limit(values: list[float]) -> float:
    limit = min(np.median(values) - np.std(values), np.percentile(values, 2))
    return round(float(np.clip(limit, 0.3, 0.9)), 3)


def _write(path: Path, head: str, columns: tuple[str, ...], table: dict[str, tuple[float, ...]]) -> None:
    lines = [f"# {head}", "\t".join(("language", *columns))]
    lines += ["\t".join((code, *(f"{value:g}" for value in values))) for code, values in table.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ntrex", type=Path)
    parser.add_argument("--out", type=Path, default=Path(curate.__file__).parent / "data")
    args = parser.parse_args()
    texts, truths = units(args.ntrex, first=0, last=HALF, sizes=(0, PASSAGE))
    short = list(statements(*units(args.ntrex, first=0, last=HALF, sizes=(1,))))
    source = "Derived by benchmarks/lid_reliability.py from documents 0 to 30 of NTREX-128."
    table = derived(list(statements(texts, truths)), short)
    _write(args.out / "language_reliability.tsv", source, Reliability._fields, dict(table.items()))
    for cached in (reliabilities, combined.ballot, combined._second):
        cached.cache_clear()
    limits = limits_of_scores(texts, truths)
    _write(args.out / "language_thresholds.tsv", source, ("score",), {code: (limit,) for code, limit in limits.items()})


if __name__ == "__main__":
    main()
