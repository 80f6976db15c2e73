"""Why a record or document isn't in the shards: every code that extraction, dedup and the mix write, in words.

The reasons of quality rules are not here: a recipe names them, and its rules explain them.
"""

from enum import StrEnum
from typing import Self


class Reason(StrEnum):
    """A code, one sentence about it, and what can be done about it, if anything."""

    meaning: str
    remedy: str

    def __new__(cls, code: str, meaning: str, remedy: str = "") -> Self:
        found = str.__new__(cls, code)
        found._value_ = code
        found.meaning, found.remedy = meaning, remedy
        return found

    @property
    def explained(self) -> str:
        """What the code means, and the remedy where there is one, as one line."""
        return f"{self.meaning}; {self.remedy}" if self.remedy else self.meaning


class Quarantined(Reason):
    """Records that should be documents and can't be read. OUT/quarantine has the place and the error of each."""

    CORRUPT_BODY = "corrupt_body", "the compressed body of the page is damaged"
    CORRUPT_COMPRESSION = "corrupt_compression", "the compressed bytes are damaged", "fetch the file again"
    CORRUPT_PARQUET = "corrupt_parquet", "the Parquet file, or a row group of it, can't be read", "write the file again"
    EMPTY_FILE = "empty_file", "the file holds nothing", "fetch it again, or take it out of the source"
    EXTRACTION_FAILED = "extraction_failed", "the extractor gave up on the page", "try the other extract.extractor"
    GARBAGE_BETWEEN_RECORDS = "garbage_between_records", "bytes between two records belong to neither"
    INVALID_HTTP = "invalid_http", "the record should hold an HTTP response and doesn't begin as one"
    INVALID_JSON = "invalid_json", "the line is no JSON", "write one JSON object a line"
    INVALID_RECORD = "invalid_record", "the record's head is damaged"
    INVALID_UTF8 = "invalid_utf8", "the bytes are no UTF-8", "convert the file to UTF-8"
    LENGTH_MISMATCH = "length_mismatch", "the record states another length than it has"
    NO_TEXT = (
        "no_text",
        "the record has no text where the recipe looks for it",
        "set columns: {text: ...} of the source",
    )
    NOT_AN_OBJECT = "not_an_object", "the line is JSON, but no object", "write one JSON object a line"
    TEXT_NOT_STRING = (
        "text_not_string",
        "what should be the text is a number, a list or an object",
        "set columns: {text: ...} of the source",
    )
    TOO_DEEP = "too_deep", "the page is nested too deeply to be a page"
    TOO_LARGE = "too_large", "larger than the recipe's extract.max_record_bytes", "raise it to read such records"
    TOO_SLOW = "too_slow", "took longer than the recipe's extract.timeout_seconds", "raise it to wait for such pages"
    TRUNCATED = "truncated", "the file or record ends before it should", "fetch the file again"
    UNDECODABLE = "undecodable", "no charset makes text of the bytes"
    UNSUPPORTED = "unsupported", "a format or coding that glotmill doesn't read", "convert or unpack the file"


class Skipped(Reason):
    """Records that were never meant to be documents."""

    CONTINUATION = "continuation", "a later part of a record that was stored in parts"
    CONVERSION = "conversion", "an archive's text of a page, where other types of records were asked for"
    EMPTY_TEXT = "empty_text", "a page without text"
    HTTP_STATUS = "http_status", "the server answered with an error or a redirect"
    MEDIA_TYPE = "media_type", "no text: images, archives, scripts"
    METADATA = "metadata", "notes on another record"
    NOT_HTTP = "not_http", "no answer of a web server"
    RECORD_TYPE = "record_type", "a kind of record that holds no page"
    REQUEST = "request", "what the crawler sent"
    RESOURCE = "resource", "a stored file, where other types of records were asked for"
    RESPONSE = "response", "a server's answer, where other types of records were asked for"
    REVISIT = "revisit", "a page that had not changed since an earlier visit"
    WARCINFO = "warcinfo", "the archive's own description"


class Related(Reason):
    """Documents that are left out because of others, not because of a rule."""

    EXACT_DUPLICATE = "exact_duplicate", "the text equals that of a document that is kept", "dedup.mode: off keeps all"
    FUZZY_DUPLICATE = (
        "fuzzy_duplicate",
        "the document is measured as similar as dedup.similarity asks to one that is kept",
        "raise dedup.similarity, or dedup.mode: exact",
    )
    REPEATED_TEXT = (
        "repeated_text",
        "all of the text stands in documents that are kept",
        "dedup.lines: null and dedup.substrings: null keep it",
    )
    NOT_IN_MIX = "not_in_mix", "the mix had no room for the document", "raise mix.tokens, or leave it out"


def explained(kind: type[Reason], code: str, otherwise: str = "") -> str:
    """The words for a code; `otherwise` for one that an older version wrote."""
    return next((reason.explained for reason in kind if reason == code), otherwise)
