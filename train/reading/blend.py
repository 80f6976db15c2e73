"""Weights of a blend as whole numbers, and the phases of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from glotmill.schemas.errors import RecipeError

TOTAL = 1 << 53  # what whole weights add up to: shares are right to 1e-16, and credits stay far below 2^63


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of a run.

    Args:
        weights: Share of the tokens of each source, relative to the others'; names every source, 0 where none is taken.
        until_tokens, until_samples: Where it ends, counted from the begin of the run; neither: it never ends.
            Where the next phase has another sequence length, it ends with the global batch that reaches this.
        sequence_length: The reader's by default.
    """

    weights: Mapping[str, float]
    until_tokens: int | None = None
    until_samples: int | None = None
    sequence_length: int | None = None

    def samples_left(self, samples: int, tokens: int, length: int) -> int | None:
        """Samples of `length` tokens until its end, None for a phase without one."""
        left = [
            *([self.until_samples - samples] if self.until_samples is not None else []),
            *([-((tokens - self.until_tokens) // length)] if self.until_tokens is not None else []),
        ]
        return max(0, min(left)) if left else None


def whole_weights(weights: Sequence[float]) -> NDArray[np.int64]:
    """Whole numbers in proportion to `weights` that add up to TOTAL; what is above 0 stays so.

    >>> (whole_weights([3, 1, 0]) / TOTAL).tolist()
    [0.75, 0.25, 0.0]

    Raises:
        RecipeError: a weight is negative or no number, or all are 0.
    """
    if not weights or any(not 0 <= w < float("inf") for w in weights) or not sum(weights):
        raise RecipeError(f"weights are {list(weights)}; give numbers from 0 on, one of them above 0")
    exact = [Fraction(w) for w in weights]
    shares = [w * TOTAL / sum(exact) for w in exact]
    whole = [max(int(share), 1) if share else 0 for share in shares]
    largest = max(range(len(whole)), key=lambda i: (whole[i], -i))
    by_rest = sorted(range(len(whole)), key=lambda i: (int(shares[i]) - shares[i], i))
    for i in by_rest[: max(0, TOTAL - sum(whole))]:
        whole[i] += 1 if whole[i] else 0
    whole[largest] += TOTAL - sum(whole)
    return np.array(whole, np.int64)


def checked_phases(phases: Sequence[Phase], names: Sequence[str]) -> None:
    """Raises RecipeError where phases don't fit the sources or each other."""
    for n, phase in enumerate(phases):
        lacking, unknown = sorted(set(names) - set(phase.weights)), sorted(set(phase.weights) - set(names))
        if lacking or unknown:
            raise RecipeError(
                f"phase {n} gives no weight to {lacking} and one to {unknown}, which is no source; name every source, "
                "with 0 where none of it is to come"
            )
        whole_weights([phase.weights[name] for name in names])
        if n + 1 < len(phases) and phase.until_tokens is None and phase.until_samples is None:
            raise RecipeError(f"phase {n} has no end and another follows; give it until_tokens or until_samples")
