"""What a script does to text: where its sentences end, whether spaces part its words, which way it runs."""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

Direction = Literal["ltr", "rtl"]
UNKNOWN_SCRIPT = "Zzzz"


@dataclass(frozen=True, slots=True)
class Script:
    """One script.

    Args:
        code: ISO 15924; Hans, Hant, Jpan and Kore stand for all that the language writes with.
        english: Its name.
        direction: Of the letters; Mongolian, which runs in columns, counts as ltr.
        spaced: Whether words are parted by spaces. Where not, a space ends a phrase, if anything.
        terminals: Marks that end a sentence, those that writers of the script borrow included.
    """

    code: str
    english: str
    direction: Direction
    spaced: bool
    terminals: str


def script_spaced(code: str) -> bool:
    """Whether spaces part the words of a script; true for scripts outside the table."""
    return script(code).spaced


def script_direction(code: str) -> Direction:
    """ltr, which holds for scripts outside the table too, or rtl."""
    return script(code).direction


def script_terminals(code: str) -> str:
    """The marks that end a sentence; those of Zzzz for scripts outside the table."""
    return script(code).terminals


def script(code: str) -> Script:
    """The facts of a script; those of Zzzz (unknown), under its own code, where the table lacks it."""
    found = known_scripts().get(code)
    if found is not None:
        return found
    unknown = known_scripts()[UNKNOWN_SCRIPT]
    return Script(code, unknown.english, unknown.direction, unknown.spaced, unknown.terminals)


@cache
def known_scripts() -> dict[str, Script]:
    """The scripts of the table, by code."""
    return {
        row["script"]: Script(
            row["script"], row["english"], direction(row["direction"]), row["spaced"] == "yes", row["terminals"]
        )
        for row in table("scripts.tsv")
    }


def table(name: str) -> list[dict[str, str]]:
    """The rows of a file in schemas/data whose first line names its columns."""
    text = resources.files("glotmill.schemas").joinpath("data", name).read_text(encoding="utf-8")
    columns, *rows = (line.split("\t") for line in text.split("\n") if line)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def direction(text: str) -> Direction:
    return "rtl" if text == "rtl" else "ltr"
