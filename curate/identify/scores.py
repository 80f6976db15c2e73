"""How well language models do on texts whose language is known."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import pycld2

from glotmill.curate.identify.cld2 import iso639_3
from glotmill.curate.identify.lookalikes import counted_as
from glotmill.schemas.language_table import by_label
from glotmill.schemas.languages import parse_language


@dataclass(frozen=True, slots=True)
class Scores:
    """How often each true label was called what.

    Args:
        confusion: By (true label, given label), texts.
    """

    confusion: Counter[tuple[str, str]]

    @property
    def accuracy(self) -> float:
        """Share of texts that got their label; 0 of none."""
        return sum(n for (true, given), n in self.confusion.items() if true == given) / max(1, self.texts)

    @property
    def texts(self) -> int:
        return self.confusion.total()

    @property
    def macro_f1(self) -> float:
        """Mean F1 over the true labels; 0 of none."""
        each = self.f1()
        return sum(each.values()) / max(1, len(each))

    def f1(self) -> dict[str, float]:
        """F1 = 2 right / (true + given) of each true label."""
        true: Counter[str] = Counter()
        given: Counter[str] = Counter()
        for (label, other), n in self.confusion.items():
            true[label] += n
            given[other] += n
        return {label: 2 * self.confusion[label, label] / (true[label] + given[label]) for label in sorted(true)}

    def taken_for(self, label: str) -> list[tuple[str, int]]:
        """What else the texts of a label were called, the most frequent first."""
        found = [(given, n) for (true, given), n in self.confusion.items() if true == label != given]
        return sorted(found, key=lambda item: (-item[1], item[0]))


def scores(truths: Sequence[str], given: Sequence[str]) -> Scores:
    """Count n true labels against n given ones; both as `as_counted` names them."""
    return Scores(Counter(zip(truths, map(as_counted, given), strict=True)))


def as_counted(code: str) -> str:
    """The label under which models give a language: Dari is Persian to them."""
    return counted_as().get(code, code)


def true_label(tag: str) -> str:
    """The label that a text of this language should be given.

    Args:
        tag: Any name that `parse_language` reads, maybe after a file's name and a dot, as newstest2019-ref-2.spa.

    Raises:
        ValueError: it names no language.
    """
    try:
        return as_counted(parse_language(tag))
    except ValueError:
        if "." not in tag:
            raise
        return as_counted(parse_language(tag.rpartition(".")[2]))


@cache
def known_languages() -> frozenset[str]:
    """ISO 639-3 codes of what lid.176 or CLD2 can say."""
    of_cld2 = {
        iso639_3(code, script)
        for name, code in pycld2.LANGUAGES
        if name in pycld2.DETECTED_LANGUAGES
        for script in ("Latn", "Arab")
    }
    return frozenset({code[:3] for code in by_label().values()} | {iso for iso in of_cld2 if iso})
