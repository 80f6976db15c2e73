"""The repeats of one file: read, told, and cut out; written to OUT/repeats."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glotmill.curate.blocks.packed import Kinds, numbers, spread
from glotmill.curate.dedup.repeats import lines, substrings
from glotmill.curate.dedup.repeats.documents import Asked, Batch, Hashes, Ints, batches, file_of
from glotmill.curate.dedup.repeats.lines import LAST, LAST_SCHEMA, LINE, LINE_SCHEMA, Seen
from glotmill.curate.dedup.repeats.substrings import (
    OWNER,
    OWNER_SCHEMA,
    PRINT,
    PRINT_SCHEMA,
    ROW,
    ROW_SCHEMA,
    RUN,
    RUN_SCHEMA,
    SHARED,
    SHARED_SCHEMA,
    WINDOW,
    WINDOW_SCHEMA,
    Occurring,
    Passages,
)
from glotmill.curate.kernels import lines as line_spans
from glotmill.curate.kernels.pieces import Pieces, pieces
from glotmill.curate.kernels.sentence_spans import covered_sentences, sentence_spans
from glotmill.curate.kernels.spans import Spans, after_cuts, sorted_spans, with_blank_lines
from glotmill.curate.lines import count_cuts
from glotmill.schemas.atomic import Transaction
from glotmill.schemas.document import EDITS, REPEATS
from glotmill.schemas.edits import apply_edits
from glotmill.schemas.parquet import write_table
from glotmill.schemas.units import Books, Outcome, Unit

Blocks = Iterator[pa.RecordBatch]
LINE_REASON, TEXT_REASON = "repeated_line", "repeated_text"


def read(file: tuple[int, str], *, out: Path, asked: Asked, parts: int) -> Blocks:
    """LINE and PRINT records of a file, to the part of each line and fingerprint; ROW records, which pass through."""
    number, key = file
    seen, prints = Seen(), []
    for batch in batches(key, out, asked):
        cut = pieces(batch.text)
        if asked.lines is not None:
            seen.add(batch, cut, asked.lines)
        if asked.substrings is not None:
            prints.append(substrings.prints(batch, cut, words=asked.substrings.units))
    if asked.lines is not None:
        records = seen.records(number, asked.lines)
        yield from spread(records, _part(records["high"].to_numpy(), parts), LINE)
    if asked.substrings is not None:
        records, rows = substrings.print_records(prints, number)
        yield from spread(records, _part(records["print"].to_numpy(), parts), PRINT)
        yield from spread(rows, np.full(rows.num_rows, number % parts), ROW)  # any part will do


def compare(part: int, kinds: Kinds, *, asked: Asked) -> Blocks:
    """LAST, SHARED and ROW records, to the files that they are for."""
    if asked.lines is not None:
        yield from spread(*lines.answer(kinds.table(LINE, LINE_SCHEMA), asked.lines), LAST)
    if asked.substrings is not None:
        yield from spread(*substrings.shared(kinds.table(PRINT, PRINT_SCHEMA)), SHARED)
        rows = kinds.table(ROW, ROW_SCHEMA)
        yield from spread(rows, numbers(rows["file"]), ROW)


def reread(part: int, kinds: Kinds, *, files: tuple[str, ...], out: Path, asked: Asked, parts: int) -> Blocks:
    """WINDOW and OWNER records of a file, to the part of each window; RUN records to itself."""
    assert asked.substrings is not None
    shared, others = kinds.table(SHARED, SHARED_SCHEMA), kinds.table(ROW, ROW_SCHEMA)
    occurring = Occurring(numbers(shared["print"]))
    rows = np.unique(np.concatenate([numbers(shared["row"]), numbers(others["row"])])).astype(np.int64)
    for batch in batches(files[part], out, asked, rows):
        occurring.add(batch, pieces(batch.text), words=asked.substrings.units)
    windows, owner, prints, again = occurring.records(part)
    of_window = _part(prints, parts)  # neighbours stay together, and equal ones have equal fingerprints
    yield from spread(windows, of_window, WINDOW)
    yield from spread(*substrings.once_a_part(owner, of_window), OWNER)
    yield from spread(again, np.full(again.num_rows, part, np.int32), RUN)


def locate(part: int, kinds: Kinds) -> Blocks:
    """RUN records, to the file of the windows that occurred before."""
    found = substrings.repeated(kinds.table(WINDOW, WINDOW_SCHEMA), kinds.table(OWNER, OWNER_SCHEMA))
    yield from spread(found, file_of(found["node"].to_numpy()), RUN)


def write_repeats(unit: Unit, files: Transaction, part: int, kinds: Kinds, *, out: Path, asked: Asked) -> Outcome:
    """Write repeats/<unit.key>.parquet (REPEATS), a row for each document that deduplication keeps, sorted by id.

    Args:
        part: Number of the file.
        kinds: LAST and RUN records for it.

    Returns:
        Books (documents of which nothing is left are dropped), the table's digest, and as facts the lines and code
        points cut out by each reason.
    """
    told, passages = kinds.table(LAST, LAST_SCHEMA), Passages(part, kinds.table(RUN, RUN_SCHEMA))
    rows = []
    counts: dict[str, Counter[str]] = {}
    read = 0
    for batch in batches(unit.key, out, asked):
        table, new = repeats(batch, asked, told, passages)
        rows.append(table)
        read += pc.sum(pc.binary_length(batch.text)).as_py() or 0
        for reason, of in count_cuts(batch.text, new).items():
            counts.setdefault(reason, Counter()).update(of)
    table = pa.concat_tables(rows).sort_by("id").combine_chunks() if rows else REPEATS.empty_table()
    n, digest = write_table(files.path(f"repeats/{unit.key}.parquet"), [table], REPEATS)
    empty = pc.sum(table["empty"]).as_py() or 0
    books = Books(records=n, kept=n - empty, dropped={TEXT_REASON: empty} if empty else {})
    facts = {"cuts": {reason: dict(counts[reason]) for reason in sorted(counts)}}
    return Outcome(books, {"repeats": digest}, bytes_in=read, facts=facts)


def repeats(batch: Batch, asked: Asked, told: pa.RecordBatch, passages: Passages) -> tuple[pa.Table, pa.ListArray]:
    """REPEATS of n documents; and what is new in it, as EDITS of their texts without the line rules' cuts.

    Args:
        told: LAST_SCHEMA of the batch's file.
        passages: Of the batch's file.
    """
    n = len(batch.row)
    found = new_spans(batch, asked, told, passages)
    new = _edits(found, [LINE_REASON, TEXT_REASON])
    cuts, text = batch.cuts, batch.text
    empty = np.zeros(n, np.bool_)
    if len(found[1]):
        cuts = _merged(cuts, found)
        text = apply_edits(batch.text, new)
        blank = pc.equal(pc.binary_length(pc.utf8_trim_whitespace(text)), 0).to_numpy(zero_copy_only=False)
        empty = blank & (np.diff(found[0]) > 0)
    bytes_left = pc.binary_length(text).cast(pa.int64())
    return pa.table([batch.id, cuts, bytes_left, pa.array(empty)], schema=REPEATS), new


def new_spans(batch: Batch, asked: Asked, told: pa.RecordBatch, passages: Passages) -> Spans:
    """What is cut out of n texts: bounds, starts, ends, and 0 for a repeated line, 1 for repeated text."""
    n = len(batch.row)
    may_change = ~_of_reference(batch, asked)
    if asked.lines is None or not told.num_rows:
        may_change &= passages.has_any(batch.row)
    places = np.flatnonzero(may_change)  # the others aren't cut into pieces
    bounds, *spans = _spans(batch.take(places), asked, told, passages)
    document = np.repeat(places, np.diff(bounds))
    return sorted_spans(n, document, *spans)


def _spans(batch: Batch, asked: Asked, told: pa.RecordBatch, passages: Passages) -> Spans:
    cut = pieces(batch.text)
    why = np.full(len(cut.line_start), line_spans.KEPT, np.int16)
    inner: tuple[Ints, Ints, Ints] = (np.empty(0, np.int64),) * 3
    if asked.substrings is not None:
        stretches = passages.stretches(batch, cut, words=asked.substrings.units)
        whole, *inner = sentence_spans(cut, covered_sentences(cut, *stretches))  # type: ignore[assignment]
        why[whole] = 1
    if asked.lines is not None:
        why[lines.doomed(batch, cut, asked.lines, told)] = 0
    inner = _outside(cut, why, *inner)
    bounds, start, end, reason = line_spans.spans(cut, why)
    document = np.repeat(np.arange(len(batch.row)), np.diff(bounds))
    both = zip((document, start, end, reason), (*inner, np.ones(len(inner[0]), np.int64)), strict=True)
    return with_blank_lines(cut, sorted_spans(len(batch.row), *(np.concatenate(values) for values in both)))


def _outside(cut: Pieces, why: np.ndarray, document: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Spans within lines, without those in lines that go whole."""
    line = np.searchsorted(cut.line_start, cut.offsets[document] + start, side="right") - 1
    stays = why[line] == line_spans.KEPT if len(line) else np.zeros(0, np.bool_)
    return document[stays], start[stays], end[stays]


def _of_reference(batch: Batch, asked: Asked) -> np.ndarray:
    found: np.ndarray = batch.order.source < asked.reference
    return found


def _edits(spans: Spans, reasons: list[str]) -> pa.ListArray:
    bounds, start, end, reason = spans
    names = pa.array(reasons, pa.string()).take(pa.array(reason))
    values = [pa.array(start.astype(np.int32)), pa.array(end.astype(np.int32)), names]
    edits = pa.StructArray.from_arrays(values, fields=list(EDITS.value_type))
    return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), edits, type=EDITS)


def _merged(cuts: pa.ListArray, spans: Spans) -> pa.ListArray:
    """Cuts of n texts with spans of what they leave, as EDITS of the texts."""
    values = cuts.flatten()
    bounds = cuts.offsets.to_numpy().astype(np.int64)
    coded = values.field("reason").dictionary_encode()
    start, end = (values.field(name).to_numpy().astype(np.int64) for name in ("start", "end"))
    old = (bounds - bounds[0], start, end, coded.indices.to_numpy().astype(np.int64))
    known = coded.dictionary.to_pylist()
    shifted = (*spans[:3], spans[3] + len(known))
    return _edits(after_cuts(old, shifted), [*known, LINE_REASON, TEXT_REASON])


def _part(hashes: Hashes, parts: int) -> np.ndarray:
    """A part for each hash: its upper bits, since tables of hashes take the lower ones."""
    found: np.ndarray = ((hashes >> np.uint64(32)) % np.uint64(parts)).astype(np.int32)
    return found
