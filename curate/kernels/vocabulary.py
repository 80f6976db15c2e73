"""Units looked up in the vocabulary of their text's language."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from glotmill.curate.kernels.pieces import Pieces
from glotmill.curate.kernels.scan import DIGITS
from glotmill.schemas.kernels.compiled import kernel

Hashes = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

# What `look_up` counts.
WEIGHT, KNOWN_WEIGHT, DISTINCT, UNITS, SUM = range(5)
_SALT = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """An open-addressed table of units, each under its language.

    Args:
        languages: Their names; a language's place is its number.
        keys: uint64 (2^k), 0 where empty.
        values: float64 (2^k).
        unseen: float64 (languages), the value of a unit that a language's vocabulary lacks.
    """

    languages: tuple[str, ...]
    keys: Hashes
    values: Floats
    unseen: Floats


def vocabulary(
    languages: Sequence[str], units: Sequence[Hashes], values: Sequence[Floats], unseen: Floats
) -> Vocabulary:
    """The table of each language's units, as hashes of `pieces`, with a value for each."""
    count = sum(len(of) for of in units)
    size = 1 << max(4, (2 * count).bit_length())
    keys, table = np.zeros(size, np.uint64), np.zeros(size)
    for number, (of, worth) in enumerate(zip(units, values, strict=True)):
        _insert(keys, table, np.asarray(of, np.uint64), np.asarray(worth, np.float64), np.uint64(number + 1))
    return Vocabulary(tuple(languages), keys, table, np.asarray(unseen, np.float64))


def look_up(cut: Pieces, languages: Any, known: Vocabulary) -> Floats:
    """float64 (n, 5): of each text the weight of its units of letters, of those in its language's vocabulary, how many
    distinct ones of that there are, its units of letters, and the sum of their values. All 0 in a language without one.

    Args:
        languages: string array (n), the language of each text or null.
    """
    places = pc.index_in(languages, value_set=pa.array(known.languages, pa.string()))
    numbers = places.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    found: Floats = _look_up(
        cut.unit_bounds, cut.unit_hash, cut.unit_weight, cut.unit_kind, numbers, known.keys, known.values, known.unseen
    )
    return found


@kernel
def _insert(keys, table, units, values, number):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(keys) - 1)
    for i in range(len(units)):
        key = _key(units[i], number)
        at = key >> np.uint64(20) & mask
        while keys[at] != 0 and keys[at] != key:
            at = (at + np.uint64(1)) & mask
        keys[at] = key
        table[at] = values[i]


@kernel
def _key(unit, number):  # type: ignore[no-untyped-def]
    h = (unit ^ number * _SALT) * np.uint64(0xD6E8FEB86659FD93)
    return (h ^ h >> np.uint64(32)) | np.uint64(1)  # 0 is an empty slot


@kernel
def _look_up(bounds, units, weights, kinds, numbers, keys, values, unseen):  # type: ignore[no-untyped-def]
    out = np.zeros((len(bounds) - 1, 5))
    last = np.full(len(keys), np.int64(-1))  # the text in which an entry was met last
    mask = np.uint64(len(keys) - 1)
    for d in range(len(bounds) - 1):
        if numbers[d] < 0:
            continue
        number = np.uint64(numbers[d] + 1)
        fallback = unseen[numbers[d]]
        weight = known = distinct = count = np.int64(0)
        total = 0.0
        for u in range(bounds[d], bounds[d + 1]):
            if kinds[u] == DIGITS:
                continue
            count += 1
            weight += weights[u]
            key = _key(units[u], number)
            at = key >> np.uint64(20) & mask
            while keys[at] != 0 and keys[at] != key:
                at = (at + np.uint64(1)) & mask
            if keys[at] == 0:
                total += fallback
                continue
            known += weights[u]
            total += values[at]
            if last[at] != d:
                last[at] = d
                distinct += 1
        out[d, WEIGHT] = weight
        out[d, KNOWN_WEIGHT] = known
        out[d, DISTINCT] = distinct
        out[d, UNITS] = count
        out[d, SUM] = total
    return out
