"""A text and what was left out of it are the whole text, and edits that fit no text are refused."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.schemas.document import EDITS
from glotmill.schemas.edits import apply_edits, left_out
from glotmill.schemas.errors import SchemaError

CHARS = st.characters(exclude_categories=["Cs"])
Edits = list[list[dict[str, Any]]]


@st.composite
def edited(draw: st.DrawFn) -> tuple[list[list[tuple[str, bool]]], list[str], Edits]:
    """Texts as pieces, each kept or not; the texts; and the edits that leave out what isn't kept."""
    piece = st.tuples(st.text(CHARS, min_size=1, max_size=4), st.booleans())
    parted = draw(st.lists(st.lists(piece, max_size=6), max_size=6))
    edits: Edits = []
    for pieces in parted:
        place, found = 0, []
        for text, keep in pieces:
            end = place + len(text.encode())
            if not keep:
                found.append({"start": place, "end": end, "reason": "why"})
            place = end
        edits.append(found)
    return parted, ["".join(text for text, _ in pieces) for pieces in parted], edits


@given(edited(), st.integers(0, 3))
def test_what_stays_and_what_is_left_out_are_the_text(
    given_: tuple[list[list[tuple[str, bool]]], list[str], Edits], skip: int
) -> None:
    parted, texts, edits = given_
    column, spans = pa.array(texts, pa.string())[skip:], pa.array(edits, EDITS)[skip:]  # slices
    stays = ["".join(text for text, keep in pieces if keep) for pieces in parted][skip:]
    gone = [text for pieces in parted[skip:] for text, keep in pieces if not keep]
    found = apply_edits(column, spans)
    found.validate(full=True)
    assert found.to_pylist() == stays
    assert left_out(column, spans).to_pylist() == gone
    assert column.to_pylist() == texts[skip:]


def test_texts_without_edits_are_not_copied() -> None:
    texts = pa.array(["a", "b"])
    assert apply_edits(texts, pa.array([[], []], EDITS)) is texts


@pytest.mark.parametrize(
    "spans",
    [[(0, 1)], [(1, 4)], [(2, 2)], [(-2, 0)], [(2, 3), (0, 2)], [(0, 2), (0, 3)], [(0, 9)]],
    ids=["ends in a letter", "begins in a letter", "empty", "before", "unsorted", "overlap", "past the end"],
)
def test_edits_that_fit_no_text_are_refused(spans: list[tuple[int, int]]) -> None:
    edits = pa.array([[], [{"start": start, "end": end, "reason": "r"} for start, end in spans]], EDITS)
    with pytest.raises(SchemaError, match="don't fit"):
        apply_edits(pa.array(["x", "ébcd"]), edits)


@pytest.mark.parametrize(
    ("texts", "edits", "message"),
    [
        (pa.array(["a"]), pa.array([[], []], EDITS), "2 lists of edits for 1 texts"),
        (pa.array(["a", None]), pa.array([[], []], EDITS), "without nulls"),
        (pa.array(["a"]), pa.array([None], EDITS), "without nulls"),
        (pa.array(["a"]), pa.array([[]], pa.list_(pa.int32())), "edits must be"),
        (pa.array([b"a"]), pa.array([[]], EDITS), "texts must be string"),
    ],
)
def test_tables_that_dont_match_are_refused(texts: pa.Array, edits: pa.Array, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        apply_edits(texts, edits)
