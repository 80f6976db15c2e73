"""The languages by one name each: ISO 639-3, "_", ISO 15924, such as ita_Latn; und_Zzzz where unknown.

One language has one code here, whatever name it comes under. Where a language has an ISO 639-1 code, ours is the ISO
639-3 code of the same (swa, not swh; zho, not cmn; msa, not zsm), but for arb, pes and nob. langcodes, which reads the
names that are not ours, costs 40 ms and is imported when the first of them comes.
"""

import re
from functools import lru_cache

from glotmill.schemas.errors import RecipeError
from glotmill.schemas.language_table import NO_LANGUAGE as NO_LANGUAGE
from glotmill.schemas.language_table import UNKNOWN as UNKNOWN
from glotmill.schemas.language_table import Language as Language
from glotmill.schemas.language_table import by_code, by_label, by_name, nearest, written
from glotmill.schemas.scripts import UNKNOWN_SCRIPT
from glotmill.schemas.scripts import script_direction as script_direction
from glotmill.schemas.scripts import script_spaced as script_spaced
from glotmill.schemas.scripts import script_terminals as script_terminals

_CANONICAL = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}")


def known() -> tuple[Language, ...]:
    """Every language of the table, by code."""
    return tuple(by_code().values())


def language(code: str) -> Language:
    """The row of a code.

    Raises:
        RecipeError: the table lacks it; the message names the nearest.
    """
    found = by_code().get(code)
    if found is None:
        near = _row_meant(code) or nearest(code, by_code(), cutoff=0.5)
        hint = f"did you mean {near}?" if near else "write one such as ita_Latn"
        raise RecipeError(f"the language table has no {code!r}: {hint}")
    return found


@lru_cache(maxsize=4096)
def parse_language(text: str) -> str:
    """Our name of a language that may be named by a tag, a code of ISO 639 or its English name.

    Languages outside the table are as welcome. The script that the name leaves open is the usual one (CLDR's likely
    subtags).

    Raises:
        ValueError: it names no language, or a script that doesn't exist.

    >>> [parse_language(name) for name in ("it", "zh-TW", "sr@latin", "cmn_Hans", "Swahili", "pes_Arab")]
    ['ita_Latn', 'zho_Hant', 'srp_Latn', 'zho_Hans', 'swa_Latn', 'pes_Arab']
    """
    stripped = text.strip()
    listed = by_name().get(stripped.lower().replace("_", "-"))
    if listed is not None:
        return listed
    from glotmill.schemas.language_tags import read_tag  # here, because it imports langcodes

    return read_tag(stripped, text)


def from_lid176(label: str, script: str | None) -> str:
    """Our name for a text that lid.176 gives this label and whose letters are of `script`.

    The script is what was seen: a text in Latin letters that the model calls Russian is rus_Latn. None, and Zzzz where
    there are no letters, stand for the language's usual script. A label of GlotLID's form, such as ita_Latn, says
    itself which script it is for and is kept.

    Raises:
        ValueError: the label names no language.
    """
    name = label.removeprefix("__label__")
    if _CANONICAL.fullmatch(name):
        return name
    usual = by_label().get(name) or parse_language(name)
    return usual if script in (None, UNKNOWN_SCRIPT) else written(usual[:3], script)


def _row_meant(name: str) -> str | None:
    """The code of the row that another name of a language leads to."""
    try:
        code = parse_language(name)
    except ValueError:
        return None
    return code if code in by_code() else None
