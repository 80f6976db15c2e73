"""Tokenizing some documents anew, to see that a shard holds them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from glotmill.schemas.ids import order_key
from glotmill.schemas.indexed import IndexedTokens, Tokens
from glotmill.schemas.manifest import Manifest
from glotmill.tokenize.kept import kept_documents
from glotmill.tokenize.segments import framed
from glotmill.tokenize.shards import SHARDS
from glotmill.tokenize.tokenizer import Tokenizer, is_lossless

_SEED = 0x5EED  # the same documents every time, and no others than an order of the shards would suggest


def resample(out: Path, manifest: Manifest, tokenizer: Tokenizer, *, share: float) -> Iterator[str]:
    """Problems of about `share` of the documents: their text is tokenized anew and compared with every copy of it.

    For a tokenizer that loses nothing, the stored ids are decoded and compared with the text as well.
    """
    places = _places(out / SHARDS, manifest, share)
    shards = {shard.name: IndexedTokens(out / SHARDS / shard.name) for shard in manifest.shards}
    lossless = is_lossless(tokenizer)
    missing = set(places)
    for batch in _texts(out, pa.array(sorted(places), pa.string())):
        ids, offsets = tokenizer.encode_batch(batch["text"])
        before = tokenizer.bos_id if manifest.prepend_bos else None
        after = tokenizer.eos_id if manifest.append_eos else None
        tokens, lengths = framed(ids, offsets, before=before, after=after, dtype=np.dtype(manifest.dtype))
        documents = np.split(tokens, np.cumsum(lengths)[:-1])
        for id, text, expected in zip(batch["id"].to_pylist(), batch["text"].to_pylist(), documents, strict=True):
            missing.discard(id)
            for name, sequence in places[id]:
                found = shards[name][sequence]
                where = f"{SHARDS}/{name}: document {sequence} ({id})"
                if not np.array_equal(found, expected):
                    yield f"{where} holds other tokens than its text gives today; delete the shards and run again"
                elif lossless and not _gives(tokenizer, found, text, before is not None, after is not None):
                    yield f"{where} does not decode to its text; the tokenizer loses something: report it"
    for id in sorted(missing):
        yield f"{SHARDS}/{places[id][0][0]}: document {id} is not in documents/ and kept/; run the recipe again"


def _places(folder: Path, manifest: Manifest, share: float) -> dict[str, list[tuple[str, int]]]:
    """By id of every chosen document, the shards and rows where it is."""
    limit = int(share * 2**64)
    places: dict[str, list[tuple[str, int]]] = {}
    for shard in manifest.shards:
        table = pq.read_table(folder / shard.provenance.path, columns=["id", "sequence"])
        for id, sequence in zip(table["id"].to_pylist(), table["sequence"].to_pylist(), strict=True):
            if order_key(_SEED, 0, id) < limit:
                places.setdefault(id, []).append((shard.name, sequence))
    return places


def _texts(out: Path, ids: pa.Array) -> Iterator[pa.RecordBatch]:
    """id and text of the documents in `ids`, as they were tokenized."""
    for path in sorted((out / "documents").glob("*.parquet")):
        if (out / "kept" / path.name).is_file():
            yield from kept_documents(out, path.stem, ids=ids)


def _gives(tokenizer: Tokenizer, tokens: Tokens, text: str, bos: bool, eos: bool) -> bool:
    decoded = tokenizer.decode(tokens[int(bos) : len(tokens) - int(eos)])
    # a foreign sentencepiece model may still turn U+2581 into a space
    return decoded == text or decoded == text.replace("\u2581", " ")
