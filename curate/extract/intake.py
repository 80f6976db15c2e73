"""The books of reading: each record is begun once, and then kept, skipped or quarantined."""

import os
from dataclasses import dataclass, field

import pyarrow as pa

from glotmill.schemas.document import DOCUMENT, EXCERPT_BYTES, QUARANTINE
from glotmill.schemas.ids import document_id
from glotmill.schemas.recipe import Source
from glotmill.schemas.units import Books

BATCH_DOCUMENTS = 1024
BATCH_CHARS = 8 << 20
_ERROR_CHARS = 500
_SHORT = ("url", "title", "date", "source_id", "domain", "license", "media_type", "charset", "language_hint")


@dataclass(frozen=True, slots=True)
class Fields:
    """What a record says of itself; a null is filled from the source where the source states it."""

    url: str | None = None
    title: str | None = None
    date: str | None = None
    source_id: str | None = None
    domain: str | None = None
    license: str | None = None
    media_type: str | None = None
    charset: str | None = None
    charset_guessed: bool = False
    language_hint: str | None = None


@dataclass(slots=True)
class Intake:
    """Documents, quarantine and books of one unit, in reading order."""

    source: Source
    books: Books = field(default_factory=Books)
    documents: int = 0
    text_bytes: int = 0
    body_bytes: int = 0
    _texts: list[str] = field(default_factory=list)
    _records: list[str] = field(default_factory=list)
    _fields: list[Fields] = field(default_factory=list)
    _chars: int = 0
    _quarantine: dict[str, list[str] | list[bytes]] = field(
        default_factory=lambda: {name: [] for name in QUARANTINE.names}
    )

    def begin(self, records: int = 1) -> None:
        """Count records at the place where they start, before anything is known of them."""
        self.books.records += records

    def keep(self, record: str, text: str, fields: Fields) -> None:
        self.books.kept += 1
        self._texts.append(text)
        self._records.append(record)
        self._fields.append(fields)
        self._chars += len(text)

    def skip(self, reason: str) -> None:
        reason = str(reason)  # of an enum's member, as books and tables hold it
        self.books.skipped[reason] = self.books.skipped.get(reason, 0) + 1

    def quarantine(self, record: str, reason: str, error: str, excerpt: bytes = b"", *, records: int = 1) -> None:
        """One row for a place that could not be read; `records` says how many records it stands for."""
        reason = str(reason)
        self.books.quarantined[reason] = self.books.quarantined.get(reason, 0) + records
        row = (self.source.name, record, reason, utf8(error)[:_ERROR_CHARS], bytes(excerpt[:EXCERPT_BYTES]))
        for name, value in zip(QUARANTINE.names, row, strict=True):
            self._quarantine[name].append(value)  # type: ignore[arg-type]  # a column holds one type

    def is_full(self) -> bool:
        """Whether a batch should be cut; depends on the documents alone, so that cuts are the same on every run."""
        return len(self._texts) >= BATCH_DOCUMENTS or self._chars >= BATCH_CHARS

    def cut(self) -> pa.RecordBatch:
        """The documents since the last cut, as one batch of DOCUMENT."""
        source = self.source
        columns = {name: [getattr(f, name) for f in self._fields] for name in _SHORT}
        columns["domain"] = [value or source.domain for value in columns["domain"]]
        columns["license"] = [source.license if value is None else value for value in columns["license"]]
        columns["language_hint"] = [value or source.language for value in columns["language_hint"]]
        columns["id"] = [document_id(source.name, record) for record in self._records]
        columns["source"] = [source.name] * len(self._records)
        columns["record"] = self._records
        columns["text"] = self._texts
        arrays = {name: strings(values) for name, values in columns.items()}
        arrays["charset_guessed"] = pa.array([f.charset_guessed for f in self._fields], pa.bool_())
        batch = pa.RecordBatch.from_arrays([arrays[name] for name in DOCUMENT.names], schema=DOCUMENT)
        self.documents += batch.num_rows
        self.text_bytes += _data_bytes(arrays["text"])
        self._texts, self._records, self._fields, self._chars = [], [], [], 0
        return batch

    def quarantined(self) -> pa.RecordBatch:
        """Every quarantine row so far, as one batch of QUARANTINE."""
        return pa.RecordBatch.from_arrays(
            [pa.array(self._quarantine[field.name], field.type) for field in QUARANTINE], schema=QUARANTINE
        )


def strings(values: list[str | None] | list[str]) -> pa.Array:
    """An Arrow column; a lone surrogate, which no UTF-8 holds, becomes U+FFFD."""
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:
        return pa.array([value if value is None else utf8(value) for value in values], pa.string())


def utf8(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD.

    >>> utf8("a\\ud800b") == "a\\ufffdb"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def printable_name(name: str) -> str:
    """A file name as text: bytes that are no UTF-8 appear as \\xNN."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _data_bytes(array: pa.Array) -> int:
    offsets = memoryview(array.buffers()[1]).cast("i")
    return int(offsets[array.offset + len(array)] - offsets[array.offset])
