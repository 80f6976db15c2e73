"""JSON Lines to documents: one object a line, errors line by line."""

import json
from collections.abc import Iterator
from typing import Any

import orjson

from glotmill.curate.extract.html import language_hint
from glotmill.curate.extract.intake import Fields, Intake
from glotmill.curate.extract.lines import Line, blocks, lines
from glotmill.curate.extract.members import Break, codec_of
from glotmill.curate.extract.split import Opened
from glotmill.schemas.reasons import Quarantined
from glotmill.schemas.recipe import Columns

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
_MISSING = object()


class BadRecordError(Exception):
    """A record that can't be read: a reason code and what was found."""

    def __init__(self, reason: str, error: str) -> None:
        super().__init__(error)
        self.reason, self.error = reason, error


def read_jsonl(opened: Opened, intake: Intake, columns: Columns, *, limit: int) -> Iterator[None]:
    """The documents of one stretch of a file; yields after each record.

    A line belongs to the stretch in which it starts. Offsets count decompressed bytes.
    """
    compressed = codec_of(opened.head) is not None
    start = 0 if compressed else opened.start
    first = max(0, start - 1)  # a line starts at `start` if the byte before it ends one
    mapping, cut, at = Mapping(columns), None, first
    for item in lines(blocks(opened.fd, opened.head, first), first, limit=limit):
        if isinstance(item, Break):
            _broken(opened.name, item, cut, at, intake)
            cut = None
        elif not compressed and item.offset >= opened.end:
            opened.stopped(item.offset)
            return
        elif not item.whole:
            cut = item
        else:
            at = item.offset + item.size + 1
            if item.offset >= start:
                _take(item, opened.name, intake, mapping, limit)
        yield
    opened.stopped(None)


def _broken(name: str, found: Break, cut: Line | None, at: int, intake: Intake) -> None:
    """One row for damage, at the line that it cuts or where the next line would have started."""
    offset, excerpt = (cut.offset, cut.data) if cut else (at, found.excerpt)
    intake.begin()
    error = f"{found.error}, at byte {found.offset} of the compressed file"
    intake.quarantine(f"{name}@{offset}", found.reason, error, excerpt)


def _take(line: Line, name: str, intake: Intake, mapping: "Mapping", limit: int) -> None:
    data = line.data
    while data.startswith(_BOM):  # files with a mark may have been concatenated
        data = data[len(_BOM) :]
    if not data.strip(_BLANK):
        return
    record = f"{name}@{line.offset}"
    intake.begin()
    if line.size > limit:
        intake.quarantine(
            record, Quarantined.TOO_LARGE, f"a line of {line.size} bytes is over max_record_bytes, {limit}", data
        )
        return
    try:
        text, fields = mapping.document(parsed(data))
    except BadRecordError as bad:
        intake.quarantine(record, bad.reason, bad.error, data)
        return
    intake.body_bytes += line.size
    intake.keep(record, text, fields)


def parsed(data: bytes) -> Any:
    """One JSON value. What orjson refuses and the standard library reads is read: lone surrogates, NaN, long integers.

    Raises:
        BadRecordError: invalid_utf8 or invalid_json.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        first = str(error)
    try:
        return json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        bad = data[error.start : error.start + 1].hex()
        raise BadRecordError(
            Quarantined.INVALID_UTF8, f"byte 0x{bad} at {error.start} of the line: {error.reason}"
        ) from None
    except (ValueError, RecursionError):
        raise BadRecordError(Quarantined.INVALID_JSON, first) from None


class Mapping:
    """Where an object holds what a document needs. A column name that exists as it is wins over its dotted reading."""

    def __init__(self, columns: Columns) -> None:
        self._text = columns.text
        names = {
            "source_id": columns.id,
            "url": columns.url,
            "title": columns.title,
            "date": columns.date,
            "license": columns.license,
            "domain": columns.domain,
            "language_hint": columns.language,
        }
        self._names = {field: column for field, column in names.items() if column is not None}

    def document(self, value: Any) -> tuple[str, Fields]:
        """Raises BadRecordError: not_an_object, no_text, text_not_string."""
        if not isinstance(value, dict):
            raise BadRecordError(Quarantined.NOT_AN_OBJECT, f"the record is {_kind(value)}; an object is expected")
        text = at(value, self._text)
        if text is _MISSING or text is None:
            found = "null" if text is None else f"absent; the record has: {', '.join(map(repr, list(value)[:10]))}"
            raise BadRecordError(Quarantined.NO_TEXT, f"{self._text!r} is {found}")
        if not isinstance(text, str):
            raise BadRecordError(Quarantined.TEXT_NOT_STRING, f"{self._text!r} is {_kind(text)}")
        if not text.strip():
            raise BadRecordError(Quarantined.NO_TEXT, f"{self._text!r} is blank")
        found_fields: dict[str, Any] = {field: as_text(at(value, column)) for field, column in self._names.items()}
        hint = found_fields.pop("language_hint", None)
        fields = Fields(charset="utf-8", language_hint=language_hint(hint) if hint else None, **found_fields)
        return text.replace("\0", "") if "\0" in text else text, fields


def at(value: dict[str, Any], path: str) -> Any:
    """The value under a dotted path, or a marker for none.

    >>> at({"a": {"b": 1}, "c.d": 2}, "a.b"), at({"a": {"b": 1}, "c.d": 2}, "c.d")
    (1, 2)
    """
    if path in value or "." not in path:
        return value.get(path, _MISSING)
    here: Any = value
    for key in path.split("."):
        if not isinstance(here, dict) or key not in here:
            return _MISSING
        here = here[key]
    return here


def as_text(value: Any) -> str | None:
    """A field as a string: numbers as they print, nested values as JSON, null and blank as None."""
    if value is _MISSING or value is None:
        return None
    if isinstance(value, str):
        return value.replace("\0", "") or None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").replace("\0", "") or None
    if isinstance(value, bool) or isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
        dict: "an object",
    }
    return names.get(type(value), type(value).__name__)
