import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from glotmill.schemas.errors import RecipeError
from glotmill.schemas.languages import known
from glotmill.schemas.recipe import Recipe
from glotmill.schemas.recipe_file import from_mapping, json_schema, load, with_sets

ROOT = Path(__file__).parents[2]
LEAST = "name: a\nsources:\n  - {name: web, path: x}\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "my.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def complaints(folder: Path, text: str, *sets: str) -> list[str]:
    """Lines of the error, without the folder."""
    with pytest.raises(RecipeError) as caught:
        load(written(folder, text), sets)
    return str(caught.value).replace(f"{folder}/", "").splitlines()


def sections(model: type[BaseModel] = Recipe) -> Iterator[type[BaseModel]]:
    yield model
    for field in model.model_fields.values():
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from sections(kind)


def test_the_quickstart_is_read() -> None:
    recipe = load(ROOT / "recipes" / "quickstart.yaml")
    assert recipe.name == "quickstart" and recipe.sources[0].name == "web"


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        pytest.param("name: no\n", "name", "no", id="no is Norwegian"),
        pytest.param("name: off\n", "name", "off", id="off is a word"),
        pytest.param("name: 2024-01-01\n", "name", "2024-01-01", id="a date is a word"),
        pytest.param("name: a\nseed: 2_000_000\n", "seed", 2_000_000, id="underscores part digits"),
        pytest.param("name: a\nseed: 012\n", "seed", 12, id="012 is twelve"),
        pytest.param("\ufeffname: a\n", "name", "a", id="a byte order mark is passed over"),
        pytest.param("name: &n a\nseed: 3\n", "name", "a", id="an anchor"),
        pytest.param("name: 'a'\n", "name", "a", id="quotes"),
    ],
)
def test_yaml_1_2_means_what_it_says(tmp_path: Path, text: str, key: str, value: object) -> None:
    recipe = load(written(tmp_path, text + "sources: [{name: web, path: x}]\n"))
    assert getattr(recipe, key) == value


def test_lists_become_tuples_and_whole_numbers_do_where_a_number_is_asked(tmp_path: Path) -> None:
    recipe = load(written(tmp_path, LEAST + "mix: {max_epochs: 4}\ndedup: {keep: [longest]}\n"))
    assert recipe.mix.max_epochs == 4.0 and recipe.dedup.keep == ("longest",)


def test_a_source_may_be_in_norwegian(tmp_path: Path) -> None:
    text = "name: a\nsources: [{name: no, path: x, language: no}]\n"
    source = load(written(tmp_path, text)).sources[0]
    assert (source.name, source.language) == ("no", "nob_Latn")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("sede: 3\n", "my.yaml:4: sede: .*did you mean 'seed'", id="the nearest key"),
        pytest.param("tokens: 3\n", "my.yaml:4: tokens: .*mix", id="a key of another section"),
        pytest.param("mix:\n  tokns: 3\n", "my.yaml:5: mix.tokns: .*'tokens'", id="the nearest key of the section"),
        pytest.param("zzz: 3\n", "my.yaml:4: zzz: .*sources", id="all keys, where none is near"),
        pytest.param("dedup: {mode: exat}\n", "my.yaml:4: dedup.mode: .*'exact'.* exact, off", id="the nearest value"),
        pytest.param("mix: {tokens: -1}\n", "my.yaml:4: mix.tokens: .*-1.*over 0", id="a bound"),
        pytest.param("mix: {max_epochs: .inf}\n", "my.yaml:4: mix.max_epochs: .*inf.*finite", id="infinity"),
        pytest.param("mix: {max_epochs: true}\n", "my.yaml:4: mix.max_epochs: .*true.*number", id="true is no number"),
        pytest.param("seed: '3'\n", "my.yaml:4: seed: .*'3'.*quotes", id="text is no number"),
        pytest.param("shards: {append_eos: yes}\n", "my.yaml:4: .*'yes'.*true or false", id="yes is a word"),
        pytest.param("mix: [1]\n", "my.yaml:4: mix: .*list of 1", id="a list is no section"),
        pytest.param("seed: 1\nseed: 2\n", "my.yaml:5: seed: .*twice.*line 4", id="a key given twice"),
        pytest.param("seed: !x 1\n", "my.yaml:4: seed: .*tag", id="a tag"),
        pytest.param("seed: [\n", r"my.yaml:5: column 1: .*YAML", id="line and column of broken YAML"),
        pytest.param("\tseed: 1\n", r"my.yaml:4: column \d+: .*(spaces|quotes)", id="a tab"),
        pytest.param("---\nname: b\n", r"my.yaml:4: column 1: .*one recipe", id="two documents"),
        pytest.param("seed: " + "9" * 5000 + "\n", "my.yaml:4: seed: ", id="a number too long to read"),
    ],
)
def test_an_error_names_line_and_key_and_says_what_to_write(tmp_path: Path, text: str, expected: str) -> None:
    lines = complaints(tmp_path, LEAST + text)
    assert len(lines) == 1 and re.match(expected, lines[0]), lines


def test_all_problems_are_told_at_once_in_the_order_of_lines(tmp_path: Path) -> None:
    text = "name: a b\nsources:\n  - {name: web, path: 5}\n  - {name: web, path: [a, 3]}\n  - {nam: x}\nsede: 1\n"
    found = [line.partition(": ")[0] for line in complaints(tmp_path, text)]
    assert found == sorted(found) and {int(place.rpartition(":")[2]) for place in found} == {1, 3, 4, 5, 6}


def test_two_sources_of_one_name_are_told_once_at_the_second(tmp_path: Path) -> None:
    lines = complaints(tmp_path, LEAST + "  - {name: web, path: y}\n")
    assert len(lines) == 1 and lines[0].startswith("my.yaml:4: sources.1.name: ") and "'web'" in lines[0]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"", "empty.*sources", id="empty"),
        pytest.param(b"# nothing\n", "empty", id="a comment alone"),
        pytest.param(b"- a\n", ":1: .*list of 1", id="a list"),
        pytest.param(b"word\n", ":1: .*'word'", id="a word"),
        pytest.param(b"name: a\nsources: \xff\n", ":2: byte 17.*UTF-8", id="not UTF-8"),
        pytest.param(b"name: \x00\n", "YAML", id="a control character"),
        pytest.param(b"[" * 20_000, "deep|YAML", id="nested without end"),
        pytest.param(b"a: &a [*a]\n", ":1: ", id="an alias that holds itself"),
        pytest.param(b"a: &a [1,1]\n" + b"".join(b"%c: &%c [*%c,*%c]\n" % (c, c, c - 1, c - 1) for c in range(98, 123)),
                     "alias", id="aliases that unfold to millions"),
    ],
)  # fmt: skip
def test_what_is_no_recipe_is_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "my.yaml"
    path.write_bytes(content)
    with pytest.raises(RecipeError, match=expected) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))


def test_an_absent_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.yaml"):
        with pytest.raises(RecipeError, match=re.escape(f"{path}: ")):
            load(path)


def test_an_option_overrides_the_file_and_an_error_names_the_option(tmp_path: Path) -> None:
    path = written(tmp_path, LEAST + "mix: {tokens: -1}\n")
    sets = ["mix.tokens=2_000_000", "sources.0.path=*.jsonl", "sources.web.domain=law", "dedup.keep=[longest]"]
    recipe = load(path, [*sets, "quality.rules.tha_Thai.short=units < 30"])
    assert (recipe.mix.tokens, recipe.dedup.keep) == (2_000_000, ("longest",))
    assert (recipe.sources[0].path, recipe.sources[0].domain) == ("*.jsonl", "law")
    assert recipe.quality.rules == {"tha_Thai": {"short": "units < 30"}}
    assert complaints(tmp_path, LEAST, "mix.tokens=no") == complaints(tmp_path, LEAST + "mix: {}\n", "mix.tokens=no")
    assert complaints(tmp_path, LEAST, "mix.tokens=no")[0].startswith("--set mix.tokens=no: mix.tokens: ")


@pytest.mark.parametrize("option", ["mix", "=3", "mix..tokens=3", "sources.9.path=x", "seed.x=3", "seed=[", "zzz=1"])
def test_an_option_that_says_nothing_is_named(option: str) -> None:
    recipe = from_mapping({"name": "a", "sources": [{"name": "web", "path": "x"}]})
    assert with_sets(recipe, []) is recipe
    with pytest.raises(RecipeError, match=re.escape(f"--set {option}: ")):
        with_sets(recipe, [option])


NAMES: st.SearchStrategy[Any] = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,8}", fullmatch=True)
SOURCES = st.fixed_dictionaries(
    {"name": NAMES, "path": st.text() | st.lists(st.text())},
    optional={
        "domain": st.from_regex(r"[a-z0-9][a-z0-9_-]{0,5}", fullmatch=True),
        "license": st.none() | st.text(),
        "language": st.sampled_from([row.code for row in known()]),
        "columns": st.fixed_dictionaries({}, optional={"text": st.text(), "id": st.none() | st.text()}),
    },
)
RULES = st.dictionaries(
    st.text(), st.none() | st.text() | st.dictionaries(st.text(), st.none() | st.text()), max_size=3
)
LISTS: st.SearchStrategy[Any] = st.lists(SOURCES, min_size=1, max_size=3, unique_by=lambda source: str(source["name"]))
RECIPES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"name": NAMES, "sources": LISTS},
    optional={
        "seed": st.integers(0, 2**70),
        "quality": st.fixed_dictionaries({"rules": RULES}),
        "mix": st.fixed_dictionaries({"max_epochs": st.floats(1e-9, 1e9), "tokens": st.none() | st.integers(1)}),
    },
)


@given(RECIPES)
def test_a_dumped_recipe_makes_an_equal_one(data: dict[str, Any]) -> None:
    recipe = from_mapping(data)
    assert from_mapping(recipe.model_dump()) == recipe
    assert from_mapping(json.loads(recipe.model_dump_json())) == recipe
    assert with_sets(recipe, [f"seed={recipe.seed}"]) == recipe


@given(st.text() | st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text())))
def test_nonsense_is_a_recipe_error(nonsense: Any) -> None:
    with pytest.raises(RecipeError):
        from_mapping({"name": nonsense, "sources": nonsense, "mix": nonsense})


def test_every_field_is_described() -> None:
    bare = [
        f"{model.__name__}.{name}"
        for model in sections()
        for name, f in model.model_fields.items()
        if not f.description
    ]
    assert not bare


def test_the_schema_in_the_docs_is_the_schema_of_the_models() -> None:
    assert json.loads((ROOT / "docs" / "recipe.schema.json").read_text(encoding="utf-8")) == json_schema()
    assert json_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
