"""The token store holds the kept documents, each in its cell, whatever the batches they came in."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from glotmill.schemas.atomic import transaction
from glotmill.schemas.document import KEPT, TOKENIZED
from glotmill.schemas.errors import LedgerError, RecipeError
from glotmill.schemas.indexed import IndexedTokens
from glotmill.schemas.units import Outcome, Unit
from glotmill.tokenize import kept, store, tokenizer
from glotmill.tokenize.store import tokenize_unit
from glotmill.tokenize.tokenizer import load

Write = Callable[[Path, str, list[tuple[str, str]]], None]


def run(out: Path, model: Path, *, append_eos: bool = True, prepend_bos: bool = False) -> Outcome:
    with transaction(out, "t") as files:
        outcome, inputs = tokenize_unit(
            Unit("tokenize", "u", "u"),
            files,
            out=out,
            tokenizer=load(model),
            append_eos=append_eos,
            prepend_bos=prepend_bos,
        )
        stamps = files.commit()
    assert inputs == ()
    kinds = [stamp.path.rsplit("/u.", 1)[-1] for stamp in stamps]
    assert kinds == ["bin", "docs.parquet", "idx"] * len(outcome.facts["cells"])  # the index appears last
    outcome.books.check("u")
    return outcome


def content(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in (out / "tokens").rglob("u.*")}


@pytest.mark.parametrize(
    ("append_eos", "prepend_bos", "frame"),
    [
        pytest.param(True, False, lambda ids: [*ids, 2], id="EOS"),
        pytest.param(True, True, lambda ids: [1, *ids, 2], id="BOS and EOS"),
        pytest.param(False, False, lambda ids: ids, id="neither"),
    ],
)
def test_every_kept_document_is_in_its_cell_with_its_tokens(
    tmp_path: Path,
    trained: Path,
    documents: Write,
    phrases: dict[str, str],
    append_eos: bool,
    prepend_bos: bool,
    frame: Callable[[list[int]], list[int]],
) -> None:
    texts = [*phrases.items(), *((language, text + " " + text) for language, text in phrases.items()), ("eng_Latn", "")]
    documents(tmp_path, "u", texts)
    outcome = run(tmp_path, trained, append_eos=append_eos, prepend_bos=prepend_bos)
    model = load(trained)
    by_record = {f"u@{at}": text for at, (_, text) in enumerate(texts)}
    seen = []
    for cell, counts in outcome.facts["cells"].items():
        stored = IndexedTokens(tmp_path / "tokens" / cell / "u")
        table = pq.read_table(tmp_path / "tokens" / cell / "u.docs.parquet")
        assert table.schema.equals(TOKENIZED)
        rows = table.to_pylist()
        assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
        assert counts == {
            "documents": len(rows),
            "tokens": len(stored.tokens),
            "bytes": sum(row["bytes"] for row in rows),
        }
        for row in rows:
            text = by_record[row["record"]]
            ids = model.encode_batch(pa.array([text])).ids.tolist()
            assert stored[row["sequence"]].tolist() == frame(ids)
            assert row["tokens"] == len(frame(ids)) and f"{row['language']}.{row['domain']}" == cell
            assert (row["chars"], row["bytes"]) == (len(text), len(text.encode()))
            seen.append(row["record"])
    assert sorted(seen) == sorted(by_record)
    assert outcome.books.records == outcome.books.kept == len(texts)
    assert outcome.bytes_in == sum(len(text.encode()) for text in by_record.values())


def test_batches_and_windows_change_no_byte(
    tmp_path: Path, trained: Path, documents: Write, phrases: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [*phrases.items(), *((language, "x" + text) for language, text in phrases.items())]
    one, two = tmp_path / "one", tmp_path / "two"
    documents(one, "u", texts)
    documents(two, "u", texts)
    first = run(one, trained)
    monkeypatch.setattr(kept, "_ROWS", 3)
    monkeypatch.setattr(store, "_WINDOW", 20)
    monkeypatch.setattr(tokenizer, "BATCH_BYTES", 60)
    second = run(two, trained)
    assert content(one) == content(two)
    assert first == second


def test_the_digest_changes_with_a_text_and_not_with_its_neighbours_order(
    tmp_path: Path, trained: Path, documents: Write
) -> None:
    digests = set()
    for name, text in (("a", "one"), ("b", "two"), ("c", "one")):
        documents(tmp_path / name, "u", [("eng_Latn", text), ("ita_Latn", "ciao")])
        digests.add(run(tmp_path / name, trained).digests["tokens"])
    assert len(digests) == 2


def test_nothing_kept_gives_no_files_and_balanced_books(tmp_path: Path, trained: Path, documents: Write) -> None:
    documents(tmp_path, "u", [])
    outcome = run(tmp_path, trained)
    assert outcome.facts == {"cells": {}} and not (tmp_path / "tokens").exists()
    assert (outcome.books.records, outcome.bytes_in) == (0, 0) and outcome.digests["tokens"]


def test_a_kept_document_without_text_to_it_is_an_error(tmp_path: Path, trained: Path, documents: Write) -> None:
    documents(tmp_path, "u", [("eng_Latn", "a"), ("eng_Latn", "b")])
    path = tmp_path / "documents" / "u.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(LedgerError, match="names 2 documents and documents/u.parquet holds 1"):
        run(tmp_path, trained)
    assert KEPT.names[0] == "id" and not list((tmp_path / "tokens").rglob("*.idx"))


def test_a_tokenizer_without_bos_is_refused_before_any_work(tmp_path: Path, byte_level: Path) -> None:
    with pytest.raises(RecipeError, match="prepend_bos"):
        run(tmp_path, byte_level, prepend_bos=True)
