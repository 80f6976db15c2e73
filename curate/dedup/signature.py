"""MinHash signatures: from the share of equal places follows how similar two texts are."""

from dataclasses import asdict

import pyarrow as pa

from glotmill.curate.dedup.shingles import Shingling, shingles
from glotmill.curate.kernels.minhash import signatures
from glotmill.curate.measure import Columns, Measure

PERMUTATIONS = 128
SEED = 1
_USUAL = Shingling()


def _minhash(batch: pa.RecordBatch, *, shingling: Shingling, permutations: int, seed: int) -> Columns:
    hashes, bounds = shingles(batch["text"], shingling)
    found = signatures(hashes, bounds, permutations=permutations, seed=seed)
    return {
        "minhash": pa.FixedSizeListArray.from_arrays(pa.array(found.ravel()), permutations),
        "shingles": pa.array((bounds[1:] - bounds[:-1]).astype("int32")),
    }


def minhash(*, shingling: Shingling = _USUAL, permutations: int = PERMUTATIONS, seed: int = SEED) -> Measure:
    """The measure that signs texts.

    It reads `text: string` and adds minhash, `permutations` uint32: of each permutation the smallest image of one of
    the text's shingles (see `shingles`); and shingles: int32, how many there are, repeated ones counted. The share of
    equal places of two signatures estimates the Jaccard similarity J of their sets of shingles, with variance
    J (1 - J) / permutations (Broder 1997). A text without words has 2^32 - 1 everywhere. Signatures of equal parameters
    compare, on every machine.
    """
    adds = pa.schema({"minhash": pa.list_(pa.uint32(), permutations), "shingles": pa.int32()})
    params = {"shingling": shingling, "permutations": permutations, "seed": seed}
    return Measure(_minhash, ("text",), adds, params)


def parameters(measure: Measure) -> dict[str, object]:
    """What decides a signature, as JSON values."""
    return {**measure.params, "shingling": asdict(measure.params["shingling"])}
