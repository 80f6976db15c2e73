"""Lines that hold one of some phrases."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from glotmill.curate.kernels.pieces import Pieces, pieces
from glotmill.schemas.kernels.compiled import kernel

Ints = npt.NDArray[np.int64]
_FILTER = 1 << 12
_TURKIC = set("ıəğ")


@cache
def _table(
    phrases: tuple[tuple[str, ...], ...],
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.uint64], Ints, Ints, Ints]:
    """A filter by the last bits of a phrase's first unit, then phrases sorted by it: first units, bounds, kinds,
    units."""
    found = [
        (part.unit_hash.tolist(), kind)
        for kind, group in enumerate(phrases)
        for part in (pieces(pa.array([form])) for phrase in group for form in _forms(phrase))
    ]
    found.sort()
    bits = np.zeros(_FILTER, np.bool_)
    bits[[units[0] % _FILTER for units, _ in found]] = True
    return (
        bits,
        np.array([units[0] for units, _ in found], np.uint64),
        np.cumsum([0, *(len(units) for units, _ in found)]).astype(np.int64),
        np.array([kind for _, kind in found], np.int64),
        np.array([unit for units, _ in found for unit in units], np.uint64).view(np.int64),
    )


def _forms(phrase: str) -> list[str]:
    """A phrase, and its capitals as Turkish and Azerbaijani write them: their I is no capital i."""
    if not _TURKIC & set(phrase):
        return [phrase]
    return [phrase, phrase.replace("i", "İ").replace("ı", "I")]


def phrase_lines(cut: Pieces, phrases: Sequence[Sequence[str]]) -> Ints:
    """int64 (n, kinds): of each text, the lines that hold a phrase of each kind; see `lines_with`."""
    sums = np.concatenate((np.zeros((1, len(phrases)), np.int64), lines_with(cut, phrases).cumsum(axis=0)))
    counts: Ints = np.diff(sums[cut.line_bounds], axis=0)
    return counts


def lines_with(cut: Pieces, phrases: Sequence[Sequence[str]]) -> npt.NDArray[np.bool_]:
    """bool (lines, kinds): whether each line of all texts holds a phrase of each kind.

    Phrases are compared unit by unit whatever their case: as whole words where spaces part words, also within text of a
    script where they don't; punctuation between the words doesn't matter.
    """
    groups = tuple(tuple(group) for group in phrases)
    found: npt.NDArray[np.bool_] = _lines_with(cut.line_unit, cut.unit_hash, len(groups), *_table(groups))
    return found


@kernel
def _lines_with(
    line_unit: Any,
    hashes: Any,
    kinds: int,
    bits: Any,
    firsts: Any,
    bounds: Any,
    kind_of: Any,
    units: Any,
) -> npt.NDArray[np.bool_]:
    out = np.zeros((len(line_unit) - 1, kinds), np.bool_)
    for line in range(len(line_unit) - 1):
        end = line_unit[line + 1]
        for u in range(line_unit[line], end):
            if not bits[hashes[u] & np.uint64(_FILTER - 1)]:
                continue
            p = np.searchsorted(firsts, hashes[u])
            while p < len(firsts) and firsts[p] == hashes[u]:
                size = bounds[p + 1] - bounds[p]
                same = u + size <= end
                k = np.int64(1)
                while same and k < size:
                    same = np.int64(hashes[u + k]) == units[bounds[p] + k]
                    k += 1
                if same:
                    out[line, kind_of[p]] = True
                p += 1
    return out
