"""The beginnings of a few documents, to look at: few files opened, and of those the few rows that are wanted."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from glotmill.schemas.edits import apply_edits

CHARS = 80  # of an excerpt on a terminal
KEPT_CHARS = 300  # read of each document
_BATCH = 512  # documents in memory

# What a terminal obeys: controls, and marks that reverse, embed or isolate text.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A document's beginning as it was judged, without its cuts, and where it lies in the input."""

    id: str
    source: str
    record: str
    url: str | None
    language: str
    text: str

    def line(self) -> str:
        """Its text on one line of CHARS."""
        return one_line(self.text)

    def place(self) -> str:
        return one_line(f"{self.source}: {self.record}", 120)


def one_line(text: str, most: int = CHARS) -> str:
    """`text` on one line of at most `most` code points, without what a terminal would obey.

    >>> one_line("a\\n  b\\x1b[31mc"), one_line("abcdef", 4)
    ('a b [31mc', 'abc…')
    """
    line = " ".join(_OBEYED.sub(" ", text).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def excerpts_by_id(out: Path, unit: str, ids: Sequence[str]) -> Iterator[Excerpt]:
    """Excerpts of those documents of a file of OUT/documents that have these ids, in the order of the file."""
    known = pq.read_table(out / "signals" / f"{unit}.parquet", columns=["id"])["id"]
    yield from excerpts(out, unit, np.flatnonzero(pc.is_in(known, pa.array(ids, pa.string())).to_numpy()).tolist())


def excerpts(out: Path, unit: str, rows: Sequence[int]) -> Iterator[Excerpt]:
    """Excerpts of the documents in some rows of a file of OUT/documents, in the order of the file."""
    wanted = np.unique(np.array(rows, np.int64))
    if not len(wanted):
        return
    measured = pq.read_table(out / "signals" / f"{unit}.parquet", columns=["language", "cuts"]).take(pa.array(wanted))
    done = start = 0
    with pq.ParquetFile(out / "documents" / f"{unit}.parquet") as file:
        for group in range(file.num_row_groups):
            end = start + file.metadata.row_group(group).num_rows
            if wanted[done:].size and wanted[done] < end:
                for row, about in _rows(file, group, wanted[slice(*np.searchsorted(wanted, (start, end)))] - start):
                    text = apply_edits(about["text"], measured["cuts"].slice(done, 1).combine_chunks())[0].as_py()
                    language = measured["language"][done].as_py()
                    yield Excerpt(text=text[:KEPT_CHARS], language=language, **row)
                    done += 1
            start = end


def _rows(
    file: pq.ParquetFile, group: int, wanted: "np.ndarray[tuple[int], np.dtype[np.int64]]"
) -> Iterator[tuple[dict[str, str], pa.RecordBatch]]:
    start = 0
    columns = ["id", "source", "record", "url", "text"]
    for batch in file.iter_batches(_BATCH, row_groups=[group], columns=columns):
        for place in wanted[slice(*np.searchsorted(wanted, (start, start + batch.num_rows)))] - start:
            row = batch.slice(place, 1)
            yield row.select(columns[:-1]).to_pylist()[0], row
        start += batch.num_rows
