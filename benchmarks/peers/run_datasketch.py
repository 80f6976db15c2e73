"""datasketch: 112 permutations of 5-grams of word characters, shingled in Python, as its users must."""

import re
from pathlib import Path

import xxhash
from contestant import Facts, Work, main
from datasketch import MinHash

_WORDS = re.compile(r"\w+")


def shingles(text: str) -> list[bytes]:
    words = _WORDS.findall(text.lower())
    return [" ".join(words[at : at + 5]).encode() for at in range(max(1, len(words) - 4))]


def signatures(work: Path) -> Work:
    """With its default hash, SHA-1."""

    def run(texts: list[str]) -> Facts:
        grams = (shingles(text) for text in texts)
        return {"signatures": sum(1 for _ in MinHash.generator(grams, num_perm=112, seed=1))}

    return run


def signatures_xxhash(work: Path) -> Work:
    """With a faster hash."""

    def run(texts: list[str]) -> Facts:
        grams = (shingles(text) for text in texts)
        made = MinHash.generator(grams, num_perm=112, seed=1, hashfunc=xxhash.xxh32_intdigest)
        return {"signatures": sum(1 for _ in made)}

    return run


if __name__ == "__main__":
    main("datasketch", {"signatures": signatures, "signatures-xxhash": signatures_xxhash})
