"""`--set key=value`: changes to a recipe's plain data, before it is checked."""

from typing import Any

from glotmill.schemas.yaml_source import Place, Problem, parse

_SOURCES = "sources"
_NOT_PLAIN = tuple("*&!|>%@`")  # begins what YAML can't hold on one line, such as the path *.jsonl: taken as text


def apply_set(data: dict[str, Any], text: str) -> Place:
    """Change `data` as `text` (`mix.tokens=2_000_000`) says; sections that aren't there yet are made.

    A list is entered by index (its length appends) and `sources` by name, too. The value is YAML.

    Returns:
        The place that was written, or the first section that had to be made on the way to it.

    Raises:
        Problem: `text` isn't key=value, or the key leads through something that is no section or list.
    """
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not all(key.split(".")):
        raise Problem("isn't KEY=VALUE; write the dotted key, =, and the value, such as mix.tokens=2_000_000")
    at: Any = data
    place: Place = ()
    made: Place | None = None
    written, rest = _value(value), key
    while True:
        step, rest = _step(at, place, rest)
        place = (*place, step)
        if not rest:
            _put(at, step, written)
            return made or place
        if made is None and _get(at, step) is None:
            made = place
        at = _enter(at, place, rest)


def _value(text: str) -> Any:
    text = text.strip()
    if text.startswith(_NOT_PLAIN):
        return text
    parsed = parse(text)
    if parsed.problems:
        raise parsed.problems[0]
    return parsed.data


def _step(at: Any, place: Place, rest: str) -> tuple[str | int, str]:
    """The first step of a dotted key, and what follows it."""
    if not isinstance(at, list):
        first, _, rest = rest.partition(".")
        return first, rest
    names = [item.get("name") if isinstance(item, dict) else None for item in at] if place == (_SOURCES,) else []
    matching = [i for i, name in enumerate(names) if name and (rest == name or rest.startswith(f"{name}."))]
    if matching:
        found = max(matching, key=lambda i: len(names[i] or ""))  # a.b before a
        return found, rest[len(names[found] or "") + 1 :]
    first, _, rest = rest.partition(".")
    if first.isascii() and first.isdigit() and int(first) <= len(at):
        return int(first), rest
    known = f", or a name: {', '.join(map(str, names))}" if any(names) else ""
    raise Problem(f"{dotted(place)} has no item {first!r}; write an index from 0 to {len(at)} (a new one){known}")


def _enter(at: Any, place: Place, rest: str) -> Any:
    """What the last step of `place` leads to from `at`; made where there is nothing."""
    found = _get(at, place[-1])
    if found is None:
        found = [] if place == (_SOURCES,) else {}
        _put(at, place[-1], found)
    if not isinstance(found, dict | list):
        here = dotted(place)
        raise Problem(f"{here} is {found!r}, which has no {rest.split('.')[0]!r} in it; set {here} itself")
    return found


def _get(at: Any, step: str | int) -> Any:
    if isinstance(at, list):
        return at[step] if isinstance(step, int) and step < len(at) else None
    return at.get(step)


def _put(at: Any, step: str | int, value: Any) -> None:
    if isinstance(at, list) and step == len(at):
        at.append(value)
    else:
        at[step] = value


def dotted(place: Place) -> str:
    return ".".join(map(str, place))
