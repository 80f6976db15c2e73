"""YAML 1.2 text to plain data that remembers its lines: `no` is a word, a key is its text, 2_000_000 is a number."""

from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Place = tuple[str | int, ...]  # of a value: keys and list indices from the top

MAX_VALUES = 100_000  # aliases can make a small text unfold to any size
_MAX_DEPTH = 50
_MERGE = "tag:yaml.org,2002:merge"
_SCALARS = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}
_TEXTS = {f"tag:yaml.org,2002:{name}" for name in ("str", "timestamp")}  # a date stays as it is written


@dataclass(slots=True)
class Problem(Exception):
    """Something wrong with a text: where (line from 1, or none; place), and what, ending with the remedy."""

    what: str
    line: int | None = None
    place: Place = ()


@dataclass(slots=True)
class Parsed:
    """Plain data, the line of each value (that of its key in a mapping), and what could be passed over but is wrong."""

    data: Any = None
    lines: dict[Place, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def parse(text: str) -> Parsed:
    """The one YAML document that `text` holds. Dates stay text; anchors, aliases and `<<` work.

    Raises:
        Problem: the text is no YAML, or more than one document.
    """
    yaml = YAML(typ="safe", pure=True)
    try:
        node = yaml.compose(text)
    except MarkedYAMLError as error:
        raise _unreadable(error, text) from error
    except YAMLError as error:
        raise Problem(
            f"is no YAML: {' '.join(str(error).split())}; take the characters out that YAML forbids"
        ) from error
    except RecursionError as error:
        raise Problem("is nested too deeply; a recipe has four levels") from error
    return _Building(yaml).build(node)


class _Building:
    def __init__(self, yaml: YAML) -> None:
        self._yaml = yaml
        self._parsed = Parsed()
        self._values = 0

    def build(self, node: Node | None) -> Parsed:
        if node is not None:
            self._parsed.lines[()] = _line(node)
            self._parsed.data = self._value(node, ())
        return self._parsed

    def _value(self, node: Node, place: Place) -> Any:
        self._values += 1
        if self._values > MAX_VALUES or len(place) > _MAX_DEPTH:
            raise Problem("unfolds without end; take out the alias (*name) that holds itself", _line(node), place[:4])
        if isinstance(node, MappingNode):
            return self._mapping(node, place)
        if isinstance(node, SequenceNode):
            return [self._at(item, (*place, i), _line(item)) for i, item in enumerate(node.value)]
        return self._scalar(node, place)

    def _at(self, node: Node, place: Place, line: int) -> Any:
        self._parsed.lines[place] = line
        return self._value(node, place)

    def _mapping(self, node: MappingNode, place: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        first: dict[str, int] = {}
        for key_node, value_node in sorted(node.value, key=lambda pair: pair[0].tag != _MERGE):  # own keys win
            line = _line(key_node)
            if key_node.tag == _MERGE:
                found |= self._merged(value_node, place, line)
            elif not isinstance(key_node, ScalarNode):
                self._problem("a key is a list or a section; write a plain word", line, place)
            elif key_node.value in first:
                told = f"is written twice, first on line {first[key_node.value]}; keep one of them"
                self._problem(told, line, (*place, key_node.value))
            else:
                first[key_node.value] = line
                found[key_node.value] = self._at(value_node, (*place, key_node.value), line)
        return found

    def _merged(self, node: Node, place: Place, line: int) -> dict[str, Any]:
        parts = node.value if isinstance(node, SequenceNode) else [node]
        found: dict[str, Any] = {}
        for part in reversed(parts):  # the first of several wins
            if isinstance(part, MappingNode):
                found |= self._value(part, place)
            else:
                self._problem("<< takes a section or a list of sections; write <<: *name", line, place)
        return found

    def _scalar(self, node: Node, place: Place) -> Any:
        if node.tag in _SCALARS:
            try:
                return self._yaml.constructor.construct_object(node, deep=True)
            except (ValueError, YAMLError):
                return node.value  # such as 0x or 1__: text, which the model will refuse where it wants a number
        if node.tag not in _TEXTS:
            self._problem(f"has the tag {node.tag}; write plain values, without !tags", _line(node), place)
        return node.value

    def _problem(self, what: str, line: int, place: Place) -> None:
        self._parsed.problems.append(Problem(what, line, place))


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _unreadable(error: MarkedYAMLError, text: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return Problem(f"is no YAML: {error.problem or error.context}; compare it with docs/recipe.md")
    lines = text.splitlines()
    written = lines[mark.line] if mark.line < len(lines) else ""
    what = f"column {mark.column + 1}: is no YAML: {error.problem or error.context}; {_remedy(error, written)}"
    return Problem(what, mark.line + 1)


def _remedy(error: MarkedYAMLError, written: str) -> str:
    told = f"{error.problem}"
    if "\\t" in told or "\t" in written[: len(written) - len(written.lstrip())]:
        return "indent with spaces instead of tabs"
    if "alias" in told:
        return "put a value that starts with * in quotes"
    if "single document" in f"{error.context}":
        return "take out the line --- and what follows: a file holds one recipe"
    return "check indentation, brackets and quotes there: a value that holds ': ' or starts with * or [ needs quotes"
