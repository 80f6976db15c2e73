"""A run that goes on is the run that was never interrupted."""

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glotmill.schemas.errors import RecipeError, ShardError
from glotmill.train.data import Batch, Phase, Reader, Source, loader

from .conftest import Write, numbered, write_shards

STEPS, GLOBAL = 14, 8


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("blend")
    rng = np.random.default_rng(3)
    found, first = {}, 0
    for name, documents in (("a", 30), ("b", 9), ("c", 60)):  # b has few: its epochs pass quickly
        lengths = [rng.integers(0, 25, documents // 3).tolist() for _ in range(3)]
        shards = []
        for some in lengths:
            shards.append(numbered(some, first))
            first += sum(some)
        found[name] = write_shards(folder / name, shards)
    return found


def made(paths: dict[str, Path], weights: dict[str, float], **changed: Any) -> Reader:
    sources = [Source(name, [paths[name]], weight) for name, weight in weights.items()]
    return Reader(sources, **({"sequence_length": 8, "pool_tokens": 64, "seed": 5} | changed))


def global_batches(reader: Reader, steps: int, ranks: int = 1, size: int = GLOBAL) -> list[Any]:
    """Steps of all ranks, put together as the global order says, each with its rows' content."""
    saved = reader.state_dict()
    by_rank: list[list[Batch]] = []
    for rank in range(ranks):
        reader.load_state_dict(saved)
        by_rank.append(list(islice(reader.batches(size, rank=rank, ranks=ranks), steps)))
    return [_together(step) for step in zip(*by_rank, strict=True)]


def _together(step: tuple[Batch, ...]) -> list[Any]:
    rows = [
        (n, *(value[b].tolist() for value in (x.tokens, x.labels, x.loss_mask, x.position_ids)), int(x.source[b]))
        for x in step
        for b, n in enumerate(x.sample.tolist())
    ]
    return sorted(rows)


FIRST, SECOND = {"a": 0.5, "b": 0.3, "c": 0.2}, {"a": 0.1, "b": 0.0, "c": 0.9}
PHASES = [Phase(FIRST, until_samples=37), Phase(SECOND, until_tokens=600), Phase(FIRST, sequence_length=4)]


@pytest.mark.parametrize("packing", ["concat", "best_fit"])
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_going_on_at_every_step_with_any_number_of_ranks_is_the_uninterrupted_run(
    paths: dict[str, Path], packing: str, ranks: int
) -> None:
    whole = global_batches(made(paths, FIRST, packing=packing, phases=PHASES), STEPS)
    assert [row[0] for step in whole for row in step] == list(range(STEPS * GLOBAL))
    for stop in range(STEPS):
        first = made(paths, FIRST, packing=packing, phases=PHASES)
        for _ in islice(first.batches(GLOBAL), stop):
            pass
        then = made(paths, FIRST, packing=packing, phases=PHASES)
        then.load_state_dict(json.loads(json.dumps(first.state_dict())))
        assert global_batches(then, STEPS - stop, ranks) == whole[stop:]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    weights=st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any),
    after=st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any),
    change=st.integers(1, 6),
    stop=st.integers(1, 11),
    ranks=st.sampled_from([1, 2, 4, 8]),
    packing=st.sampled_from(["concat", "best_fit"]),
)
def test_a_change_of_weights_continues_every_cursor(
    paths: dict[str, Path], weights: list[int], after: list[int], change: int, stop: int, ranks: int, packing: str
) -> None:
    def run(stops: set[int], ranks: int) -> list[Any]:
        found: list[Any] = []
        reader = made(paths, dict(zip("abc", weights, strict=True)), packing=packing)
        for step in range(12):
            if step == change or step in stops:
                now = after if step >= change else weights
                fresh = made(paths, dict(zip("abc", now, strict=True)), packing=packing)
                fresh.load_state_dict(reader.state_dict())
                reader = fresh
            found += global_batches(reader, 1, ranks)
        return found

    whole = run(set(), 1)
    assert run({stop}, ranks) == whole
    rows = [row for step in whole for row in step]
    for name in range(3):  # each source gives what it gives alone, whatever stands between
        mine = [row[1] for row in rows if row[5] == name]
        if mine:
            alone = made(paths, {"abc"[name]: 1}, packing=packing)
            assert [b.tokens[0].tolist() for b in islice(alone.batches(1), len(mine))] == mine


@pytest.mark.parametrize("workers", [0, 1, 2, 3, 4])
def test_workers_read_ahead_and_the_state_is_what_was_taken(paths: dict[str, Path], workers: int) -> None:
    pytest.importorskip("torch")
    whole = [b.tokens.tolist() for b in islice(made(paths, FIRST, phases=PHASES).batches(GLOBAL, rank=1, ranks=2), 9)]
    state, found = made(paths, FIRST, phases=PHASES).state_dict(), []
    for steps in (1, 5, 3):
        part = loader(made(paths, FIRST, phases=PHASES), GLOBAL, rank=1, ranks=2, workers=workers)
        part.load_state_dict(state)
        found += [batch["tokens"].tolist() for batch in islice(part, steps)]
        state = part.state_dict()
    assert found == whole
    plain = made(paths, FIRST, phases=PHASES)
    for _ in islice(plain.batches(GLOBAL), 9):
        pass
    assert state == plain.state_dict()


def test_global_batch_may_change_and_the_global_order_stays(paths: dict[str, Path]) -> None:
    whole = [row for step in global_batches(made(paths, FIRST), 12) for row in step]
    reader = made(paths, FIRST)
    rows = [
        row
        for size, steps in ((8, 3), (4, 6), (24, 2))
        for step in global_batches_on(reader, steps, size)
        for row in step
    ]
    assert rows == whole


def global_batches_on(reader: Reader, steps: int, size: int) -> list[Any]:
    return [_together((batch,)) for batch in islice(reader.batches(size), steps)]


def test_a_source_that_is_left_out_is_parked_and_goes_on_where_it_was(paths: dict[str, Path]) -> None:
    reader = made(paths, FIRST)
    seen = [b.tokens[b.source == 1] for b in islice(reader.batches(GLOBAL), 3)]
    without = made(paths, {"a": 1, "c": 1})
    without.load_state_dict(reader.state_dict())
    for _ in islice(without.batches(GLOBAL), 4):
        pass
    again = made(paths, {"b": 1})
    again.load_state_dict(without.state_dict())
    seen.append(next(again.batches(GLOBAL)).tokens)
    count = sum(map(len, seen))
    alone = [b.tokens[0] for b in islice(made(paths, {"b": 1}).batches(1), count)]
    assert np.array_equal(np.concatenate(seen), np.array(alone))


def test_a_new_source_begins_at_its_first_epoch(paths: dict[str, Path]) -> None:
    reader = made(paths, {"a": 1})
    next(reader.batches(GLOBAL))
    more = made(paths, {"a": 1, "c": 1})
    more.load_state_dict(reader.state_dict())
    batch = next(more.batches(GLOBAL))
    alone = [b.tokens[0] for b in islice(made(paths, {"c": 1}).batches(1), 4)]
    assert np.array_equal(batch.tokens[batch.source == 1], np.array(alone))


@pytest.mark.parametrize("packing", ["concat", "best_fit"])
def test_what_is_unseen_and_what_was_seen_is_the_epoch(paths: dict[str, Path], packing: str) -> None:
    reader = made(paths, {"c": 1}, packing=packing)
    whole = reader.unseen()["c"].unseen
    for batch in islice(reader.batches(2), 12):
        told = reader.unseen()["c"]
        assert told.seen + told.unseen == whole
        assert told.epoch == 0 and told.seen > 0 and len(batch.sample) == 2


def test_nothing_new_is_promised_twice_after_a_state_with_other_ranks_is_loaded(paths: dict[str, Path]) -> None:
    reader = made(paths, FIRST)
    one = reader.batches(GLOBAL, rank=3, ranks=4)
    next(one)
    other = made(paths, FIRST)
    next(other.batches(GLOBAL, rank=0, ranks=2))
    assert reader.state_dict() == other.state_dict()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        pytest.param({"seed": 6}, "seed", id="seed"),
        pytest.param({"packing": "best_fit"}, "packing", id="packing"),
        pytest.param({"sequence_length": 4}, "block_tokens", id="block"),
    ],
)
def test_a_state_of_another_order_is_refused(paths: dict[str, Path], changed: Any, said: str) -> None:
    state = made(paths, FIRST).state_dict()
    with pytest.raises(RecipeError, match=said):
        made(paths, FIRST, **changed).load_state_dict(state)


def test_changed_data_is_refused_and_the_file_is_named(write: Write) -> None:
    before = write("a", [numbered([40])])
    state = Reader([Source("a", [before])], sequence_length=8).state_dict()
    after = write("other", [numbered([40], 1)])
    with pytest.raises(ShardError, match=r"other/manifest.json .*source a.* other data .*bring the old shards back"):
        Reader([Source("a", [after])], sequence_length=8).load_state_dict(state)


def test_shards_that_were_moved_are_the_same_data(write: Write) -> None:
    state = Reader([Source("a", [write("a", [numbered([40])])])], sequence_length=8).state_dict()
    moved = Reader([Source("a", [write("b", [numbered([40])])])], sequence_length=8)
    moved.load_state_dict(state)
    assert moved.state_dict()["samples"] == 0


def test_the_reader_works_without_torch(paths: dict[str, Path]) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from glotmill.train.data import Reader, Source\n"
        f"r = Reader([Source('a', [{str(paths['a'])!r}])], sequence_length=8)\n"
        "print(next(r.batches(2)).tokens.shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout.strip() == "(2, 8)"


def test_a_state_is_a_handful_of_whole_numbers_and_digests(paths: dict[str, Path]) -> None:
    reader = made(paths, FIRST)
    for _ in islice(reader.batches(GLOBAL), 5):
        pass
    state = reader.state_dict()
    numbers = [n for place in state["sources"].values() for n in place]
    assert len(numbers) == 8 * 3 and all(type(n) is int for n in numbers)
    assert len(json.dumps(state)) < 1000
