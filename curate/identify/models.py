"""Language models by name: lid.176, CLD2, both combined, or a fastText classifier from a file."""

import struct
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from glotmill.curate.identify.quantised import CANDIDATES, Candidates, Quantised, quantised
from glotmill.schemas.errors import RecipeError

COMBINED = "combined"
LID176 = "lid176"
CLD2 = "cld2"
BUILT_IN = (COMBINED, LID176, CLD2)
NONE = "none"  # in a recipe: no model is asked

_MAGIC, _VERSION = 793712314, 12
_HIERARCHICAL = 1


class LanguageModel(Protocol):
    """Gives labels to texts, each of them some lines."""

    def candidates(
        self, lines: Any, firsts: npt.NDArray[np.int64], scripts: Sequence[str] | None = None
    ) -> list[Candidates]:
        """For each text i, its likeliest labels and their scores in [0, 1], best first, maybe none.

        Args:
            lines: string array; text i has the lines firsts[i] to before firsts[i + 1].
            firsts: (n + 1,).
            scripts: The main script of each text, as `main_scripts` says; counted in the lines where it is not given.
        """
        ...


@cache
def language_model(name: str) -> LanguageModel:
    """The model called combined, lid176 or cld2, or the one in a file; loaded once a process.

    Raises:
        RecipeError: the file is absent or no fastText model.
    """
    if name == COMBINED:
        from glotmill.curate.identify.combined import Combined  # here, because it is made of the other two

        return Combined.load()
    if name == CLD2:
        from glotmill.curate.identify.cld2 import Cld2

        return Cld2()
    if name == LID176:
        return lid176()
    try:
        return _load(Path(name))
    except (OSError, ValueError) as error:
        raise RecipeError(
            f"language model {name!r} can't be loaded ({error}): give {', '.join(BUILT_IN)}, or the path of a fastText "
            "model"
        ) from error


@cache
def lid176() -> Quantised:
    """Source: Joulin et al. 2016, lid.176.ftz."""
    return quantised(resources.files("glotmill.curate").joinpath("data/lid.176.ftz").read_bytes())


def _load(path: Path) -> LanguageModel:
    with path.open("rb") as file:
        head = file.read(64)
    if len(head) < 64 or struct.unpack_from("<ii", head) != (_MAGIC, _VERSION):
        raise ValueError("not a fastText model of version 12")
    word_ngrams, loss = struct.unpack_from("<ii", head, 28)
    if path.suffix == ".ftz" and word_ngrams == 1 and loss == _HIERARCHICAL:
        return quantised(path.read_bytes())
    import fasttext  # here, because only other models need the library

    return Library(fasttext.load_model(str(path)))


@dataclass(frozen=True, slots=True)
class Library:
    """A model that the fastText library runs."""

    model: Any

    def candidates(
        self, lines: Any, firsts: npt.NDArray[np.int64], scripts: Sequence[str] | None = None
    ) -> list[Candidates]:
        ended = pc.binary_join_element_wise(lines, "\n", "").to_pylist()  # fastText ends a line where it finds one
        labels, values = self.model.f.multilinePredict(ended, CANDIDATES, 0.0, "strict")
        found = []
        for first, last in zip(firsts[:-1].tolist(), firsts[1:].tolist(), strict=True):
            sums: dict[str, float] = defaultdict(float)
            for line in range(first, last):
                for label, value in zip(labels[line], values[line].tolist(), strict=True):
                    sums[label] += min(1.0, max(0.0, value)) / (last - first)
            found.append(sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:CANDIDATES])
        return found
