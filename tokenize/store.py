"""The token store: the kept documents of a unit as Megatron data, one pair of files a cell (language x domain).

`tokens/<language>.<domain>/<unit>.bin` holds the tokens, `.docs.parquet` (schema TOKENIZED) says which document is
which row of `.idx`. Documents of a cell are in the order of their ids. A cell's files are valid on their own, so a team
that mixes while it trains stops here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from glotmill.schemas.atomic import Transaction
from glotmill.schemas.document import TOKENIZED
from glotmill.schemas.errors import LedgerError, ShardError
from glotmill.schemas.ids import fingerprint
from glotmill.schemas.indexed import IndexedWriter, Tokens, dtype_for
from glotmill.schemas.parquet import write_table
from glotmill.schemas.units import Books, Outcome, Unit
from glotmill.tokenize.kept import kept_documents
from glotmill.tokenize.segments import Positions, copy_segments, framed, windows
from glotmill.tokenize.tokenizer import Tokenizer, check_policy, slices

STORE = "tokens"
DOCUMENT_COLUMNS = ["source", "record", "url", "license"]
_WINDOW = 1 << 24  # tokens put in order at a time


@dataclass(frozen=True, slots=True)
class Cell:
    """Documents of one language and domain.

    >>> Cell("ita_Latn", "web").name
    'ita_Latn.web'
    """

    language: str
    domain: str

    @property
    def name(self) -> str:
        return f"{self.language}.{self.domain}"


def tokenize_unit(
    unit: Unit, files: Transaction, *, out: Path, tokenizer: Tokenizer, append_eos: bool, prepend_bos: bool
) -> tuple[Outcome, tuple[()]]:
    """Tokenize the kept documents of one unit.

    Args:
        unit: Its key names the Parquet files of documents/ and kept/.
        files: Takes `tokens/<cell>/<key>.bin`, `.docs.parquet` and `.idx`, in this order, for every cell.

    Returns:
        Outcome with `digests["tokens"]` over all cells and `facts["cells"] = {cell: {documents, tokens, bytes}}`.

    Raises:
        RecipeError: the tokenizer lacks a control token that is asked for.
        LedgerError: kept/ names a document that documents/ lacks.

    Memory: the tokens of the unit in the store's dtype, and its document table without the texts.
    """
    check_policy(tokenizer, append_eos=append_eos, prepend_bos=prepend_bos)
    kept = pq.read_metadata(out / "kept" / f"{unit.key}.parquet").num_rows
    read = _Read([], [], [])
    for batch in kept_documents(out, unit.key, columns=DOCUMENT_COLUMNS, joined=["language", "domain"]):
        _encode(batch, read, tokenizer, append_eos=append_eos, prepend_bos=prepend_bos)
    table = pa.Table.from_batches(read.documents, _READ) if read.documents else _READ.empty_table()
    if len(table) != kept:
        raise LedgerError(
            f"{out}: kept/{unit.key}.parquet names {kept} documents and documents/{unit.key}.parquet holds "
            f"{len(table)} of them; run again: both will be made anew from their inputs"
        )
    outcome = Outcome(books=Books(records=kept, kept=len(table)), bytes_in=pc.sum(table["bytes"]).as_py() or 0)
    source = np.concatenate(read.tokens) if read.tokens else np.empty(0, dtype_for(tokenizer.vocabulary_size))
    read.tokens.clear()
    digests = {}
    for cell, rows in _by_cell(table):
        digests[cell.name], outcome.facts.setdefault("cells", {})[cell.name] = _write_cell(
            files, f"{STORE}/{cell.name}/{unit.key}", table.take(rows), source, tokenizer.vocabulary_size
        )
    outcome.facts.setdefault("cells", {})
    outcome.digests["tokens"] = fingerprint(sorted(digests.items()))
    return outcome, ()


@dataclass(slots=True)
class _Read:
    """What a unit's documents gave so far: batches of _READ, the tokens of each batch, and where each batch begins."""

    documents: list[pa.RecordBatch]
    tokens: list[Tokens]
    begins: list[int]


_READ = pa.schema([*(field for field in TOKENIZED if field.name != "sequence"), pa.field("start", pa.int64())])


def _encode(batch: pa.RecordBatch, read: _Read, tokenizer: Tokenizer, *, append_eos: bool, prepend_bos: bool) -> None:
    """Add the documents of one batch to `read`."""
    texts = batch["text"]
    lengths = []
    begin = read.begins[-1] if read.begins else 0
    dtype = dtype_for(tokenizer.vocabulary_size)
    for part in slices(texts):
        ids, offsets = tokenizer.encode_batch(part)
        _check_ids(ids, tokenizer)
        before, after = tokenizer.bos_id if prepend_bos else None, tokenizer.eos_id if append_eos else None
        tokens, counts = framed(ids, offsets, before=before, after=after, dtype=dtype)
        read.tokens.append(tokens)
        lengths.append(counts)
    counts = np.concatenate(lengths)
    columns = {
        **{name: batch[name] for name in batch.schema.names if name != "text"},
        "tokens": counts,
        "chars": pc.utf8_length(texts).cast(pa.int64()),
        "bytes": pc.binary_length(texts).cast(pa.int64()),
        "start": begin + np.cumsum(counts) - counts,
    }
    read.documents.append(pa.RecordBatch.from_pydict(columns, schema=_READ))
    read.begins.append(begin + int(counts.sum()))


def _check_ids(ids: NDArray[np.int32], tokenizer: Tokenizer) -> None:
    """Before a narrower dtype could hide it."""
    if len(ids) and not (0 <= int(ids.min()) and int(ids.max()) < tokenizer.vocabulary_size):
        raise ShardError(
            f"{tokenizer.name} gave ids from {int(ids.min())} to {int(ids.max())} and its vocabulary has "
            f"{tokenizer.vocabulary_size}; its files contradict one another: get them anew"
        )


def _by_cell(table: pa.Table) -> Iterator[tuple[Cell, pa.Array]]:
    """The rows of every cell, by name of the cell, each cell's in the order of ids."""
    order = pc.sort_indices(table, [(name, "ascending") for name in ("language", "domain", "id")])
    names = table.select(["language", "domain"]).take(order)
    codes = [names[name].combine_chunks().dictionary_encode().indices.to_numpy() for name in names.schema.names]
    changes = np.logical_or.reduce([code[1:] != code[:-1] for code in codes])
    bounds = [0, *(np.flatnonzero(changes) + 1).tolist(), len(order)]
    for first, last in zip(bounds, bounds[1:], strict=False):
        if last > first:
            yield Cell(names["language"][first].as_py(), names["domain"][first].as_py()), order[first:last]


def _write_cell(
    files: Transaction, prefix: str, table: pa.Table, source: Tokens, vocabulary_size: int
) -> tuple[str, dict[str, Any]]:
    """Write one cell's files; its digest and its counts."""
    starts, lengths = table["start"].to_numpy(), table["tokens"].to_numpy()
    with IndexedWriter(files.path(f"{prefix}.bin"), vocabulary_size=vocabulary_size) as writer:
        for first, last in windows(lengths, most=_WINDOW):
            writer.add(_gathered(source, starts[first:last], lengths[first:last]), lengths[first:last])
        rows = table.drop_columns("start").add_column(1, TOKENIZED.field("sequence"), [np.arange(len(table))])
        _, documents = write_table(files.path(f"{prefix}.docs.parquet"), [rows], TOKENIZED)
        tokens = writer.finish(files.path(f"{prefix}.idx"))
    counts = {"documents": len(table), "tokens": writer.tokens, "bytes": pc.sum(table["bytes"]).as_py()}
    return fingerprint([tokens, documents]), counts


def _gathered(source: Tokens, starts: Positions, lengths: Positions) -> Tokens:
    into = np.empty(int(lengths.sum()), source.dtype)
    copy_segments(into, np.cumsum(lengths) - lengths, source, starts, lengths)
    return into
