from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.measure import Columns, chain, measure
from glotmill.curate.measure_unit import measure_unit, measures
from glotmill.schemas.atomic import transaction
from glotmill.schemas.document import DOCUMENT
from glotmill.schemas.errors import RecipeError, SchemaError
from glotmill.schemas.recipe import Recipe
from glotmill.schemas.units import Unit

RECIPE = Recipe.model_validate({"name": "test", "sources": ({"name": "web", "path": "*.txt"},)})
TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5)


@measure(reads=["text"], adds={"size": pa.int64()})
def size(batch: pa.RecordBatch, *, times: int = 1) -> Columns:
    return {"size": pa.array([len(text) * times for text in batch["text"].to_pylist()], pa.int64())}


@measure(reads=["size"], adds={"is_long": pa.bool_()})
def is_long(batch: pa.RecordBatch) -> Columns:
    return {"is_long": pa.array([value > 3 for value in batch["size"].to_pylist()], pa.bool_())}


def test_a_chain_lets_a_measure_read_what_an_earlier_one_added() -> None:
    batch = pa.RecordBatch.from_pydict({"text": ["ab", "abcd"]})
    assert chain([size, is_long])(batch)["is_long"].to_pylist() == [False, True]
    assert chain([])(batch) == batch


def test_a_measure_says_which_column_it_misses() -> None:
    with pytest.raises(SchemaError, match="'size'"):
        is_long(pa.RecordBatch.from_pydict({"text": ["ab"]}))


def test_a_measure_never_overwrites_a_column() -> None:
    batch = pa.RecordBatch.from_pydict({"text": ["ab"], "size": [1]})
    with pytest.raises(SchemaError, match="already has"):
        size(batch)


def test_a_parameter_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(RecipeError, match="times"):
        size.bind(time=2)


@given(TEXTS)
def test_a_recipes_measures_append_and_touch_nothing_else(texts: list[str]) -> None:
    before = pa.RecordBatch.from_pydict({"text": pa.array(texts, pa.string())})
    after = chain(measures(RECIPE))(before)
    assert after.select(["text"]) == before
    assert all(column.null_count == 0 for column in after.columns)


@pytest.mark.parametrize("column", [pa.array([None], pa.string()), pa.array([1]), pa.array([b"x"])])
def test_a_text_that_is_no_text_is_an_error(column: pa.Array) -> None:
    with pytest.raises(SchemaError, match="string"):
        chain(measures(RECIPE))(pa.RecordBatch.from_arrays([column], ["text"]))


def documents(folder: Path, texts: list[str]) -> None:
    columns = {field.name: pa.nulls(len(texts), field.type) for field in DOCUMENT}
    columns |= {name: pa.array(["x"] * len(texts)) for name in ("source", "record", "domain")}
    columns |= {"id": pa.array([f"{i:032x}" for i in range(len(texts))]), "text": pa.array(texts, pa.string())}
    columns["charset_guessed"] = pa.array([False] * len(texts))
    (folder / "documents").mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pydict(columns, DOCUMENT), folder / "documents" / "u.parquet", row_group_size=700)


@pytest.mark.parametrize("count", [0, 1, 1500])
def test_a_unit_has_the_signals_of_its_documents_in_their_order(tmp_path: Path, count: int) -> None:
    texts = [f"Questa è la pagina numero {i} di questo libro." for i in range(count)]
    documents(tmp_path, texts)
    with transaction(tmp_path, "t") as files:
        outcome, stamps = measure_unit(Unit("measure", "u", "u"), files, out=tmp_path, measures=measures(RECIPE))
        files.commit()
    outcome.books.check("measure")
    table = pq.read_table(tmp_path / "signals" / "u.parquet")
    assert stamps == () and outcome.books.kept == count == table.num_rows
    assert table["id"].to_pylist() == [f"{i:032x}" for i in range(count)] and "text" not in table.schema.names
    assert table["bytes"].to_pylist() == [len(text.encode()) for text in texts]
    assert outcome.bytes_in == sum(len(text.encode()) for text in texts)
    assert outcome.facts == {"languages": {"ita_Latn": count} if count else {}, "cuts": {}}
    assert len(outcome.digests["signals"]) == 32
