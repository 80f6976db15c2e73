"""docs/recipe.md says only what is so."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from glotmill.curate.rules import ruleset
from glotmill.curate.signals import SIGNALS
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.recipe import Quality, Recipe
from glotmill.schemas.recipe_file import load, with_sets
from glotmill.schemas.recipe_problems import section
from glotmill.schemas.yaml_source import Place, parse

PAGE = (Path(__file__).parents[2] / "docs" / "recipe.md").read_text(encoding="utf-8")
COMPLETE, RULES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def fields(model: type[BaseModel] = Recipe, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    for name, field in model.model_fields.items():
        yield (*place, name), field.default
        for here in ((*place, name), (*place, name, 0)):
            if inner := section(here):
                yield from fields(inner, here)


@pytest.fixture
def complete(tmp_path: Path) -> Recipe:
    path = tmp_path / "my.yaml"
    path.write_text(COMPLETE, encoding="utf-8")
    return load(path)


def test_every_key_has_its_place_in_the_page_and_in_the_complete_recipe() -> None:
    keys = {str(place[-1]) for place, _ in fields()}
    assert len(keys) > 30
    assert not [key for key in keys if f"`{key}`" not in PAGE]
    assert not [key for key in keys if not re.search(rf"\b{key}:", COMPLETE)]


def test_the_complete_recipe_shows_the_defaults(complete: Recipe) -> None:
    plain = Recipe(name="my", sources=complete.sources)
    for name in ("seed", "extract", "language", "dedup", "mix", "shards"):
        assert getattr(complete, name) == getattr(plain, name), name
    assert complete.quality.preset == plain.quality.preset
    assert complete.sources[0].model_copy(update={"license": None}) == type(complete.sources[0])(
        name="web", path="crawl/*.warc.gz"
    )


def test_the_tables_show_the_defaults() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, re.MULTILINE)
    told: dict[str, set[Any]] = {}
    for key, shown in rows:
        told.setdefault(key, set()).add(_read(shown))
    for place, default in fields():
        key = str(place[-1])
        if (
            key in told
            and "columns" not in place[:-1]
            and not isinstance(default, BaseModel)
            and not repr(default).startswith("Pydantic")
        ):
            assert default in told[key], place


def _read(shown: str) -> Any:
    value = parse(shown.strip("`")).data
    return tuple(value) if isinstance(value, list) else str(value) if isinstance(value, dict) else value


def test_the_rules_of_the_page_are_rules(complete: Recipe) -> None:
    assert ruleset(complete.quality).reasons
    written = parse(RULES).data["quality"]["rules"]
    assert str(ruleset(Quality(rules=written)).rules["short"]["*"]) == "words < 50"


def test_the_page_names_the_signals() -> None:
    table = PAGE.partition("| signal |")[2].partition("\n\n")[0]
    assert {name for name in re.findall(r"`(\w+)`", table)} == set(SIGNALS)


def test_the_options_of_the_page_work(complete: Recipe) -> None:
    options = re.findall(r"^    --set ([\w.]+)=(\S+|'[^']*')(?:\s+#.*)?$", PAGE, re.MULTILINE)
    assert len(options) >= 6
    with_sets(complete, [f"{key}={value.strip(chr(39))}" for key, value in options])


def test_the_errors_of_the_page_are_the_errors(tmp_path: Path, complete: Recipe) -> None:
    path = tmp_path / "my.yaml"
    lines = ["name: a", "sources: [{name: b, path: c}]", "sede: 1", *[""] * 7, "mix:", "  tokens: 2e6"]
    path.write_text("\n".join(lines))
    with pytest.raises(RecipeError) as caught:
        load(path)
    assert all(f"    {line}\n" in PAGE for line in str(caught.value).replace(f"{tmp_path}/", "").splitlines())
    with pytest.raises(RecipeError) as caught:
        with_sets(complete, ["mix.tokenz=3"])
    assert f"    {caught.value}\n" in PAGE
