"""Fitting the limits of quality rules to text that a user trusts, language by language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.pieces import SPACE_ENDS
from glotmill.curate.kernels.unicode import rows
from glotmill.curate.presets import Written
from glotmill.curate.stop_words import lists
from glotmill.schemas.languages import script_spaced

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.object_]
Shape = tuple[Floats, Floats]  # by column, the median, and how far from it the upper tenth begins

BUDGET = 0.02  # share of the reference that the rules together may remove
_ENOUGH = 20  # documents beyond a limit at which a language's own quantile and the pooled one weigh the same
_ENOUGH_OF_SCRIPT = 1000  # documents of a script at which its own tails and those of all weigh the same
_PRIOR = 10  # documents that a script's location and spread weigh against a language's own
_DOUBT = 3.0  # spreads, over the root of the documents, by which a limit is loosened for what they don't show
_TAILS = np.geomspace(0.05, 1e-5, 60)  # shares of documents beyond one limit, tried in turn
_CASED = ("Latn", "Cyrl", "Grek", "Armn", "Adlm", "Copt", "Glag", "Osge", "Vith", "Wara")  # scripts with capitals


@dataclass(frozen=True, slots=True)
class Fitted:
    """A rule whose limit is fitted: what lies beyond it is dropped. The limit stays within `lowest` to `highest`."""

    reason: str
    signal: str
    comparison: str
    lowest: float
    highest: float

    @property
    def sign(self) -> int:
        """1 if large values are dropped, -1 if small ones are."""
        return 1 if self.comparison == ">" else -1

    def fits(self, language: str) -> bool:
        """Whether the signal says something in this language."""
        script = language[4:]
        if self.signal == "mean_word_chars":
            return script_spaced(script)
        if self.signal == "uppercase_share":
            return script in _CASED
        if self.signal == "stop_word_share":
            return language in lists()
        return self.signal != "terminal_line_share" or script not in SPACE_ENDS

    def bounded(self, limit: float) -> float:
        """The limit within its bounds, rounded to four digits away from what passes."""
        rounded = np.ceil(limit * self.sign * 1e4) / 1e4 * self.sign
        return float(np.clip(rounded, self.lowest, self.highest))

    def written(self, limit: float) -> str:
        return f"{self.signal} {self.comparison} {limit:.6g}"


@cache
def fitted_rules() -> tuple[Fitted, ...]:
    return tuple(
        Fitted(reason, signal, comparison, float(lowest), float(highest))
        for reason, signal, comparison, lowest, highest in rows("calibrated.tsv")
    )


def fit(languages: Labels, signals: Mapping[str, Floats], *, budget: float = BUDGET) -> Written:
    """Limits by language, and by script for languages that the reference lacks.

    Where a language has many documents, a limit is a quantile of them. Where it has few, it is the language's median
    plus so many of its spreads as the documents of all languages of its script lie beyond theirs; median and spread are
    drawn towards the script's, the more the fewer documents there are, and the limit is loosened, too. The two are
    blended by how many documents lie beyond the limit. The share beyond one limit is the largest at which all rules
    together remove no more of the language's reference than the budget. A script's limit is the loosest of its
    languages'.

    Args:
        languages: By document, its label.
        signals: By signal, its value for each document.
        budget: Share of each language's documents that may be removed.
    """
    rules = [rule for rule in fitted_rules() if rule.signal in signals]
    values = np.stack([rule.sign * signals[rule.signal] for rule in rules], axis=1)
    scripts = np.array([label[4:] for label in languages], object)
    shapes = _shapes(languages, scripts, values)
    beyond = np.empty_like(values)
    for language, (middle, spread) in shapes.items():
        beyond[languages == language] = (values[languages == language] - middle) / spread
    tails = _tails(beyond)
    written: Written = {}
    for script in sorted(set(scripts)):
        inside = scripts == script
        share = inside.sum() / (inside.sum() + _ENOUGH_OF_SCRIPT)
        pooled = share * _tails(beyond[inside]) + (1 - share) * tails
        for language in sorted(set(languages[inside])):
            limits = _fit_language(rules, language, values[languages == language], shapes[language], pooled, budget)
            written[language] = {
                rule.reason: rule.written(limit) if rule.fits(language) else None
                for rule, limit in zip(rules, limits, strict=True)
            }
    return by_script(rules, written) | written


def _fit_language(
    rules: Sequence[Fitted], language: str, own: Floats, shape: Shape, pooled: Floats, budget: float
) -> list[float]:
    """A limit for each rule; large values of `own` are dropped."""
    usable = np.array([rule.fits(language) for rule in rules])
    signs = np.array([rule.sign for rule in rules])
    centre, width = shape
    doubt = _DOUBT / np.sqrt(len(own))
    limits: list[float] = []
    for tail, beyond, quantile in zip(_TAILS, pooled, _tails(own), strict=True):
        weight = len(own) * tail / (len(own) * tail + _ENOUGH)
        blended = weight * quantile + (1 - weight) * (centre + (beyond + doubt) * width)
        limits = [rule.bounded(limit * rule.sign) for rule, limit in zip(rules, blended, strict=True)]
        removed = (own > limits * signs) & usable
        if removed.any(axis=1).mean() <= budget:
            break
    return limits


def _tails(values: Floats) -> Floats:
    """By tail and column, the value that this share of rows lies beyond."""
    found: Floats = np.quantile(values, 1 - _TAILS, axis=0)
    return found


def _shapes(languages: Labels, scripts: Labels, values: Floats) -> dict[str, Shape]:
    """By language, the middle and the spread of each column, drawn towards the script's where documents are few."""
    found = {}
    for script in sorted(set(scripts)):
        prior = _shape(values[scripts == script])
        for language in sorted(set(languages[scripts == script])):
            of = languages == language
            share = of.sum() / (of.sum() + _PRIOR)
            middle, spread = _shape(values[of])
            found[language] = share * middle + (1 - share) * prior[0], share * spread + (1 - share) * prior[1]
    return found


def _shape(values: Floats) -> Shape:
    """Median of each column, and how far from it the upper tenth begins; a spread of 0 counts as a thousandth."""
    middle = np.median(values, axis=0)
    return middle, np.maximum(np.quantile(values, 0.9, axis=0) - middle, 1e-3)


def by_script(rules: Sequence[Fitted], written: Written) -> Written:
    """For each script the loosest limit that one of its languages has."""
    found: Written = {}
    for language, reasons in written.items():
        limits = found.setdefault(language[4:], {})
        for rule in rules:
            texts = [text for text in (reasons[rule.reason], limits.get(rule.reason)) if text is not None]
            loosest = max((rule.sign * float(text.split()[-1]) for text in texts), default=None)
            limits[rule.reason] = None if loosest is None else rule.written(rule.sign * loosest)
    for reasons in found.values():  # they speak of the language itself
        reasons.pop("few_stop_words", None)
        reasons.pop("unlikely_words", None)
    return found
