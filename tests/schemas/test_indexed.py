"""The indexed format, byte for byte, with megatron-core as the oracle."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glotmill.schemas.errors import ShardError
from glotmill.schemas.indexed import IndexedTokens, IndexedWriter, bin_path, dtype_for, idx_path, read_index

UINT16, INT32 = 1000, 70_000  # vocabulary sizes


def write(prefix: Path, documents: list[list[int]], vocabulary_size: int = UINT16) -> None:
    with IndexedWriter(bin_path(prefix), vocabulary_size=vocabulary_size) as writer:
        for document in documents:
            writer.add(np.array(document, np.int32), np.array([len(document)]))
        writer.finish(idx_path(prefix))


def test_the_bytes_are_the_ones_of_the_format(tmp_path: Path) -> None:
    write(tmp_path / "a", [[1, 2, 3], [], [999]])
    assert bin_path(tmp_path / "a").read_bytes() == bytes.fromhex("0100 0200 0300 e703")
    assert idx_path(tmp_path / "a").read_bytes() == bytes.fromhex(
        "4d4d49444944580000 0100000000000000 08 0300000000000000 0400000000000000"
        "03000000 00000000 01000000"
        "0000000000000000 0600000000000000 0600000000000000"
        "0000000000000000 0100000000000000 0200000000000000 0300000000000000"
    )


@pytest.mark.parametrize("size", [UINT16, INT32])
@settings(max_examples=25)
@given(data=st.data())
def test_megatron_writes_the_same_bytes_and_reads_the_same_tokens(size: int, data: st.DataObject) -> None:
    oracle = pytest.importorskip("megatron.core.datasets.indexed_dataset")
    documents = data.draw(st.lists(st.lists(st.integers(0, size - 1), max_size=9), max_size=9))
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "ours", Path(folder) / "theirs"
        write(ours, documents, size)
        builder = oracle.IndexedDatasetBuilder(str(bin_path(theirs)), dtype=dtype_for(size).type)
        for document in documents:
            builder.add_document(np.array(document, np.int64), [len(document)])
        builder.finalize(str(idx_path(theirs)))
        assert bin_path(ours).read_bytes() == bin_path(theirs).read_bytes()
        assert idx_path(ours).read_bytes() == idx_path(theirs).read_bytes()
        read = IndexedTokens(ours)
        assert [read[i].tolist() for i in range(len(read))] == documents
        if any(documents):  # megatron can't map an empty .bin
            dataset = oracle.IndexedDataset(str(ours))
            assert [dataset[i].tolist() for i in range(len(dataset))] == documents


@pytest.mark.parametrize(
    ("size", "dtype"),
    [(100, "uint16"), (65_499, "uint16"), (65_500, "int32"), (65_536, "int32"), (65_537, "int32"), (256_000, "int32")],
)
def test_dtype_is_one_that_writer_and_readers_agree_on(size: int, dtype: str) -> None:
    assert dtype_for(size) == np.dtype(dtype)


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 999), max_size=5), max_size=8), st.integers(1, 4))
def test_how_documents_are_batched_changes_nothing(documents: list[list[int]], step: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, many = Path(folder) / "one", Path(folder) / "many"
        write(one, documents)
        with IndexedWriter(bin_path(many), vocabulary_size=UINT16) as writer:
            for at in range(0, len(documents), step):
                batch = documents[at : at + step]
                writer.add(np.array(sum(batch, []), np.int64), np.array([len(d) for d in batch]))
            writer.finish(idx_path(many))
        assert bin_path(one).read_bytes() == bin_path(many).read_bytes()
        assert idx_path(one).read_bytes() == idx_path(many).read_bytes()


def test_no_documents_are_a_valid_pair(tmp_path: Path) -> None:
    write(tmp_path / "a", [])
    assert len(IndexedTokens(tmp_path / "a")) == 0
    assert len(IndexedTokens(tmp_path / "a").tokens) == 0


def test_offsets_pass_four_gigabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from glotmill.schemas import indexed

    monkeypatch.setattr(indexed, "_CHUNK", 2)
    lengths = np.full(5, 2**31 - 1, np.int32)
    indexed.write_index(tmp_path / "a.idx", lengths, np.dtype("<u2"))
    assert read_index(tmp_path / "a.idx").pointers.tolist() == [2 * i * (2**31 - 1) for i in range(5)]


@pytest.mark.parametrize("ids", [[-1], [UINT16], [5, 65_537]])
def test_ids_outside_the_vocabulary_are_refused(tmp_path: Path, ids: list[int]) -> None:
    with pytest.raises(ShardError, match="vocabulary has 1000"):
        write(tmp_path / "a", [ids])


def test_a_document_of_two_billion_tokens_is_refused(tmp_path: Path) -> None:
    with IndexedWriter(tmp_path / "a.bin", vocabulary_size=10) as writer:
        with pytest.raises(ShardError, match="split the document"):
            writer.add(np.empty(0, np.int32), np.array([2**31]))


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


def poke(path: Path, at: int, byte: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] = byte
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        pytest.param(lambda p: bin_path(p).unlink(), r"a\.bin does not exist", id="no bin"),
        pytest.param(lambda p: idx_path(p).unlink(), r"a\.idx does not exist", id="no idx"),
        pytest.param(lambda p: cut(bin_path(p), 6), r"a\.bin has 6 bytes", id="cut bin"),
        pytest.param(lambda p: cut(idx_path(p), 60), r"a\.idx has 60 bytes", id="cut idx"),
        pytest.param(lambda p: cut(idx_path(p), 3), "less than the header", id="cut header"),
        pytest.param(lambda p: poke(idx_path(p), 0, 0), "begins with", id="magic"),
        pytest.param(lambda p: poke(idx_path(p), 9, 2), "version 2", id="version"),
        pytest.param(lambda p: poke(idx_path(p), 17, 6), "dtype code 6", id="float dtype"),
        pytest.param(lambda p: poke(idx_path(p), 34, 4), "should begin at byte 8", id="a length"),
        pytest.param(lambda p: poke(idx_path(p), 37, 255), "negative", id="negative length"),
        pytest.param(lambda p: poke(idx_path(p), 50, 4), "should begin at byte 6", id="a pointer"),
        pytest.param(lambda p: poke(idx_path(p), 66, 5), "document boundaries", id="a document"),
    ],
)
def test_damage_is_named(tmp_path: Path, damage: object, message: str) -> None:
    write(tmp_path / "a", [[1, 2, 3], [4]])
    assert callable(damage)
    damage(tmp_path / "a")
    with pytest.raises(ShardError, match=message):
        IndexedTokens(tmp_path / "a")
