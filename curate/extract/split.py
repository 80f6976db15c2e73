"""A stretch of an input file, open for reading, that notices when the file changes meanwhile."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from glotmill.schemas.atomic import RangeStamp
from glotmill.schemas.errors import InputError


class Split(NamedTuple):
    """What a unit reads: of the file `name` in `format` the records that start from `start` to before `end`.

    Bytes of the file, or row groups where the format is parquet.
    """

    name: str
    format: str
    start: int
    end: int


class Opened:
    """One split's file."""

    def __init__(self, path: Path, split: Split, name: str, fd: int) -> None:
        self.path, self.name, self.fd = path, name, fd
        self.start, self.end = split.start, split.end
        found = os.fstat(fd)
        self.size = found.st_size
        self._state = (found.st_size, found.st_mtime_ns)
        self.head = os.pread(fd, 512, 0)
        self._from, self._to = split.start, min(split.end, self.size)
        self._whole = split.start == 0 and split.end >= self.size

    @property
    def bytes(self) -> int:
        """Bytes of the file that were read."""
        return max(0, self._to - self._from)

    def stopped(self, at: int | None) -> None:
        """Note where reading stopped: at a byte of the file, or at its end."""
        self._to = self.size if at is None else max(at, self._from)

    def read_range(self, start: int, end: int) -> None:
        """Note which bytes were read, where the split doesn't count bytes."""
        self._from, self._to = start, min(end, self.size)

    def stamp(self, source: str) -> RangeStamp:
        """Raise InputError if the file is no longer what was opened."""
        try:
            stamp = RangeStamp.of(self.path, f"{source}:{self._stamped}", self._from, self._to)
        except OSError as error:
            raise InputError(
                f"{self.path} went away while it was read ({error}): run again when it is complete"
            ) from None
        if (stamp.size, stamp.mtime_ns) != self._state:
            raise InputError(f"{self.path} changed while it was read: run again when nothing writes to it any more")
        return stamp

    _stamped = ""


@contextmanager
def opened(root: Path, split: Split, name: str) -> Iterator[Opened]:
    """Raises InputError when the file can't be opened. `name` is the file's name as text, for locators."""
    path = root / split.name
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; check that it exists and may be read") from None
    try:
        result = Opened(path, split, name, fd)
        result._stamped = split.name
        yield result
    except OSError as error:
        raise InputError(
            f"{path}: reading fails ({error.strerror or error}); check the disk or copy the file again"
        ) from None
    finally:
        os.close(fd)
