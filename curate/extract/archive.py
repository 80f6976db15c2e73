"""WARC and ARC: records out of archives that may be broken anywhere.

The framing is our own rather than FastWARC's, because every byte must be accounted for: FastWARC stops or skips
silently where an archive is damaged, and doesn't say how far it read. Decompression and the HTML behind it cost far
more than finding record boundaries does.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from glotmill.curate.extract.http import headers
from glotmill.curate.extract.intake import Intake
from glotmill.curate.extract.tape import Tape
from glotmill.schemas.document import EXCERPT_BYTES
from glotmill.schemas.reasons import Quarantined

MAX_HEAD_BYTES = 1 << 20
_SEARCH = 1 << 18
_BLANK = b"\r\n"


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before a record's block; `length` is the block's."""

    fields: dict[str, str]
    size: int
    length: int


@dataclass(frozen=True, slots=True)
class Record:
    """A whole record. `block` is None where only the head was asked for."""

    locator: str
    fields: dict[str, str]
    block: bytes | None

    @property
    def type(self) -> str:
        return self.fields.get("warc-type", "").lower()


@dataclass(frozen=True, slots=True)
class Format:
    """How records of one archive format are told apart."""

    start: re.Pattern[bytes]  # matches at a record's first byte
    later: re.Pattern[bytes]  # finds a start further on, within whatever precedes it
    head: Callable[[bytes], Head | str | None]  # parsed, what is wrong with it, or None: more bytes are needed
    start_bytes: int  # that `start` may need
    terminators: tuple[bytes, ...]


_WARC_END = re.compile(rb"\r*\n\r*\n")
_LENGTH = re.compile(r"\d{1,18}", re.ASCII)
_ARC_LINE = rb"[a-zA-Z][a-zA-Z0-9+.-]{1,20}:[^\r\n]{0,3000} \d{8,18} [^\r\n]{0,200}-?\w+\r?\n"
_ARC_HEAD = re.compile(r"(\S.*?) (?:(\S+) )?(\d{8,18}) (.*?) ?(-?\w+)", re.ASCII)


def _warc_head(data: bytes) -> Head | str | None:
    end = _WARC_END.search(data)
    if end is None:
        return None if len(data) < MAX_HEAD_BYTES else f"no blank line within {MAX_HEAD_BYTES} bytes"
    fields = headers(data[: end.start()].partition(b"\n")[2])
    length = fields.get("content-length")
    if length is None:
        return "no Content-Length"
    if not _LENGTH.fullmatch(length):
        return f"Content-Length is {length[:80]!r}"
    return Head(fields, end.end(), int(length))


def _arc_head(data: bytes) -> Head | str | None:
    line, newline, _ = data.partition(b"\n")
    if not newline:
        return None if len(data) < ARC.start_bytes else "no end of line"
    found = _ARC_HEAD.fullmatch(line.rstrip(b"\r").decode("utf-8", "replace"))
    if found is None or not _LENGTH.fullmatch(found[5]):
        return "not an ARC header line of URL, address, date, media type and length"
    kind = "warcinfo" if found[1].startswith("filedesc:") else "response"
    fields = {
        "warc-type": kind,
        "warc-target-uri": found[1],
        "warc-date": _arc_date(found[3]),
        "content-type": found[4],
    }
    return Head(fields, len(line) + 1, int(found[5]))


def _arc_date(digits: str) -> str:
    d = digits[:14].ljust(14, "0")
    return f"{d[:4]}-{d[4:6]}-{d[6:8]}T{d[8:10]}:{d[10:12]}:{d[12:14]}Z"


WARC = Format(
    re.compile(rb"WARC/\d\.\d{1,3}[ \t\r]{0,9}\n"),
    re.compile(rb"WARC/\d\.\d{1,3}[ \t\r]{0,9}\n(?=[A-Za-z-]{1,40}:)"),
    _warc_head,
    128,
    (b"\r\n\r\n", b"\n\n"),
)
ARC = Format(re.compile(_ARC_LINE), re.compile(rb"(?<=\n)" + _ARC_LINE), _arc_head, 4096, (b"\n", b"\r\n"))


class Archive:
    """The records of a tape. What can't be read goes to the intake's quarantine, and reading goes on behind it.

    Args:
        name: The file's name, for locators.
        form: WARC or ARC.
        limit: Longest block that is read, in bytes.
        want: Which heads need their block.
        begin, end: Records that start in this stretch of the file are given and counted; those before are passed over.
    """

    def __init__(
        self,
        tape: Tape,
        intake: Intake,
        *,
        name: str,
        limit: int,
        want: Callable[[dict[str, str]], bool],
        form: Format,
        begin: int = 0,
        end: int | None = None,
    ) -> None:
        self._tape, self._intake, self._name, self._limit, self._want = tape, intake, name, limit, want
        self._begin, self._end = begin, end
        self._form = form
        self.stopped_at: int | None = None  # offset of the first record that is no longer ours

    def records(self) -> Iterator[Record]:
        tape = self._tape
        while True:
            self._skip_blank()
            if tape.available(1) == 0:
                broken = tape.resume()
                if broken is None:
                    return
                self._lost(f"{self._name}@{broken.offset}", broken.reason, broken.error, broken.excerpt, broken.offset)
                continue
            tape.forget()
            member, inner = tape.origin()
            starts = self._form.start.match(tape.peek(0, self._form.start_bytes)) is not None
            if self._is_anothers(member, inner, starts):
                self.stopped_at = member
                return
            record = self._record(member, inner) if starts else self._garbage(member, inner)
            if record is not None:
                yield record

    def _is_anothers(self, member: int, inner: int, starts: bool) -> bool:
        """Whether this place belongs to the next stretch. In compressed files that begins at the first member which
        opens with a record, so what can't be read before it is still ours."""
        if self._end is None or member < self._end:
            return False
        return not self._tape.compressed or (starts and inner == 0)

    def _record(self, member: int, inner: int) -> Record | None:
        tape, ours = self._tape, member >= self._begin
        locator = self._locator(member, inner)
        if ours:
            self._intake.begin()
        excerpt = tape.peek(0, max(EXCERPT_BYTES, self._form.start_bytes))
        head = self._head()
        if isinstance(head, str):
            return self._give_up(
                ours, member, locator, (Quarantined.INVALID_RECORD, head), excerpt, excerpt.find(b"\n") + 1
            )
        if (cut := self._member_start(1, head.size - 1)) is not None:
            problem = (Quarantined.INVALID_RECORD, "the head breaks off where the next member starts a record")
            return self._give_up(ours, member, locator, problem, excerpt, cut)
        large = head.length > self._limit
        block = ours and not large and self._want(head.fields)
        flaw, start = self._passed(head) if large or not ours else self._checked(head)
        if flaw is None and large and ours:
            error = f"a block of {head.length} bytes is over max_record_bytes, {self._limit}"
            self._intake.quarantine(locator, Quarantined.TOO_LARGE, error, excerpt)
            return None
        if flaw is None:
            data = tape.peek(head.size, head.size + head.length) if block else None
            if ours and not large:
                tape.skip(head.size + head.length)
            return Record(locator, head.fields, data) if ours else None
        return self._give_up(ours, member, locator, flaw, excerpt, start)

    def _head(self) -> Head | str:
        size = 4096
        while True:
            data = self._tape.peek(0, size)
            head = self._form.head(data)
            if head is not None:
                return head
            if len(data) < size:
                return "the head has no end"
            size *= 8

    def _checked(self, head: Head) -> tuple[tuple[str, str] | None, int]:
        """What is wrong with a record that fits in memory, and where to look for the next one."""
        tape, end = self._tape, head.size + head.length
        ahead = end + self._form.start_bytes
        have = tape.available(ahead)
        if have < end:
            return self._cut_off(head, have), head.size
        cut = self._member_start(head.size, end - 1)
        if cut is not None:
            return (
                Quarantined.LENGTH_MISMATCH,
                f"Content-Length is {head.length}; the next record starts after {cut - head.size}",
            ), cut
        tail = tape.peek(end, ahead)
        if have < ahead and not tail.strip(_BLANK) and self._breaks_here():
            assert tape.broken is not None
            return (tape.broken.reason, tape.broken.error), have
        if self._ends_well(tail, end):
            return None, end
        return (
            Quarantined.LENGTH_MISMATCH,
            f"Content-Length is {head.length}; what follows is no record: {tail[:32]!r}",
        ), head.size

    def _passed(self, head: Head) -> tuple[tuple[str, str] | None, int]:
        """The same for a record that is only passed over; the tape moves behind it, or back to its block."""
        tape = self._tape
        tape.skip(head.size)
        block = tape.position
        if self._skipped(head.length) is not None:
            tape.rewind(block)
            return (Quarantined.LENGTH_MISMATCH, f"Content-Length is {head.length}; the next record starts within"), 0
        short = tape.position - block < head.length or (tape.available(1) == 0 and not self._ended_exactly())
        if short:
            problem: tuple[str, str] | None = (
                Quarantined.TRUNCATED,
                f"Content-Length is {head.length}; the file ends before",
            )
            if tape.broken is not None:
                problem = (tape.broken.reason, tape.broken.error)
        elif self._ends_well(tape.peek(0, self._form.start_bytes), 0):
            return None, 0
        else:
            problem = (Quarantined.LENGTH_MISMATCH, f"Content-Length is {head.length}; what follows is no record")
        tape.rewind(block)
        return problem, 0

    def _skipped(self, length: int) -> int | None:
        """Move over a block; stops where a member in it begins with a record, and says so."""
        tape = self._tape
        if not tape.compressed:
            tape.jump(length)
            return None
        while length > 0:
            have = min(tape.available(min(length, _SEARCH) + self._form.start_bytes), length, _SEARCH)
            if have == 0 or (cut := self._member_start(0, have - 1)) is not None:
                return cut if have else None
            tape.skip(have)
            length -= have
        return None

    def _ended_exactly(self) -> bool:
        """Whether the byte before the position exists: a plain file may have been jumped over its end."""
        tape = self._tape
        if tape.compressed:
            return not self._breaks_here()
        here = tape.position
        tape.rewind(here - 1)
        found = tape.available(1) > 0
        tape.skip(1)
        return found

    def _cut_off(self, head: Head, have: int) -> tuple[str, str]:
        broken = self._tape.broken
        if broken is not None and broken.reason != Quarantined.GARBAGE_BETWEEN_RECORDS:
            return broken.reason, broken.error
        return Quarantined.TRUNCATED, f"Content-Length is {head.length}; only {max(0, have - head.size)} bytes follow"

    def _breaks_here(self, member: int | None = None) -> bool:
        """Whether the break ahead is damage to `member`, by default the member that the position is in."""
        broken = self._tape.broken
        return broken is not None and broken.offset == (self._tape.origin()[0] if member is None else member)

    def _ends_well(self, tail: bytes, end: int) -> bool:
        rest = tail.lstrip(_BLANK)
        if not rest or self._form.start.match(rest) or rest.startswith(b"WARC/"):
            return True
        blank = len(tail) - len(rest)
        return bool(tail.startswith(self._form.terminators) or self._tape.members(end, end + blank))

    def _member_start(self, start: int, end: int) -> int | None:
        """A member within the block that begins with a record: then the block was cut short."""
        for at in self._tape.members(start, end):
            if self._form.start.match(self._tape.peek(at, at + self._form.start_bytes)):
                return at
        return None

    def _give_up(
        self, ours: bool, member: int, locator: str, problem: tuple[str, str], excerpt: bytes, start: int
    ) -> Record | None:
        """Quarantine a record begun, and move to the next start from `start` bytes on."""
        reason, error = problem
        self._tape.skip(start)
        found = self._seek()
        if found and reason == Quarantined.TRUNCATED:
            reason = Quarantined.LENGTH_MISMATCH
        elif not found and self._breaks_here(member):
            broken = self._tape.resume()  # one damage, one row
            assert broken is not None
            if reason in (Quarantined.LENGTH_MISMATCH, Quarantined.INVALID_RECORD):
                reason, error = broken.reason, broken.error
        if ours:
            self._intake.quarantine(locator, reason, error, excerpt)
        return None

    def _garbage(self, member: int, inner: int) -> Record | None:
        """Bytes where a record should start."""
        ours, locator, excerpt = member >= self._begin, self._locator(member, inner), self._tape.peek(0, EXCERPT_BYTES)
        start = self._tape.position
        self._seek()
        if ours:
            size = self._tape.position - start
            self._intake.begin()
            self._intake.quarantine(
                locator, Quarantined.GARBAGE_BETWEEN_RECORDS, f"{size} bytes that are no record", excerpt[:size]
            )
        if self._tape.available(1) == 0 and self._breaks_here(member):
            self._tape.resume()
        return None

    def _seek(self) -> bool:
        """Move to the next byte where a record starts, or to the break or end before that."""
        tape = self._tape
        if self._form.start.match(tape.peek(0, self._form.start_bytes)):
            return True
        while True:
            have = tape.available(_SEARCH)
            found = tape.find(self._form.later, 0, have)
            member = self._member_start(0, have)
            places = [place for place in (member, found) if place is not None]
            if places:
                tape.skip(min(places))
                return True
            if have < _SEARCH:
                tape.skip(have)
                return False
            tape.skip(have - self._form.start_bytes)

    def _skip_blank(self) -> None:
        tape = self._tape
        while (data := tape.peek(0, 64)) and (blank := len(data) - len(data.lstrip(_BLANK))):
            tape.skip(blank)
            if blank < len(data):
                return

    def _lost(self, locator: str, reason: str, error: str, excerpt: bytes, offset: int) -> None:
        if offset >= self._begin:
            self._intake.begin()
            self._intake.quarantine(locator, reason, error, excerpt)

    def _locator(self, member: int, inner: int) -> str:
        return f"{self._name}@{member}+{inner}" if inner else f"{self._name}@{member}"
