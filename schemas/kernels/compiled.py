"""How kernels are compiled, and where the machine code is kept."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import xxhash
from numba import njit
from numba.core import config


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` for the machine it runs on, at its first call, and keep the result for later processes.

    Numba alone would run stale code: it looks at the time of the file that holds a function, not of the files that
    hold what it calls and the constants it was compiled with. So the folder's name is a hash of all modules of the
    function's package, and a kernel calls none of another package.
    """
    with _cache_folder(function.__module__.rpartition(".")[0]):
        try:
            compiled: Callable[..., Any] = njit(cache=True, nogil=True)(function)
        except RuntimeError:  # nowhere to write, or the package is read from a zip: compile in every process
            compiled = njit(nogil=True)(function)
        return compiled


@contextmanager
def _cache_folder(package: str) -> Iterator[None]:
    settings: Any = config  # numba fills it when it starts; type checkers don't see that
    before = settings.CACHE_DIR
    settings.CACHE_DIR = _folder(package) or before
    try:
        yield
    finally:
        settings.CACHE_DIR = before


@cache
def _folder(package: str) -> str | None:
    """The first place that can be written: NUMBA_CACHE_DIR, beside the kernels, the user's cache.

    No folder for temporary files: what is loaded from here runs, and others can write there.
    """
    kernels = resources.files(package)
    name = f"glotmill-{_sources_hash(kernels)}"
    given = os.environ.get("NUMBA_CACHE_DIR")
    beside = Path(str(kernels)) / "__pycache__"
    for parent in (Path(given) if given else beside, Path(os.path.expanduser("~/.cache"))):
        try:
            (parent / name).mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(parent / name, os.W_OK):
            return str(parent / name)
    return None


def _sources_hash(kernels: Traversable) -> str:
    files = sorted((file for file in kernels.iterdir() if file.name.endswith(".py")), key=lambda file: file.name)
    return xxhash.xxh3_64_hexdigest(b"".join(file.read_bytes() for file in files))
