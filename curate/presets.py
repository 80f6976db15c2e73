"""Rules that come with glotmill: YAML files of curate/data, and FineWeb2's table of limits."""

from collections import defaultdict
from functools import cache
from importlib import resources
from statistics import median
from typing import Any

from ruamel.yaml import YAML

from glotmill.curate.kernels.unicode import rows
from glotmill.curate.stop_words import lists
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.languages import script_spaced

# scope -> reason -> rule as written, or None where the scope takes it out
Written = dict[str, dict[str, str | None]]

PRESETS = ("glotmill", "gopher", "c4", "fineweb", "fineweb2", "dclm", "none")
# The files of presets in datatrove's semantics, in its order.
_DATATROVE = {
    "gopher": ("datatrove_gopher",),
    "c4": ("datatrove_c4",),
    "fineweb": ("datatrove_gopher", "datatrove_c4", "datatrove_fineweb"),
}
_INCLUDE, _LINES, _EVERYWHERE = "include", "lines", "*"
_FEW_STOP_WORDS = "few_stop_words"

# Column of fineweb2.tsv -> reason and comparison; None where the column holds no limit that can be used as it is.
_FINEWEB2 = {
    "duplicate_line_share": ("repeated_lines", "duplicate_line_share >"),
    "terminal_line_share": ("few_line_ends", "terminal_line_share <"),
    "breaks_per_word": ("broken_lines", "breaks_per_word >"),
    "shortest_mean_word": ("short_words", "mean_word_chars <"),
    "longest_mean_word": ("long_words", "mean_word_chars >"),
    "alpha_word_share": ("few_alpha_words", "alpha_word_share <"),
    **{f"top_{n}_gram_share": (f"top_{n}_gram", f"top_{n}_gram_share >") for n in (2, 3, 4)},
    **{f"duplicate_{n}_gram_share": (f"duplicate_{n}_gram", f"duplicate_{n}_gram_share >") for n in range(5, 11)},
}
_OFF = 0.6  # a limit of a share of repeats that is no lower lets everything pass: Gopher's holds instead


def preset(name: str, *, semantics: str = "paper") -> Written:
    """The rules of a preset as written; those of "*" come first and give reasons their order.

    Args:
        semantics: paper, or datatrove for what datatrove 0.10 makes of gopher, c4 and fineweb.

    Raises:
        RecipeError: there is no such preset.
    """
    found: Written = {}
    for data in _files(name, semantics):
        for scope, reasons in data.items():
            if scope not in (_INCLUDE, _LINES):
                found.setdefault(scope, {}).update(reasons)
    if name == "fineweb2":
        _merge(found, _fineweb2())
    if name == "glotmill":
        _merge(found, _glotmill())
    return _scoped(found)


def preset_lines(name: str, *, semantics: str = "paper") -> dict[str, str | None]:
    """The line rules of a preset: reason -> rule as written. In datatrove's semantics there are none: the signals of
    documents say what its own line rules would leave.
    """
    data = _files(name, semantics)
    return dict(data[-1].get(_LINES, {})) if data else {}


def _files(name: str, semantics: str) -> list[Any]:
    """The preset's files in their order: what it includes, then its own."""
    if name not in PRESETS:
        raise RecipeError(f"no preset is called {name!r}: write one of {', '.join(PRESETS)}")
    if semantics == "datatrove":
        if name not in _DATATROVE:
            raise RecipeError(
                f"quality.semantics is datatrove, which the preset {name!r} doesn't have: write paper, or one of the "
                f"presets {', '.join(_DATATROVE)}"
            )
        return [_read(file) for file in _DATATROVE[name]]
    if name == "none":
        return []
    data = _read(name)
    return [*(_files(data[_INCLUDE], semantics) if _INCLUDE in data else ()), data]


@cache
def _read(name: str) -> Any:
    text = resources.files("glotmill.curate").joinpath(f"data/{name}.yaml").read_text(encoding="utf-8")
    return YAML(typ="safe", pure=True).load(text)


def _merge(into: Written, more: Written) -> None:
    for scope, reasons in more.items():
        into.setdefault(scope, {}).update(reasons)


def _scoped(written: Written) -> Written:
    """The rules with those taken out that their signals can't bear: stop words in a language without a list, and the
    length of words, where no space parts them.
    """
    found: Written = {scope: dict(reasons) for scope, reasons in written.items()}
    general = found.get(_EVERYWHERE, {})
    rule = general.get(_FEW_STOP_WORDS)
    if rule and "stop_words" in rule.split():
        general[_FEW_STOP_WORDS] = None
        for language in lists():
            found.setdefault(language, {}).setdefault(_FEW_STOP_WORDS, rule)
    return found


@cache
def _glotmill() -> Written:
    """The limits that differ by language and script."""
    found: Written = {}
    for scope, reason, rule in rows("glotmill_limits.tsv"):
        found.setdefault(scope, {})[reason] = rule or None
    return found


@cache
def _fineweb2() -> Written:
    """By language, script and for all, the rules of fineweb2.tsv."""
    gopher = _read("gopher")[_EVERYWHERE]
    limits = {line[0]: _limits(line[1:], gopher) for line in rows("fineweb2.tsv")}
    by_script: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for language, of in limits.items():
        for column, limit in of.items():
            by_script[language[4:]][column].append(limit)
    scripts = {
        script: {column: median(found) for column, found in of.items()} for script, of in sorted(by_script.items())
    }
    general = {reason: gopher.get(reason) for reason, _ in _FINEWEB2.values()}
    return {_EVERYWHERE: general} | {scope: _rules(scope[-4:], of) for scope, of in (scripts | limits).items()}


def _limits(values: list[str], gopher: dict[str, str]) -> dict[str, float]:
    found = {}
    for (column, (reason, _)), text in zip(_FINEWEB2.items(), values, strict=True):
        limit = float(text)
        if column.endswith("_gram_share") and limit >= _OFF:
            limit = float(gopher[reason].split()[-1])
        if column != "terminal_line_share" or limit > 0:
            found[column] = limit
    return found


def _rules(script: str, limits: dict[str, float]) -> dict[str, str | None]:
    """Rules of one scope. Its limits of the length of words are of another segmenter where no space parts them."""
    found: dict[str, str | None] = {}
    for column, (reason, comparison) in _FINEWEB2.items():
        unusable = column.endswith("_mean_word") and not script_spaced(script)
        found[reason] = None if unusable or column not in limits else f"{comparison} {limits[column]:g}"
    return found
