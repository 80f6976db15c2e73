"""MinHash signatures of sets of hashes, and the keys of their bands."""

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.shingles import Bounds, Hashes
from glotmill.schemas.kernels.compiled import kernel

Signatures = npt.NDArray[np.uint32]


def signatures(hashes: Hashes, bounds: Bounds, *, permutations: int, seed: int) -> Signatures:
    """uint32 (n, permutations): for each permutation the smallest image of a text's hashes.

    A text without hashes has 2^32 - 1 everywhere. A 64-bit hash is mixed down to 32 bits, x; permutation k maps it to
    a_k x + b_k mod 2^32, a_k odd (Broder et al. 2000, "Min-wise independent permutations", section 5, has linear
    permutations modulo a prime; modulo a power of two they are one vector instruction).

    Args:
        hashes, bounds: As `shingles` gives them: all texts' hashes, and n + 1 bounds.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    factors = random.integers(0, 2**32, permutations, np.uint32) | np.uint32(1)
    terms = random.integers(0, 2**32, permutations, np.uint32)
    found: Signatures = _signatures(hashes, bounds, factors, terms)
    return found


BAND_BITS = 12  # of a key, its first: the band


def band_keys(signatures: Signatures, scopes: Hashes, *, bands: int, rows: int) -> Hashes:
    """uint64 (n, bands): equal for two texts of one scope whose signatures agree in all rows of a band.

    A key begins with BAND_BITS of the band's number, so that keys in their order are parted by band; the rest is a
    hash. Two different buckets share a key by chance (2^-52 a pair), which costs a comparison.

    Args:
        signatures: (n, at least bands * rows).
        scopes: (n,), a hash of what a text may be compared within.
    """
    found: Hashes = _band_keys(signatures, scopes, bands, rows)
    return found


def key_of(band: int, hashes: Hashes) -> Hashes:
    """uint64 (n,): keys of a band whose buckets are known by a hash, such as one of the whole text."""
    return (np.uint64(band) << np.uint64(64 - BAND_BITS)) | (hashes >> np.uint64(BAND_BITS))


@kernel
def _signatures(hashes, bounds, factors, terms):  # type: ignore[no-untyped-def]
    n, size = len(bounds) - 1, len(factors)
    out = np.full((n, size), np.uint32(0xFFFFFFFF))
    row = np.empty(size, np.uint32)
    for d in range(n):
        row[:] = np.uint32(0xFFFFFFFF)
        for i in range(bounds[d], bounds[d + 1]):
            low = np.uint32(hashes[i] >> np.uint64(32))
            for k in range(size):
                row[k] = min(row[k], np.uint32(factors[k] * low + terms[k]))
        out[d] = row
    return out


@kernel
def _band_keys(signatures, scopes, bands, rows):  # type: ignore[no-untyped-def]
    out = np.empty((len(signatures), bands), np.uint64)
    for d in range(len(signatures)):
        for band in range(bands):
            h = scopes[d] ^ (np.uint64(band + 1) * np.uint64(0x9E3779B97F4A7C15))
            for k in range(band * rows, (band + 1) * rows):
                h ^= np.uint64(signatures[d, k])
                h *= np.uint64(0xFF51AFD7ED558CCD)
                h ^= h >> np.uint64(32)
            h *= np.uint64(0xC4CEB9FE1A85EC53)
            h ^= h >> np.uint64(33)
            out[d, band] = (np.uint64(band) << np.uint64(64 - BAND_BITS)) | (h >> np.uint64(BAND_BITS))
    return out
