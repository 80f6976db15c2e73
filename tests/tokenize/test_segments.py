"""Copies of many stretches equal the plain loop, whichever way they are made."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.tokenize import segments
from glotmill.tokenize.segments import copy_segments, framed, windows

LENGTHS = st.lists(st.integers(0, 9), max_size=12)


@pytest.mark.parametrize("dtype", ["<u2", "<i4"])
@pytest.mark.parametrize("long", [0, 10**9], ids=["one by one", "by index"])
@given(lengths=LENGTHS, random=st.randoms(use_true_random=False), chunk=st.integers(1, 20))
def test_a_permutation_of_documents_is_copied(
    dtype: str, long: int, lengths: list[int], random: object, chunk: int
) -> None:
    source = np.arange(sum(lengths)).astype(dtype)
    documents = np.split(source, np.cumsum(lengths))[: len(lengths)]
    order = list(range(len(lengths)))
    random.shuffle(order)  # type: ignore[attr-defined]  # hypothesis' Random
    taken = np.array(lengths, np.int64)[order] if order else np.empty(0, np.int64)
    starts = (np.cumsum(lengths) - lengths).astype(np.int64)[order] if order else taken
    into = np.zeros_like(source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "LONG", long)
        patch.setattr(segments, "_INDEXED", chunk)
        copy_segments(into, np.cumsum(taken) - taken, source, starts, taken)
    assert into.tolist() == [token for at in order for token in documents[at].tolist()]


@given(LENGTHS, st.integers(1, 20))
def test_windows_cover_every_document_once_and_keep_their_size(lengths: list[int], most: int) -> None:
    cut = list(windows(np.array(lengths, np.int64), most=most))
    assert [at for first, last in cut for at in range(first, last)] == list(range(len(lengths)))
    assert all(sum(lengths[first:last]) <= most or last - first == 1 for first, last in cut)


@given(
    st.lists(st.lists(st.integers(2, 99), max_size=4), max_size=6),
    st.sampled_from([None, 0]),
    st.sampled_from([None, 1]),
)
def test_control_tokens_frame_every_document(documents: list[list[int]], before: int | None, after: int | None) -> None:
    ids = np.array(sum(documents, []), np.int32)
    offsets = np.cumsum([0, *map(len, documents)])
    tokens, lengths = framed(ids, offsets, before=before, after=after, dtype=np.dtype("<u2"))
    expected = [[x for x in (before, *document, after) if x is not None] for document in documents]
    assert tokens.tolist() == sum(expected, []) and lengths.tolist() == [len(document) for document in expected]
