"""The kernels of the search for repeats against what they should be, said plainly."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.kernels.firsts import find, firsts
from glotmill.curate.kernels.line_keys import line_keys
from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.kernels.scan import WORD
from glotmill.curate.kernels.spans import after_cuts
from glotmill.curate.kernels.winnow import window_ends, window_keys, windows

SMALL = st.integers(0, 3)


@given(st.lists(st.tuples(SMALL, SMALL, SMALL), max_size=40))
def test_the_first_of_equal_keys_has_the_smallest_rank_and_place(rows: list[tuple[int, int, int]]) -> None:
    high, low, rank = (np.array([row[k] for row in rows], np.uint64) for k in range(3))
    place = np.arange(len(rows))[::-1].copy()
    expected = [
        min((k for k, other in enumerate(rows) if other[:2] == row[:2]), key=lambda k: (rows[k][2], place[k]))
        for row in rows
    ]
    assert firsts(high, low, rank, place).tolist() == expected


@given(st.sets(st.tuples(SMALL, SMALL)), st.lists(st.tuples(SMALL, SMALL)))
def test_a_key_is_found_where_it_is(keys: set[tuple[int, int]], wanted: list[tuple[int, int]]) -> None:
    known = sorted(keys)
    columns = [np.array([key[half] for key in of], np.uint64) for of in (known, wanted) for half in (0, 1)]
    assert find(*columns).tolist() == [known.index(key) if key in keys else -1 for key in wanted]


UNITS = st.lists(st.sampled_from(["a", "b", "c", "7", "日", "本", "ก", "ข", "か"]), max_size=60).map(" ".join)


@given(UNITS, UNITS, UNITS)
def test_a_window_has_its_fingerprint_and_key_wherever_it_stands(before: str, shared: str, after: str) -> None:
    cut = pieces(pa.array([shared, f"{before} {shared} {after}"]))
    found = windows(cut, words=3)
    high, low = window_keys(cut, found)
    told = list(zip(found.units, found.ends, found.prints, high, low, strict=True))
    own = [row for row in told if row[0] < cut.unit_bounds[1]]
    shift = cut.unit_bounds[1] + len(pieces(pa.array([before])).unit_hash)
    there = {(row[0], row[1]): row[2:] for row in told}
    for start, end, *rest in own:
        assert there[start + shift, end + shift] == tuple(rest)


@given(st.lists(UNITS, max_size=4))
def test_a_window_weighs_enough_and_none_shorter_does(texts: list[str]) -> None:
    cut = pieces(pa.array(texts, pa.string()))
    found = windows(cut, words=3)
    expected = []
    for d in range(len(texts)):
        for start in range(cut.unit_bounds[d], cut.unit_bounds[d + 1]):
            weights = itertools.accumulate(cut.unit_weight[start : cut.unit_bounds[d + 1]].tolist())
            expected += [(start, start + k) for k, weight in enumerate(weights, 1) if weight >= 3 * WORD][:1]
    assert list(zip(found.units, found.ends, strict=True)) == expected
    assert window_ends(cut, words=3)[found.units].tolist() == found.ends.tolist()
    assert ((found.places >= found.units) & (found.places < found.ends)).all()


def test_few_windows_of_a_text_have_a_fingerprint_of_their_own() -> None:
    """Two in n + 1 k-grams are taken, where a window has n (Schleimer et al. 2003): here 26 of 25 words."""
    rng = np.random.default_rng(1)
    cut = pieces(pa.array([" ".join(f"w{k}" for k in rng.integers(0, 1 << 30, 50_000))]))
    prints, counts = windows(cut, words=50).runs()
    assert len(prints) / len(cut.unit_hash) == pytest.approx(2 / 27, rel=0.05)
    assert counts.sum() == len(cut.unit_hash) - 49


def test_windows_that_differ_in_one_word_or_its_place_have_other_keys() -> None:
    words = [f"w{k}" for k in range(12)]
    texts = [" ".join(words)]
    texts += [" ".join([*words[:k], "other", *words[k + 1 :]]) for k in range(12)]
    texts += [" ".join([*words[:k], words[k + 1], words[k], *words[k + 2 :]]) for k in range(11)]
    cut = pieces(pa.array(texts))
    for half in window_keys(cut, windows(cut, words=12)):
        assert len(half) == len(set(half.tolist())) == len(texts)


def test_no_two_of_a_million_lines_share_half_a_key() -> None:
    """Of lines as like as lines can be, and with the bits of each half evenly spread."""
    lines = [f"{k:06d} {k % 7}" for k in range(500_000)] + [f"page {k} of 12" for k in range(500_000)]
    cut = pieces(pa.array(["\n".join(lines)]))
    for half in line_keys(cut, np.arange(len(lines))):
        assert len(np.unique(half)) == len(lines)
        bits = np.unpackbits(half.view(np.uint8)).reshape(-1, 64).mean(axis=0)
        assert abs(bits - 0.5).max() < 0.005


TEXT = st.text("ab日\n", max_size=20)


def some_spans(draw: st.DrawFn, text: str) -> list[tuple[int, int]]:
    """Sorted and disjoint, none empty; places in UTF-8."""
    places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    sizes = [len(text[:place].encode()) for place in places]
    return [pair for pair in zip(sizes[::2], sizes[1::2], strict=False) if pair[0] < pair[1]]


@given(st.data())
def test_spans_after_cuts_leave_what_both_leave_one_after_the_other(data: st.DataObject) -> None:
    text = data.draw(TEXT)
    cuts = some_spans(data.draw, text)  # type: ignore[arg-type]
    between = without(text.encode(), cuts)
    spans = some_spans(data.draw, between.decode())  # type: ignore[arg-type]

    def columns(of: list[tuple[int, int]], reason: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        starts, ends = (np.array([pair[k] for pair in of], np.int64) for k in (0, 1))
        return np.array([0, len(of)]), starts, ends, np.full(len(of), reason)

    bounds, starts, ends, reasons = after_cuts(columns(cuts, 0), columns(spans, 1))
    found = list(zip(starts.tolist(), ends.tolist(), strict=True))
    assert bounds.tolist() == [0, len(found)]
    assert without(text.encode(), found) == without(between, spans)
    assert all(a < b for a, b in found) and all(one[1] <= next[0] for one, next in itertools.pairwise(found))
    covered = [k for (a, b), reason in zip(found, reasons, strict=True) if reason == 0 for k in range(a, b)]
    assert covered == [k for a, b in cuts for k in range(a, b)]


def without(data: bytes, spans: list[tuple[int, int]]) -> bytes:
    for start, end in reversed(spans):
        data = data[:start] + data[end:]
    return data
