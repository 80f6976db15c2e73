"""MinHash signatures: from the share of equal places follows how similar two texts are."""

import pyarrow as pa

from glotmill.curate.kernels.minhash import signatures
from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.measure import Columns, Measure

PERMUTATIONS = 112  # FineWeb's: 14 bands of 8
SHINGLE_WORDS = 5
SEED = 1


def _minhash(batch: pa.RecordBatch, *, permutations: int, words: int, seed: int) -> Columns:
    found = signatures(pieces(batch["text"]), permutations=permutations, words=words, seed=seed)
    return {"minhash": pa.FixedSizeListArray.from_arrays(pa.array(found.ravel()), permutations)}


def minhash(*, permutations: int = PERMUTATIONS, words: int = SHINGLE_WORDS, seed: int = SEED) -> Measure:
    """The measure that signs texts.

    It reads `text: string` and adds minhash, `permutations` uint32: of each permutation the smallest image of a
    shingle, a run of `words` words (in scripts without spaces, of as many letters as so many words have on average), in
    lower case and whatever its Unicode form; marks and digits count. The share of equal places of two signatures
    estimates the Jaccard similarity J of their shingles, with variance J (1 - J) / permutations (Broder 1997). A text
    shorter than a shingle is one; a text without words has 2^32 - 1 everywhere. Signatures of equal parameters compare,
    on every machine.
    """
    adds = pa.schema({"minhash": pa.list_(pa.uint32(), permutations)})
    return Measure(_minhash, ("text",), adds, {"permutations": permutations, "words": words, "seed": seed})
