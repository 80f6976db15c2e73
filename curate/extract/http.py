"""HTTP messages as archives store them: head, chunks and content codings, each believed only if the bytes agree."""

import re
import zlib
from dataclasses import dataclass

import brotli
import zstandard

from glotmill.curate.extract.inflate import whole_gzip

_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?\s+(\d{3})\b")
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([^\s;"',]+)""", re.I)
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_CHUNK = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_STEP = 1 << 16
MAX_HEAD_BYTES = 1 << 20


class TooLarge(Exception):
    """A body grows over the limit while it is decoded."""


class BodyError(Exception):
    """A body starts like its content coding and then breaks."""


@dataclass(frozen=True, slots=True)
class Response:
    """Status, the headers that matter, and the body as transferred."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def media_type(self) -> str | None:
        return media_type(self.headers.get("content-type"))

    @property
    def charset(self) -> str | None:
        return charset(self.headers.get("content-type"))


def response(message: bytes) -> Response | None:
    """A stored response taken apart; None when it doesn't start with an HTTP status line."""
    status = _STATUS.match(message)
    if not status:
        return None
    end = _HEAD_END.search(message, 0, MAX_HEAD_BYTES)
    head, body = (message[: end.start()], message[end.end() :]) if end else (message, b"")
    return Response(int(status[1]), headers(head.partition(b"\n")[2]), body)


def headers(block: bytes) -> dict[str, str]:
    """Header fields by lower-case name; the first of several wins, folded lines are joined."""
    found: dict[str, str] = {}
    last = None
    for line in block.decode("utf-8", "replace").split("\n"):
        if line[:1] in (" ", "\t") and last:
            found[last] += " " + line.strip()
            continue
        name, colon, value = line.partition(":")
        last = name.strip().lower() if colon else None
        if last in found:
            last = None
        if last:
            found[last] = value.strip()
    return found


def media_type(content_type: str | None) -> str | None:
    """`text/html` of `Text/HTML; charset=x`."""
    return content_type.partition(";")[0].partition(",")[0].strip().lower() or None if content_type else None


def charset(content_type: str | None) -> str | None:
    found = _CHARSET.search(content_type) if content_type else None
    return found[1] if found else None


def content(found: Response, *, limit: int) -> bytes:
    """The body without chunk framing and content coding.

    A body that isn't chunked or coded although its headers say so is taken as it is.

    Raises:
        TooLarge: it decodes to more than `limit` bytes.
        BodyError: its coding breaks off or is damaged.
    """
    body = found.body
    if "chunked" in found.headers.get("transfer-encoding", "").lower():
        body = unchunked(body)
    codings = found.headers.get("content-encoding", "")
    for coding in reversed([c.strip().lower() for c in codings.split(",") if c.strip()][:4]) if codings else ():
        body = _uncoded(body, coding, limit)
    return body


def unchunked(body: bytes) -> bytes:
    """The chunks joined; the body itself when its framing is wrong, and what there is when it breaks off."""
    parts: list[bytes] = []
    at = 0
    while at < len(body):
        size = _CHUNK.match(body, at)
        if not size:
            return body if not parts else _rest(body, parts, at)
        length = int(size[1], 16)
        if length == 0:
            break
        start = size.end()
        parts.append(body[start : start + length])
        at = start + length
        if body[at : at + 2] == b"\r\n":
            at += 2
        elif body[at : at + 1] == b"\n":
            at += 1
        elif at < len(body):
            return body
    return b"".join(parts)


def _rest(body: bytes, parts: list[bytes], at: int) -> bytes:
    """Wrong framing after good chunks: the raw body, unless only white space is left."""
    return b"".join(parts) if not body[at:].strip() else body


def _uncoded(body: bytes, coding: str, limit: int) -> bytes:
    if coding in ("gzip", "x-gzip"):
        return _gunzipped(body, limit) if body[:2] == b"\x1f\x8b" else body
    if coding == "deflate":
        return _deflated(body, limit)
    if coding == "br":
        return _brotli(body, limit)
    if coding == "zstd":
        return _zstd(body, limit) if body[:4] == b"\x28\xb5\x2f\xfd" else body
    return body


def _gunzipped(body: bytes, limit: int) -> bytes:
    text = whole_gzip(body, limit)
    return _inflated(body, 31, limit) if text is None else text


def _inflated(body: bytes, wbits: int, limit: int) -> bytes:
    state = zlib.decompressobj(wbits)
    try:
        text = state.decompress(body, limit + 1)
    except zlib.error as error:
        raise BodyError(f"gzip or deflate body: {error}") from error
    if len(text) > limit:
        raise TooLarge
    if not state.eof:
        raise BodyError(f"gzip or deflate body breaks off after {len(text)} bytes of text")
    return text


def _deflated(body: bytes, limit: int) -> bytes:
    """RFC 9110 says zlib; some servers send raw deflate, and some nothing of the kind."""
    try:
        return _inflated(body, 15, limit)
    except BodyError:
        try:
            return _inflated(body, -15, limit)
        except BodyError:
            if _is_text(body):
                return body
            raise


def _brotli(body: bytes, limit: int) -> bytes:
    state, parts, size = brotli.Decompressor(), [], 0
    try:
        for at in range(0, len(body), _STEP):
            parts.append(state.process(body[at : at + _STEP]))
            size += len(parts[-1])
            if size > limit:
                raise TooLarge
    except brotli.error as error:
        if _is_text(body):
            return body
        raise BodyError(f"brotli body: {error}") from error
    if not state.is_finished():
        if _is_text(body):
            return body
        raise BodyError(f"brotli body breaks off after {size} bytes of text")
    return b"".join(parts)


def _zstd(body: bytes, limit: int) -> bytes:
    try:
        with zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True) as reader:
            text = reader.read(limit + 1)
    except zstandard.ZstdError as error:
        raise BodyError(f"zstd body: {error}") from error
    if len(text) > limit:
        raise TooLarge
    return text


def _is_text(body: bytes) -> bool:
    """Whether a body that should be compressed starts like text: no control characters in its first 512 bytes."""
    head = body[:512]
    return bool(head) and len(head.translate(None, bytes(set(range(32)) - set(b"\t\n\r\f")))) == len(head)
