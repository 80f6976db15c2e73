"""How well a score parts positives from negatives that the model has not seen."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]

_STEPS = 1000  # thresholds that are tried: what is written is what was measured
MIDDLE = 0.5


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """What keeping the texts with `score >= threshold` gives, positives being those worth keeping.

    Args:
        precision: Positives among the kept; 0 where nothing is kept.
        recall: Kept among the positives.
        f1: Harmonic mean of both.
    """

    threshold: float
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Of as many positives as negatives.

    Args:
        positives, negatives: Held-out texts.
        middle: At the threshold 0.5.
        auc: Probability that a positive scores higher than a negative, ties counting half.
        wanted: At a threshold, in thousandths, that reaches the precision asked for: of those that do, the ones of
            most recall; of these, the ones of most precision; of these, the middle one. None where none reaches it.
    """

    positives: int
    negatives: int
    middle: AtThreshold
    auc: float
    wanted: AtThreshold | None


def figures(scores: Scores, is_positive: Flags, *, precision: float) -> Figures:
    """Measure n >= 2 scores, with at least one text of each kind."""
    good, bad = np.sort(scores[is_positive].astype(np.float64)), np.sort(scores[~is_positive].astype(np.float64))
    thresholds = np.arange(1, _STEPS) / _STEPS
    kept_good = len(good) - np.searchsorted(good, thresholds)
    kept_bad = len(bad) - np.searchsorted(bad, thresholds)
    reached = (kept_good > 0) & (kept_good >= precision * (kept_good + kept_bad))
    best = reached & (kept_good == kept_good[reached].max(initial=0))
    best &= kept_bad == kept_bad[best].min(initial=len(bad))
    places = np.flatnonzero(best)
    return Figures(
        len(good),
        len(bad),
        _at(MIDDLE, good, bad),
        _auc(good, bad),
        _at(float(thresholds[places[len(places) // 2]]), good, bad) if len(places) else None,
    )


def _at(threshold: float, good: npt.NDArray[np.float64], bad: npt.NDArray[np.float64]) -> AtThreshold:
    hits = len(good) - int(np.searchsorted(good, threshold))
    kept = hits + len(bad) - int(np.searchsorted(bad, threshold))
    precision, recall = hits / max(1, kept), hits / len(good)
    return AtThreshold(threshold, precision, recall, 2 * hits / (kept + len(good)))


def _auc(good: npt.NDArray[np.float64], bad: npt.NDArray[np.float64]) -> float:
    """Mann and Whitney's U, divided by the pairs; both sorted."""
    below, below_or_same = np.searchsorted(bad, good, "left"), np.searchsorted(bad, good, "right")
    return float((below.sum() + below_or_same.sum()) / (2 * len(good) * len(bad)))
