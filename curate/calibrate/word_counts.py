"""How often each unit of letters occurs, by group of texts."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from glotmill.curate.kernels.pieces import Pieces
from glotmill.curate.kernels.scan import DIGITS
from glotmill.curate.kernels.vocabulary import Vocabulary, vocabulary

Counts = tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]
_MOST_ROWS = 4 << 20  # of partial counts before they are summed


class WordCounts:
    """Counts that grow text by text; memory is that of the distinct units of each group."""

    def __init__(self) -> None:
        self._groups: dict[str, int] = {}
        self._parts: list[pa.Table] = []

    def add(self, cut: Pieces, groups: Sequence[str]) -> None:
        """The units of n texts, each for its group."""
        numbers = np.array([self._groups.setdefault(group, len(self._groups)) for group in groups], np.int32)
        letters = cut.unit_kind != DIGITS
        of = np.repeat(numbers, np.diff(cut.unit_bounds))[letters]
        units = pa.table({"group": of, "unit": cut.unit_hash[letters]})
        counted = units.group_by(["group", "unit"]).aggregate([([], "count_all")])
        self._parts.append(counted.rename_columns(["group", "unit", "count"]))
        if sum(part.num_rows for part in self._parts) > _MOST_ROWS:
            self._parts = [self._summed()]

    def _summed(self) -> pa.Table:
        summed = pa.concat_tables(self._parts).group_by(["group", "unit"]).aggregate([("count", "sum")])
        return summed.rename_columns(["group", "unit", "count"])

    def counts(self) -> dict[str, Counts]:
        """By group, its units in rising order of hash and how often each occurs."""
        if not self._parts:
            return {}
        rows = self._summed().sort_by([("group", "ascending"), ("unit", "ascending")])
        numbers, units, counts = (rows[name].to_numpy() for name in ("group", "unit", "count"))
        bounds = np.searchsorted(numbers, np.arange(len(self._groups) + 1))
        return {
            group: (units[bounds[number] : bounds[number + 1]], counts[bounds[number] : bounds[number + 1]])
            for group, number in self._groups.items()
        }


def log_probabilities(counts: npt.NDArray[np.int64], *, of_all: float = 1.0) -> tuple[npt.NDArray[np.float64], float]:
    """The natural logarithms of units' probabilities, and that of an unseen one: add-one smoothing, with one place for
    all that was never seen.

    Args:
        of_all: Share of a larger text that was counted; the rest is taken to be alike, so that an unseen unit is as
            unlikely as in the larger text.
    """
    total = float(counts.sum() / of_all + len(counts) + 1)
    return np.log((counts / of_all + 1) / total), float(np.log(1 / total))


def likelihoods(counts: dict[str, Counts], *, of_all: dict[str, float]) -> Vocabulary:
    """A table of log-probabilities, each group a language of it; `of_all` as for `log_probabilities`."""
    worth = {group: log_probabilities(of, of_all=of_all[group]) for group, (_, of) in counts.items()}
    return vocabulary(
        list(counts),
        [units for units, _ in counts.values()],
        [values for values, _ in worth.values()],
        np.array([unseen for _, unseen in worth.values()], np.float64),
    )
