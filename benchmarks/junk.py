"""Text that a quality filter should drop, made from good text of the same language."""

import random
from collections.abc import Callable, Sequence

import pyarrow as pa

from glotmill.curate.kernels.pieces import pieces


def words(text: str) -> list[str]:
    """The units of a text: words, or letters where no space parts words."""
    cut = pieces(pa.array([text]))
    return [bytes(cut.data[start:end]).decode() for start, end in zip(cut.unit_start, cut.unit_end, strict=True)]


def menu(text: str, other: str, draw: random.Random) -> str:
    """Links of a page, one a line: one to three words without a mark."""
    found = words(text)
    glue, most = ("", 6) if _unspaced(text) else (" ", 3)
    lines = []
    for _ in range(40):
        start, size = draw.randrange(len(found)), draw.randint(1, most)
        lines.append(glue.join(found[start : start + size]))
    return "\n".join(lines)


def keyword_spam(text: str, other: str, draw: random.Random) -> str:
    """Twenty rare words over and over, in no order, between commas."""
    found = words(text)
    rare = sorted(set(found), key=lambda word: (found.count(word), -len(word), word))[:20]
    return ", ".join(draw.choice(rare) for _ in range(200))


def machine_repetition(text: str, other: str, draw: random.Random) -> str:
    """A sentence that a model can't stop repeating."""
    lines = [line for line in text.splitlines() if len(line) > 20]
    start = draw.randrange(len(lines))
    return " ".join(lines[: start + 1][:2] + [lines[start]] * 12)


def mojibake(text: str, other: str, draw: random.Random) -> str:
    """UTF-8 read as Windows-1252; where the text is nearly ASCII and wouldn't show it, as UTF-16."""
    raw = text.encode()
    if len(raw) > 1.02 * len(text):
        return raw.decode("cp1252", "replace")
    return raw.decode("utf-16-be", "replace")


def wrong_language(text: str, other: str, draw: random.Random) -> str:
    """Good text in another language."""
    return other


KINDS: Sequence[Callable[[str, str, random.Random], str]] = (
    menu,
    keyword_spam,
    machine_repetition,
    mojibake,
    wrong_language,
)


def _unspaced(text: str) -> bool:
    return len(text.split()) * 12 < len(text)
