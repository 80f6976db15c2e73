"""Corpora with planted near duplicates, made of real documents."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.inputs import _lines

KINDS = ("replace", "insert", "delete", "reorder")
SHARES = (0.01, 0.15)  # of a text's units that an edit touches
_SPACES = re.compile(r"(\s+)")
_PARAGRAPHS = re.compile(r"(\n+)")
# Languages that put no spaces between words: their unit is the character.
UNSPACED = frozenset(("th", "km", "lo", "my", "dz", "zh", "zh-CN", "zh-TW", "ja", "cmn", "jpn", "ja-JP", "shn", "mnw"))


@dataclass(frozen=True, slots=True)
class Document:
    """One of a corpus.

    Args:
        cluster: Id of the document that this one was made from; its own for an original.
        kind: original, exact, or one of KINDS.
        share: Of the original's units that were touched.
    """

    id: str
    language: str
    text: str
    cluster: str
    kind: str = "original"
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class Original:
    id: str
    language: str
    text: str


def originals(path: Path) -> Iterator[Original]:
    """Documents of a JSONL file (plain or .zst) with id, lang_hint and text; code and what isn't Unicode left out."""
    for line in _lines(path):
        row = json.loads(line)
        language = str(row.get("lang_hint") or "und")
        if row.get("text") and not language.startswith("code:"):
            try:
                row["text"].encode()
            except UnicodeEncodeError:
                continue
            yield Original(str(row["id"]), language, row["text"])


def edited(
    text: str, kind: str, share: float, rng: np.random.Generator, foreign: Sequence[str], *, unspaced: bool = False
) -> str:
    """A near duplicate of a text.

    Args:
        kind: replace, insert or delete units, half of the time here and there, else a run of them in one place; or
            reorder paragraphs (units, in a text of one), moving about `share` of the text.
        share: Of the text's units.
        foreign: Units to insert or put in another's place, such as the words of other documents of the language.
        unspaced: Units are characters, not words.
    """
    if kind == "reorder":
        return _reordered(text, share, rng, unspaced)
    units, gaps = _cut(text, unspaced)
    touched = min(len(units), max(1, round(share * len(units))))
    if rng.random() < 0.5:
        places = rng.choice(len(units), touched, replace=False)
    else:
        places = np.arange(touched) + rng.integers(0, len(units) - touched + 1)
    fresh = iter([foreign[at] for at in rng.integers(0, len(foreign), touched)])
    gap = "" if unspaced else " "
    for place in sorted(places.tolist()):
        if kind == "replace":
            units[place] = next(fresh)
        elif kind == "insert":
            units[place] = next(fresh) + gap + units[place]
        elif kind == "delete":
            units[place] = ""
            gaps[place] = gaps[place] if "\n" in gaps[place] else ""
        else:
            raise ValueError(f"there is no edit called {kind!r}")
    return "".join(unit + gap for unit, gap in zip(units, gaps, strict=True)).strip()


def _cut(text: str, unspaced: bool) -> tuple[list[str], list[str]]:
    """Units, and what stands after each."""
    if unspaced:
        return list(text), [""] * len(text)
    pieces = _SPACES.split(text.strip())
    return pieces[0::2], [*pieces[1::2], ""]


def _reordered(text: str, share: float, rng: np.random.Generator, unspaced: bool) -> str:
    pieces = _PARAGRAPHS.split(text.strip())
    parts, gaps = pieces[0::2], [*pieces[1::2], ""]
    if len(parts) < 3:
        parts, gaps = _cut(text, unspaced)
    moved, size = 0, sum(map(len, parts))
    for _ in range(len(parts)):
        if moved >= share * size:
            break
        a, b = rng.integers(0, len(parts), 2).tolist()
        if a != b and not (moved and moved + len(parts[a]) + len(parts[b]) > 2 * share * size):
            parts[a], parts[b] = parts[b], parts[a]
            moved += len(parts[a]) + len(parts[b])
    return "".join(part + gap for part, gap in zip(parts, gaps, strict=True)).strip()


def words_of(texts: Iterable[str], *, unspaced: bool, most: int = 20_000) -> list[str]:
    """Units to put into other texts."""
    found: list[str] = []
    for text in texts:
        found += [char for char in text if not char.isspace()] if unspaced else text.split()
        if len(found) >= most:
            break
    return found[:most] or ["x"]


def is_unspaced(language: str) -> bool:
    return language in UNSPACED


def copies(
    original: Original, count: int, rng: np.random.Generator, foreign: Sequence[str], *, exact: float = 0.0
) -> Iterator[Document]:
    """`count` copies of a document, a share `exact` of them equal to it."""
    for number in range(count):
        name = f"{original.id}~{number}"
        if rng.random() < exact:
            yield Document(name, original.language, original.text, original.id, "exact")
            continue
        kind, share = KINDS[rng.integers(len(KINDS))], float(rng.uniform(*SHARES))
        text = edited(original.text, kind, share, rng, foreign, unspaced=is_unspaced(original.language))
        yield Document(name, original.language, text, original.id, kind, round(share, 4))


def write(documents: Iterable[Document], path: Path) -> None:
    """As JSONL."""
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(asdict(document), ensure_ascii=False) + "\n" for document in documents)


def read(path: Path) -> list[Document]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [Document(**json.loads(line)) for line in lines]


# By language, the script of its documents; Latn for others.
SCRIPTS = {
    "ru": "Cyrl", "uk": "Cyrl", "bg": "Cyrl", "sr": "Cyrl", "el": "Grek", "he": "Hebr", "heb": "Hebr", "ar": "Arab",
    "fa": "Arab", "hi": "Deva", "mr": "Deva", "ne": "Deva", "bn": "Beng", "gu": "Gujr", "pa": "Guru", "ta": "Taml",
    "te": "Telu", "kn": "Knda", "ml": "Mlym", "th": "Thai", "km": "Khmr", "lo": "Laoo", "dz": "Tibt", "zh-CN": "Hans",
    "zh-TW": "Hant", "ja": "Jpan", "ko": "Kore", "chr": "Cher", "arm": "Armn", "cop": "Copt", "syr": "Syrc",
}  # fmt: skip
