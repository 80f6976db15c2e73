"""Lines of plain or compressed files with their byte offsets, none of them longer in memory than the limit."""

from collections.abc import Iterator
from typing import NamedTuple

from glotmill.curate.extract.members import Block, Break, codec_of, member_blocks, plain_blocks


class Line(NamedTuple):
    """A line without its LF. `size` is its true length, more than `data` holds where it is over the limit."""

    offset: int
    data: bytes
    size: int
    whole: bool  # ended by LF or by the end of the file, not by damage


def blocks(fd: int, head: bytes, start: int) -> Iterator[Block | Break]:
    """Decompressed blocks of a file, by what its bytes say it is. `start` is for plain files alone."""
    codec = codec_of(head)
    return plain_blocks(fd, start) if codec is None else member_blocks(fd, 0, codec, _opens_a_line)


def _opens_a_line(opening: bytes) -> bool:
    """Whether a member found behind damage is one, and not bytes that look like it: it opens with a JSON object."""
    return opening.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def lines(stream: Iterator[Block | Break], start: int, *, limit: int) -> Iterator[Line | Break]:
    """Lines of a stream whose first byte has the offset `start`, and the breaks between them.

    A break ends the line before it, which then isn't whole; the next one begins behind it.
    """
    held, size, offset, at = bytearray(), 0, start, start
    for block in stream:
        if isinstance(block, Break):
            if size:
                yield Line(offset, bytes(held), size, False)
            yield block
            held, size, offset = bytearray(), 0, at
            continue
        data, begin = block.data, 0
        while (end := data.find(b"\n", begin)) >= 0:
            if size:
                _hold(held, data, begin, end, limit)
                size += end - begin
                yield Line(offset, bytes(held), size, True)
                held, size = bytearray(), 0
            else:
                yield Line(offset, data[begin : min(end, begin + limit + 1)], end - begin, True)
            begin = end + 1
            offset = at + begin
        if begin < len(data):
            _hold(held, data, begin, len(data), limit)
            size += len(data) - begin
        at += len(data)
    if size:
        yield Line(offset, bytes(held), size, True)


def _hold(held: bytearray, data: bytes, start: int, end: int, limit: int) -> None:
    room = limit + 1 - len(held)
    if room > 0:
        held += data[start : min(end, start + room)]
