"""Shingles: the overlapping runs of words, or of code points, by which texts are compared, as 64-bit hashes."""

from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.pieces import Pieces
from glotmill.curate.kernels.scan import CLUSTER, DIGITS, WORD
from glotmill.curate.kernels.unicode import KIND, NUMBER, unicode_table, wide
from glotmill.schemas.kernels.compiled import kernel

Hashes = npt.NDArray[np.uint64]
Bounds = npt.NDArray[np.int64]

_BASE = np.uint64(0xD6E8FEB86659FD93)
_INVERSE = np.uint64(pow(0xD6E8FEB86659FD93, -1, 2**64))  # of the base, modulo 2^64
_MASK = np.uint64(0x9AE16A3B2F90404F)  # what every number is when digits are masked
_CHARS_SEED = np.uint64(0xC2B2AE3D27D4EB4F)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def unspaced_shares(pieces: Pieces) -> npt.NDArray[np.float64]:
    """Of each text, the share of its words' code points that belong to scripts without spaces; 0 for no words."""
    found: npt.NDArray[np.float64] = _shares(pieces.unit_bounds, pieces.unit_kind, pieces.unit_chars)
    return found


def word_shingles(pieces: Pieces, *, words: int, mask_digits: bool) -> tuple[Hashes, Bounds]:
    """Hashes of each text's runs of units that weigh `words` words, in their order, and the n + 1 bounds of the texts.

    A text that is shorter is one shingle; a text without units has none.

    Args:
        mask_digits: All numbers are alike.
    """
    found: tuple[Hashes, Bounds] = _of_words(
        pieces.unit_bounds, pieces.unit_hash, pieces.unit_weight, pieces.unit_kind, words * WORD, mask_digits
    )
    return found


def char_shingles(data: Any, bounds: Any, *, chars: int, mask_digits: bool) -> tuple[Hashes, Bounds]:
    """Hashes of the runs of `chars` code points of n texts in UTF-8, in their order, and n + 1 bounds.

    A text that is shorter is one shingle; an empty one has none.

    Args:
        data, bounds: Bytes and n + 1 places, as `normal_forms` gives them.
        mask_digits: All digits are alike.
    """
    found: tuple[Hashes, Bounds] = _of_chars(data, bounds, unicode_table(), chars, mask_digits)
    return found


def distinct(hashes: Hashes, bounds: Bounds) -> tuple[Hashes, Bounds]:
    """Each text's different shingles, sorted."""
    found: tuple[Hashes, Bounds] = _distinct(hashes, bounds)
    return found


@kernel
def _shares(bounds, kinds, chars):  # type: ignore[no-untyped-def]
    out = np.zeros(len(bounds) - 1, np.float64)
    for d in range(len(bounds) - 1):
        total = unspaced = np.int64(0)
        for i in range(bounds[d], bounds[d + 1]):
            total += chars[i]
            unspaced += chars[i] * (kinds[i] == CLUSTER)
        if total:
            out[d] = unspaced / total
    return out


@kernel
def _finish(h):  # type: ignore[no-untyped-def]
    """MurmurHash3's 64-bit finaliser."""
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xFF51AFD7ED558CCD)
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xC4CEB9FE1A85EC53)
    return h ^ (h >> np.uint64(33))


@kernel
def _of_words(bounds, hashes, weights, kinds, wanted, mask):  # type: ignore[no-untyped-def]
    n = len(bounds) - 1
    out = np.empty(len(hashes), np.uint64)
    places = np.zeros(n + 1, np.int64)
    at = np.int64(0)
    for d in range(n):
        end = bounds[d + 1]
        e = bounds[d]
        weight = np.int64(0)
        h = np.uint64(0)  # of units i to e
        power = np.uint64(1)  # of the base, to the units in the run
        for i in range(bounds[d], end):
            while weight < wanted and e < end:
                h = h * _BASE + (_MASK if mask and kinds[e] == DIGITS else hashes[e])
                power = power * _BASE
                weight += weights[e]
                e += 1
            if weight < wanted and i > bounds[d]:
                break
            out[at] = _finish(h)
            at += 1
            # the first unit leaves the run
            power = power * _INVERSE
            h -= (_MASK if mask and kinds[i] == DIGITS else hashes[i]) * power
            weight -= weights[i]
        places[d + 1] = at
    return out[:at], places


@kernel
def _of_chars(data, bounds, table, wanted, mask):  # type: ignore[no-untyped-def]
    n = len(bounds) - 1
    out = np.empty(bounds[n] - bounds[0] + n, np.uint64)
    places = np.zeros(n + 1, np.int64)
    top = np.uint64(1)
    for _ in range(wanted):
        top *= _BASE
    ring = np.empty(wanted, np.uint64)
    at = np.int64(0)
    for d in range(n):
        end = np.int64(bounds[d + 1])
        i = np.int64(bounds[d])
        h = np.uint64(0)
        held = at_ring = 0
        ring[:] = np.uint64(0)  # the values of the code points in the run
        while i < end:
            code = np.int64(data[i])
            if code >= 0x80:
                b = np.int64(data[i + 1]) if i + 1 < end else 0
                c = np.int64(data[i + 2]) if i + 2 < end else 0
                code, step = wide(code, b, c, np.int64(data[i + 3]) if i + 3 < end else 0)
                i += step - 1
            i += 1
            if mask and table[code] & np.uint32(KIND) == NUMBER:
                code = 48
            value = np.uint64(code + 1) * _SPREAD
            h = h * _BASE + value - ring[at_ring] * top
            ring[at_ring] = value
            at_ring = at_ring + 1 if at_ring + 1 < wanted else 0
            held += 1
            if held >= wanted:
                out[at] = _finish(h ^ _CHARS_SEED)
                at += 1
        if 0 < held < wanted:
            out[at] = _finish(h ^ _CHARS_SEED)
            at += 1
        places[d + 1] = at
    return out[:at], places


@kernel
def _distinct(hashes, bounds):  # type: ignore[no-untyped-def]
    out = np.empty(len(hashes), np.uint64)
    places = np.zeros(len(bounds), np.int64)
    at = np.int64(0)
    for d in range(len(bounds) - 1):
        some = np.sort(hashes[bounds[d] : bounds[d + 1]])
        for i in range(len(some)):
            if i == 0 or some[i] != some[i - 1]:
                out[at] = some[i]
                at += 1
        places[d + 1] = at
    return out[:at].copy(), places
