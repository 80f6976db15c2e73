"""Recipes from files, options and code. Whatever is wrong is named with its line, all of it at once.

`python -m glotmill.schemas.recipe_file > docs/recipe.schema.json` writes the schema by which editors complete recipes.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from glotmill.schemas.errors import RecipeError
from glotmill.schemas.recipe import Recipe
from glotmill.schemas.recipe_problems import problems, repeated_names, shown
from glotmill.schemas.recipe_sets import apply_set, dotted
from glotmill.schemas.yaml_source import Place, Problem, parse

_NEEDED = "write at least `name:` and `sources:`; docs/recipe.md has an example"


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where the values of a recipe come from, as an error names it."""

    name: str
    lines: Mapping[Place, int] = field(default_factory=dict)
    sets: Mapping[Place, str] = field(default_factory=dict)

    def told(self, problem: Problem) -> str:
        """`FILE:LINE: key: what`, or `--set key=value: key: what` for what an option put there."""
        line = self.line(problem)
        where = f"{self.name}:{line}" if line else self.name
        option = next((self.sets[place] for place in _around(problem.place) if place in self.sets), None)
        if option is not None and problem.line is None:
            where = f"--set {option}"
        return ": ".join(part for part in (where, dotted(problem.place), problem.what) if part)

    def line(self, problem: Problem) -> int:
        """The line of the problem, or of the nearest value around its place; 0 where there are no lines."""
        return problem.line or next((self.lines[place] for place in _around(problem.place) if place in self.lines), 0)


def load(path: Path, sets: Sequence[str] = ()) -> Recipe:
    """The recipe of a YAML 1.2 file, after the options `--set key=value`.

    Raises:
        RecipeError: `FILE:LINE: key: what was found; remedy`, a line for each problem.
    """
    text = _read(path)
    try:
        parsed = parse(text)
    except Problem as problem:
        _refuse(_Origin(f"{path}"), [problem])
    origin = _Origin(f"{path}", parsed.lines)
    if parsed.data is None:
        _refuse(_Origin(f"{path}"), [Problem(f"the file is empty; {_NEEDED}")])
    if not isinstance(parsed.data, dict):
        _refuse(origin, [*parsed.problems, Problem(f"is {shown(parsed.data)} where a recipe is wanted; {_NEEDED}")])
    return _recipe(parsed.data, origin, sets, parsed.problems)


def from_mapping(data: Mapping[str, Any], where: str = "recipe") -> Recipe:
    """The recipe of plain values, lists and mappings; `where` begins each line of an error.

    Raises:
        RecipeError: `WHERE: key: what was found; remedy`, a line for each problem.
    """
    return _recipe(dict(data), _Origin(where))


def with_sets(recipe: Recipe, sets: Sequence[str]) -> Recipe:
    """The recipe after options such as `mix.tokens=2_000_000` or `sources.web.path=crawl`; values are YAML.

    Raises:
        RecipeError: an option has no `=`, names what is not there, or asks for what can't be.
    """
    if not sets:
        return recipe
    return _recipe(recipe.model_dump(mode="json", exclude_unset=True), _Origin("recipe"), sets)


def json_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12, of a recipe."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:glotmill:recipe",
        "title": "Glotmill recipe",
        "description": "What one run of glotmill reads and what it makes of it.",
    }
    return head | {key: value for key, value in Recipe.model_json_schema().items() if key not in head}


def _recipe(data: dict[str, Any], origin: _Origin, sets: Sequence[str] = (), wrong: Sequence[Problem] = ()) -> Recipe:
    places: dict[Place, str] = {}
    for option in sets:
        try:
            places[apply_set(data, option)] = option
        except Problem as problem:
            raise RecipeError(f"--set {option}: {problem.what}") from problem
    origin = _Origin(origin.name, origin.lines, places)
    frozen = _frozen(data)
    found = [*wrong, *repeated_names(frozen)]
    try:
        recipe = Recipe.model_validate(frozen)
    except ValidationError as error:
        told = {problem.place for problem in found} | ({()} if found else set())  # () where names repeat: told better
        found += [problem for problem in problems(error, frozen) if problem.place not in told]
    else:
        if not found:
            return recipe
    _refuse(origin, found)


def _refuse(origin: _Origin, found: list[Problem]) -> NoReturn:
    raise RecipeError("\n".join(origin.told(problem) for problem in sorted(found, key=origin.line)))


def _around(place: Place) -> Iterable[Place]:
    """The place and all that hold it, the narrowest first."""
    return (place[:size] for size in range(len(place), -1, -1))


def _frozen(value: Any) -> Any:
    """Lists as the tuples of the models, which don't convert."""
    if isinstance(value, Mapping):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise RecipeError(f"{path}: there is no such file; check the path of the recipe") from None
    except IsADirectoryError:
        raise RecipeError(f"{path}: this is a folder; name the recipe's file in it") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise RecipeError(f"{path}:{line}: byte {error.start} is not UTF-8; save the file as UTF-8") from error
    except OSError as error:
        raise RecipeError(f"{path}: {error.strerror}; make the file readable") from error


if __name__ == "__main__":
    json.dump(json_schema(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
