"""The shingles that users of datasketch and rensa make themselves."""

import re

_WORDS = re.compile(r"\w+")
CHARACTERS = 8


def words(text: str) -> list[str]:
    """Runs of 5 words, lower case; a shorter text is one run."""
    found = _WORDS.findall(text.lower())
    return [" ".join(found[at : at + 5]) for at in range(max(1, len(found) - 4))]


def characters(text: str) -> list[str]:
    """Runs of 8 characters, lower case, white space folded; a shorter text is one run."""
    folded = " ".join(text.lower().split())
    return [folded[at : at + CHARACTERS] for at in range(max(1, len(folded) - CHARACTERS + 1))]
