"""Long stretches of text that an earlier document has, too: which windows of units occurred before, and where first.

    prints     a file's fingerprints        -> PRINT, to the part of each; ROW: documents with repeats in the file
    shared     equal fingerprints           -> SHARED: those that occur twice, to every file that has them
    occurring  a file's windows with those  -> WINDOW: the first of each kind, by print; RUN: the others, to itself
    repeated   equal windows                -> RUN: where each one occurs first, to its file
    passages   all runs of a file           -> the stretches that it shares with one earlier place

Fingerprints (kernels/winnow.py) tell which windows can't be anywhere else, so that only a text's repeated part is
compared, and that by all its windows: no stretch of enough units is missed, whatever else shares a piece of it. Were a
document compared with the first one alone that has a fingerprint, a shorter quotation there would hide a longer one
elsewhere. A file sends one window of a kind, so that what a million documents share costs little more than what two do.

A sentence longer than a window has several, each with its own first place. It goes when these are one stretch of one
document; when others have parts of it earlier still, it may stay.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from glotmill.curate.blocks.packed import numbers
from glotmill.curate.dedup.repeats.documents import Batch, Hashes, Ints, Order, file_of, node_of, row_of
from glotmill.curate.kernels.firsts import firsts
from glotmill.curate.kernels.pieces import Pieces
from glotmill.curate.kernels.winnow import window_ends, window_keys, windows

PRINT, ROW, SHARED, WINDOW, OWNER, RUN = "print", "row", "shared", "window", "owner", "run"
PRINT_SCHEMA = pa.schema([("print", pa.uint64()), ("again", pa.bool_()), ("file", pa.int32()), ("row", pa.int32())])
ROW_SCHEMA = pa.schema([("file", pa.int32()), ("row", pa.int32())])
SHARED_SCHEMA = pa.schema([("print", pa.uint64()), ("row", pa.int32())])
WINDOW_SCHEMA = pa.schema([("high", pa.uint64()), ("low", pa.uint64()), ("node", pa.int64()), ("unit", pa.int32())])
OWNER_SCHEMA = pa.schema(
    [("node", pa.int64()), ("source", pa.int32()), ("id_high", pa.uint64()), ("id_low", pa.uint64())]
)
# `count` windows, one from each unit on, and where their like stand first.
RUN_SCHEMA = pa.schema(
    [
        (n, pa.int64() if n.endswith("node") else pa.int32())
        for n in ("node", "unit", "count", "first_node", "first_unit")
    ]
)
_SCHEMAS = (WINDOW_SCHEMA, OWNER_SCHEMA, RUN_SCHEMA)
_UNIT_BITS = 32


def prints(batch: Batch, cut: Pieces, *, words: int) -> tuple[Hashes, Ints]:
    """The fingerprints of n texts, one for each k-gram that has it, and the row of each one's document."""
    found = windows(cut, words=words)
    hashes, counts = found.runs()
    first = found.units[np.cumsum(counts) - counts]
    return hashes, batch.row[np.searchsorted(cut.unit_bounds, first, side="right") - 1]


def print_records(found: Sequence[tuple[Hashes, Ints]], file: int) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """PRINT_SCHEMA of a file's fingerprints, each once: whether it stands more than once in the file, and the row of a
    document that has it; ROW_SCHEMA of all documents that have one that stands more than once.
    """
    hashes = np.concatenate([np.empty(0, np.uint64), *(of for of, _ in found)])
    row = np.concatenate([np.empty(0, np.int64), *(of for _, of in found)])
    order = np.argsort(hashes)
    hashes, row = hashes[order], row[order]
    is_first = np.ones(len(hashes), np.bool_)
    is_first[1:] = hashes[1:] != hashes[:-1]
    starts = np.flatnonzero(is_first)
    again = np.diff(np.append(starts, len(hashes))) > 1
    rows = np.unique(row[again[np.cumsum(is_first) - 1]])
    of_prints = [hashes[starts], again, np.full(len(starts), file, np.int32), row[starts].astype(np.int32)]
    of_rows = [np.full(len(rows), file, np.int32), rows.astype(np.int32)]
    return (
        pa.RecordBatch.from_arrays([pa.array(column) for column in of_prints], schema=PRINT_SCHEMA),
        pa.RecordBatch.from_arrays([pa.array(column) for column in of_rows], schema=ROW_SCHEMA),
    )


def shared(records: pa.RecordBatch) -> tuple[pa.RecordBatch, npt.NDArray[np.int32]]:
    """SHARED_SCHEMA of the fingerprints that occur twice or more, and the file that each record is for."""
    hashes = numbers(records["print"])
    order = np.argsort(hashes)
    taken = records["again"].to_numpy(zero_copy_only=False)[order]
    equal = hashes[order][1:] == hashes[order][:-1]
    taken[1:] |= equal
    taken[:-1] |= equal
    found = records.take(pa.array(order[taken]))
    return found.select(SHARED_SCHEMA.names), numbers(found["file"])


class Occurring:
    """The windows of a file that may occur elsewhere, as they are read."""

    def __init__(self, among: Hashes) -> None:
        """`among`: the fingerprints of those windows."""
        self._among = np.sort(among)
        self._keys: list[tuple[Hashes, Hashes]] = []
        self._prints: list[Hashes] = []
        self._document: list[Ints] = []
        self._unit: list[Ints] = []
        self._row: list[Ints] = []
        self._order: list[Order] = []
        self._documents = 0

    def add(self, batch: Batch, cut: Pieces, *, words: int) -> None:
        found = windows(cut, words=words).among(self._among)
        document = np.searchsorted(cut.unit_bounds, found.units, side="right") - 1
        self._keys.append(window_keys(cut, found))
        self._prints.append(found.prints)
        self._document.append(document + self._documents)
        self._unit.append(found.units - cut.unit_bounds[document])
        self._row.append(batch.row)
        self._order.append(batch.order)
        self._documents += len(batch.row)

    def records(self, file: int) -> tuple[pa.RecordBatch, pa.RecordBatch, Hashes, pa.RecordBatch]:
        """The first window of each kind, and the others.

        Returns:
            WINDOW_SCHEMA, OWNER_SCHEMA of their documents (as many, in the same order), their fingerprints; and
            RUN_SCHEMA of the other windows, whose first place here is that of the file.
        """
        if not self._documents:
            windows, owner, again = (pa.RecordBatch.from_pylist([], schema=s) for s in _SCHEMAS)
            return windows, owner, np.empty(0, np.uint64), again
        high, low = (np.concatenate([keys[half] for keys in self._keys]) for half in (0, 1))
        document, unit = np.concatenate(self._document), np.concatenate(self._unit)
        node = node_of(file, np.concatenate(self._row))[document]
        order = Order(
            np.concatenate([order.source for order in self._order]), np.concatenate([order.id for order in self._order])
        )
        first = firsts(high, low, order.rank()[document], unit)
        is_first = first == np.arange(len(first))
        mine, again = np.flatnonzero(is_first), np.flatnonzero(~is_first)
        columns = [high[mine], low[mine], node[mine], unit[mine].astype(np.int32)]
        return (
            pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=WINDOW_SCHEMA),
            owners(node[mine], order.take(document[mine])),
            np.concatenate(self._prints)[mine],
            runs(node[again], unit[again], node[first[again]], unit[first[again]]),
        )


def owners(node: Ints, order: Order) -> pa.RecordBatch:
    """OWNER_SCHEMA."""
    columns = [node, order.source, order.id[:, 0], order.id[:, 1]]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=OWNER_SCHEMA)


def once_a_part(owner: pa.RecordBatch, part: npt.NDArray[Any]) -> tuple[pa.RecordBatch, npt.NDArray[Any]]:
    """Of records that say the same of a document, one for each part."""
    node = numbers(owner["node"])
    order = np.lexsort((node, part))
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (node[order][1:] != node[order][:-1]) | (part[order][1:] != part[order][:-1])
    taken = order[is_new]
    return owner.take(pa.array(taken)), part[taken]


def repeated(records: pa.RecordBatch, owner: pa.RecordBatch) -> pa.RecordBatch:
    """RUN_SCHEMA of the windows that aren't the first of their kind.

    Args:
        records: WINDOW_SCHEMA; all of a kind are there.
        owner: OWNER_SCHEMA of their documents.
    """
    node, unit = numbers(records["node"]), numbers(records["unit"]).astype(np.int64)
    names, at = np.unique(numbers(owner["node"]), return_index=True)
    order = Order(
        numbers(owner["source"])[at], np.column_stack([numbers(owner[name])[at] for name in ("id_high", "id_low")])
    )
    rank = order.rank()[np.searchsorted(names, node)]
    first = firsts(numbers(records["high"]), numbers(records["low"]), rank, unit)
    again = np.flatnonzero(first != np.arange(len(first)))
    return runs(node[again], unit[again], node[first[again]], unit[first[again]])


def runs(node: Ints, unit: Ints, first_node: Ints, first_unit: Ints) -> pa.RecordBatch:
    """RUN_SCHEMA: windows one after another, whose like stand one after another, as one record."""
    order = np.lexsort((unit, node))
    node, unit, first_node, first_unit = node[order], unit[order], first_node[order], first_unit[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (
        (node[1:] != node[:-1])
        | (unit[1:] != unit[:-1] + 1)
        | (first_node[1:] != first_node[:-1])
        | (first_unit[1:] != first_unit[:-1] + 1)
    )
    starts = np.flatnonzero(is_new)
    count = np.diff(np.append(starts, len(order)))
    columns = [node[starts], unit[starts], count, first_node[starts], first_unit[starts]]
    arrays = [pa.array(column.astype(f.type.to_pandas_dtype())) for column, f in zip(columns, RUN_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=RUN_SCHEMA)


class Passages:
    """Where the windows of a file's documents stand first, of those that stand anywhere before.

    Args:
        file: Its number.
        found: RUN_SCHEMA, of all files and of itself.
    """

    def __init__(self, file: int, found: pa.RecordBatch) -> None:
        node, unit, first_node, first_unit = _exploded(found)
        place = _place(row_of(node), unit)
        elsewhere = file_of(first_node) != file
        order = np.argsort(place[elsewhere])
        answers = [values[elsewhere][order] for values in (place, first_node, first_unit)]
        # What stands first in this file may stand in another one before.
        asked = _place(row_of(first_node), first_unit)[~elsewhere]
        at = np.searchsorted(answers[0], asked)
        at[at == len(answers[0])] = 0
        known = answers[0][at] == asked if len(answers[0]) else np.zeros(len(asked), np.bool_)
        first_node, first_unit = first_node.copy(), first_unit.copy()
        replaced = np.flatnonzero(~elsewhere)[known]
        first_node[replaced], first_unit[replaced] = answers[1][at[known]], answers[2][at[known]]
        order = np.argsort(place)
        self._place, self._node, self._unit = place[order], first_node[order], first_unit[order]
        self._file = file

    def has_any(self, row: Ints) -> npt.NDArray[np.bool_]:
        """Whether there is one in the document of each row."""
        low, high = self._bounds(row)
        return high > low

    def _bounds(self, row: Ints) -> tuple[Ints, Ints]:
        nothing = np.zeros(len(row), np.int64)
        low, high = (np.searchsorted(self._place, _place(row + one, nothing)) for one in (0, 1))
        return low, high

    def stretches(self, batch: Batch, cut: Pieces, *, words: int) -> tuple[Ints, Ints, Ints]:
        """The runs of units that a document shares with one stretch of an earlier one, or of itself before.

        Returns:
            int64 (r,) each: the document's place in the batch, the first unit, and one past the last one; units are
            places in `cut`.
        """
        low, high = self._bounds(batch.row)
        mine = np.repeat(low - np.concatenate(([0], np.cumsum(high - low)[:-1])), high - low) + np.arange(
            (high - low).sum()
        )
        document = np.repeat(np.arange(len(low)), high - low)
        unit = self._place[mine] & np.int64((1 << _UNIT_BITS) - 1)
        start = cut.unit_bounds[document] + unit
        end = window_ends(cut, words=words)[start]
        node, shift = self._node[mine], unit - self._unit[mine]
        itself = node == node_of(self._file, batch.row[document])
        apart = ~itself | (end - start <= shift)  # else the two overlap, and the first would be cut
        document, start, end, node, shift = (v[apart] for v in (document, start, end, node, shift))
        order = np.lexsort((start, shift, node, document))
        document, start, end, node, shift = (v[order] for v in (document, start, end, node, shift))
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = (
            (document[1:] != document[:-1])
            | (node[1:] != node[:-1])
            | (shift[1:] != shift[:-1])
            | (start[1:] > end[:-1])  # windows end the later the later they start
        )
        first = np.flatnonzero(is_new)
        last = np.append(first[1:], len(order))[: len(first)] - 1
        return document[first], start[first], end[last]


def _exploded(found: pa.RecordBatch) -> tuple[Ints, Ints, Ints, Ints]:
    """Node and unit of each window, and of its first like."""
    count = numbers(found["count"]).astype(np.int64)
    nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    node, unit, first_node, first_unit = (
        np.repeat(numbers(found[name]).astype(np.int64), count) for name in ("node", "unit", "first_node", "first_unit")
    )
    return node, unit + nth, first_node, first_unit + nth


def _place(row: Ints, unit: Ints) -> Ints:
    """One number for a document's unit, ascending with both."""
    return (row << _UNIT_BITS) + unit
