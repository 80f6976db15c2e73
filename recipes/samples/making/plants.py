"""What a pipeline has to survive or refuse: pages without worth, records that are no page, and broken records."""

import gzip
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from making.archive import Archive, digest
from making.http_message import request, response
from making.pages import Sent

NESTED_TAGS = 100_000


@dataclass(frozen=True, slots=True)
class Poor:
    """A page that should not be trained on.

    `reason` is the first rule of the `glotmill` preset that it breaks; None for a page without any text, which never
    becomes a document.
    """

    url: str
    body: bytes
    reason: str | None


def poor_pages(pages: list[Sent]) -> Iterator[Poor]:
    """Pages that the quality rules drop, and two without text."""
    sites = {sent.language: sent for sent in pages}
    for code in ("eng_Latn", "fra_Latn", "rus_Cyrl"):
        host = f"https://{sites[code].page.site}"
        yield Poor(f"{host}/sitemap", _site_map(sites[code], "<li>", "</li>"), "bullet_list")
        yield Poor(f"{host}/topics", _site_map(sites[code], "<div>", "</div>"), "menu")
    host = "https://poor.example"
    yield Poor(f"{host}/empty", _shell("en", "", ""), None)
    yield Poor(f"{host}/blank", _shell("fr", "Page blanche", "<div id=content>&nbsp; <br> &nbsp;</div>"), None)
    yield Poor(
        f"{host}/short", _shell("en", "Test", "<main><h1>Test</h1><p>Coming soon, please wait.</p></main>"), "short"
    )
    yield Poor(f"{host}/short-de", _shell("de", "Kontakt", "<main><p>Bitte rufen Sie uns an.</p></main>"), "short")
    yield Poor(f"{host}/mojibake", _shell("de", "Garten", _paragraphs(_mojibake(_text(pages, "deu_Latn")))), "mojibake")
    yield Poor(f"{host}/replaced", _shell("ru", "Текст", _paragraphs(_replaced(_text(pages, "rus_Cyrl")))), "mojibake")
    yield Poor(f"{host}/symbols", _shell("en", "Price list", _paragraphs(_symbols())), "not_text")
    line = "<p>Click the button below to accept our offer and continue to the next page of the list.</p>\n"
    yield Poor(f"{host}/repeated", _shell("en", "Offer", f"<main>{line * 60}</main>"), "repetitive")
    words = "cheap flights cheap hotels best price book now last minute deals city break holiday offers"
    spam = [" ".join([words] * 6)] * 5
    yield Poor(f"{host}/keywords", _shell("en", "Deals", _paragraphs(spam)), "repetitive")
    yield Poor(
        f"{host}/lorem", _shell("la", "Lorem", _paragraphs(["Lorem ipsum dolor sit amet. " * 40] * 3)), "repetitive"
    )


def add_others(archive: Archive, sent: Sent) -> None:
    """Records that are no documents: a name lookup, an error, a redirect, an image, a PDF."""
    base = f"https://{sent.page.site}"
    archive.add("response", b"20240501060000\n" + sent.page.site.encode() + b". 300 IN A 192.0.2.7\n",
                uri=f"dns:{sent.page.site}", media_type="text/dns")  # fmt: skip
    gone = _shell("en", "Not found", "<h1>404</h1><p>The page you asked for is not here any more.</p>")
    _respond(archive, f"{base}/gone", gone, "text/html; charset=utf-8", status="404 Not Found")
    moved = {"Location": sent.url}
    _respond(archive, f"{base}/old", b"", "text/html", status="301 Moved Permanently", extra=moved)
    _respond(archive, f"{base}/pixel.png", _png(), "image/png")
    _respond(archive, f"{base}/timetable.pdf", _pdf(), "application/pdf")


def add_revisit(archive: Archive, sent: Sent) -> None:
    head = response(b"", content_type="text/html", status="304 Not Modified")
    extra = {
        "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
        "WARC-Refers-To-Target-URI": sent.url,
        "WARC-Payload-Digest": digest(sent.body),
    }
    archive.add("revisit", head, uri=sent.url, media_type="application/http; msgtype=response", extra=extra)


def add_metadata(archive: Archive, sent: Sent) -> None:
    fields = f"fetchTimeMs: {100 + len(sent.url)}\r\ncharset-detected: {sent.charset.label}\r\n"
    archive.add("metadata", fields.encode(), uri=sent.url, media_type="application/warc-fields")


def add_page(archive: Archive, sent: Sent) -> None:
    """A request and its response."""
    archive.add("request", request(sent.url), uri=sent.url, media_type="application/http; msgtype=request")
    _respond(archive, sent.url, sent.body, sent.charset.content_type, transport=sent.transport)


def add_poor(archive: Archive, poor: Poor) -> None:
    _respond(archive, poor.url, poor.body, "text/html; charset=utf-8")


def add_nested(archive: Archive, url: str) -> int:
    """A page of 100,000 elements, each inside the one before."""
    deep = b"<div>" * NESTED_TAGS + b"deep" + b"</div>" * NESTED_TAGS
    return _respond(archive, url, _shell("en", "Nested", deep.decode()), "text/html; charset=utf-8")


def add_wrong_length(archive: Archive, url: str) -> int:
    """A record that says it is 5,000 bytes longer than it is."""
    message = response(_shell("en", "Length", "<p>Too long.</p>"), content_type="text/html")
    kind = "application/http; msgtype=response"
    return archive.add("response", message, uri=url, media_type=kind, stated_length=len(message) + 5000)


def add_garbage(archive: Archive) -> int:
    """777 bytes between two records that are neither a gzip member nor a record."""
    return archive.add_raw((b"~ this is not a record ~\n" * 40)[:777])


def add_malformed(archive: Archive) -> int:
    """A record whose header lines have no colons, hence no length either."""
    lines = (
        b"WARC/1.1\r\nWARC-Type response\r\nWARC-Target-URI https://broken.example/head\r\nContent-Length many\r\n\r\n"
    )
    return archive.add_raw(gzip.compress(lines + b"<html></html>\r\n\r\n", 9, mtime=0))


def add_truncated(archive: Archive, sent: Sent) -> int:
    """A whole record of which only the first part reached the disk; it must be the file's last."""
    whole = Archive(archive.name)
    whole.records = archive.records
    message = response(sent.body, content_type=sent.charset.content_type)
    url = sent.url + "?again"
    whole.add("response", message, uri=url, media_type="application/http; msgtype=response")
    return archive.add_raw(bytes(whole.data[: len(whole.data) * 3 // 5]))


def _respond(
    archive: Archive,
    url: str,
    body: bytes,
    content_type: str,
    *,
    transport: str = "identity",
    status: str = "200 OK",
    extra: dict[str, str] | None = None,
) -> int:
    message = response(body, content_type=content_type, transport=transport, status=status, extra=extra)
    payload = {"WARC-IP-Address": "192.0.2.7", "WARC-Payload-Digest": digest(body)}
    return archive.add("response", message, uri=url, media_type="application/http; msgtype=response", extra=payload)


def _shell(language: str, title: str, body: str) -> bytes:
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    ).encode()


def _site_map(sent: Sent, start: str, end: str) -> bytes:
    """A page of nothing but links: each entry of the menu under each other one."""
    menu = sent.page.menu
    links = "\n".join(f'{start}<a href="/{a}/{b}">{a}: {b}</a>{end}' for a in menu for b in menu if a != b)
    return _shell(sent.page.bcp47, sent.page.site, f'<nav class="menu">{links}</nav>')


def _paragraphs(texts: list[str]) -> str:
    return "<main>\n" + "\n".join(f"<p>{text}</p>" for text in texts) + "\n</main>"


def _text(pages: list[Sent], language: str) -> list[str]:
    """Paragraphs of a page without copies, so that a poor page is no duplicate of a good one."""
    return next(list(sent.page.paragraphs) for sent in pages if sent.language == language and sent.number == 2)


def _mojibake(texts: list[str]) -> list[str]:
    """UTF-8 read as windows-1252."""
    return [text.encode().decode("cp1252", "replace") for text in texts]


def _replaced(texts: list[str]) -> list[str]:
    """Every third letter lost to a wrong decoder."""
    return ["".join("\ufffd" if n % 3 == 0 and c.isalpha() else c for n, c in enumerate(text)) for text in texts]


def _symbols() -> list[str]:
    row = "### $$$ %%% *** 9.99 | 19.99 | +++ === >>> ~~~ ### 4/5 ★★★★☆ >>> $$$ 100% *** ||| --- ### @@@ ^^^ %%%"
    return [" ".join([row[n:] + row[:n]] * 2).replace(">", "&gt;") for n in range(0, 60, 5)]


def _png() -> bytes:
    """One transparent pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 6, 0, 0, 0)
    pixel = zlib.compress(b"\0" * 5, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


def _pdf() -> bytes:
    """An empty page."""
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
    )
