"""Copying many stretches of tokens at once."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glotmill.schemas.indexed import Tokens

Positions = NDArray[np.int64]

LONG = 32  # mean tokens of a stretch from which a copy a stretch beats one index a token
_INDEXED = 1 << 20  # tokens whose index is made at a time, at about 40 bytes each


def copy_segments(into: Tokens, at: Positions, source: Tokens, starts: Positions, lengths: Positions) -> None:
    """`into[at[i]:at[i] + lengths[i]] = source[starts[i]:starts[i] + lengths[i]]` for every i; equal dtypes.

    Positions count tokens. Long stretches are copied one by one, short ones by an index a token.
    """
    if int(lengths.sum()) >= LONG * len(lengths):
        _copy_each(into, at, source, starts, lengths)
        return
    for first, last in windows(lengths, most=_INDEXED):
        some = lengths[first:last]
        steps = np.arange(int(some.sum())) - np.repeat(np.cumsum(some) - some, some)
        into[np.repeat(at[first:last], some) + steps] = source[np.repeat(starts[first:last], some) + steps]


def _copy_each(into: Tokens, at: Positions, source: Tokens, starts: Positions, lengths: Positions) -> None:
    target, origin = into.data, source.data  # cheaper to slice than arrays are
    ends, stops = (at + lengths).tolist(), (starts + lengths).tolist()
    for a, b, c, d in zip(at.tolist(), ends, starts.tolist(), stops, strict=True):
        target[a:b] = origin[c:d]


def windows(lengths: Positions, *, most: int) -> Iterator[tuple[int, int]]:
    """Cut documents of `lengths` tokens into runs [first, last) of at most `most` tokens, one document at least."""
    ends = np.cumsum(lengths)
    first, before = 0, 0
    while first < len(lengths):
        last = max(first + 1, int(np.searchsorted(ends, before + most, "right")))
        yield first, last
        first, before = last, int(ends[last - 1])


def framed(
    ids: NDArray[np.integer[Any]], offsets: Positions, *, before: int | None, after: int | None, dtype: np.dtype[Any]
) -> tuple[Tokens, Positions]:
    """The texts of `ids` as documents: `before` (BOS) in front and `after` (EOS) behind each, where given.

    Returns:
        Tokens of dtype `dtype`, one document after the other, and the tokens of each.
    """
    lengths = np.diff(offsets)
    if before is None and after is None:
        return ids.astype(dtype), lengths
    whole = lengths + (before is not None) + (after is not None)
    ends = np.cumsum(whole)
    tokens = np.empty(int(ends[-1]) if len(ends) else 0, dtype)
    body = np.ones(len(tokens), np.bool_)
    for id, places in ((before, ends - whole), (after, ends - 1)):
        if id is not None:
            tokens[places] = id
            body[places] = False
    tokens[body] = ids
    return tokens, whole
