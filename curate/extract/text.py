"""Files that are one document each: plain text, source code, single HTML pages."""

from collections.abc import Iterator

from glotmill.curate.extract.intake import Fields, Intake
from glotmill.curate.extract.lines import blocks
from glotmill.curate.extract.members import Break
from glotmill.curate.extract.pages import Pages
from glotmill.curate.extract.split import Opened
from glotmill.schemas.reasons import Quarantined


def read_text(opened: Opened, intake: Intake, pages: Pages) -> Iterator[None]:
    """The file as one document; UTF-8 unless its bytes say otherwise."""
    yield from _read(opened, intake, pages, Fields(media_type="text/plain"), "utf-8")


def read_html(opened: Opened, intake: Intake, pages: Pages) -> Iterator[None]:
    """The file as one page."""
    yield from _read(opened, intake, pages, Fields(media_type="text/html"), None)


def _read(opened: Opened, intake: Intake, pages: Pages, fields: Fields, default: str | None) -> Iterator[None]:
    intake.begin()
    body = _body(opened, intake, pages.limit)
    if body is not None:
        pages.take(opened.name, body, fields, intake, default=default)
    opened.stopped(None)
    yield


def _body(opened: Opened, intake: Intake, limit: int) -> bytes | None:
    """All bytes, decompressed; None after quarantining a file that is too large or damaged."""
    parts: list[bytes] = []
    size = 0
    for block in blocks(opened.fd, opened.head, 0):
        if isinstance(block, Break):
            intake.quarantine(opened.name, block.reason, block.error, b"".join(parts) or block.excerpt)
            return None
        parts.append(block.data)
        size += len(block.data)
        if size > limit:
            error = f"the file holds more than max_record_bytes, {limit}"
            intake.quarantine(opened.name, Quarantined.TOO_LARGE, error, b"".join(parts)[:1024])
            return None
    return b"".join(parts)
