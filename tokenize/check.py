"""Is what lies on disk what the manifest and the receipts say? Every check reads the files, none trusts their times.

A problem is one sentence that names the file. Nothing is raised for a damaged output: it is what is looked for.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from glotmill.schemas.atomic import file_digest
from glotmill.schemas.document import PROVENANCE, TOKENIZED
from glotmill.schemas.errors import GlotmillError, ShardError
from glotmill.schemas.indexed import IndexedTokens, dtype_for
from glotmill.schemas.ledger import Ledger
from glotmill.schemas.manifest import MANIFEST, FileEntry, Manifest, ShardEntry
from glotmill.tokenize.resample import resample
from glotmill.tokenize.shards import SHARDS, tokens_by
from glotmill.tokenize.store import STORE
from glotmill.tokenize.tokenizer import Tokenizer, load

_CHUNK = 1 << 24  # tokens looked at in one go
_COUNTED = ("language", "domain", "source")  # what provenance can recount; cells are language.domain


@dataclass(frozen=True, slots=True)
class Policy:
    """What the tokens of every document must look like.

    Args:
        eos: Behind every document; None for nothing.
        bos: Before every document; None for nothing.
        controls: Ids that occur nowhere else.
    """

    vocabulary_size: int
    eos: int | None
    bos: int | None
    controls: tuple[int, ...]

    @classmethod
    def of(cls, manifest: Manifest) -> Self:
        entry = manifest.tokenizer
        return cls(
            entry.vocabulary_size,
            entry.eos_id if manifest.append_eos else None,
            entry.bos_id if manifest.prepend_bos else None,
            tuple({id for id in (entry.eos_id, entry.bos_id) if id is not None}),
        )


def check_store(out: Path, *, policy: Policy | None = None) -> list[str]:
    """Problems of the token store below `out`: files against receipts, indexes against tokens and document tables.

    Args:
        policy: By default the one of shards/manifest.json; where there is none, ids are not looked at.
    """
    if policy is None and (out / SHARDS / MANIFEST).is_file():
        try:
            policy = Policy.of(Manifest.load(out / SHARDS / MANIFEST))
        except ShardError:
            policy = None  # check_shards says why
    problems = list(_receipt_problems(out))
    files = (path.relative_to(out) for path in (out / STORE).glob("*/*") if not path.name.startswith("."))
    for prefix in sorted({path.parent / _stem(path.name) for path in files}):
        try:
            problems += _store_problems(out, prefix, policy)
        except (GlotmillError, OSError, pa.ArrowException) as error:
            problems.append(f"{prefix}: {error}")
    return problems


def check_shards(out: Path, *, sample: float | None = None) -> list[str]:
    """Problems of the shards below `out`: files against the manifest, tokens against index, provenance and tokenizer.

    Args:
        sample: Share of the documents, in [0, 1], that are tokenized anew from documents/ and compared. Chosen by a
            hash of their ids; done only when nothing else is wrong.
    """
    folder = out / SHARDS
    try:
        manifest = Manifest.load(folder / MANIFEST)
    except ShardError as error:
        return [str(error)]
    tokenizer, problems = _tokenizer(folder, manifest)
    problems += _stray_problems(folder, manifest)
    counted: dict[str, dict[str, int]] = {name: {} for name in _COUNTED}
    readable = True
    for shard in manifest.shards:
        damaged = [problem for file in shard.files() for problem in _file_problems(folder, file)]
        if not damaged:
            try:
                damaged = list(_shard_problems(folder, shard, manifest, counted))
            except (GlotmillError, OSError, pa.ArrowException) as error:
                damaged = [f"{SHARDS}/{shard.name}: {error}"]
        readable = readable and not damaged
        problems += damaged
    if readable:
        problems += _total_problems(manifest, counted)
    if sample and tokenizer is not None and not problems:
        try:
            problems += resample(out, manifest, tokenizer, share=sample)
        except (GlotmillError, OSError, pa.ArrowException) as error:
            problems.append(f"{out}: {error}")
    return problems


def _stem(name: str) -> str:
    for kind in (".docs.parquet", ".bin", ".idx"):
        name = name.removesuffix(kind)
    return name


def _receipt_problems(out: Path) -> Iterator[str]:
    """Files of the store that differ from the receipt that names them."""
    ledger = Ledger(out)
    stamps = (stamp for step in ledger.steps() for receipt in ledger.receipts(step).values() for stamp in receipt.files)
    for stamp in stamps:
        if stamp.path.startswith(f"{STORE}/"):
            yield from _file_problems(out, FileEntry(path=stamp.path, bytes=stamp.size, xxh3_128=stamp.xxh3))


def _file_problems(folder: Path, entry: FileEntry) -> Iterator[str]:
    path = folder / entry.path
    if not path.is_file():
        yield f"{path} is missing; run the recipe again, which makes it anew"
    elif path.stat().st_size != entry.bytes:
        yield f"{path} has {path.stat().st_size} bytes and was written with {entry.bytes}; delete it and run again"
    elif (found := file_digest(path)) != entry.xxh3_128:
        yield f"{path} has xxh3-128 {found} and was written with {entry.xxh3_128}; delete it and run again"


def _store_problems(out: Path, prefix: Path, policy: Policy | None) -> Iterator[str]:
    """One unit of one cell; `prefix` is relative to `out`."""
    stored = IndexedTokens(out / prefix)
    table = pq.read_table(out / prefix.with_name(f"{prefix.name}.docs.parquet"))
    yield from _table_problems(f"{prefix}.docs.parquet", table, TOKENIZED, stored)
    cells = pc.unique(pc.binary_join_element_wise(table["language"], table["domain"], ".")).to_pylist()
    if cells != [prefix.parent.name]:
        yield f"{prefix}.docs.parquet holds the cells {cells} in the folder of {prefix.parent.name}"
    if policy is not None:
        yield from _token_problems(f"{prefix}.bin", stored, policy)


def _table_problems(name: str, table: pa.Table, schema: pa.Schema, stored: IndexedTokens) -> Iterator[str]:
    """Whether a table of documents covers the tokens exactly once, row by row."""
    if not table.schema.equals(schema):
        yield f"{name} has the columns {', '.join(table.schema.names)}, or other types than its schema"
        return
    if len(table) != len(stored):
        yield f"{name} has {len(table)} rows and its index {len(stored)} documents"
        return
    expected: dict[str, NDArray[Any]] = {
        "sequence": np.arange(len(stored)),
        "tokens": stored.lengths,
        "start": stored.starts,
    }
    for column, values in expected.items():
        if column in schema.names and (wrong := np.flatnonzero(table[column].to_numpy() != values)).size:
            at = int(wrong[0])
            yield f"{name}: {column} of row {at} is {table[column][at].as_py()} and the index says {int(values[at])}"


def _token_problems(name: str, stored: IndexedTokens, policy: Policy) -> Iterator[str]:
    """Ids outside the vocabulary, and control tokens that are missing or where none should be."""
    expected_dtype = dtype_for(policy.vocabulary_size)
    if stored.dtype != expected_dtype:
        yield f"{name} holds {stored.dtype} and a vocabulary of {policy.vocabulary_size} asks for {expected_dtype}"
        return
    seen = dict.fromkeys(policy.controls, 0)
    for first in range(0, len(stored.tokens), _CHUNK):
        part = stored.tokens[first : first + _CHUNK]
        if not (0 <= int(part.min()) and int(part.max()) < policy.vocabulary_size):
            yield f"{name} holds ids from {part.min()} to {part.max()}; the vocabulary has {policy.vocabulary_size}"
            return
        for id in seen:
            seen[id] += int(np.count_nonzero(part == id))
    framing = [id for id in (policy.bos, policy.eos) if id is not None]
    short = int(np.count_nonzero(stored.lengths < len(framing)))
    if short:
        yield f"{name}: {short} documents are shorter than their own {len(framing)} control tokens"
        return
    ends = stored.starts + stored.lengths - 1
    for role, wanted_id, places in (("BOS", policy.bos, stored.starts), ("EOS", policy.eos, ends)):
        if wanted_id is not None and (wrong := np.flatnonzero(stored.tokens[places] != wanted_id)).size:
            yield f"{name}: {len(wrong)} documents lack {role} {wanted_id}, the first is document {int(wrong[0])}"
    for id, count in seen.items():
        wanted = framing.count(id) * len(stored)
        if count > wanted:
            yield f"{name}: control token {id} occurs {count} times where {wanted} frame the documents"


def _tokenizer(folder: Path, manifest: Manifest) -> tuple[Tokenizer | None, list[str]]:
    """The tokenizer beside the shards, if it is the one of the manifest, and what is wrong with it."""
    entry = manifest.tokenizer
    try:
        tokenizer = load(folder / entry.path)
    except GlotmillError as error:
        return None, [f"{folder / entry.path}: {error}"]
    problems = [
        f"{folder / entry.path}: {name} is {getattr(tokenizer, name)!r}, in the manifest {getattr(entry, name)!r}; "
        "another tokenizer made these shards: put that one back, or delete the shards and run again"
        for name in ("kind", "fingerprint", "vocabulary_size", "bos_id", "eos_id")
        if getattr(tokenizer, name) != getattr(entry, name)
    ]
    if manifest.dtype != dtype_for(entry.vocabulary_size).name:
        asked = dtype_for(entry.vocabulary_size).name
        problems.append(
            f"{folder / MANIFEST} says {manifest.dtype}; a vocabulary of {entry.vocabulary_size} asks for {asked}"
        )
    return (None if problems else tokenizer), problems


def _stray_problems(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Shards that no manifest names, which a glob would train on."""
    named = {file.path for shard in manifest.shards for file in shard.files()}
    for path in sorted([*folder.glob("*.bin"), *folder.glob("*.idx")]):
        if path.name not in named and not path.name.startswith("."):
            yield f"{path} is not in the manifest; delete it"


def _shard_problems(
    folder: Path, shard: ShardEntry, manifest: Manifest, counted: dict[str, dict[str, int]]
) -> Iterator[str]:
    """What is wrong inside one shard whose files are the manifest's; adds its tokens to `counted`."""
    stored = IndexedTokens(folder / shard.name)
    if (len(stored), len(stored.tokens)) != (shard.documents, shard.tokens):
        yield (
            f"{folder / shard.name}.idx has {len(stored)} documents of {len(stored.tokens)} tokens and the manifest "
            f"says {shard.documents} of {shard.tokens}"
        )
    yield from _token_problems(f"{folder / shard.name}.bin", stored, Policy.of(manifest))
    table = pq.read_table(folder / shard.provenance.path)
    yield from _table_problems(str(folder / shard.provenance.path), table, PROVENANCE, stored)
    for name, total in counted.items():
        for value, tokens in tokens_by(table, name).items():
            total[value] = total.get(value, 0) + tokens


def _total_problems(manifest: Manifest, counted: dict[str, dict[str, int]]) -> Iterator[str]:
    for name, total in counted.items():
        stated = getattr(manifest, f"tokens_by_{name}")
        for value in sorted(total.keys() | stated.keys()):
            if total.get(value, 0) != stated.get(value, 0):
                yield (
                    f"{SHARDS}/{MANIFEST}: {name} {value} has {stated.get(value, 0)} tokens and the provenance of the "
                    f"shards adds up to {total.get(value, 0)}"
                )
