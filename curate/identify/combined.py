"""lid.176 and CLD2 combined: each is believed as far as it was right when it said the same before.

lid.176 is fast and sure about the languages that Wikipedia is large in, and says something of a few others for those
that it doesn't know; CLD2 knows some 40 more, and is slow. So lid.176 has the first word, and CLD2 is asked where that
isn't enough.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from glotmill.curate.identify.cld2 import Opinion, joined, opinion
from glotmill.curate.identify.lookalikes import Scores, first, marked, told_apart
from glotmill.curate.identify.models import lid176
from glotmill.curate.identify.quantised import CANDIDATES, Candidates, Quantised
from glotmill.curate.identify.reliability import reliability
from glotmill.curate.kernels.reading import read_windows
from glotmill.curate.kernels.scripts import main_scripts
from glotmill.curate.kernels.windows import windows
from glotmill.schemas.language_table import by_code, written
from glotmill.schemas.languages import from_lid176

GLANCES, GLANCE_BYTES = 3, 160  # what of the windows is read first
TRUST = 0.98  # precision of lid.176 for a label from which on it is believed alone
LEAD = 0.3  # over its second label, for lid.176 to be believed alone: a glance may show a neighbour's words
UNCLEAR = (0.3, 0.6)  # scores between which the windows are read in full: more text can decide
NEVER = 2.0


@dataclass(frozen=True, slots=True)
class Ballot:
    """lid.176's labels for texts of one script.

    Args:
        codes: Our code of each label; None where the language isn't written in this script.
        weights: How far each label is believed.
        trusted_from: (labels,), the probability from which on it is believed alone.
    """

    codes: tuple[str | None, ...]
    weights: tuple[float, ...]
    trusted_from: npt.NDArray[np.float64]


Cut = Callable[[list[int]], tuple[Any, npt.NDArray[np.int64]]]  # places of texts to their windows, as lines and firsts


@dataclass(frozen=True, slots=True)
class Combined:
    """The default model."""

    lid: Quantised

    @staticmethod
    def load() -> "Combined":
        return Combined(lid176())

    def candidates(
        self, lines: Any, firsts: npt.NDArray[np.int64], scripts: Sequence[str] | None = None
    ) -> list[Candidates]:
        """Our codes and their scores; see `read`, which is faster where the windows aren't cut yet."""
        texts = joined(lines, firsts)

        def cut(places: list[int]) -> tuple[Any, npt.NDArray[np.int64]]:
            counts = np.diff(firsts)[places]
            bounds = np.concatenate([[0], np.cumsum(counts)])
            return lines.take(np.repeat(firsts[places] - bounds[:-1], counts) + np.arange(bounds[-1])), bounds

        glances = windows(texts, count=GLANCES, size=GLANCE_BYTES)
        return self._judged(*glances, scripts or main_scripts(texts), cut)

    def read(self, texts: Any, *, count: int, size: int) -> tuple[list[str], list[Candidates]]:
        """The main script of each text, and our codes and their scores, best first.

        A label's score is 1 - the product of (1 - weight * confidence) over the models that say it: lid.176's
        confidence is its probability, CLD2's the share of the text. Labels of languages that aren't written in the
        text's script have none. A statement of lid.176 alone that is trusted counts as if a second model agreed.

        Args:
            texts: string array.
            count: Windows of each text that are read where a glance at it isn't enough.
            size: UTF-8 bytes of each window.
        """
        small = min(size, max(1, GLANCES * GLANCE_BYTES // count))
        composed, lines, firsts = read_windows(texts, count=count, size=small)
        scripts = main_scripts(composed)

        def cut(places: list[int]) -> tuple[Any, npt.NDArray[np.int64]]:
            _, lines, firsts = read_windows(texts.take(pa.array(places, pa.int64())), count=count, size=size)
            return lines, firsts

        return scripts, self._judged(lines, firsts, scripts, cut)

    def _judged(self, lines: Any, firsts: npt.NDArray[np.int64], scripts: Sequence[str], cut: Cut) -> list[Candidates]:
        """Judge by the lines of a glance, and by what `cut` gives where that is unclear or one of look-alikes."""
        glances = joined(lines, firsts)
        # As one line: a line costs as much as 100 bytes, and what is trusted was measured so.
        best, values = self.lid.likeliest(glances, np.arange(len(glances) + 1))
        is_trusted = trusted(best[:, 0], values[:, 0], scripts) & (values[:, 0] - values[:, 1] >= LEAD)
        asked = iter(glances.filter(pa.array(~is_trusted)).cast("binary").to_pylist())
        scores: list[Scores] = [
            pooled(labels, chances, script, None if alone else opinion(next(asked), script))
            for labels, chances, script, alone in zip(
                best.tolist(), values.tolist(), scripts, is_trusted.tolist(), strict=True
            )
        ]
        unclear = [i for i, found in enumerate(scores) if UNCLEAR[0] <= max(found.values(), default=0.0) < UNCLEAR[1]]
        if unclear:
            lines, firsts = cut(unclear)
            best, values = self.lid.likeliest(lines, firsts)
            whole = joined(lines, firsts).cast("binary").to_pylist()
            for i, labels, chances, text in zip(unclear, best.tolist(), values.tolist(), whole, strict=True):
                scores[i] = pooled(labels, chances, scripts[i], opinion(text, scripts[i]))
        alike = [i for i, found in enumerate(scores) if found and marked(first(found))]
        if alike:
            for i, found in zip(alike, told_apart(joined(*cut(alike)), [scores[i] for i in alike]), strict=True):
                scores[i] = found
        return [sorted(found.items(), key=lambda item: (-item[1], item[0]))[:CANDIDATES] for found in scores]


def trusted(
    labels: npt.NDArray[np.int64], chances: npt.NDArray[np.float32], scripts: Sequence[str]
) -> npt.NDArray[np.bool_]:
    """(n,): whether lid.176's first label of each text is believed alone."""
    names, of = np.unique(np.array(scripts), return_inverse=True)
    if not len(names):
        return np.zeros(0, np.bool_)
    limits = np.stack([ballot(str(name)).trusted_from for name in names])
    return np.asarray(chances >= limits[of, labels])


def pooled(labels: list[int], chances: list[float], script: str, said: Opinion | None) -> Scores:
    """The score of each label that a model gave a text; `said` is None where lid.176 is believed alone."""
    paper = ballot(script)
    doubts: Scores = {}
    for label, chance in zip(labels, chances, strict=True):
        code = paper.codes[label]
        if code is not None and chance > 0:
            doubts[code] = doubts.get(code, 1.0) * (1 - min(1.0, chance) * paper.weights[label])
    if said is None:
        believed = paper.codes[labels[0]]
        assert believed is not None  # else it is never trusted
        doubts[believed] *= 1 - TRUST
    else:
        for iso, share in said.shares:
            code, sure, unsure = _second(iso, script)
            if code is not None:
                doubts[code] = doubts.get(code, 1.0) * (1 - share * (sure if said.is_sure else unsure))
    return {code: 1 - doubt for code, doubt in doubts.items()}


@cache
def ballot(script: str) -> Ballot:
    """What lid.176's labels stand for in texts of a script."""
    codes = tuple(allowed(from_lid176(label, script)) for label in lid176().labels)
    known = [reliability(code) if code else None for code in codes]
    return Ballot(
        codes,
        tuple(each.lid176 if each else 0.0 for each in known),
        np.array([each.trusted_from if each else NEVER for each in known], np.float32),
    )


@cache
def _second(iso: str, script: str) -> tuple[str | None, float, float]:
    code = allowed(written(iso, script))
    found = reliability(code or "")
    return code, found.cld2, found.cld2_unsure


@cache
def allowed(code: str) -> str | None:
    """The code, if its language is written in its script, as far as the table of languages knows, else None."""
    if code in by_code() or code[:3] not in _in_table():
        return code
    return None


@cache
def _in_table() -> frozenset[str]:
    return frozenset(code[:3] for code in by_code())
