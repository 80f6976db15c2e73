"""What comes: every token once, documents where they begin, the blend asked for."""

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glotmill.schemas.errors import RecipeError
from glotmill.schemas.manifest import ShardEntry
from glotmill.train.data import Batch, Phase, Reader, Source
from glotmill.train.reading.blend import TOTAL, whole_weights
from glotmill.train.reading.kernels.best_fit import pack
from glotmill.train.reading.kernels.round_robin import choose
from glotmill.train.reading.order import Permutation

from .conftest import Write, numbered, write_shards

SHARDS = st.lists(st.lists(st.integers(0, 30), max_size=12), min_size=1, max_size=4)
REUSED = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def written(folder: Path, lengths: list[list[int]], **changed: Any) -> tuple[Path, list[list[list[int]]]]:
    """Shards whose tokens are numbered through."""
    shards: list[list[list[int]]] = []
    first = 0
    for some in lengths:
        shards.append(numbered(some, first))
        first += sum(some)
    return write_shards(folder, shards, **changed), shards


def epoch(reader: Reader) -> list[Batch]:
    """The first epoch of a single source, a sample a batch."""
    found: list[Batch] = []
    for batch in reader.batches(1):
        if batch.refs[0, 0] > 0:
            return found
        found.append(batch)
    return found


@given(size=st.integers(1, 3000), seed=st.integers(0, 2**63))
def test_a_permutation_is_a_bijection(size: int, seed: int) -> None:
    image = Permutation(size, ["x", seed])(np.arange(size))
    assert np.array_equal(np.sort(image), np.arange(size))


def test_a_permutation_of_a_trillion_answers_at_once_and_depends_on_its_key() -> None:
    at = np.arange(1000) * 999_999_937
    one, two = (Permutation(10**12, ["x", key])(at) for key in (0, 1))
    assert len(set(one.tolist())) == 1000 and one.min() >= 0 and one.max() < 10**12
    assert not np.any(one == two)


def test_a_permutation_moves_neighbours_apart() -> None:
    image = Permutation(100_000, ["x", 7])(np.arange(100_000))
    assert abs(float(np.corrcoef(np.arange(100_000), image)[0, 1])) < 0.02
    assert 30_000 < float(np.abs(np.diff(image)).mean()) < 37_000  # a third of the size, for numbers drawn by lot


@given(weights=st.lists(st.floats(0, 1e9), min_size=1, max_size=12).filter(lambda w: sum(w) > 0))
def test_at_every_prefix_a_blend_is_off_by_about_a_sample(weights: list[float]) -> None:
    whole = whole_weights(weights)
    assert int(whole.sum()) == TOTAL and all((w > 0) == (n > 0) for w, n in zip(weights, whole.tolist(), strict=True))
    credits, out = np.zeros(len(whole), np.int64), np.empty(400, np.int32)
    choose(whole, credits, out)
    taken = np.cumsum(out[:, None] == np.arange(len(whole)), axis=0)
    due = np.arange(1, 401)[:, None] * (whole / TOTAL)
    assert (taken - due).max() < 1
    assert (due - taken).max() < sum(1 / k for k in range(1, len(whole) + 1))
    assert not taken[:, whole == 0].any()


def test_a_blend_in_parts_is_the_blend_in_one() -> None:
    whole = whole_weights([0.5, 0.3, 0.2, 0.0])
    one, credits = np.empty(1000, np.int32), np.zeros(4, np.int64)
    choose(whole, credits, one)
    parts, credits = [], np.zeros(4, np.int64)
    for size in (1, 9, 490, 500):
        part = np.empty(size, np.int32)
        choose(whole, credits, part)
        parts.append(part)
    assert np.array_equal(one, np.concatenate(parts))


@REUSED
@given(lengths=SHARDS, length=st.integers(1, 9), blocks=st.integers(1, 3), seed=st.integers(0, 9))
def test_concatenated_every_token_is_a_label_exactly_once_in_an_epoch(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[list[int]], length: int, blocks: int, seed: int
) -> None:
    if sum(map(sum, lengths)) <= length * blocks:
        return
    path, _ = written(tmp_path_factory.mktemp("s"), lengths)
    block = length * blocks
    reader = Reader([Source("a", [path])], sequence_length=length, block_tokens=block, seed=seed)
    batches = epoch(reader)
    labels = Counter(token for batch in batches for token in batch.labels.ravel().tolist())
    total = (sum(map(sum, lengths)) - 1) // block * block
    assert labels == Counter(range(1, total + 1))
    for batch in batches:
        assert np.array_equal(batch.labels, batch.tokens + 1)  # numbered through: the next token


@REUSED
@given(lengths=SHARDS, length=st.integers(1, 12), packing=st.sampled_from(["concat", "best_fit"]))
def test_positions_bounds_and_masks_follow_the_documents_of_the_index(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[list[int]], length: int, packing: Any
) -> None:
    if sum(map(sum, lengths)) <= length:
        return
    path, shards = written(tmp_path_factory.mktemp("s"), lengths)
    document = {t: (s, d) for s, docs in enumerate(shards) for d, doc in enumerate(docs) for t in doc}
    reader = Reader([Source("a", [path])], sequence_length=length, packing=packing, pool_tokens=40, pad_id=-1)
    for batch in islice(reader.batches(3), 4):
        for b in range(3):
            row = batch.tokens[b].tolist()
            owner = [document.get(token) for token in row]
            begins = [i for i in range(length) if i == 0 or owner[i] != owner[i - 1]]
            if packing == "best_fit":  # pieces of one document are bins of their own
                assert all(row[i + 1] in (-1, row[i] + 1) or owner[i] != owner[i + 1] for i in range(length - 1))
            first, last = batch.segments[b], batch.segments[b + 1]
            assert (batch.cu_seqlens[first:last] - b * length).tolist() == begins
            assert batch.position_ids[b].tolist() == [i - max(x for x in begins if x <= i) for i in range(length)]
            labels = [document.get(token) for token in batch.labels[b].tolist()]
            learnt = [int(o == label is not None) for o, label in zip(owner, labels, strict=True)]
            assert batch.loss_mask[b].tolist() == learnt
            told = {
                p.at + i: (p.shard, p.sequence, p.first + i)
                for p in reader.documents(batch, b)
                for i in range(p.tokens)
            }
            for i, token in enumerate(row):
                if token < 0:
                    assert i not in told
                else:
                    s, d = document[token]
                    assert told[i] == (str(path.parent / f"shard-{s}"), d, token - shards[s][d][0])
        assert batch.cu_seqlens[-1] == 3 * length and batch.cu_seqlens.dtype == np.int32
        assert batch.max_seqlen == int(np.diff(batch.cu_seqlens).max())


@given(lengths=st.lists(st.integers(1, 60), max_size=200), capacity=st.integers(60, 80))
def test_best_fit_takes_the_fullest_bin_with_room(lengths: list[int], capacity: int) -> None:
    falling = np.sort(np.array(lengths, np.int64))[::-1].copy()
    bins, before = np.empty_like(falling), np.empty_like(falling)
    made = pack(falling, capacity, bins, before)
    free: list[int] = []
    for need, bin_, at in zip(falling.tolist(), bins.tolist(), before.tolist(), strict=True):
        fitting = [f for f in free if f >= need]
        if fitting:
            assert free[bin_] == min(fitting)
        else:
            assert bin_ == len(free)
            free.append(capacity)
        assert at == capacity - free[bin_]
        free[bin_] -= need
    assert made == len(free)


@REUSED
@given(lengths=SHARDS, length=st.integers(1, 40), pool=st.integers(1, 90))
def test_packing_places_each_token_once_and_cuts_only_what_is_longer_than_a_sample(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[list[int]], length: int, pool: int
) -> None:
    total = sum(map(sum, lengths))
    if not total:
        return
    path, shards = written(tmp_path_factory.mktemp("s"), lengths)
    reader = Reader([Source("a", [path])], sequence_length=length, packing="best_fit", pool_tokens=pool, pad_id=-1)
    batches = epoch(reader)
    rows = [[t for t in batch.tokens[0].tolist() if t >= 0] for batch in batches]
    assert sorted(t for row in rows for t in row) == list(range(total))
    sample_of = {t: n for n, row in enumerate(rows) for t in row}
    for doc in (doc for docs in shards for doc in docs if doc):
        assert len({sample_of[t] for t in doc}) == -(-len(doc) // length)
    learnt = Counter(
        label for b in batches for label, m in zip(b.labels[0].tolist(), b.loss_mask[0].tolist(), strict=True) if m
    )
    assert learnt == Counter(t for docs in shards for doc in docs for t in doc[1:])


def test_a_stored_loss_mask_is_of_labels_and_shards_without_one_learn_everything(write: Write) -> None:
    path = write("a", [[list(range(9))], [list(range(9, 18))]], losses=[[1, 1, 0, 0, 1, 1, 1, 0, 1], None])
    reader = Reader([Source("a", [path])], sequence_length=4, loss_across_documents=True)
    learnt = {
        label: m for b in epoch(reader) for label, m in zip(b.labels[0].tolist(), b.loss_mask[0].tolist(), strict=True)
    }
    assert [token for token, m in learnt.items() if not m] == [t for t in learnt if t in (2, 3, 7)]
    assert set(learnt) == set(range(1, 17))


def test_tokens_above_65535_come_whole(write: Write) -> None:
    path = write("a", [[[70_000, 119_999, 5, 6, 7]]], vocabulary_size=120_000)
    (batch,) = epoch(Reader([Source("a", [path])], sequence_length=4))
    assert batch.tokens.tolist() == [[70_000, 119_999, 5, 6]]


def test_phases_change_weights_and_length_without_a_token_seen_twice(write: Write) -> None:
    paths = [write(name, [numbered([37] * 40, first)]) for name, first in (("a", 0), ("b", 20_000))]
    phases = [
        Phase({"a": 1, "b": 0}, until_samples=5),
        Phase({"a": 1, "b": 1}, until_tokens=400, sequence_length=16),
        Phase({"a": 0, "b": 1}, sequence_length=32),
    ]
    sources = [Source("a", [paths[0]]), Source("b", [paths[1]])]
    reader = Reader(sources, sequence_length=8, phases=phases, block_tokens=32)
    labels: list[int] = []
    shapes, names = [], []
    for batch in islice(reader.batches(2), 22):
        labels += batch.labels.ravel().tolist()
        shapes.append(batch.tokens.shape[1])
        names += [reader.names[s] for s in batch.source.tolist()]
    assert len(set(labels)) == len(labels)
    assert shapes == [8] * 3 + [16] * 11 + [32] * 8  # 6 samples of 8 (a whole batch), then until 400 tokens
    assert set(names[:6]) == {"a"} and Counter(names[6:28]) == {"a": 11, "b": 11} and set(names[28:]) == {"b"}
    assert all(row.leapt < 32 for row in reader.report())


def test_a_run_with_an_end_gives_whole_global_batches_only(write: Write) -> None:
    path = write("a", [numbered([500])])
    reader = Reader([Source("a", [path])], sequence_length=8, phases=[Phase({"a": 1}, until_samples=11)])
    assert [len(batch.sample) for batch in reader.batches(4)] == [4, 4]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"block_tokens": 12}, "multiple"),
        ({"phases": [Phase({"b": 1})]}, r"no weight to \['a'\]"),
        ({"phases": [Phase({"a": 0})]}, "above 0"),
        ({"phases": [Phase({"a": -1})]}, "from 0 on"),
        ({"phases": [Phase({"a": 1}), Phase({"a": 1})]}, "no end"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_read(write: Write, changed: Any, said: str) -> None:
    path = write("a", [numbered([500])])
    with pytest.raises(RecipeError, match=said):
        Reader([Source("a", [path])], sequence_length=8, **changed)


@pytest.mark.skipif("split" not in ShardEntry.model_fields, reason="manifests know no splits")
def test_a_split_is_read_alone(write: Write) -> None:
    path = write("a", [numbered([50]), numbered([50], 50)], splits=["train", "validation"])
    reader = Reader([Source("a", [path], split="validation")], sequence_length=4)
    assert {t for batch in epoch(reader) for t in batch.tokens.ravel().tolist()} == set(range(50, 98))


def test_the_fill_rate_is_the_share_of_places_that_hold_a_token(write: Write) -> None:
    path = write("a", [numbered([7, 3, 6, 9, 2])])
    reader = Reader([Source("a", [path])], sequence_length=10, packing="best_fit", pad_id=-1)
    places = np.concatenate([batch.tokens[0] for batch in epoch(reader)])
    assert reader.fill_rate("a") == (places >= 0).mean() == 0.9
    assert Reader([Source("a", [path])], sequence_length=10).fill_rate("a") == 1
