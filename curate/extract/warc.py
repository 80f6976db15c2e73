"""Archive records to documents: which are documents, and what their HTTP heads say of them."""

from collections.abc import Callable, Iterator

from glotmill.curate.extract import http
from glotmill.curate.extract.archive import ARC, WARC, Archive, Format, Record
from glotmill.curate.extract.intake import Fields, Intake
from glotmill.curate.extract.members import Codec, codec_of, member_blocks, next_member, plain_blocks, with_dictionary
from glotmill.curate.extract.pages import Pages
from glotmill.curate.extract.split import Opened
from glotmill.curate.extract.tape import Tape
from glotmill.schemas.reasons import Quarantined, Skipped

TEXT_TYPES = ("text/html", "application/xhtml+xml", "text/plain")
DOCUMENT_TYPES = ("response", "conversion", "resource")
_KNOWN = ("warcinfo", "request", "metadata", "revisit", "continuation")
_ZIP = b"PK\x03\x04"


def read_warc(
    opened: Opened, intake: Intake, pages: Pages, *, types: tuple[str, ...] = DOCUMENT_TYPES
) -> Iterator[None]:
    """The documents of one stretch of an archive; yields after each record, so that batches can be cut between."""
    head = opened.head
    if head.startswith(_ZIP):
        intake.begin()
        error = "a zip file (WACZ); unpack the archives in it"
        intake.quarantine(f"{opened.name}@0", Quarantined.UNSUPPORTED, error, head)
        return
    codec = codec_of(head)
    archive = _archive(opened, intake, pages.limit, codec, types)
    if archive is None:
        return
    for record in archive.records():
        _take(record, intake, pages)
        yield
    opened.stopped(archive.stopped_at)


def _archive(opened: Opened, intake: Intake, limit: int, codec: Codec | None, types: tuple[str, ...]) -> Archive | None:
    if codec is None:
        form = ARC if opened.head.startswith(b"filedesc:") else WARC
        tape = Tape(lambda at: plain_blocks(opened.fd, at), 0, compressed=False)
    else:
        codec = with_dictionary(codec, opened.fd)
        first = Tape(lambda at: member_blocks(opened.fd, at, codec, _never), 0, compressed=True)
        form = ARC if first.peek(0, 9) == b"filedesc:" else WARC
        start: int | None = 0
        if opened.start:
            start = next_member(opened.fd, opened.start, codec, _starts(form), opened.end)
        if start is None:
            opened.stopped(opened.end)
            return None
        tape = Tape(lambda at: member_blocks(opened.fd, at, codec, _starts(form)), start, compressed=True)
    return Archive(
        tape,
        intake,
        name=opened.name,
        limit=limit,
        want=lambda fields: fields.get("warc-type", "").lower() in types,
        form=form,
        begin=opened.start,
        end=opened.end,
    )


def _starts(form: Format) -> Callable[[bytes], bool]:
    return lambda data: form.start.match(data) is not None


def _never(data: bytes) -> bool:
    return False


def _take(record: Record, intake: Intake, pages: Pages) -> None:
    kind = record.type
    if kind not in DOCUMENT_TYPES or record.block is None:
        intake.skip(kind if kind in (*_KNOWN, *DOCUMENT_TYPES) else Skipped.RECORD_TYPE)
        return
    url = record.fields.get("warc-target-uri", "").strip("<>") or None
    date = record.fields.get("warc-date") or None
    content_type = record.fields.get("content-type")
    media = http.media_type(content_type)
    if kind == "response":
        _take_response(record, intake, pages, Fields(url=url, date=date), media)
        return
    identified = http.media_type(record.fields.get("warc-identified-payload-type"))
    body_type = media or identified or pages.sniff(record.block)
    if kind == "resource" and media == "application/http":
        _take_response(record, intake, pages, Fields(url=url, date=date), media)
    elif body_type in TEXT_TYPES:
        stated = http.charset(content_type)
        default = "utf-8" if kind == "conversion" else None
        fields = Fields(url=url, date=date, media_type=body_type, language_hint=_conversion_language(record))
        pages.take(record.locator, record.block, fields, intake, charset=stated, default=default)
    else:
        intake.skip(Skipped.MEDIA_TYPE)


def _conversion_language(record: Record) -> str | None:
    """Common Crawl's WET states the languages that CLD2 found, the main one first."""
    stated = record.fields.get("warc-identified-content-language", "").partition(",")[0].strip()
    return stated or None


def _take_response(record: Record, intake: Intake, pages: Pages, fields: Fields, media: str | None) -> None:
    assert record.block is not None
    found = http.response(record.block)
    if found is None:
        if media in TEXT_TYPES and not record.block.startswith(b"HTTP/"):  # a body stored without its head
            pages.take(record.locator, record.block, _with(fields, media), intake)
        elif media == "application/http":
            error = f"no HTTP status line: {record.block[:40]!r}"
            intake.quarantine(record.locator, Quarantined.INVALID_HTTP, error, record.block)
        else:
            intake.skip(Skipped.NOT_HTTP)
        return
    if not 200 <= found.status <= 299:
        intake.skip(Skipped.HTTP_STATUS)
        return
    stated = found.media_type
    if (
        stated is not None
        and stated not in TEXT_TYPES
        and stated not in ("application/octet-stream", "unknown/unknown")
    ):
        intake.skip(Skipped.MEDIA_TYPE)
        return
    try:
        body = http.content(found, limit=pages.limit)
    except http.TooLarge:
        intake.quarantine(
            record.locator, Quarantined.TOO_LARGE, f"the body decodes to more than {pages.limit} bytes", record.block
        )
        return
    except http.BodyError as error:
        intake.quarantine(record.locator, Quarantined.CORRUPT_BODY, str(error), found.body)
        return
    media = stated if stated in TEXT_TYPES else pages.sniff(body)
    if media in TEXT_TYPES:
        pages.take(record.locator, body, _with(fields, media), intake, charset=found.charset)
    else:
        intake.skip(Skipped.MEDIA_TYPE)


def _with(fields: Fields, media: str | None) -> Fields:
    return Fields(url=fields.url, date=fields.date, media_type=media)
