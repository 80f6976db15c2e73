"""Inflating with ISA-L, twice as fast as zlib, where its wheel exists; zlib is the judge of what it refuses.

ISA-L checks headers, checksums and lengths as zlib does, but finds some damage a few bytes later and says so in other
words. So whoever uses it must go back to zlib on an error: then damage costs and reads the same on every machine.
"""

import zlib
from typing import Any

try:
    from isal import isal_zlib
except ImportError:  # no wheel for this machine
    isal_zlib = None  # type: ignore[assignment]

_error: Any = zlib.error if isal_zlib is None else isal_zlib.error  # a class, which ISA-L's stub doesn't say
INFLATE_ERRORS: tuple[type[Exception], ...] = (_error,)


def fast_gzip() -> Any:
    """A decompressor of one gzip member with zlib's interface; it raises INFLATE_ERRORS."""
    return zlib.decompressobj(31) if isal_zlib is None else isal_zlib.decompressobj(31)


def whole_gzip(body: bytes, limit: int) -> bytes | None:
    """The first gzip member of `body`; None where it is damaged, cut short, or longer than `limit` bytes."""
    state = fast_gzip()
    try:
        text: bytes = state.decompress(body, limit + 1)
    except INFLATE_ERRORS:
        return None
    return text if state.eof and len(text) <= limit else None
