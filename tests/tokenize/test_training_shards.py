"""A shard is a copy of the store in the plan's order, and its provenance and manifest say what it holds."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from glotmill.schemas.atomic import transaction
from glotmill.schemas.document import PROVENANCE
from glotmill.schemas.errors import LedgerError, ShardError
from glotmill.schemas.indexed import IndexedTokens
from glotmill.schemas.manifest import Manifest
from glotmill.schemas.units import Outcome, Unit
from glotmill.tokenize import shards
from glotmill.tokenize.shards import write_shard
from glotmill.tokenize.tokenizer import load

Build = Callable[..., Path]


def plan(out: Path) -> pa.Table:
    """Rows for one more shard: every stored document, in an order of their own, twice."""
    tables = []
    for path in sorted((out / "tokens").glob("*/*.docs.parquet")):
        table = pq.read_table(path)
        for epoch in (0, 1):
            keys = np.random.default_rng(epoch).integers(0, 5, len(table), np.uint64)  # with ties
            tables.append(
                table.append_column("cell", [[path.parent.name] * len(table)])
                .append_column("unit", [[path.name.removesuffix(".docs.parquet")] * len(table)])
                .append_column("epoch", [pa.array([epoch] * len(table), pa.int32())])
                .append_column("key", [pa.array(keys)])
            )
    return pa.concat_tables(tables)


def write(out: Path, rows: pa.Table, size: int, name: str = "x") -> Outcome:
    with transaction(out, "t") as files:
        outcome = write_shard(Unit("shard", name, name), files, rows, out=out, vocabulary_size=size)
        assert [stamp.path for stamp in files.commit()] == [
            f"shards/{name}.bin",
            f"shards/provenance/{name}.parquet",
            f"shards/{name}.idx",
        ]
    return outcome


@pytest.fixture(scope="session")
def whole(build: Build, phrases: dict[str, str]) -> Path:
    return build(
        {"u": list(phrases.items()), "v": [(k, f"{v} {v}") for k, v in phrases.items()] + [("eng_Latn", "")]},
        prepend_bos=True,
    )


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    """A finished output to change."""
    return Path(shutil.copytree(whole, tmp_path / "out"))


def test_every_row_of_the_plan_is_in_the_shard_in_order(
    out: Path, trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, size = plan(out), load(trained).vocabulary_size
    outcome = write(out, rows, size)
    shard = IndexedTokens(out / "shards" / "x")
    expected = sorted(rows.to_pylist(), key=lambda row: (row["key"], row["epoch"], row["id"]))
    provenance = pq.read_table(out / "shards" / "provenance" / "x.parquet")
    assert provenance.schema.equals(PROVENANCE)
    assert [row["id"] for row in provenance.to_pylist()] == [row["id"] for row in expected]
    start = 0
    for at, (row, wanted) in enumerate(zip(provenance.to_pylist(), expected, strict=True)):
        stored = IndexedTokens(out / "tokens" / wanted["cell"] / wanted["unit"])[wanted["sequence"]]
        assert shard[at].tolist() == stored.tolist() == shard.tokens[start : start + row["tokens"]].tolist()
        assert (row["sequence"], row["start"], row["epoch"]) == (at, start, wanted["epoch"])
        start += row["tokens"]
    assert outcome.facts["tokens"] == start and outcome.books.kept == len(rows)
    assert sum(outcome.facts["tokens_by"]["language"].values()) == start

    monkeypatch.setattr(shards, "_WINDOW", 50)
    order = np.random.default_rng(3).permutation(len(rows))
    again = write(out, rows.take(order), size, "y")
    assert again == outcome
    for kind in ("x.bin", "x.idx", "provenance/x.parquet"):
        assert (out / "shards" / kind).read_bytes() == (out / "shards" / kind.replace("x.", "y.")).read_bytes()


def test_a_shard_of_nothing_is_valid(out: Path, trained: Path) -> None:
    outcome = write(out, plan(out).slice(0, 0), load(trained).vocabulary_size)
    assert outcome.facts["tokens"] == 0 and len(IndexedTokens(out / "shards" / "x")) == 0


def replaced(rows: pa.Table, name: str, change: Callable[[np.ndarray], np.ndarray]) -> pa.Table:
    return rows.set_column(rows.schema.get_field_index(name), name, [pa.array(change(rows[name].to_numpy()))])


def test_a_plan_that_contradicts_the_store_is_refused(out: Path, trained: Path) -> None:
    size = load(trained).vocabulary_size
    with pytest.raises(LedgerError, match="tokens and the plan counted"):
        write(out, replaced(plan(out), "tokens", lambda v: v + 1), size)
    with pytest.raises(LedgerError, match="the plan asks for number 10"):
        write(out, replaced(plan(out), "sequence", lambda v: v + 1000), size)
    with pytest.raises(ShardError, match="another tokenizer made this store"):
        write(out, plan(out), 70_000)
    assert not list((out / "shards").glob("x.*"))


def test_the_manifest_says_what_the_shards_hold(out: Path, phrases: dict[str, str], trained: Path) -> None:
    manifest = Manifest.load(out / "shards" / "manifest.json")
    tokenizer = load(out / "shards" / manifest.tokenizer.path)
    assert tokenizer.fingerprint == manifest.tokenizer.fingerprint == load(trained).fingerprint
    assert (manifest.append_eos, manifest.prepend_bos, manifest.dtype) == (True, True, "uint16")
    found = [IndexedTokens(out / "shards" / shard.name) for shard in manifest.shards]
    assert [len(shard.tokens) for shard in found] == [shard.tokens for shard in manifest.shards]
    assert manifest.totals.documents == 2 * (2 * len(phrases) + 1) == sum(map(len, found))
    assert manifest.data_path == " ".join(f"{shard.tokens} {shard.name}" for shard in manifest.shards)
    assert set(manifest.tokens_by_cell) == {f"{language}.web" for language in phrases}
    again = Manifest.model_validate_json(manifest.to_json())
    assert again == manifest and again.to_json() == manifest.to_json()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(('"version":1', '"version":2'), "version: Input should be 1", id="later version"),
        pytest.param(('"dtype":"uint16"', '"dtype":"uint32"'), "dtype", id="dtype megatron lacks"),
        pytest.param(('"seed":0', '"seed":0,"extra":1'), "extra: Extra inputs", id="unknown key"),
        pytest.param(('"eng_Latn":', '"eng_Latn":9'), "tokens_by_language adds up to", id="sums"),
        pytest.param(('{"', "{", 1), "whole file", id="no json"),
    ],
)
def test_a_manifest_that_is_wrong_is_refused(out: Path, change: tuple[str, str], message: str) -> None:
    path = out / "shards" / "manifest.json"
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(ShardError, match=message):
        Manifest.load(path)


def test_megatron_reads_what_we_write(out: Path) -> None:
    oracle = pytest.importorskip("megatron.core.datasets.indexed_dataset")
    for shard in Manifest.load(out / "shards" / "manifest.json").shards:
        ours, theirs = (
            IndexedTokens(out / "shards" / shard.name),
            oracle.IndexedDataset(str(out / "shards" / shard.name)),
        )
        assert len(theirs) == shard.documents and len(theirs.document_indices) == shard.documents + 1
        assert all(theirs[at].tolist() == ours[at].tolist() for at in range(len(ours)))
