"""Trained judges of quality: the probability that a fastText classifier gives one label, as a signal."""

import json
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glotmill.curate.kernels.spaced import one_line, spaced
from glotmill.curate.measure import Columns, Measure
from glotmill.curate.trained.fasttext_file import contents
from glotmill.schemas.atomic import file_digest
from glotmill.schemas.errors import RecipeError

HQ, LQ = "__label__hq", "__label__lq"
MAX_CHARS = 20_000  # code points that are read of a text, so that a book costs no more than a long page
UNITS, LINE = "units", "line"  # normalisations
SIDE_FORMAT = "glotmill-classifier-1"
_PREFIX = "__label__"
_SHOWN = 8  # labels that an error names


@dataclass(frozen=True, slots=True)
class Reading:
    """How a model's texts are made lines: the normalisation, and the code points that are read of each."""

    normalisation: str
    max_chars: int


def classifier(name: str, model: str, label: str = HQ) -> Measure:
    """The measure that adds `{name}_score: float32`, in [0, 1]: the probability of `label`; 0 where the model says
    nothing of it.

    A model that `glotmill train-quality` wrote has its side file beside it (MODEL.json), which says how its texts are
    read. Any other model reads the text as it is, with line breaks as spaces, as DCLM's and FineWeb-Edu's classifiers
    do (Li et al. 2024). Of both, the first `MAX_CHARS` code points, unless the side file says otherwise.

    The measure cuts texts of its own, so it comes last among measures that share a cut (`pieces`).

    Args:
        name: Lower case, digits and underscores; the column is `{name}_score`.
        model: Absolute path of a supervised fastText model, quantised or not.
        label: As the model writes it, with its prefix.

    Raises:
        RecipeError: the model is absent, damaged or no classifier, lacks the label, or its side file is of another one.
    """
    path = Path(model)
    _check_label(name, path, label, _labels(name, path))
    reading = _reading(name, path)
    params = {
        "column": f"{name}_score",
        "model": model,
        "label": label,
        "normalisation": reading.normalisation,
        "max_chars": reading.max_chars,
    }
    return Measure(classifier_score, ("text",), pa.schema({f"{name}_score": pa.float32()}), params)


def fingerprint(model: str) -> dict[str, str]:
    """What decides a model's scores, by content: for a step's configuration. Paths don't count.

    Raises:
        OSError: the model can't be read.
    """
    side = side_file(Path(model))
    found = {"model": file_digest(Path(model))}
    return found | {"side": file_digest(side)} if side.exists() else found


def side_file(model: Path) -> Path:
    """Where the description of a model of ours is: model.bin.json beside model.bin."""
    return model.with_name(f"{model.name}.json")


def as_lines(texts: Any, *, normalisation: str, max_chars: int) -> Any:
    """n texts as the lines that a model reads, in training as in use.

    Args:
        texts: string array, no nulls.
        normalisation: `units`: NFC, case folded, a space between units, for every script alike; or `line`: the text
            with its line breaks as spaces.
        max_chars: Code points that are read of each.
    """
    lines = one_line(texts, chars=max_chars)
    return spaced(lines) if normalisation == UNITS else lines


def classifier_score(
    batch: pa.RecordBatch, *, column: str, model: str, label: str, normalisation: str, max_chars: int
) -> Columns:
    """The probability of one label; see `classifier`, which fixes the parameters."""
    lines = as_lines(batch["text"], normalisation=normalisation, max_chars=max_chars)
    return {column: pa.array(probabilities(_model(model), lines, label))}


def probabilities(model: Any, lines: Any, label: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """float32 (n,), in [0, 1]: what a loaded model gives `label` for each line; 0 where it doesn't say."""
    # bytes, since a text may hold what is no UTF-8; fastText ends a line where it finds a line feed
    ended = pc.binary_join_element_wise(lines.cast(pa.binary()), b"\n", b"").to_pylist()
    found = np.zeros(len(ended), np.float32)
    labels, values = model.f.multilinePredict(ended, -1, 0.0, "strict")
    for index, names in enumerate(labels):
        if label in names:
            found[index] = values[index][names.index(label)]
    return np.clip(found, 0.0, 1.0)  # fastText adds 1e-5 before it takes a logarithm


def _model(path: str) -> Any:
    """The model, loaded once a process, and again if the file has changed."""
    found = Path(path).stat()
    return _loaded(path, found.st_size, found.st_mtime_ns)


@cache
def _loaded(path: str, size: int, mtime_ns: int) -> Any:
    import fasttext  # here, because few runs need it

    return fasttext.load_model(path)


def _labels(name: str, path: Path) -> tuple[str, ...]:
    try:
        found = path.stat()
        return _labels_of(path, found.st_size, found.st_mtime_ns)
    except FileNotFoundError:
        raise RecipeError(
            f"classifier {name!r}: {path} does not exist; correct quality.classifiers.{name}.model, or train one with "
            "glotmill train-quality"
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise RecipeError(
            f"classifier {name!r}: {path} can't be used ({reason}): give a supervised fastText model in "
            f"quality.classifiers.{name}.model"
        ) from None


@cache
def _labels_of(path: Path, size: int, mtime_ns: int) -> tuple[str, ...]:
    return contents(path).labels


def _check_label(name: str, path: Path, label: str, labels: tuple[str, ...]) -> None:
    if label in labels:
        return
    bare = {known.removeprefix(_PREFIX): known for known in labels}
    near = get_close_matches(label.removeprefix(_PREFIX), bare, 1, cutoff=0.5)
    more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
    has = ", ".join(map(repr, labels[:_SHOWN])) + more
    hint = f"did you mean {bare[near[0]]!r}?" if near else f"set quality.classifiers.{name}.label to one of these"
    raise RecipeError(f"classifier {name!r}: {path} has no label {label!r}; it has {has}: {hint}")


def _reading(name: str, path: Path) -> Reading:
    """How to read texts for a model: what its side file says, or the text as it is where there is none."""
    side = side_file(path)
    if not side.exists():
        return Reading(LINE, MAX_CHARS)
    try:
        told = json.loads(side.read_bytes())
        is_ours = told["format"] == SIDE_FORMAT
        reading, model = Reading(told["normalisation"], told["max_chars"]), told["model"]
        is_ours &= reading.normalisation in (UNITS, LINE) and isinstance(reading.max_chars, int)
        is_ours &= reading.max_chars > 0
    except (OSError, ValueError, TypeError, KeyError):
        is_ours = False
    if not is_ours:
        raise RecipeError(
            f"classifier {name!r}: {side} doesn't describe a model of glotmill train-quality, format {SIDE_FORMAT}; "
            "move it away if the model is of other origin, else train the model again"
        )
    if model != file_digest(path):
        raise RecipeError(
            f"classifier {name!r}: {side} describes another model than the one in {path}; put the two files of one "
            "training together, or train the model again"
        )
    return reading
