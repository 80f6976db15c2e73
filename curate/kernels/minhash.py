"""MinHash signatures of runs of units."""

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.compiled import kernel
from glotmill.curate.kernels.pieces import Pieces
from glotmill.curate.kernels.scan import WORD

Signatures = npt.NDArray[np.uint32]
_BASE = np.uint64(0xD6E8FEB86659FD93)
_INVERSE = np.uint64(pow(0xD6E8FEB86659FD93, -1, 2**64))  # of the base, modulo 2^64


def signatures(pieces: Pieces, *, permutations: int, words: int, seed: int) -> Signatures:
    """uint32 (n, permutations): for each permutation the smallest image of the text's shingles.

    A shingle is a run of units that weigh `words` words, as in `ngrams.repeats`; a text shorter than that is one
    shingle. A text without units has 2^32 - 1 everywhere. A shingle's 64-bit hash is mixed down to 32 bits, x;
    permutation k maps it to a_k x + b_k mod 2^32, a_k odd (Broder et al. 2000, "Min-wise independent permutations",
    section 5, has linear permutations modulo a prime; modulo a power of two they are one vector instruction).
    """
    random = np.random.Generator(np.random.PCG64(seed))
    factors = random.integers(0, 2**32, permutations, np.uint32) | np.uint32(1)
    terms = random.integers(0, 2**32, permutations, np.uint32)
    found: Signatures = _signatures(
        pieces.unit_bounds, pieces.unit_hash, pieces.unit_weight, factors, terms, words * WORD
    )
    return found


@kernel
def _signatures(bounds, hashes, weights, factors, terms, wanted):  # type: ignore[no-untyped-def]
    n, size = len(bounds) - 1, len(factors)
    out = np.full((n, size), np.uint32(0xFFFFFFFF))
    row = np.empty(size, np.uint32)
    for d in range(n):
        row[:] = np.uint32(0xFFFFFFFF)
        end = bounds[d + 1]
        e = bounds[d]
        weight = np.int64(0)
        h = np.uint64(0)  # of units i to e
        power = np.uint64(1)  # of the base, to the units in the run
        for i in range(bounds[d], end):
            while weight < wanted and e < end:
                h = h * _BASE + hashes[e]
                power = power * _BASE
                weight += weights[e]
                e += 1
            if weight < wanted and i > bounds[d]:
                break
            x = h ^ (h >> np.uint64(32))
            x *= np.uint64(0x9E3779B97F4A7C15)
            low = np.uint32(x >> np.uint64(32))
            for k in range(size):
                row[k] = min(row[k], np.uint32(factors[k] * low + terms[k]))
            # the first unit leaves the run
            power = power * _INVERSE
            h -= hashes[i] * power
            weight -= weights[i]
        out[d] = row
    return out
