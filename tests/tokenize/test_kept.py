"""What is tokenized is what kept/ leaves of the text, here and when a sample of it is checked."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from glotmill.schemas.document import EDITS, KEPT
from glotmill.schemas.errors import SchemaError
from glotmill.tokenize.check import check_shards
from glotmill.tokenize.kept import kept_documents

Write = Callable[[Path, str, list[tuple[str, str]]], None]

TEXTS = [("ita_Latn", "Menu\nPerché no?"), ("tha_Thai", "เมนู\nไม่มีอะไรหายไป"), ("eng_Latn", "All of it.")]
STAYS = ["Perché no?", "ไม่มีอะไรหายไป", "All of it."]


def cut(out: Path, *first_bytes: int) -> None:
    """Leave out the beginning of each text of unit u."""
    path = out / "kept" / "u.parquet"
    kept = pq.read_table(path)
    order = pq.read_table(out / "documents" / "u.parquet")["id"].to_pylist()
    sizes = dict(zip(order, first_bytes, strict=False))
    edits = [[{"start": 0, "end": sizes[i], "reason": "menu"}] if sizes[i] else [] for i in kept["id"].to_pylist()]
    place = kept.schema.get_field_index("cuts")
    pq.write_table(kept.set_column(place, KEPT.field("cuts"), pa.array(edits, EDITS)), path)


def test_kept_documents_lack_what_is_cut(tmp_path: Path, documents: Write) -> None:
    documents(tmp_path, "u", TEXTS)
    cut(tmp_path, 5, 13, 0)
    found = pa.Table.from_batches(kept_documents(tmp_path, "u", columns=["record"], joined=["language"]))
    assert found["text"].to_pylist() == STAYS  # without the document that was dropped
    assert found["language"].to_pylist() == [language for language, _ in TEXTS]
    assert found["record"].to_pylist() == ["u@0", "u@1", "u@2"]


def test_some_of_them_can_be_asked_for(tmp_path: Path, documents: Write) -> None:
    documents(tmp_path, "u", TEXTS)
    cut(tmp_path, 5, 13, 0)
    ids = pq.read_table(tmp_path / "documents" / "u.parquet")["id"]
    for wanted, stays in ((ids[1:2], STAYS[1:2]), (ids[3:], []), (ids[:0], [])):
        batches = kept_documents(tmp_path, "u", ids=wanted.combine_chunks())
        assert [text for batch in batches for text in batch["text"].to_pylist()] == stays


def test_cuts_of_another_text_are_refused(tmp_path: Path, documents: Write) -> None:
    documents(tmp_path, "u", TEXTS)
    cut(tmp_path, 0, 1, 0)
    with pytest.raises(SchemaError, match=r"kept/u.parquet: edits don't fit"):
        list(kept_documents(tmp_path, "u"))


def test_the_sample_sees_other_cuts_than_those_that_were_tokenized(tmp_path: Path, build: Callable[..., Path]) -> None:
    out = build({"u": TEXTS})
    assert check_shards(out, sample=1.0) == []
    cut(out, 5, 0, 0)
    (problem,) = {problem.partition("holds")[2] for problem in check_shards(out, sample=1.0)}
    assert problem.startswith(" other tokens than its text gives today")
    cut(out, 500, 0, 0)
    (problem,) = check_shards(out, sample=1.0)
    assert "don't fit" in problem
