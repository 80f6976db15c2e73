"""The manifest of a run's shards, made of the receipts that their units left, and the tokenizer's copy beside it."""

import shutil
from collections.abc import Iterable

import glotmill
from glotmill.schemas.atomic import Transaction
from glotmill.schemas.indexed import dtype_for
from glotmill.schemas.ledger import Receipt
from glotmill.schemas.manifest import MANIFEST, FileEntry, Manifest, ShardEntry, TokenizerEntry, Totals, data_path
from glotmill.tokenize.shards import BY, SHARDS, provenance_name, shard_prefix
from glotmill.tokenize.tokenizer import Tokenizer

TOKENIZER = "tokenizer"  # folder of the copy, in shards/


def write_manifest(
    files: Transaction,
    receipts: Iterable[Receipt],
    *,
    recipe: str,
    recipe_fingerprint: str,
    seed: int,
    tokenizer: Tokenizer,
    append_eos: bool,
    prepend_bos: bool,
) -> Manifest:
    """Copy `tokenizer` to shards/tokenizer/ and write shards/manifest.json, last.

    Args:
        receipts: Of every unit of write_shard; no others.
    """
    for name, path in tokenizer.files.items():
        shutil.copyfile(path, files.path(f"{SHARDS}/{TOKENIZER}/{name}"))
    done = sorted(receipts, key=lambda receipt: receipt.unit)
    shards = tuple(map(_entry, done))
    tokens_by = {name: _added(receipt.facts["tokens_by"][name] for receipt in done) for name in BY}
    manifest = Manifest(
        recipe=recipe,
        recipe_fingerprint=recipe_fingerprint,
        glotmill_version=glotmill.__version__,
        seed=seed,
        tokenizer=TokenizerEntry(
            name=tokenizer.name,
            kind=tokenizer.kind,
            path=TOKENIZER,
            fingerprint=tokenizer.fingerprint,
            vocabulary_size=tokenizer.vocabulary_size,
            bos_id=tokenizer.bos_id,
            eos_id=tokenizer.eos_id,
        ),
        dtype=dtype_for(tokenizer.vocabulary_size).name,
        append_eos=append_eos,
        prepend_bos=prepend_bos,
        shards=shards,
        totals=Totals(
            shards=len(shards),
            documents=sum(shard.documents for shard in shards),
            tokens=sum(shard.tokens for shard in shards),
        ),
        tokens_by_cell=tokens_by["cell"],
        tokens_by_language=tokens_by["language"],
        tokens_by_domain=tokens_by["domain"],
        tokens_by_source=tokens_by["source"],
        data_path=data_path(shards),
    )
    files.path(f"{SHARDS}/{MANIFEST}").write_bytes(manifest.to_json())
    return manifest


def _entry(receipt: Receipt) -> ShardEntry:
    name = receipt.unit
    written = {stamp.path: stamp for stamp in receipt.files}

    def file(path: str) -> FileEntry:
        stamp = written[path]
        return FileEntry(path=path.removeprefix(f"{SHARDS}/"), bytes=stamp.size, xxh3_128=stamp.xxh3)

    return ShardEntry(
        name=name,
        documents=receipt.facts["documents"],
        tokens=receipt.facts["tokens"],
        bin=file(f"{shard_prefix(name)}.bin"),
        idx=file(f"{shard_prefix(name)}.idx"),
        provenance=file(provenance_name(name)),
    )


def _added(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, tokens in part.items():
            total[name] = total.get(name, 0) + tokens
    return dict(sorted(total.items()))
