"""Repeated lines: who has each, and which documents lose theirs.

    record     a file's lines         -> LINE: each different one with how many documents have it and the first of them
    answer     all records of a line  -> LAST: the last document that keeps the line, to every file that has it
    doomed     a file's lines         -> those of documents that come after that one

A line counts once for each document that has it, and those that keep it keep every copy of it: copies within one
document are the business of the line rule `line_repeated`. The order of documents, by source and id, alone decides.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from glotmill.curate.blocks.packed import numbers
from glotmill.curate.dedup.repeats.documents import Batch, Hashes, Ints, Order
from glotmill.curate.kernels.firsts import find
from glotmill.curate.kernels.line_keys import line_keys
from glotmill.curate.kernels.lines import line_words
from glotmill.curate.kernels.pieces import Pieces
from glotmill.schemas.recipe import Lines

LINE, LAST = "line", "last"
_KEY = [("high", pa.uint64()), ("low", pa.uint64())]
_ORDER = [("source", pa.int32()), ("id_high", pa.uint64()), ("id_low", pa.uint64())]
LINE_SCHEMA = pa.schema([*_KEY, *_ORDER, ("documents", pa.int64()), ("file", pa.int32())])
LAST_SCHEMA = pa.schema([*_KEY, *_ORDER])


def keyed_lines(batch: Batch, cut: Pieces, asked: Lines) -> tuple[Ints, Ints, Hashes, Hashes]:
    """The lines that are long enough: their places in `cut`, the documents they are in, and their keys."""
    words, _ = line_words(cut)
    lines = np.flatnonzero((words >= asked.min_words) & (cut.line_chars >= asked.min_chars))
    document = np.searchsorted(cut.line_bounds, lines, side="right") - 1
    high, low = line_keys(cut, lines)
    return lines, document, high ^ batch.scope[document], low


@dataclass(slots=True)
class Seen:
    """The lines of a file, as they are read."""

    high: list[Hashes] = field(default_factory=list)
    low: list[Hashes] = field(default_factory=list)
    document: list[Ints] = field(default_factory=list)
    source: list[npt.NDArray[np.int32]] = field(default_factory=list)
    id: list[Hashes] = field(default_factory=list)
    documents: int = 0

    def add(self, batch: Batch, cut: Pieces, asked: Lines) -> None:
        _, document, high, low = keyed_lines(batch, cut, asked)
        self.high.append(high)
        self.low.append(low)
        self.document.append(document + self.documents)
        self.source.append(batch.order.source)
        self.id.append(batch.order.id)
        self.documents += len(batch.row)

    def records(self, file: int, asked: Lines) -> pa.RecordBatch:
        """LINE_SCHEMA: of every different line its first `keep` documents; the first record has their number."""
        if not self.documents:
            return pa.RecordBatch.from_pylist([], schema=LINE_SCHEMA)
        order = Order(np.concatenate(self.source), np.concatenate(self.id))
        document = np.concatenate(self.document)
        high, low = np.concatenate(self.high), np.concatenate(self.low)
        rank = order.rank()[document]
        sorting = _by_key(high, low, rank)
        high, low, document, rank = high[sorting], low[sorting], document[sorting], rank[sorting]
        again = np.zeros(len(rank), np.bool_)  # in the same document
        again[1:] = _same(high, low) & (rank[1:] == rank[:-1])
        high, low, document = high[~again], low[~again], document[~again]
        starts, nth = _groups(high, low)
        count = np.zeros(len(high), np.int64)
        count[starts] = np.diff(np.append(starts, len(high)))
        first = nth < asked.keep
        files = np.full(len(high), file, np.int32)
        return _records(LINE_SCHEMA, first, high, low, order.take(document), count, files)


def answer(records: pa.RecordBatch, asked: Lines) -> tuple[pa.RecordBatch, npt.NDArray[np.int32]]:
    """LAST_SCHEMA for the lines that enough documents have, and the file that each record is for."""
    high, low = numbers(records["high"]), numbers(records["low"])
    order = _order(records)
    count, file = numbers(records["documents"]), numbers(records["file"])
    sorting = np.argsort(high, kind="stable")
    is_shared = np.zeros(len(high), np.bool_)  # most lines stand in one document and are done with here
    shared = high[sorting][1:] == high[sorting][:-1]
    is_shared[sorting[1:][shared]] = is_shared[sorting[:-1][shared]] = True
    some = np.flatnonzero(is_shared | (count > 1))
    order = order.take(some)
    sorting = _by_key(high[some], low[some], order.rank())
    some, order = some[sorting], order.take(sorting)
    high, low, count, file = high[some], low[some], count[some], file[some]
    starts, nth = _groups(high, low)
    if not len(starts):
        return pa.RecordBatch.from_pylist([], schema=LAST_SCHEMA), np.zeros(0, np.int32)
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(high))))
    documents = np.add.reduceat(count, starts)
    repeated = (documents >= asked.min_documents) & (documents > asked.keep)
    last = order.take(np.minimum(starts + asked.keep - 1, len(high) - 1)[group])
    taken = repeated[group] & _first_of_file(group, file)
    return _records(LAST_SCHEMA, taken, high, low, last), file[taken]


def doomed(batch: Batch, cut: Pieces, asked: Lines, told: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    """Whether a line is cut out.

    Args:
        told: LAST_SCHEMA, all records for the file.
    """
    out = np.zeros(len(cut.line_start), np.bool_)
    if not told.num_rows:
        return out
    lines, document, high, low = keyed_lines(batch, cut, asked)
    at = find(numbers(told["high"]), numbers(told["low"]), high, low)
    known = np.flatnonzero(at >= 0)
    at = at[known]
    out[lines[known]] = batch.order.take(document[known]).after(_order(told).take(at))
    return out


def _records(schema: pa.Schema, taken: Any, high: Hashes, low: Hashes, order: Order, *others: Any) -> pa.RecordBatch:
    columns = [high, low, order.source, order.id[:, 0], order.id[:, 1], *others]
    return pa.RecordBatch.from_arrays([pa.array(column[taken]) for column in columns], schema=schema)


def _order(records: pa.RecordBatch) -> Order:
    return Order(numbers(records["source"]), np.column_stack([numbers(records[n]) for n in ("id_high", "id_low")]))


def _by_key(high: Hashes, low: Hashes, rank: Ints) -> Ints:
    return np.lexsort((rank, low, high))


def _same(high: Hashes, low: Hashes) -> npt.NDArray[np.bool_]:
    """Whether sorted keys equal the ones before them, from the second on."""
    found: npt.NDArray[np.bool_] = (high[1:] == high[:-1]) & (low[1:] == low[:-1])
    return found


def _groups(high: Hashes, low: Hashes) -> tuple[Ints, Ints]:
    """Of sorted keys, where each run of equal ones starts, and each one's place in its run."""
    is_first = np.ones(len(high), np.bool_)
    is_first[1:] = ~_same(high, low)
    starts = np.flatnonzero(is_first)
    nth = np.arange(len(high)) - np.repeat(starts, np.diff(np.append(starts, len(high))))
    return starts, nth


def _first_of_file(group: Ints, file: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Whether a record is the first one of its group from its file."""
    order = np.lexsort((file, group))
    out = np.ones(len(group), np.bool_)
    out[order[1:]] = (group[order][1:] != group[order][:-1]) | (file[order][1:] != file[order][:-1])
    return out
