"""Train a judge of quality from texts that someone judged: fastText, every script cut into units, every language equal.

Source of the method: Joulin et al. 2016 (fastText); Li et al. 2024 (DCLM), which filters by such a classifier.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from glotmill.curate.trained.classifier import HQ, LQ, MAX_CHARS, SIDE_FORMAT, UNITS, probabilities, side_file
from glotmill.curate.trained.fasttext_training import train_supervised
from glotmill.curate.trained.held_out import Figures, figures
from glotmill.curate.trained.labelled_texts import LabelledTexts, read_labelled
from glotmill.schemas.atomic import file_digest, transaction
from glotmill.schemas.errors import InputError, RecipeError
from glotmill.schemas.recipe import SIGNAL

Places = npt.NDArray[np.int64]

MODEL, REPORT = "model.bin", "report.md"
_SCORED = 4096  # lines that are scored at a time
_MOST_BUCKETS = 1 << 20  # rows that pairs of units share: 64 MB at 16 dimensions
_LEAST_BUCKETS = 1 << 14
_RATE = 1.0  # 0.1, fastText's, wants 10 times the epochs on some thousand texts; 2 gives the same as 1


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is trained and judged.

    Args:
        name: The signal will be NAME_score.
        held_out: Share of the texts that is not trained on but judged.
        seed: Of what is held out, of the order of training and of the model's first weights.
        dim: Numbers that stand for a unit; the model's size is in proportion. With two labels fastText is a linear
            model whatever they are.
        epochs: Times that every text is trained on.
        word_ngrams: Units in a row that are learnt together, up to this many.
        min_count: Units that are rarer are left out, but for the pairs they are in.
        min_documents: Held-out texts a side that a language needs to be judged.
        precision: What the suggested threshold shall reach.
    """

    name: str = "quality"
    held_out: float = 0.1
    seed: int = 0
    dim: int = 16
    epochs: int = 5
    word_ngrams: int = 2
    min_count: int = 1
    min_documents: int = 20
    precision: float = 0.9

    def __post_init__(self) -> None:
        if not re.fullmatch(SIGNAL, self.name):
            raise RecipeError(f"--name is {self.name!r}; write lower case letters, digits and underscores, such as edu")
        for option, value, low, high in (
            ("held-out", self.held_out, 0.01, 0.9),
            ("precision", self.precision, 0.01, 1.0),
            ("dim", self.dim, 1, 1024),
            ("epochs", self.epochs, 1, 1000),
            ("word-ngrams", self.word_ngrams, 1, 5),
            ("min-documents", self.min_documents, 1, 1 << 30),
            ("seed", self.seed, 0, 2**31 - 1),
        ):
            if not low <= value <= high:
                raise RecipeError(f"--{option} is {value}; give a number from {low} to {high}")


@dataclass(frozen=True, slots=True)
class LanguageResult:
    """One language, or all of them together.

    Args:
        positives, negatives: Texts that were given, those in both sets and repeats left out.
        trained: Texts of each side that the model has learnt from.
        figures: Of the held-out texts; None where there is none on a side.
        is_judged: Whether there are enough of them to believe the figures.
    """

    positives: int
    negatives: int
    trained: int
    figures: Figures | None
    is_judged: bool


@dataclass(frozen=True, slots=True)
class Training:
    """What was trained.

    Args:
        model: Its file.
        all: Of all languages together.
        languages: By name.
        repeats: Texts that occurred earlier in their set, and were left out.
        in_both: Texts in both sets, and left out of both.
        empty: Texts without a visible character, left out.
    """

    model: Path
    settings: Settings
    all: LanguageResult
    languages: dict[str, LanguageResult]
    repeats: int
    in_both: int
    empty: int


def train(
    positive: Sequence[Path],
    negative: Sequence[Path],
    out: Path,
    settings: Settings,
    *,
    text_column: str = "text",
    language_column: str | None = "language",
) -> Training:
    """Train a classifier and write it to `out`: model.bin, model.bin.json and report.md, all or none.

    A text's line (`as_lines`) decides all: equal lines are one text, and a hash of it says whether it is held out, so
    that neither order nor copies leak. Within a language, and within what is held out of it, the larger side is cut
    to the size of the smaller: the model can't learn that a language is bad, and precisions of languages compare.
    The same texts, settings and versions of the libraries give the same model, byte for byte.

    Raises:
        InputError: as `read_labelled` says; or too few texts are left to train on or to judge.
        RecipeError: a setting is out of bounds.
    """
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".training-", dir=out) as folder:
        texts = read_labelled(
            positive,
            negative,
            Path(folder) / "lines",
            text_column=text_column,
            language_column=language_column,
            seed=settings.seed,
        )
        single, repeats, in_both = _single(texts)
        _check_overlap(texts, single, in_both)
        is_held_out = texts.hashes < np.uint64(settings.held_out * 2**64)
        taught = _balanced(texts, single[~is_held_out[single]])
        judged = _balanced(texts, single[is_held_out[single]])
        _check_enough(texts, taught, judged)
        model = _fitted(texts, taught, Path(folder) / "training", settings)
        scores = _scores(model, texts, judged)
        result = _result(texts, single, taught, judged, scores, settings, out / MODEL, repeats, in_both)
    _write(model, result, out)
    return result


def _single(texts: LabelledTexts) -> tuple[Places, int, int]:
    """The first of equal texts, those in both sets left out; the repeats and the texts in both."""
    _, first, group = np.unique(texts.hashes, return_index=True, return_inverse=True)
    sides = np.zeros((len(first), 2), np.bool_)
    sides[group, texts.is_positive.astype(np.int64)] = True
    is_both = sides.all(axis=1)
    occurrences = np.unique(group * 2 + texts.is_positive)
    return first[~is_both].astype(np.int64), len(texts.hashes) - len(occurrences), int(is_both.sum())


def _check_overlap(texts: LabelledTexts, single: Places, in_both: int) -> None:
    for side, flag in (("positive", True), ("negative", False)):
        if in_both and 2 * in_both > np.count_nonzero(texts.is_positive[single] == flag) + in_both:
            raise InputError(
                f"{in_both} texts are both positive and negative, more than half of the {side} set; a text can't be "
                "good and bad: take them out of one of the sets"
            )


def _balanced(texts: LabelledTexts, places: Places) -> Places:
    """As many positives as negatives of each language, picked and ordered by hash."""
    _, codes = np.unique(texts.languages[places], return_inverse=True)
    group = 2 * codes + texts.is_positive[places]
    order = np.lexsort((texts.hashes[places], group))
    counts = np.bincount(group, minlength=2 * (int(codes.max(initial=-1)) + 1))
    rank = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept: Places = places[order[rank < counts.reshape(-1, 2).min(axis=1)[codes[order]]]]
    by_hash: Places = kept[np.argsort(texts.hashes[kept])]
    return by_hash


def _check_enough(texts: LabelledTexts, taught: Places, judged: Places) -> None:
    if len(taught) and len(judged):
        return
    what = "to train on" if not len(taught) else "to judge by"
    sides = [int(np.count_nonzero(texts.is_positive == flag)) for flag in (True, False)]
    raise InputError(
        f"no texts are left {what}: of {sides[0]} positive and {sides[1]} negative texts, no language has some of both "
        "on that side of the split; give more texts in one language, or another --held-out"
    )


def _fitted(texts: LabelledTexts, taught: Places, path: Path, settings: Settings) -> Any:
    """A fastText model of the texts at `taught`, in the order of their hashes."""
    units = 0
    data = np.memmap(texts.path, np.uint8, "r")
    with path.open("wb") as out:
        for place in taught.tolist():
            line = data[texts.offsets[place] : texts.offsets[place + 1]].tobytes()
            units += line.count(b" ") + 1
            out.write(b"%s %s\n" % ((HQ if texts.is_positive[place] else LQ).encode(), line))
    try:
        return train_supervised(
            path,
            dim=settings.dim,
            epoch=settings.epochs,
            wordNgrams=settings.word_ngrams,
            minCount=settings.min_count,
            minn=0,  # no parts of words: every script is cut into units, and parts drown the pairs of units
            maxn=0,
            bucket=min(_MOST_BUCKETS, max(_LEAST_BUCKETS, 1 << units.bit_length())),
            lr=_RATE,
            seed=settings.seed,
        )
    except (ValueError, RuntimeError) as error:
        raise InputError(
            f"fastText can't train on these texts ({error}); give more texts, or a lower --epochs"
        ) from None


def _scores(model: Any, texts: LabelledTexts, places: Places) -> npt.NDArray[np.float32]:
    data = np.memmap(texts.path, np.uint8, "r")
    found = [np.empty(0, np.float32)]
    for start in range(0, len(places), _SCORED):
        some = places[start : start + _SCORED].tolist()
        lines = [data[texts.offsets[place] : texts.offsets[place + 1]].tobytes() for place in some]
        found.append(probabilities(model, pa.array(lines, pa.binary()), HQ))
    return np.concatenate(found)


def _result(
    texts: LabelledTexts,
    single: Places,
    taught: Places,
    judged: Places,
    scores: npt.NDArray[np.float32],
    settings: Settings,
    model: Path,
    repeats: int,
    in_both: int,
) -> Training:
    def of(languages: Sequence[str]) -> LanguageResult:
        given = texts.is_positive[single[np.isin(texts.languages[single], languages)]]
        here = np.isin(texts.languages[judged], languages)
        count = int(np.count_nonzero(here)) // 2
        return LanguageResult(
            int(np.count_nonzero(given)),
            int(np.count_nonzero(~given)),
            int(np.count_nonzero(np.isin(texts.languages[taught], languages))) // 2,
            figures(scores[here], texts.is_positive[judged[here]], precision=settings.precision) if count else None,
            count >= settings.min_documents,
        )

    names = [str(name) for name in np.unique(texts.languages)]
    return Training(model, settings, of(names), {name: of([name]) for name in names}, repeats, in_both, texts.empty)


def _write(model: Any, result: Training, out: Path) -> None:
    from glotmill.curate.trained.train_report import report

    with transaction(out, str(os.getpid())) as files:
        path = files.path(MODEL)
        model.save_model(str(path))
        side = {
            "format": SIDE_FORMAT,
            "model": file_digest(path),
            "normalisation": UNITS,
            "max_chars": MAX_CHARS,
            "labels": [HQ, LQ],
            "settings": asdict(result.settings),
            "all": asdict(result.all),
            "languages": {name: asdict(found) for name, found in result.languages.items()},
            "repeats": result.repeats,
            "in_both": result.in_both,
            "empty": result.empty,
        }
        text = json.dumps(side, indent=1, ensure_ascii=False) + "\n"
        files.path(side_file(Path(MODEL)).name).write_text(text, encoding="utf-8")
        files.path(REPORT).write_text(report(result), encoding="utf-8")
        files.commit()
