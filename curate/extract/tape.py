"""The decompressed bytes of a file as one stream, read ahead as far as asked, that knows where members start."""

import re
from collections import deque
from collections.abc import Callable, Iterator

from glotmill.curate.extract.members import Block, Break

Open = Callable[[int], Iterator[Block | Break]]


class Tape:
    """A stream with a position. It stops at a Break until `resume`: what lies before and after doesn't belong together.

    Args:
        open: Blocks from a byte of the file, which must be the start of a member in a compressed file.
        start: Where to begin.
        compressed: Whether the file has members.
    """

    def __init__(self, open: Open, start: int, *, compressed: bool) -> None:
        self._open, self._blocks = open, open(start)
        self.compressed = compressed
        self._base = 0 if compressed else start  # stream position of the buffer's first byte
        self._buffer = b""
        self._at = 0
        self._later: deque[bytes] = deque()  # blocks behind the buffer; joining each to it would copy every record
        self._ahead = 0  # bytes read from the position on
        self._marks: list[tuple[int, int]] = []  # (stream position, offset in the file) of members, oldest first
        self.broken: Break | None = None
        self._ended = False

    @property
    def position(self) -> int:
        return self._base + self._at

    def available(self, n: int) -> int:
        """Read ahead so that `n` bytes lie before the position, or all up to the next break; says how many do."""
        while self._ahead < n and (data := self._pull(self.position + self._ahead)) is not None:
            if self._ahead == 0:
                self._base, self._buffer, self._at = self.position, data, 0
            elif data:
                self._later.append(data)
            self._ahead += len(data)
        return self._ahead

    def peek(self, start: int, end: int) -> bytes:
        """Bytes from `start` to before `end`, counted from the position; fewer where the stream breaks or ends."""
        self.available(end)
        first, last = self._at + start, self._at + end
        if last <= len(self._buffer) or not self._later:
            return self._buffer[first:last]
        parts = [self._buffer[first:last]]
        passed = len(self._buffer)
        for block in self._later:
            if passed >= last:
                break
            parts.append(block[max(0, first - passed) : last - passed])
            passed += len(block)
        return b"".join(parts)

    def find(self, pattern: re.Pattern[bytes], start: int, end: int) -> int | None:
        """Where, counted from the position, `pattern` first begins within `start` and `end`."""
        if self._later:
            self._base, self._buffer, self._at = self.position, self.peek(0, self._ahead), 0
            self._later.clear()
        found = pattern.search(self._buffer, self._at + start, self._at + end)
        return found.start() - self._at if found else None

    def skip(self, n: int) -> None:
        """Move on by `n` bytes, or to the break or end before that; nothing is kept."""
        while n > 0 and (have := min(self.available(1), n)):
            self._at += have
            self._ahead -= have
            n -= have
            while self._later and self._at >= len(self._buffer):
                self._base += len(self._buffer)
                self._at -= len(self._buffer)
                self._buffer = self._later.popleft()

    def jump(self, n: int) -> None:
        """Like skip, without reading what a plain file can seek over."""
        if self.compressed or n <= self._ahead:
            self.skip(n)
        else:
            self._restart(self.position + n, self.position + n)

    def rewind(self, position: int) -> None:
        """Go back to an earlier stream position, not before the last `forget`."""
        if not self.compressed:
            self._restart(position, position)
            return
        mark, offset = next((m for m in reversed(self._marks) if m[0] <= position), self._marks[0])
        self._marks = [m for m in self._marks if m[0] < mark]
        self._restart(mark, offset)
        self.skip(position - mark)

    def _restart(self, position: int, offset: int) -> None:
        self._blocks = self._open(offset)
        self._base, self._buffer, self._at = position, b"", 0
        self._ahead = 0
        self._later.clear()
        self.broken, self._ended = None, False

    def forget(self) -> None:
        """Drop marks that lie before the member which the position is in."""
        here = self.position
        while len(self._marks) > 1 and self._marks[1][0] <= here:
            del self._marks[0]

    def origin(self) -> tuple[int, int]:
        """Offset in the file of the member at the position, and the position within it; (offset, 0) in plain files."""
        if not self.compressed:
            return self.position, 0
        self.available(1)
        here = self.position
        mark, offset = next((m for m in reversed(self._marks) if m[0] <= here), (here, 0))
        return offset, here - mark

    def members(self, start: int, end: int) -> list[int]:
        """Where members begin, counted from the position, from `start` up to and including `end`; of what is read."""
        here = self.position
        return [mark - here for mark, _ in self._marks if start <= mark - here <= end]

    def resume(self) -> Break | None:
        """Cross the break that the position is at; says what it was, None at the end of the file."""
        found, self.broken = self.broken, None
        return found

    def _pull(self, position: int) -> bytes | None:
        if self.broken is not None or self._ended:
            return None
        block = next(self._blocks, None)
        if block is None:
            self._ended = True
            return None
        if isinstance(block, Break):
            self.broken = block
            return None
        if block.first:
            self._marks.append((position, block.member))
        return block.data
