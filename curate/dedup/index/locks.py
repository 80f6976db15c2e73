"""Who may change an index, and delete its files."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from glotmill.curate.dedup.index.format import GENERATIONS, IN_USE, LOCK, Index
from glotmill.schemas.atomic import TEMPORARY
from glotmill.schemas.errors import InputError


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Nobody deletes files of the index meanwhile. Any number of runs may use it at once."""
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / IN_USE, fcntl.LOCK_SH):
        yield


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Nobody else changes index.json meanwhile; waits for who does."""
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / LOCK, fcntl.LOCK_EX):
        yield


@contextmanager
def _locked(path: Path, how: int) -> Iterator[int]:
    """The lock dies with its process."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; an index must lie where it can be written") from None
    try:
        fcntl.flock(descriptor, how)
        yield descriptor
    finally:
        os.close(descriptor)


def sweep(index: Index) -> int:
    """Delete the folders that the index doesn't name; how many. Call it with `changing` held.

    Nothing is deleted while anybody else uses the index, since such a folder may be what he is writing or reading: the
    next one sweeps it then.
    """
    named = {found.folder for found in index.generations}
    swept = 0
    try:
        with _locked(index.folder / IN_USE, fcntl.LOCK_EX | fcntl.LOCK_NB):
            for path in (index.folder / GENERATIONS).glob("*"):
                if path.name not in named:
                    shutil.rmtree(path)
                    swept += 1
            for path in index.folder.glob(f".*{TEMPORARY}"):
                path.unlink(missing_ok=True)
    except BlockingIOError:
        return 0
    return swept
