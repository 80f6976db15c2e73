"""Compressed files as members: each decompressed alone, so that damage to one never reaches the next.

A gzip member, a zstd frame, an lz4 frame and a bzip2 stream are all members here. Archives hold one record a member,
most other files one member in all.
"""

import bz2
import io
import os
import re
import struct
import zlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import zstandard

from glotmill.curate.extract.inflate import INFLATE_ERRORS, fast_gzip
from glotmill.schemas.document import EXCERPT_BYTES
from glotmill.schemas.reasons import Quarantined

STEP = 1 << 15  # compressed bytes a call: bounds what a bomb can unfold to at once, and what is copied back as unused
_SCAN = 1 << 20
_PROBE = 256


class Block(NamedTuple):
    """Decompressed bytes of the member that starts at the file's byte `member`; `first` where the member begins."""

    data: bytes
    member: int
    first: bool


class Break(NamedTuple):
    """A place where the stream can't go on: what was wrong with the bytes from `offset` to `end`."""

    offset: int
    end: int
    reason: str
    error: str
    excerpt: bytes


@dataclass(frozen=True, slots=True)
class Codec:
    """One compression: how members start and how one is decoded.

    `strict` is the slower decoder that a faster one is checked against: whatever `new` refuses is left to it.
    """

    name: str
    magic: re.Pattern[bytes]
    new: Callable[[], Any]
    errors: tuple[type[Exception], ...]
    strict: "Codec | None" = None


def _zstd() -> Any:
    return zstandard.ZstdDecompressor().decompressobj()


_GZIP_MAGIC = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]")
_ZLIB = Codec("gzip", _GZIP_MAGIC, lambda: zlib.decompressobj(31), (zlib.error,))
GZIP = Codec("gzip", _GZIP_MAGIC, fast_gzip, INFLATE_ERRORS, strict=_ZLIB)
ZSTD = Codec("zstd", re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), _zstd, (zstandard.ZstdError,))
BZ2 = Codec("bzip2", re.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38)"), bz2.BZ2Decompressor, (OSError, ValueError))
LZ4 = Codec("lz4", re.compile(rb"\x04\x22\x4d\x18|[\x50-\x5f]\x2a\x4d\x18"), lambda: _Lz4(), (OSError,))


def codec_of(head: bytes) -> Codec | None:
    """The compression that a file starting with `head` is in, None for none: bytes are believed, not names."""
    return next((codec for codec in (GZIP, ZSTD, BZ2, LZ4) if codec.magic.match(head)), None)


def with_dictionary(codec: Codec, fd: int) -> Codec:
    """The codec of a .warc.zst whose first frame holds the dictionary of all others.

    Source: IIPC, "Zstandard compression for WARC files" 1.0: a skippable frame 0x184D2A5D, itself compressed or not.
    """
    head = os.pread(fd, 8, 0)
    if codec is not ZSTD or head[:4] != b"\x5d\x2a\x4d\x18" or len(head) < 8:
        return codec
    data = os.pread(fd, struct.unpack("<4xI", head)[0], 8)
    try:
        if data.startswith(b"\x28\xb5\x2f\xfd"):
            data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
        decompressor = zstandard.ZstdDecompressor(dict_data=zstandard.ZstdCompressionDict(data))
    except (zstandard.ZstdError, ValueError):
        return codec
    return replace(codec, new=decompressor.decompressobj)


def plain_blocks(fd: int, start: int) -> Iterator[Block | Break]:
    """An uncompressed file from `start` as blocks; it has no members."""
    at = start
    while data := os.pread(fd, 1 << 16, at):
        yield Block(data, at, False)
        at += len(data)


def member_blocks(fd: int, start: int, codec: Codec, is_start: Callable[[bytes], bool]) -> Iterator[Block | Break]:
    """The members from `start` as blocks. After a Break, reading goes on at the next place where a member begins
    whose first decompressed bytes satisfy `is_start`."""
    at: int | None = start
    while at is not None:
        head = os.pread(fd, 64, at)
        if not head:
            return
        if codec.magic.match(head):
            at = yield from _member(fd, at, codec, is_start)
        else:
            at = yield from _gap(fd, at, codec, is_start)


def next_member(
    fd: int, at: int, codec: Codec, is_start: Callable[[bytes], bool], end: int | None = None
) -> int | None:
    """The first byte from `at` (and before `end`) where a member begins that `is_start` accepts."""
    while end is None or at < end:
        window = os.pread(fd, _SCAN, at)
        for found in codec.magic.finditer(window):
            here = at + found.start()
            if end is not None and here >= end:
                return None
            if is_start(_opening(fd, here, codec)):
                return here
        if len(window) < _SCAN:
            return None
        at += len(window) - 16
    return None


def _member(
    fd: int, start: int, codec: Codec, is_start: Callable[[bytes], bool], given: int | None = None
) -> Generator[Block | Break, None, int | None]:
    """One member; returns where the next one starts. `given` says how much of it was yielded before, None: nothing."""
    state, at, first, done, skip = codec.new(), start, given is None, 0, given or 0
    while not state.eof:
        data = os.pread(fd, STEP, at)
        if not data:
            return (yield from _damaged(fd, start, codec, is_start, None))
        try:
            out = state.decompress(data)
        except codec.errors as error:
            if codec.strict is not None:
                return (yield from _member(fd, start, codec.strict, is_start, None if first else done))
            if rest := _salvaged(fd, start, at, codec)[skip:]:
                yield Block(rest, start, first)
            return (yield from _damaged(fd, start, codec, is_start, error))
        at += len(data) - len(state.unused_data)
        done += len(out)
        if skip:
            out, skip = out[skip:], max(0, skip - len(out))
        if out or first:
            yield Block(out, start, first)
            first = False
    return at


def _damaged(
    fd: int, start: int, codec: Codec, is_start: Callable[[bytes], bool], error: Exception | None
) -> Generator[Block | Break, None, int | None]:
    """The break that a damaged member makes. One cut short in mid-file takes what follows for its own, up to the end
    of the file at worst, so the next member is sought from this one's start and not from where decoding stopped."""
    found = next_member(fd, start + 1, codec, is_start)
    excerpt = os.pread(fd, EXCERPT_BYTES, start)
    if error is None and found is None:
        yield Break(start, _size(fd), Quarantined.TRUNCATED, f"the file ends within a {codec.name} member", excerpt)
        return None
    what = f"{codec.name}: {error or 'the member has no end'}"
    yield Break(start, _size(fd) if found is None else found, Quarantined.CORRUPT_COMPRESSION, what, excerpt)
    return found


def _salvaged(fd: int, start: int, at: int, codec: Codec) -> bytes:
    """What the failed call at `at` would have given before it met the damage: the member is read up to it again."""
    state, here = codec.new(), start
    while here < at:
        data = os.pread(fd, STEP, here)
        state.decompress(data)
        here += len(data)
    return _by_bytes(state, os.pread(fd, STEP, at), codec)


def _gap(
    fd: int, start: int, codec: Codec, is_start: Callable[[bytes], bool]
) -> Generator[Block | Break, None, int | None]:
    """Bytes that are no member; zeros up to the end of the file are padding, and padding is nothing."""
    found = next_member(fd, start + 1, codec, is_start)
    end = _size(fd) if found is None else found
    if found is not None or not _only_zeros(fd, start):
        error = f"{end - start} bytes that are no {codec.name} member"
        yield Break(
            start, end, Quarantined.GARBAGE_BETWEEN_RECORDS, error, os.pread(fd, min(EXCERPT_BYTES, end - start), start)
        )
    return found


def _only_zeros(fd: int, at: int) -> bool:
    while data := os.pread(fd, _SCAN, at):
        if data.count(0) != len(data):
            return False
        at += len(data)
    return True


def _opening(fd: int, at: int, codec: Codec) -> bytes:
    """The first decompressed bytes of what may be a member, as far as they can be had before it proves damaged."""
    codec = codec.strict or codec
    data, state = os.pread(fd, STEP, at), codec.new()
    try:
        return bytes(state.decompress(data, _PROBE) if codec is _ZLIB else state.decompress(data))
    except codec.errors:
        return _by_bytes(codec.new(), data, codec, _PROBE)


def _by_bytes(state: Any, data: bytes, codec: Codec, enough: int | None = None) -> bytes:
    """What a decompressor gives for `data` before it meets damage; one call over all of it would give nothing."""
    out = bytearray()
    try:
        for at in range(len(data)):
            out += state.decompress(data[at : at + 1])
            if state.eof or (enough is not None and len(out) >= enough):
                break
    except codec.errors:
        pass
    return bytes(out)


def _size(fd: int) -> int:
    return os.fstat(fd).st_size


class _Lz4:
    """One lz4 frame with the interface of a decompressor; its end is found by block sizes, FastWARC decodes it."""

    def __init__(self) -> None:
        self._data = b""
        self.eof = False
        self.unused_data = b""

    def decompress(self, data: bytes) -> bytes:
        from fastwarc.stream_io import Lz4Reader

        self._data += data
        end = _lz4_end(self._data)
        if end is None:
            return b""
        self.eof, self.unused_data = True, self._data[end:]
        if self._data[1:4] == b"\x2a\x4d\x18":  # skippable
            return b""
        reader = Lz4Reader(io.BytesIO(self._data[:end]))
        parts = []
        while part := reader.read(1 << 20):
            parts.append(part)
        return b"".join(parts)


def _lz4_end(data: bytes) -> int | None:
    """Where the frame at the start of `data` ends; None when it goes on. Source: the lz4 frame format, 1.6.4."""
    if len(data) < 8:
        return None
    if data[1:4] == b"\x2a\x4d\x18":
        end = 8 + struct.unpack_from("<I", data, 4)[0]
        return end if end <= len(data) else None
    flags = data[4]
    at = 7 + (8 if flags & 8 else 0) + (4 if flags & 1 else 0)
    while at + 4 <= len(data):
        size = struct.unpack_from("<I", data, at)[0] & 0x7FFFFFFF
        at += 4
        if size == 0:
            at += 4 if flags & 4 else 0
            return at if at <= len(data) else None
        at += size + (4 if flags & 16 else 0)
    return None
