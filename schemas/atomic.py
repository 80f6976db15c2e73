"""Files that are whole or absent: written under another name, forced to disk, renamed together."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import xxhash

TEMPORARY = ".tmp"  # suffix of everything unfinished: a run sweeps such files when it starts
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Stamp:
    """One file as it was when it was read or written; `path` is relative to the folder the ledger speaks of."""

    path: str
    size: int
    mtime_ns: int
    xxh3: str

    @classmethod
    def of(cls, path: Path, name: str) -> "Stamp":
        before = path.stat()
        digest = file_digest(path)
        after = path.stat()
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise OSError(f"{path} changed while it was read")
        return cls(name, after.st_size, after.st_mtime_ns, digest)

    def matches(self, path: Path) -> bool:
        """Whether `path` holds these bytes. Size and time settle most cases; bytes are hashed if only time differs."""
        try:
            found = path.stat()
        except FileNotFoundError:
            return False
        if found.st_size != self.size:
            return False
        return found.st_mtime_ns == self.mtime_ns or file_digest(path) == self.xxh3


@dataclass(frozen=True, slots=True)
class RangeStamp:
    """A stretch of bytes of an input file, as it was read; `path` is `source:name`, as the extracting unit names it.

    `end` is where reading stopped: past the end of the unit's own range when its last record crosses it.
    """

    path: str
    size: int
    mtime_ns: int
    start: int
    end: int
    xxh3: str

    @classmethod
    def of(cls, file: Path, path: str, start: int, end: int) -> "RangeStamp":
        found = file.stat()
        return cls(path, found.st_size, found.st_mtime_ns, start, end, range_digest(file, start, end))

    def matches(self, file: Path) -> bool:
        """Whether the file still holds these bytes there; hashed only when its time differs."""
        try:
            found = file.stat()
        except FileNotFoundError:
            return False
        if found.st_size != self.size:
            return False
        return found.st_mtime_ns == self.mtime_ns or range_digest(file, self.start, self.end) == self.xxh3


def range_digest(path: Path, start: int, end: int) -> str:
    """xxh3-128 of the bytes from `start` to before `end`, as 32 hex digits."""
    state = xxhash.xxh3_128()
    with path.open("rb") as file:
        file.seek(start)
        left = end - start
        while left > 0 and (block := file.read(min(_BLOCK, left))):
            state.update(block)
            left -= len(block)
    return state.hexdigest()


def file_digest(path: Path) -> str:
    """xxh3-128 of the bytes of a file, as 32 hex digits."""
    state = xxhash.xxh3_128()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            state.update(block)
    return state.hexdigest()


class Transaction:
    """Some files that appear together under `root`, in the order they were asked for, or not at all.

    Renaming several files is not one act of the file system: a kill between two renames leaves whole files that no
    receipt names. The next run sweeps or overwrites them, since a unit counts as done by its receipt alone.
    """

    def __init__(self, root: Path, token: str) -> None:
        self._root = root
        self._token = token
        self._pending: dict[str, Path] = {}

    def path(self, name: str) -> Path:
        """Where to write the file that will be `root/name`."""
        final = self._root / name
        final.parent.mkdir(parents=True, exist_ok=True)
        temporary = final.with_name(f".{final.name}.{self._token}{TEMPORARY}")
        self._pending[name] = temporary
        return temporary

    def commit(self) -> tuple[Stamp, ...]:
        """Force every file to disk, rename all, and say what they are."""
        stamps = []
        for name, temporary in self._pending.items():
            _force(temporary)
            written = Stamp.of(temporary, name)
            os.replace(temporary, self._root / name)
            stamps.append(written)
        for folder in {(self._root / name).parent for name in self._pending}:
            _force(folder)
        self._pending.clear()
        return tuple(stamps)

    def abort(self) -> None:
        for temporary in self._pending.values():
            temporary.unlink(missing_ok=True)
        self._pending.clear()


@contextmanager
def transaction(root: Path, token: str) -> Iterator[Transaction]:
    """A transaction that leaves nothing behind unless it was committed."""
    files = Transaction(root, token)
    try:
        yield files
    finally:
        files.abort()


def write_atomic(path: Path, data: bytes) -> None:
    """Replace `path` by `data` in one act."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    _force(path.parent)


def _force(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
