"""Names of languages that the table lacks, read by langcodes. Importing it costs 40 ms, so import this file late."""

import re

import langcodes

from glotmill.schemas.language_table import by_code, defaults, nearest, written
from glotmill.schemas.scripts import UNKNOWN_SCRIPT

# What langcodes gives, and how glotmill calls it: fil is a register of tgl, and ISO has retired eml.
_OURS = {"ara": "arb", "fas": "pes", "nor": "nob", "fil": "tgl", "bih": "bho", "eml": "egl", "pbt": "pus"}
# Of POSIX locales, such as sr@latin.
_MODIFIERS = {"latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva", "arabic": "Arab", "shaw": "Shaw"}
_PRIMARY = re.compile(r"([a-z]{2,3})(?![^_-])(?!-[a-z]{3}(?![^-]))", re.IGNORECASE)  # not before an extended subtag
_PRIVATE = re.compile(r"q[a-t][a-z]|und|zxx|mul|mis")
_REMEDY = "write ISO 639-3 and script, such as ita_Latn, or a BCP-47 tag, such as zh-Hant or pt-BR"


def read_tag(text: str, asked: str) -> str:
    """Our name of the language that `text` names, which `asked` is with its spaces.

    Raises:
        ValueError: it names no language, or a script that doesn't exist; the message ends in what to write.
    """
    locale, _, modifier = text.partition("@")
    locale = locale.partition(".")[0].replace("_", "-")  # it_IT.UTF-8
    try:
        tag = langcodes.Language.get(locale)
        if not tag.is_valid() and tag.language != "eml":
            tag = _named(text, asked)
        iso = _iso639_3(tag, locale)
    except (LookupError, ValueError):
        tag = _named(text, asked)
        iso = _iso639_3(tag, "")
    script = tag.script or _modified(modifier) or _usual_script(tag, iso)
    return written(iso, script)


def _named(text: str, asked: str) -> langcodes.Language:
    try:
        if len(text) < 4 or not all(char.isalpha() or char in " -'()" for char in text):
            raise LookupError
        return langcodes.find(text, "en")
    except LookupError:
        near = nearest(text, (*by_code(), *defaults()), cutoff=0.82)
        hint = f"did you mean {near}? Else " if near else ""
        raise ValueError(f"{asked!r} names no language: {hint}{_REMEDY}") from None


def _iso639_3(tag: langcodes.Language, text: str) -> str:
    primary = _PRIMARY.match(text)
    stated = defaults().get(primary[1].lower()) if primary else None
    if stated:
        return stated[:3]  # langcodes would make Serbian of sh, and Filipino of tl
    whole = tag.prefer_macrolanguage()
    code = (whole if len(whole.language or "") == 2 else tag).to_alpha3()
    return _OURS.get(code, code)


def _modified(modifier: str) -> str | None:
    return next((script for name, script in _MODIFIERS.items() if modifier.lower().endswith(name)), None)


def _usual_script(tag: langcodes.Language, iso: str) -> str:
    """The table's, unless the region is one where people write otherwise; likely subtags where the table has none."""
    if _PRIVATE.fullmatch(iso):
        return UNKNOWN_SCRIPT
    alone = langcodes.Language.make(language=tag.language).maximize().script
    there = tag.maximize().script
    ours = defaults().get(iso)
    chosen = ours[4:] if ours and there == alone else there
    return chosen or UNKNOWN_SCRIPT
