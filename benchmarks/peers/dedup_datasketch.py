"""datasketch: a document stays unless the LSH of those that stayed finds one like it, as its documentation does it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import dedup_shingles
import xxhash
from datasketch import MinHash, MinHashLSH
from dedup_contestant import main, read, write_kept

THRESHOLD, PERMUTATIONS = 0.7, 128


def dedup(path: Path, work: Path, *, shingles: Callable[[str], list[str]], what: str) -> str:
    documents = read(path)
    index = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
    grams = ([gram.encode() for gram in shingles(document["text"])] for document in documents)
    kept = []
    signed = MinHash.generator(grams, num_perm=PERMUTATIONS, seed=1, hashfunc=xxhash.xxh32_intdigest)
    for document, signature in zip(documents, signed, strict=True):
        if not index.query(signature):
            index.insert(document["id"], signature, check_duplication=False)
            kept.append(document)
    write_kept(kept, work)
    return (
        f"MinHashLSH(threshold={THRESHOLD}, num_perm={PERMUTATIONS}): {index.b} bands of {index.r} by its optimiser; "
        f"xxh32; {what}; not verified"
    )


if __name__ == "__main__":
    main(
        "datasketch",
        {
            "words": partial(dedup, shingles=dedup_shingles.words, what=r"5-grams of \w+"),
            "characters": partial(dedup, shingles=dedup_shingles.characters, what="8-grams of characters"),
        },
    )
