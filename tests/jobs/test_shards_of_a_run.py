"""What Megatron's own reader sees of a run: every kept document, in order, with EOS where the manifest says."""

import json
from pathlib import Path

import pyarrow.parquet as pq
from megatron.core.datasets.indexed_dataset import IndexedDataset

from glotmill.schemas.manifest import Manifest
from glotmill.tokenize.tokenizer import load


def table(out: Path, name: str) -> dict[str, dict[str, object]]:
    rows = (row for path in sorted((out / name).glob("*.parquet")) for row in pq.read_table(path).to_pylist())
    return {row["id"]: row for row in rows}


def test_megatron_reads_every_shard_and_the_text_is_the_kept_documents(demo_out: Path) -> None:
    manifest = Manifest.load(demo_out / "shards" / "manifest.json")
    tokenizer = load(demo_out / "shards" / manifest.tokenizer.path)
    documents, kept = table(demo_out, "documents"), table(demo_out, "kept")
    seen = []
    for entry in manifest.shards:
        shard = IndexedDataset(str(demo_out / "shards" / entry.bin.path.removesuffix(".bin")))
        provenance = pq.read_table(demo_out / "shards" / entry.provenance.path).to_pylist()
        assert len(shard) == entry.documents == len(provenance)
        for row, ids in zip(provenance, (shard[n] for n in range(len(shard))), strict=True):
            assert manifest.append_eos and ids[-1] == tokenizer.eos_id and tokenizer.eos_id not in ids[:-1]
            assert tokenizer.decode(ids[:-1]) == documents[row["id"]]["text"]
            assert row["url"] == documents[row["id"]]["url"] and row["record"] == documents[row["id"]]["record"]
            seen.append(row["id"])
    assert len(manifest.shards) > 1
    assert sorted(seen) == sorted(kept)  # everything once
    assert seen != sorted(seen)  # in the order of a hash, not of ids


def test_the_mix_the_shards_and_the_manifest_tell_the_same_tokens(demo_out: Path) -> None:
    manifest = Manifest.load(demo_out / "shards" / "manifest.json")
    mix = json.loads((demo_out / "mix.json").read_bytes())
    assert manifest.tokens_by_cell == {name: cell["planned"] for name, cell in mix["cells"].items()}
    assert manifest.totals.tokens == mix["planned"] == mix["available"]


def test_the_token_store_is_megatron_data_by_itself(demo_out: Path) -> None:
    for index in sorted((demo_out / "tokens").rglob("*.idx")):
        stored = IndexedDataset(str(index.with_suffix("")))
        rows = pq.read_table(index.with_suffix("").with_suffix(".docs.parquet"))
        assert stored.sequence_lengths.tolist() == rows["tokens"].to_pylist()


def test_the_report_tells_the_books(demo_out: Path) -> None:
    page = (demo_out / "report.html").read_text(encoding="utf-8")
    mix = json.loads((demo_out / "mix.json").read_bytes())
    assert f"{mix['planned']:,}" in page and "ita_Latn" in page
