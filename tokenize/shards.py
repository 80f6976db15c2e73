"""Training shards: documents copied out of the token store in the order of the plan, and what each token came from."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glotmill.schemas.atomic import Transaction
from glotmill.schemas.document import PROVENANCE
from glotmill.schemas.errors import LedgerError, ShardError
from glotmill.schemas.ids import fingerprint
from glotmill.schemas.indexed import IndexedTokens, IndexedWriter, Tokens
from glotmill.schemas.parquet import write_table
from glotmill.schemas.units import Books, Outcome, Unit
from glotmill.tokenize.segments import Positions, copy_segments, windows
from glotmill.tokenize.store import STORE

SHARDS = "shards"
ORDER = [(name, "ascending") for name in ("key", "epoch", "id")]  # of documents in a shard
BY = ("cell", "language", "domain", "source")  # what tokens are counted by
_WINDOW = 1 << 28  # tokens put in order at a time


def shard_prefix(name: str) -> str:
    return f"{SHARDS}/{name}"


def provenance_name(name: str) -> str:
    return f"{SHARDS}/provenance/{name}.parquet"


def write_shard(unit: Unit, files: Transaction, rows: pa.Table, *, out: Path, vocabulary_size: int) -> Outcome:
    """Write one shard: `shards/<key>.bin`, `shards/provenance/<key>.parquet`, `shards/<key>.idx`.

    Args:
        unit: Its key is the shard's name.
        rows: The documents of this shard in any order, one row each time one is used: `key: uint64` (the order),
            `epoch: int32`, `id`, `cell`, `unit` (of the store's file), `sequence` (row in the store's .idx), `tokens`,
            and `source`, `record`, `url`, `license`, `language`, `domain`.
        vocabulary_size: Of the tokenizer; decides the dtype, which must be the store's.

    Returns:
        Outcome with `digests["shard"]`, `bytes_in` (bytes copied) and facts `{documents, tokens, bytes}` (bytes of the
        .bin) and `tokens_by: {cell | language | domain | source: {name: tokens}}`.

    Raises:
        ShardError: a store file is damaged, has another dtype, or holds another number of tokens than the plan says.

    Memory: the tokens of the shard, up to 2^28 of them at a time, and `rows`.
    """
    rows = rows.sort_by(ORDER).combine_chunks()
    lengths = rows["tokens"].to_numpy().astype(np.int64)
    stored = _Stored(rows, out)
    with IndexedWriter(files.path(f"{shard_prefix(unit.key)}.bin"), vocabulary_size=vocabulary_size) as writer:
        for first, last in windows(lengths, most=_WINDOW):
            writer.add(stored.tokens(first, last, writer.dtype), lengths[first:last])
        _, provenance = write_table(files.path(provenance_name(unit.key)), [_provenance(rows, lengths)], PROVENANCE)
        digest = writer.finish(files.path(f"{shard_prefix(unit.key)}.idx"))
    size = writer.tokens * writer.dtype.itemsize
    return Outcome(
        books=Books(records=len(rows), kept=len(writer)),
        digests={"shard": fingerprint([digest, provenance])},
        bytes_in=size,
        facts={
            "documents": len(rows),
            "tokens": writer.tokens,
            "bytes": size,
            "tokens_by": {name: tokens_by(rows, name) for name in BY},
        },
    )


def tokens_by(rows: pa.Table, name: str) -> dict[str, int]:
    """Tokens of each value of column `name`, sorted by name."""
    totals = rows.group_by(name).aggregate([("tokens", "sum")])
    return dict(sorted(zip(totals[name].to_pylist(), totals["tokens_sum"].to_pylist(), strict=True)))


def _provenance(rows: pa.Table, lengths: Positions) -> pa.Table:
    """What PROVENANCE says of the documents, in the order in which they are written."""
    made: dict[str, Any] = {"sequence": np.arange(len(rows)), "start": np.cumsum(lengths) - lengths, "tokens": lengths}
    columns = [pa.array(made[name]) if name in made else rows[name] for name in PROVENANCE.names]
    return pa.Table.from_arrays(columns, names=PROVENANCE.names).cast(PROVENANCE)


class _Stored:
    """The store's files that the rows of a shard point to. A file is open only while it is copied from."""

    def __init__(self, rows: pa.Table, out: Path) -> None:
        joined = pc.binary_join_element_wise(rows["cell"], rows["unit"], "/").combine_chunks()
        encoded = joined.dictionary_encode()
        self._prefixes = [out / STORE / name for name in encoded.dictionary.to_pylist()]
        self._file = encoded.indices.to_numpy()  # of each row, an index into _prefixes
        self._sequence = rows["sequence"].to_numpy()
        self._lengths = rows["tokens"].to_numpy().astype(np.int64)

    def tokens(self, first: int, last: int, dtype: np.dtype[Any]) -> Tokens:
        """The tokens of rows first to before last, in their order. Every file is read front to back."""
        lengths = self._lengths[first:last]
        at = np.cumsum(lengths) - lengths
        into = np.empty(int(lengths.sum()), dtype)
        order = np.lexsort((self._sequence[first:last], self._file[first:last]))
        found, begins = np.unique(self._file[first:last][order], return_index=True)
        for file, some in zip(found.tolist(), np.split(order, begins[1:]), strict=True):
            sequences = self._sequence[first:last][some]
            stored = _opened(self._prefixes[file], dtype, sequences, lengths[some])
            copy_segments(into, at[some], stored.tokens, stored.starts[sequences], lengths[some])
        return into


def _opened(prefix: Path, dtype: np.dtype[Any], sequences: Positions, lengths: Positions) -> IndexedTokens:
    """A store file that holds what the plan says."""
    stored = IndexedTokens(prefix)
    if stored.dtype != dtype:
        raise ShardError(
            f"{prefix}.idx says {stored.dtype} and the tokenizer's vocabulary asks for {dtype}: another tokenizer made "
            f"this store; delete {STORE}/ and run again"
        )
    if len(sequences) and not (0 <= int(sequences.min()) and int(sequences.max()) < len(stored)):
        raise LedgerError(
            f"{prefix}.idx holds {len(stored)} documents and the plan asks for number {int(sequences.max())}; run "
            "again: plan and store will be made anew from their inputs"
        )
    differing = np.flatnonzero(stored.lengths[sequences] != lengths)
    if len(differing):
        at = int(differing[0])
        raise LedgerError(
            f"{prefix}.idx: document {int(sequences[at])} has {int(stored.lengths[sequences[at]])} tokens and the plan "
            f"counted {int(lengths[at])}; run again: plan and store will be made anew from their inputs"
        )
    return stored
