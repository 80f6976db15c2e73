from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glotmill.schemas.indexed import IndexedWriter
from glotmill.schemas.manifest import FileEntry, Manifest, ShardEntry, TokenizerEntry, Totals

Docs = Sequence[Sequence[int]]


def write_shards(folder: Path, shards: Sequence[Docs], **changed: Any) -> Path:
    """Shards of these documents with a manifest, whose path is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = changed.pop("vocabulary_size", 60_000)
    losses: Sequence[Any] = changed.pop("losses", [None] * len(shards))
    split_of: Sequence[str] = changed.pop("splits", ["train"] * len(shards))
    entries = []
    for n, (docs, loss) in enumerate(zip(shards, losses, strict=True)):
        prefix = folder / f"shard-{n}"
        with IndexedWriter(folder / f"shard-{n}.bin", vocabulary_size=vocabulary) as writer:
            flat = np.array([token for doc in docs for token in doc], writer.dtype)
            writer.add(flat, np.array([len(doc) for doc in docs], np.int64))
            digest = writer.finish(folder / f"shard-{n}.idx")
        if loss is not None:
            (folder / f"shard-{n}.loss.bin").write_bytes(np.array(loss, np.uint8).tobytes())

        def file(end: str, prefix: Path = prefix, digest: str = digest) -> FileEntry:
            path = prefix.with_name(prefix.name + end)
            return FileEntry(path=path.name, bytes=path.stat().st_size, xxh3_128=digest + end)

        split = {"split": split_of[n]} if "split" in ShardEntry.model_fields else {}
        entries.append(
            ShardEntry(
                name=prefix.name,
                documents=len(docs),
                tokens=len(flat),
                bin=file(".bin"),
                idx=file(".idx"),
                provenance=FileEntry(path="p", bytes=0, xxh3_128=""),
                **split,
            )
        )
    tokens = sum(e.tokens for e in entries)
    totals = Totals(shards=len(entries), documents=sum(e.documents for e in entries), tokens=tokens)
    by = {"x": tokens}
    said: dict[str, Any] = {
        "recipe": "r",
        "recipe_fingerprint": "f",
        "glotmill_version": "0",
        "seed": 0,
        "tokenizer": TokenizerEntry(
            name="t",
            kind="huggingface",
            path="t",
            fingerprint=changed.pop("fingerprint", "abc"),
            vocabulary_size=vocabulary,
            bos_id=1,
            eos_id=2,
        ),
        "dtype": "uint16" if vocabulary < 65_500 else "int32",
        "append_eos": True,
        "prepend_bos": False,
        "shards": tuple(entries),
        "totals": totals,
        "tokens_by_cell": by,
        "tokens_by_language": by,
        "tokens_by_domain": by,
        "tokens_by_source": by,
        "data_path": "",
    } | changed
    if "splits" in Manifest.model_fields:
        said["splits"] = _splits(entries)
    path = folder / "manifest.json"
    path.write_bytes(Manifest(**said).to_json())
    return path


def _splits(entries: Sequence[Any]) -> dict[str, Any]:
    made = {}
    for split in {"train", *(e.split for e in entries)}:
        mine = [e for e in entries if e.split == split]
        tokens = sum(e.tokens for e in mine)
        made[split] = {
            "shards": len(mine),
            "documents": sum(e.documents for e in mine),
            "tokens": tokens,
            "tokens_by_cell": {"x": tokens},
            "tokens_by_language": {"x": tokens},
            "languages_without": (),
            "data_path": "",
        }
    return made


def numbered(lengths: Sequence[int], first: int = 0) -> list[list[int]]:
    """Documents of these lengths whose tokens are numbered through, so that each token is known by its id."""
    ends = np.cumsum(lengths) + first
    return [list(range(end - n, end)) for end, n in zip(ends.tolist(), lengths, strict=True)]


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes shards into a folder of its own: write(name, [[doc, doc], [doc]]) -> path of the manifest."""
    return lambda name, shards, **changed: write_shards(tmp_path / name, shards, **changed)
