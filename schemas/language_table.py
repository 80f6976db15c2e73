"""The table of languages, as schemas/data/languages.tsv has it. Read it through glotmill.schemas.languages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from os.path import commonprefix

from glotmill.schemas.scripts import Direction, direction, table

UNKNOWN = "und_Zzzz"
NO_LANGUAGE = "zxx_Zzzz"

# Chinese, Japanese and Korean text in any of these is in the script that is called after the language.
_EAST_ASIAN = {"Hani", "Hans", "Hant", "Hang", "Hira", "Kana", "Hrkt", "Bopo", "Jamo", "Jpan", "Kore"}
# Styles of a script that ISO 15924 lists on their own, such as Nastaliq and Fraktur.
_STYLES = {
    "Aran": "Arab",
    "Latf": "Latn",
    "Latg": "Latn",
    "Cyrs": "Cyrl",
    "Syre": "Syrc",
    "Syrj": "Syrc",
    "Syrn": "Syrc",
}


@dataclass(frozen=True, slots=True)
class Language:
    """One language in one script.

    Args:
        code: Our name, such as srp_Latn.
        bcp47: The shortest tag, such as sr-Latn; without a script where it is the usual one.
        english: Its name in English; with its script where that isn't the usual one.
        autonym: Its own name, in this script where one is known.
        direction: Of its letters.
        spaced: Whether spaces part its words.
        terminals: Marks that end a sentence.
        lid176: The label of fastText's lid.176, or "".
    """

    code: str
    bcp47: str
    english: str
    autonym: str
    direction: Direction
    spaced: bool
    terminals: str
    lid176: str

    @property
    def iso639_3(self) -> str:
        """The language; nah, a collection of ISO 639-5, is the one exception."""
        return self.code[:3]

    @property
    def script(self) -> str:
        """ISO 15924."""
        return self.code[4:]


@cache
def by_code() -> Mapping[str, Language]:
    """The rows by our code."""
    return {
        row["code"]: Language(
            code=row["code"],
            bcp47=row["bcp47"],
            english=row["english"],
            autonym=row["autonym"],
            direction=direction(row["direction"]),
            spaced=row["spaced"] == "yes",
            terminals=row["terminals"],
            lid176=row["lid176"],
        )
        for row in table("languages.tsv")
    }


@cache
def by_label() -> Mapping[str, str]:
    """Our code by lid.176's label."""
    return {row.lid176: row.code for row in by_code().values() if row.lid176}


@cache
def by_name() -> Mapping[str, str]:
    """Our code by the names that need no parser: codes, tags, and labels but als, which is ISO's Tosk Albanian."""
    names = {row.lid176: row.code for row in by_code().values() if row.lid176 not in ("", "als")}
    names |= {name.lower().replace("_", "-"): row.code for row in by_code().values() for name in (row.code, row.bcp47)}
    return {**names, **defaults()}


@cache
def defaults() -> Mapping[str, str]:
    """Our code with the usual script, by ISO 639-3 and by the tag of the language alone."""
    usual = [row for row in by_code().values() if "-" not in row.bcp47]
    return {name: row.code for row in usual for name in (row.iso639_3, row.bcp47)}


def written(iso: str, script: str) -> str:
    """Language and script, after what belongs to the writing of Japanese, Korean or Chinese is called by its name."""
    script = _STYLES.get(script, script)
    usual = defaults().get(iso, UNKNOWN)[4:]
    if usual in ("Jpan", "Kore") and script in _EAST_ASIAN:
        script = usual  # a Japanese title may be all Han
    elif script == "Hani":
        script = usual if usual in ("Hans", "Hant") else "Hans"
    return f"{iso}_{script}"


def nearest(text: str, names: Iterable[str], *, cutoff: float) -> str | None:
    """The name most like `text`; of equals, the one that begins like it."""
    near = sorted(get_close_matches(text, names, n=20, cutoff=cutoff))
    likeness = {name: SequenceMatcher(None, name, text).ratio() for name in near}
    return max(near, key=lambda name: (likeness[name], len(commonprefix((name, text)))), default=None)
