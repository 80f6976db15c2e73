"""rensa: its deduplicator, which says of each document whether it is new."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import dedup_shingles
import rensa
from dedup_contestant import main, read, write_kept

THRESHOLD, PERMUTATIONS, BANDS = 0.7, 128, 16


def dedup(path: Path, work: Path, *, shingles: Callable[[str], list[str]], what: str) -> str:
    documents = read(path)
    index = rensa.RMinHashDeduplicator(
        threshold=THRESHOLD, num_perm=PERMUTATIONS, use_lsh=True, num_bands=BANDS, seed=1
    )
    new = index.add_pairs((document["id"], shingles(document["text"])) for document in documents)
    write_kept((document for document, is_new in zip(documents, new, strict=True) if is_new), work)
    return (
        f"RMinHashDeduplicator(threshold={THRESHOLD}, num_perm={PERMUTATIONS}, num_bands={BANDS}): {BANDS} bands of "
        f"{PERMUTATIONS // BANDS}; {what}; verified by its signatures"
    )


if __name__ == "__main__":
    main(
        "rensa",
        {
            "words": partial(dedup, shingles=dedup_shingles.words, what=r"5-grams of \w+"),
            "characters": partial(dedup, shingles=dedup_shingles.characters, what="8-grams of characters"),
        },
    )
