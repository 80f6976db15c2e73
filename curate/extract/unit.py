"""One unit of extraction: some files, or a stretch of one, read into documents with balanced books."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from glotmill.curate.extract.intake import Intake, printable_name
from glotmill.curate.extract.jsonl import read_jsonl
from glotmill.curate.extract.pages import Pages
from glotmill.curate.extract.parquet import read_parquet
from glotmill.curate.extract.split import Opened, Split, opened
from glotmill.curate.extract.text import read_html, read_text
from glotmill.curate.extract.warc import read_warc
from glotmill.schemas.atomic import RangeStamp, Transaction
from glotmill.schemas.document import DOCUMENT, QUARANTINE
from glotmill.schemas.ids import fingerprint
from glotmill.schemas.parquet import write_table
from glotmill.schemas.reasons import Quarantined
from glotmill.schemas.recipe import Extract, Source
from glotmill.schemas.units import Books, Outcome, Unit

PART_BYTES = 64 << 20  # of text, UTF-8, in one file of documents; held in memory while it is written


@dataclass(slots=True)
class Reading:
    """A unit as batches of DOCUMENT. Books, quarantine and stamps are whole once the batches are exhausted."""

    source: Source
    splits: list[Split]
    root: Path
    extract: Extract
    bytes_in: int = 0
    stamps: list[RangeStamp] = field(default_factory=list)
    _intake: Intake = field(init=False)

    def __post_init__(self) -> None:
        self._intake = Intake(self.source)

    @property
    def books(self) -> Books:
        return self._intake.books

    @property
    def facts(self) -> dict[str, int]:
        intake = self._intake
        return {"documents": intake.documents, "text_bytes": intake.text_bytes, "body_bytes": intake.body_bytes}

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Documents in reading order, at most 1024 or about 8 MiB of text a batch.

        Raises:
            InputError: a file can't be opened, or changed while it was read.
        """
        for split in self.splits:
            with opened(self.root, split, printable_name(split.name)) as file:
                for _ in self._records(file, split.format):
                    if self._intake.is_full():
                        yield self._intake.cut()
                self.stamps.append(file.stamp(self.source.name))
                self.bytes_in += file.bytes
        last = self._intake.cut()
        if last.num_rows:
            yield last

    def quarantine(self) -> pa.RecordBatch:
        return self._intake.quarantined()

    def _records(self, file: Opened, format: str) -> Iterator[None]:
        intake, limit = self._intake, self.extract.max_record_bytes
        if file.size == 0:
            intake.begin()
            intake.quarantine(f"{file.name}@0", Quarantined.EMPTY_FILE, "the file holds 0 bytes")
            return iter(())
        if format == "warc":
            return read_warc(file, intake, Pages(self.extract))
        if format == "jsonl":
            return read_jsonl(file, intake, self.source.columns, limit=limit)
        if format == "parquet":
            return read_parquet(file, intake, self.source.columns, limit=limit)
        read = read_html if format == "html" else read_text
        return read(file, intake, Pages(self.extract))


def read_unit(unit: Unit, *, roots: Mapping[str, str], extract: Extract) -> Reading:
    """A unit made by `files.units`, ready to be read. `roots` says by source which folder its names are relative to."""
    source = Source.model_validate({**unit.payload["source"], "path": "."}, strict=False)
    splits = [Split(*split) for split in unit.payload["splits"]]
    return Reading(source, splits, Path(roots[source.name]), extract)


def extract_unit(
    unit: Unit, files: Transaction, *, roots: Mapping[str, str], extract: Extract
) -> tuple[Outcome, tuple[RangeStamp, ...]]:
    """Write a unit's documents, and its quarantine where there is one.

    A unit that can't be split by its format, such as a large compressed file, still gives files of bounded size, so
    that the steps after this one have pieces to share among workers.

    Returns:
        The outcome, with the documents' files as `facts["parts"]`: key, digest and documents of each; and the
        stretches of the input files that were read.
    """
    reading = read_unit(unit, roots=roots, extract=extract)
    parts = []
    for number, batches in enumerate(_parts(reading.batches())):
        key = f"{unit.key}-{number:03d}"
        rows, digest = write_table(files.path(f"documents/{key}.parquet"), batches, DOCUMENT)
        parts.append({"key": key, "digest": digest, "documents": rows})
    bad, quarantine = reading.quarantine(), ""
    if bad.num_rows:
        _, quarantine = write_table(files.path(f"quarantine/{unit.key}.parquet"), [bad], QUARANTINE)
    outcome = Outcome(
        books=reading.books,
        digests={"documents": fingerprint(parts), "quarantine": quarantine},
        bytes_in=reading.bytes_in,
        facts={**reading.facts, "parts": parts},
    )
    return outcome, tuple(reading.stamps)


def _parts(batches: Iterator[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Batches of about PART_BYTES of text; one part at least, though it be empty."""
    part: list[pa.RecordBatch] = []
    size = whole = 0
    for batch in batches:
        part.append(batch)
        size += pc.sum(pc.binary_length(batch["text"])).as_py() or 0
        if size >= PART_BYTES:
            yield part
            part, size, whole = [], 0, whole + 1
    if part or not whole:
        yield part
