"""What pydantic finds wrong with a recipe, in sentences: what was found where, and what to write instead."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import UnionType
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from glotmill.schemas.recipe import DOMAIN, NAME, SIGNAL, Recipe
from glotmill.schemas.yaml_source import Place, Problem

_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a section of `key: value` lines",
    "model_type": "a section of `key: value` lines",
}
_SPELLING = {
    NAME: ("letters, digits, '_', '.' and '-', a letter or digit first", r"[^A-Za-z0-9_.-]+"),
    DOMAIN: ("lower-case letters, digits, '_' and '-', a letter or digit first", r"[^a-z0-9_-]+"),
    SIGNAL: ("lower-case letters, digits and '_', a letter first", r"[^a-z0-9_]+"),
}
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _Found:
    """One pydantic error, the place in the data that it is about, and the place whose type has alternatives, if any."""

    place: Place
    union: Place | None
    error: ErrorDetails


def problems(error: ValidationError, data: Mapping[str, Any]) -> list[Problem]:
    """One problem a place, in the order of the models' fields; errors of the alternatives of a union are one."""
    found = [_place(details, data) for details in error.errors(include_url=False)]
    deeper = {f.union for f in found if f.union is not None and len(f.place) > len(f.union)}
    by_place: dict[Place, list[ErrorDetails]] = {}
    for f in found:
        if f.place not in deeper and not _counts_the_valid(f.error):  # else what lies deeper says more
            by_place.setdefault(f.place, []).append(f.error)
    return [Problem(_sentence(place, errors), place=place) for place, errors in by_place.items()]


def _counts_the_valid(error: ErrorDetails) -> bool:
    """Pydantic calls a list too short whose items are wrong."""
    return error["type"] == "too_short" and bool(error["input"])


def repeated_names(data: Mapping[str, Any]) -> list[Problem]:
    """Sources that are called like an earlier one."""
    seen: dict[Any, int] = {}
    found = []
    sources = data.get("sources")
    for i, source in enumerate(sources if isinstance(sources, list | tuple) else ()):
        name = source.get("name") if isinstance(source, Mapping) else None
        if isinstance(name, str) and seen.setdefault(name, i) != i:
            what = f"sources.{seen[name]} is called {name!r} as well; give each a name of its own: ids are made from it"
            found.append(Problem(what, place=("sources", i, "name")))
    return found


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` is likely meant to be."""
    by_form = {_plain(name): name for name in known}
    near = get_close_matches(_plain(word), by_form, n=1)
    return by_form[near[0]] if near else None


def _plain(word: str) -> str:
    return word.casefold().replace("-", "_").replace(" ", "_")


def shown(value: Any) -> str:
    """A value as YAML's flow style writes it, cut to a readable length."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return f"a section with {', '.join(map(str, value)) or 'nothing'}"[:_SHOWN]
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    told = repr(value)
    return told if len(told) <= _SHOWN else f"{told[:_SHOWN]}..."


def _place(error: ErrorDetails, data: Any) -> _Found:
    place: Place = ()
    union: Place | None = None
    at = data
    for i, step in enumerate(error["loc"]):
        if isinstance(at, Mapping) and step in at:
            at, place = at[step], (*place, step)
        elif isinstance(at, tuple) and isinstance(step, int) and step < len(at):
            at, place = at[step], (*place, step)
        elif error["type"] == "missing" and i == len(error["loc"]) - 1:
            place = (*place, step)
        else:  # the name of a union's alternative, or [key]
            union = place
    return _Found(place, union, error)


def _sentence(place: Place, errors: list[ErrorDetails]) -> str:
    first = errors[0]
    kinds = [error["type"] for error in errors]
    if all(kind in _WANTED for kind in kinds):
        return _wrong_type(first["input"], list(dict.fromkeys(kinds)))
    told = _SENTENCES.get(first["type"])
    if told is None:
        return f"is {shown(first['input'])}: {first['msg']}; see docs/recipe.md for what the key takes"
    return told(place, first, first.get("ctx", {}))


def _wrong_type(found: Any, kinds: list[str]) -> str:
    wanted = " or ".join(dict.fromkeys(_WANTED[kind] for kind in kinds))
    remedy = f"write {wanted}"
    if "string_type" in kinds and isinstance(found, bool | int | float):
        remedy = f'put it in quotes: "{shown(found)}"'
    elif kinds == ["int_type"] and isinstance(found, float) and found.is_integer():
        remedy = f"write {int(found)}"
    elif kinds in (["int_type"], ["float_type"]) and isinstance(found, str):
        remedy = "take the quotes off" if re.fullmatch(r"[0-9][0-9_]*(\.[0-9]+)?", found) else "write it in digits"
    elif kinds == ["bool_type"] and isinstance(found, str):
        remedy = "write true or false (YAML 1.2 has no yes, no, on, off)"
    elif found is None:
        remedy = f"write {wanted}, or take the key out to have the default"
    return f"is {shown(found)} where {wanted} is wanted; {remedy}"


def section(place: Place) -> type[BaseModel] | None:
    """The model that the values below `place` belong to."""
    kind: Any = Recipe
    for step in place:
        if isinstance(step, int):
            kind = next((arg for arg in get_args(kind) if arg is not Ellipsis), None)
        elif get_origin(kind) is dict:
            kind = get_args(kind)[1]
        else:
            fields = kind.model_fields if _is_model(kind) else {}
            kind = fields[step].annotation if step in fields else None
        if get_origin(kind) is UnionType and len(models := [arg for arg in get_args(kind) if _is_model(arg)]) == 1:
            kind = models[0]  # a section or null
    return kind if _is_model(kind) else None


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _unknown_key(place: Place, error: ErrorDetails, context: dict[str, Any]) -> str:
    key = str(place[-1])
    model = section(place[:-1])
    known = list(model.model_fields) if model else []
    near = nearest(key, known)
    if near:
        return f"is no key of a recipe here; did you mean {near!r}?"
    homes = [f"{name}.{key}" for name in Recipe.model_fields if (m := section((name,))) and key in m.model_fields]
    if homes:
        return f"is no key here; it belongs to {' or '.join(homes)}"
    return f"is no key of a recipe here; the keys are {', '.join(known)}"


def _missing(place: Place, error: ErrorDetails, context: dict[str, Any]) -> str:
    model = section(place[:-1])
    about = model.model_fields[str(place[-1])].description if model else None
    return f"is missing; add it{f' ({about})' if about else ''}"


def _not_among(place: Place, error: ErrorDetails, context: dict[str, Any]) -> str:
    allowed = re.findall(r"'([^']*)'", context["expected"])
    found = error["input"]
    near = nearest(found, allowed) if isinstance(found, str) else None
    meant = f"; did you mean {near!r}?" if near else ";"
    return f"is {shown(found)}{meant} write one of {', '.join(allowed)}"


def _misspelt(place: Place, error: ErrorDetails, context: dict[str, Any]) -> str:
    told, others = _SPELLING[context["pattern"]]
    word = error["input"] if context["pattern"] == NAME else error["input"].lower()
    example = re.sub(others, "-", word).strip("-_.")
    return f"is {shown(error['input'])}; write {told}{f', such as {example}' if example else ''}"


def _bound(words: str, key: str) -> Callable[[Place, ErrorDetails, dict[str, Any]], str]:
    return lambda place, error, context: f"is {shown(error['input'])}; write a number {words} {context[key]:,}"


_SENTENCES: Mapping[str, Callable[[Place, ErrorDetails, dict[str, Any]], str]] = {
    "extra_forbidden": _unknown_key,
    "missing": _missing,
    "literal_error": _not_among,
    "string_pattern_mismatch": _misspelt,
    "greater_than": _bound("over", "gt"),
    "greater_than_equal": _bound("of at least", "ge"),
    "less_than_equal": _bound("of at most", "le"),
    "finite_number": lambda place, error, context: f"is {shown(error['input'])}; write a finite number",
    "too_short": lambda place, error, context: f"is {shown(error['input'])}; write at least {context['min_length']}",
    "value_error": lambda place, error, context: str(context["error"]),
}
