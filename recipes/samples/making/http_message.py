"""HTTP messages as a crawler stores them: head, content coding and chunks as they came over the wire."""

import gzip
import zlib
from urllib.parse import urlsplit

import brotli

# What a page is sent with, taken in turn: name -> (Content-Encoding, whether chunked).
TRANSPORTS = {
    "identity": (None, False),
    "gzip": ("gzip", False),
    "br": ("br", False),
    "deflate": ("deflate", False),
    "chunked": (None, True),
    "gzip, chunked": ("gzip", True),
    "raw deflate": ("deflate", False),
    "br, chunked": ("br", True),
}
_CHUNK_BYTES = 1500  # so that chunks end in the middle of characters


def request(url: str) -> bytes:
    parts = urlsplit(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    return (
        f"GET {path or '/'} HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: samplebot/1.0\r\n"
        "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.5\r\nAccept-Encoding: gzip, deflate, br\r\n\r\n"
    ).encode()


def response(
    body: bytes,
    *,
    content_type: str,
    transport: str = "identity",
    status: str = "200 OK",
    extra: dict[str, str] | None = None,
) -> bytes:
    """A stored response, its body coded and framed as `transport` says."""
    coding, chunks = TRANSPORTS[transport]
    coded = _coded(body, transport, coding)
    framed = _chunked(coded) if chunks else coded
    head = {
        "Date": "Wed, 01 May 2024 06:00:00 GMT",
        "Server": "nginx",
        "Content-Type": content_type,
        **({"Content-Encoding": coding} if coding else {}),
        **({"Transfer-Encoding": "chunked"} if chunks else {"Content-Length": str(len(coded))}),
        **(extra or {}),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + framed


def _coded(body: bytes, transport: str, coding: str | None) -> bytes:
    if coding == "gzip":
        return gzip.compress(body, 9, mtime=0)
    if coding == "br":
        return bytes(brotli.compress(body, quality=9))
    if transport == "raw deflate":
        state = zlib.compressobj(9, zlib.DEFLATED, -15)
        return state.compress(body) + state.flush()
    return zlib.compress(body, 9) if coding == "deflate" else body


def _chunked(body: bytes) -> bytes:
    pieces = [body[at : at + _CHUNK_BYTES] for at in range(0, len(body), _CHUNK_BYTES)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
