"""fastText trained so that the same text and settings give the same model."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_M_PERTURB = -6  # mallopt(3): memory handed out is filled with the complement of the value
_ZEROS, _AS_IT_IS = 255, 0


def train_supervised(path: Path, **options: Any) -> Any:
    """`fasttext.train_supervised` in one thread: with more, the result would depend on their race.

    Raises:
        ValueError, RuntimeError: fastText can't train on this text.
    """
    import fasttext

    with clean_memory():
        return fasttext.train_supervised(str(path), thread=1, verbose=0, **options)


@contextmanager
def clean_memory() -> Iterator[None]:
    """Memory that libraries ask for is zeroed, where the C library can do that (glibc).

    fastText gives the first tenth of its matrix random weights for each of ten threads; with one thread, the other
    nine tenths (in densematrix.cc, `uniform`) are whatever lay in memory, up to "Encountered NaN". Elsewhere we trust
    that an allocation of this size is fresh from the system, as it is in a process that does little else.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        yield
        return
    mallopt(_M_PERTURB, _ZEROS)
    try:
        yield
    finally:
        mallopt(_M_PERTURB, _AS_IT_IS)
