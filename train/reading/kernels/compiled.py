"""How the reader's kernels are compiled, and where the machine code is kept."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import xxhash
from numba import njit
from numba.core import config


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` at its first call and keep the result for later processes.

    Numba alone runs stale code after a change in what a kernel calls, so the folder's name is a hash of all kernels.
    The trainer's side imports nothing of curate/, which keeps its own twin of this.
    """
    settings: Any = config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = _folder() or before
    try:
        compiled: Callable[..., Any] = njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to write: compile in every process
        compiled = njit(nogil=True)(function)
    finally:
        settings.CACHE_DIR = before
    return compiled


@cache
def _folder() -> str | None:
    here = Path(__file__).parent
    name = f"glotmill-reader-{xxhash.xxh3_64_hexdigest(b''.join(p.read_bytes() for p in sorted(here.glob('*.py'))))}"
    given = os.environ.get("NUMBA_CACHE_DIR")
    for parent in (Path(given) if given else here / "__pycache__", Path(os.path.expanduser("~/.cache"))):
        try:
            (parent / name).mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(parent / name, os.W_OK):
            return str(parent / name)
    return None
