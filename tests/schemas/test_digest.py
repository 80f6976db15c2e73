import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.schemas.digest import rows_digest, table_digest
from glotmill.schemas.document import VERDICT

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.text(max_size=4),
            "text": st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
            "keep": st.none() | st.booleans(),
            "count": st.none() | st.integers(-5, 5),
            "parts": st.none() | st.lists(st.fixed_dictionaries({"a": st.none() | st.text(max_size=2)}), max_size=3),
        }
    ),
    max_size=8,
)
SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "text": pa.string(),
        "keep": pa.bool_(),
        "count": pa.int64(),
        "parts": pa.list_(pa.struct({"a": pa.string()})),
    }
)


def table(rows: list[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(rows, SCHEMA)


@given(ROWS, ROWS)
def test_digests_are_equal_exactly_when_rows_are(one: list[dict[str, object]], other: list[dict[str, object]]) -> None:
    assert (rows_digest([table(one)]) == rows_digest([table(other)])) == (table(one) == table(other))


@given(ROWS)
def test_a_slice_has_the_digest_of_its_rows(rows: list[dict[str, object]]) -> None:
    padded = pa.concat_tables([table(rows[:1]), table(rows), table(rows[:1])]).combine_chunks()
    cut = padded.slice(len(rows[:1]), len(rows))
    assert rows_digest([cut]) == rows_digest([table(rows)])


@given(st.permutations(list("abcdef")))
def test_a_table_digest_does_not_depend_on_order(ids: list[str]) -> None:
    given, ordered = ([{"id": id, "text": id * 2} for id in some] for some in (ids, sorted(ids)))
    assert table_digest(pa.Table.from_pylist(given)) == table_digest(pa.Table.from_pylist(ordered))


@pytest.mark.parametrize("one", [{"id": "a", "text": None}, {"id": "a", "text": ""}, {"id": "a", "keep": False}])
def test_null_empty_and_false_differ(one: dict[str, object]) -> None:
    others: list[dict[str, object]] = [{"id": "a", "text": None}, {"id": "a", "text": ""}, {"id": "a", "keep": False}]
    assert sum(rows_digest([table([one])]) == rows_digest([table([other])]) for other in others) == 1


def test_an_empty_table_of_any_schema_has_a_digest() -> None:
    assert len(rows_digest([VERDICT.empty_table()])) == 32
