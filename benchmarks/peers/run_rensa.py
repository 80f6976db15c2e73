"""rensa: 112 permutations of 5-grams of word characters, shingled in Python, hashed and signed in Rust."""

import re
from pathlib import Path

import rensa
from contestant import Facts, Work, main

_WORDS = re.compile(r"\w+")
_BATCH = 512  # documents whose shingles are in memory


def shingles(text: str) -> list[str]:
    words = _WORDS.findall(text.lower())
    return [" ".join(words[at : at + 5]) for at in range(max(1, len(words) - 4))]


def signatures(work: Path) -> Work:
    def run(texts: list[str]) -> Facts:
        for at in range(0, len(texts), _BATCH):
            grams = [shingles(text) for text in texts[at : at + _BATCH]]
            rensa.RMinHash.digest_matrix_from_token_sets(grams, 112, 1)
        return {}

    return run


if __name__ == "__main__":
    main("rensa", {"signatures": signatures})
