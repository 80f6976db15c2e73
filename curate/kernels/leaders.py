"""Who stays of documents that may be alike: greedily, in order, each compared with those that stay."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.minhash import Signatures
from glotmill.curate.kernels.shingles import Bounds, Hashes
from glotmill.schemas.kernels.compiled import kernel

Ints = npt.NDArray[np.int64]

# How a similarity was measured.
KEPT, TEXT, SIGNATURE, SHINGLES = 0, 1, 2, 3
# What is believed: shared bands alone, signatures outside of the margin, shingles alone.
NOTHING_VERIFIED, BY_SIGNATURE, BY_SHINGLES = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Found:
    """What became of n documents.

    Args:
        twin: int64 (n,), the row of the kept document that each removed one is most similar to; -1 for a kept one.
        similarity: float64 (n,), as measured; 1 for a kept one.
        how: uint8 (n,), KEPT, TEXT, SIGNATURE or SHINGLES.
        compared: Pairs that were compared by their signatures.
        exact: Pairs that were compared by their shingles.
        below: Pairs that share a band and are less similar than asked.
        full: Buckets with more kept documents than `most`, whose later ones are not found through them.
        largest: Kept documents in the fullest bucket, those that aren't found through it included.
    """

    twin: Ints
    similarity: npt.NDArray[np.float64]
    how: npt.NDArray[np.uint8]
    compared: int
    exact: int
    below: int
    full: int
    largest: int


def leaders(
    keys: Hashes,
    signatures: Signatures,
    sets: Hashes,
    bounds: Bounds,
    texts: Hashes,
    is_short: npt.NDArray[np.bool_],
    is_fixed: npt.NDArray[np.bool_],
    *,
    similarity: float,
    margin: float,
    verify: int,
    compare_all: bool,
    most: int,
) -> Found:
    """Decide n documents in their order: one is removed if it is measured similar to an earlier one that stays.

    Takes about 30 to 50 bytes a document and band, beside what is given: n * (bands + 1) may not exceed 2^31.

    Two documents are compared if they share a key and both aren't short, or if their texts are equal. Of several kept
    documents that are similar enough the most similar one is the twin, of equals the earliest.

    Args:
        keys: uint64 (n, bands), of each document's bands.
        signatures: uint32 (n, permutations).
        sets, bounds: Each document's different shingles, sorted; empty where none are needed, and where
            they aren't known: then signatures are believed.
        texts: uint64 (n, 2), the hash of each document's normalised text.
        is_short: Too few shingles: compared by text alone.
        is_fixed: Stays whatever it is similar to.
        similarity: Least similarity of a removed document to its twin.
        margin: Half width of the band around `similarity` in which signatures aren't believed and shingles decide.
        verify: NOTHING_VERIFIED, BY_SIGNATURE or BY_SHINGLES.
        compare_all: Documents are compared with all that stay, not with fixed ones alone.
        most: Kept documents of a bucket that later ones are compared with.
    """
    twin, told, how, counts = _leaders(
        keys, signatures, sets, bounds, texts, is_short, is_fixed, similarity, margin, verify, compare_all, most
    )
    return Found(twin, told, how, *counts.tolist())


@kernel
def _jaccard(sets, a, a_end, b, b_end):  # type: ignore[no-untyped-def]
    """Of two sorted runs of different numbers."""
    total = (a_end - a) + (b_end - b)
    common = np.int64(0)
    while a < a_end and b < b_end:
        x, y = sets[a], sets[b]
        common += x == y
        a += x <= y
        b += y <= x
    return common / (total - common) if total > common else 1.0


@kernel
def _leaders(  # type: ignore[no-untyped-def]
    keys, signatures, sets, bounds, texts, is_short, is_fixed, similarity, margin, verify, compare_all, most
):
    n, bands = keys.shape
    size = signatures.shape[1]
    places = 16
    while 4 * places < 5 * n * (bands + 1):
        places *= 2
    # Buckets: an open-addressed table of keys, each with a list of the documents that stay, in their order.
    mask = np.uint64(places - 1)
    table = np.empty(places, np.uint64)
    first = np.full(places, -1, np.int32)
    last = np.empty(places, np.int32)
    held = np.zeros(places, np.int32)
    links = np.empty((n * (bands + 1), 2), np.int32)  # document, next link
    used = 0
    seen = np.full(n, -1, np.int64)
    twin = np.full(n, -1, np.int64)
    told = np.ones(n)
    how = np.zeros(n, np.uint8)
    counts = np.zeros(5, np.int64)
    for d in range(n):
        best, best_told, best_how = -1, -1.0, 0
        text_key = texts[d, 0] ^ (texts[d, 1] * np.uint64(0x9E3779B97F4A7C15))
        for band in range(-1, 0 if is_short[d] else bands):
            if is_fixed[d]:
                break
            key = text_key if band < 0 else keys[d, band]
            slot = (key ^ (key >> np.uint64(29))) & mask
            while first[slot] >= 0 and table[slot] != key:
                slot = (slot + np.uint64(1)) & mask
            at = first[slot]
            while at >= 0:
                other = links[at, 0]
                at = links[at, 1]
                if seen[other] == d:
                    continue
                if texts[other, 0] == texts[d, 0] and texts[other, 1] == texts[d, 1]:
                    seen[other] = d
                    if best_how != TEXT or other < best:
                        best, best_told, best_how = other, 1.0, TEXT
                    continue
                if band < 0:  # a text key that two texts share by chance
                    continue
                seen[other] = d
                counts[0] += 1
                same = 0
                for k in range(size):
                    same += signatures[d, k] == signatures[other, k]
                value, by = same / size, SIGNATURE
                if verify == BY_SHINGLES or (verify == BY_SIGNATURE and abs(value - similarity) < margin):
                    has_sets = bounds[d] < bounds[d + 1] and bounds[other] < bounds[other + 1]
                    if has_sets and value > similarity - 2 * margin:
                        counts[1] += 1
                        value = _jaccard(sets, bounds[d], bounds[d + 1], bounds[other], bounds[other + 1])
                        by = SHINGLES
                if verify != NOTHING_VERIFIED and value < similarity:
                    counts[2] += 1
                elif best_how != TEXT and (value > best_told or (value == best_told and other < best)):
                    best, best_told, best_how = other, value, by
        if best >= 0:
            twin[d], told[d], how[d] = best, best_told, best_how
            continue
        if not (compare_all or is_fixed[d]):
            continue
        for band in range(-1, 0 if is_short[d] else bands):
            key = text_key if band < 0 else keys[d, band]
            at = (key ^ (key >> np.uint64(29))) & mask
            while first[at] >= 0 and table[at] != key:
                at = (at + np.uint64(1)) & mask
            held[at] += 1
            counts[4] = max(counts[4], held[at])
            if held[at] > most:
                counts[3] += held[at] == most + 1
                continue
            links[used, 0], links[used, 1] = d, -1
            if first[at] < 0:
                table[at], first[at] = key, used
            else:
                links[last[at], 1] = used
            last[at] = used
            used += 1
    return twin, told, how, counts
