"""What users of other readers complained of, each with the right behaviour; the numbers are of the survey of theirs."""

import signal
import subprocess
import sys
import threading
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glotmill.schemas.errors import RecipeError, ShardError
from glotmill.schemas.indexed import HEADER, MAGIC
from glotmill.schemas.manifest import Manifest
from glotmill.train.data import Reader, Source, printed
from glotmill.train.reading.shard import Shard
from glotmill.train.reading.stored import Local

from .conftest import Write, numbered

EOS = 2


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        pytest.param({"fingerprint": "xyz"}, "tokenizer", id="another tokenizer"),
        pytest.param({"prepend_bos": True}, "prepend_bos", id="BOS"),
        pytest.param({"append_eos": False}, "append_eos", id="EOS"),
        pytest.param({"vocabulary_size": 100_000}, "dtype", id="dtype"),
    ],
)
@pytest.mark.parametrize("in_one", [True, False], ids=["in one source", "in two"])
def test_7_a_blend_of_tokenizers_or_policies_is_refused_and_both_are_named(
    write: Write, changed: dict[str, Any], what: str, in_one: bool
) -> None:
    one, other = write("one", [numbered([40])]), write("other", [numbered([40])], **changed)
    sources = [Source("a", [one, other])] if in_one else [Source("a", [one]), Source("b", [other])]
    with pytest.raises(ShardError, match=rf"one/manifest.json has {what} .*other/manifest.json has .*blend must agree"):
        Reader(sources, sequence_length=8)


@pytest.mark.parametrize("pad", [0, EOS, -1])
def test_8_a_pad_that_equals_eos_masks_no_eos(write: Write, pad: int) -> None:
    path = write("a", [[[5, 6, EOS], [7, EOS], [8, 9, 10, EOS]]])
    reader = Reader([Source("a", [path])], sequence_length=12, packing="best_fit", pad_id=pad)
    batch = next(reader.batches(1))
    learnt = batch.labels[0][batch.loss_mask[0] > 0].tolist()
    assert sorted(learnt) == sorted([6, EOS, EOS, 9, 10, EOS])
    assert batch.tokens[0, 9:].tolist() == [pad] * 3 and not batch.loss_mask[0, 8:].any()


def test_9_bounds_come_from_the_index_and_an_eos_inside_a_document_cuts_nothing(write: Write) -> None:
    path = write("a", [[[5, EOS, EOS, 6, EOS], [7, 8, 9, 10]]])  # the second has no EOS
    batch = next(Reader([Source("a", [path])], sequence_length=8).batches(1))
    assert batch.cu_seqlens.tolist() == [0, 5, 8]
    assert batch.position_ids.tolist() == [[0, 1, 2, 3, 4, 0, 1, 2]]
    assert batch.loss_mask.tolist() == [[1, 1, 1, 1, 0, 1, 1, 1]]


def test_10_parts_of_a_row_hold_the_positions_of_the_whole_row(write: Write) -> None:
    path = write("a", [numbered([11, 3, 17, 2, 31])])
    batch = next(Reader([Source("a", [path])], sequence_length=16).batches(2))
    flat = np.arange(32)  # positions follow from cu_seqlens alone, so a rank that holds a part of the row can make them
    begin = batch.cu_seqlens[np.searchsorted(batch.cu_seqlens, flat, "right") - 1]
    for part in np.split(flat, 4):
        assert np.array_equal(batch.position_ids.ravel()[part], part - begin[part])


def test_12_requested_and_achieved_shares_are_of_tokens_and_epochs_are_told(write: Write) -> None:
    paths = [write("a", [numbered([80])]), write("b", [numbered([800])])]
    reader = Reader([Source("a", [paths[0]], 3), Source("b", [paths[1]], 1)], sequence_length=8)
    for _ in islice(reader.batches(4), 5):
        pass
    a, b = reader.report()
    assert (a.requested, a.achieved, a.tokens) == (0.75, 0.75, 120) and (b.requested, b.tokens) == (0.25, 40)
    assert a.epochs == pytest.approx(120 / 72) and b.epochs == pytest.approx(40 / 792)
    assert "75.000%   75.000%" in printed([a, b]) and "shares are of tokens" in printed([a, b])


def test_13_a_source_of_little_or_no_weight_is_no_error(write: Write) -> None:
    paths = [write(name, [numbered([80])]) for name in "abc"]
    sources = [Source("a", [paths[0]], 1), Source("b", [paths[1]], 1e-12), Source("c", [paths[2]], 0)]
    reader = Reader(sources, sequence_length=8)
    names = {reader.names[s] for batch in islice(reader.batches(8), 20) for s in batch.source.tolist()}
    assert names == {"a"}
    assert [row.tokens for row in reader.report()] == [1280, 0, 0]


def sparse_shard(folder: Path, documents: int) -> Shard:
    """A valid shard: empty documents but for the last, of 2^30 tokens. Its files take no room on a disk."""
    with (folder / "x.idx").open("wb") as file:
        file.write(HEADER.pack(MAGIC, 1, 8, documents, documents + 1))
        file.seek(HEADER.size + 4 * (documents - 1))
        file.write(np.array([2**30], "<i4").tobytes())
        file.truncate(HEADER.size + 12 * documents + 8 * (documents + 1))
    with (folder / "x.bin").open("wb") as file:
        file.truncate(2 << 30)
    return Shard(str(folder / "x"), 2**30, documents, 2, False, "", Local())


def own_memory() -> int:
    """Bytes that this process has written, not mapped files."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) * 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="RssAnon is Linux's")
def test_14_an_index_of_a_billion_documents_is_mapped_and_never_scanned(tmp_path: Path) -> None:
    sparse_shard(tmp_path, 10).first_document(5)  # compiles
    before, shard = own_memory(), sparse_shard(tmp_path, 10**9)
    assert shard.first_document(0) == 0 and shard.first_document(1) == 10**9
    assert shard.pointers_within(1, 100).tolist() == []
    assert own_memory() - before < 20e6


def test_15_the_reader_writes_nothing_so_ranks_cannot_race(write: Write) -> None:
    path = write("a", [numbered([300])])
    before = sorted((p, p.stat().st_mtime_ns) for p in path.parent.rglob("*"))
    path.parent.chmod(0o555)
    found: list[list[int]] = [[], []]

    def rank(r: int) -> None:
        reader = Reader([Source("a", [path])], sequence_length=8)
        found[r] = [n for b in islice(reader.batches(4, rank=r, ranks=2), 5) for n in b.sample.tolist()]

    threads = [threading.Thread(target=rank, args=(r,)) for r in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    path.parent.chmod(0o755)
    assert sorted(found[0] + found[1]) == list(range(20))
    assert sorted((p, p.stat().st_mtime_ns) for p in path.parent.rglob("*")) == before


@pytest.mark.parametrize("ranks", [1, 2, 3, 6])
def test_16_every_rank_has_as_many_batches_across_the_ends_of_epochs(write: Write, ranks: int) -> None:
    path = write("a", [numbered([8 * 10 + 1])])  # 10 samples an epoch, 6 a batch
    seen: list[list[int]] = []
    for rank in range(ranks):
        batches = list(islice(Reader([Source("a", [path])], sequence_length=8).batches(6, rank=rank, ranks=ranks), 5))
        assert [len(b.sample) for b in batches] == [6 // ranks] * 5
        seen += [[int(n), int(t)] for b in batches for n, t in zip(b.sample, b.tokens[:, 0], strict=True)]
    tokens = [token for _, token in sorted(seen)]
    epochs = [tokens[at : at + 10] for at in (0, 10, 20)]
    assert all(sorted(e) == list(range(0, 80, 8)) for e in epochs) and epochs[0] != epochs[1] != epochs[2]


def test_16_ranks_that_do_not_divide_the_global_batch_are_told(write: Write) -> None:
    reader = Reader([Source("a", [write("a", [numbered([300])])])], sequence_length=8)
    with pytest.raises(RecipeError, match="rank 0 of 3 can't share global batches of 8"):
        next(reader.batches(8, ranks=3))


def test_18_a_blend_of_exhausted_sources_goes_on_at_every_batch(write: Write) -> None:
    paths = [write("a", [numbered([25])]), write("b", [numbered([41], 100)])]

    def made() -> Reader:
        return Reader([Source("a", [paths[0]]), Source("b", [paths[1]])], sequence_length=8)

    whole = [b.tokens.tolist() for b in islice(made().batches(3), 20)]
    for stop in range(20):
        first, then = made(), made()
        for _ in islice(first.batches(3), stop):
            pass
        then.load_state_dict(first.state_dict())
        assert [b.tokens.tolist() for b in islice(then.batches(3), 20 - stop)] == whole[stop:]


def test_19_a_run_that_was_killed_leaves_nothing_that_the_next_could_hang_on(write: Write) -> None:
    pytest.importorskip("torch")
    path = write("a", [numbered([300])])
    code = (
        "import os, signal\n"
        "from glotmill.train.data import Reader, Source, loader\n"
        f"found = iter(loader(Reader([Source('a', [{str(path)!r}])], sequence_length=8), 2, workers=2))\n"
        "print(next(found)['sample'].tolist(), flush=True)\n"
        "{end}"
    )
    kill = "os.kill(os.getpid(), signal.SIGKILL)"
    for end, status in ((kill, -signal.SIGKILL), (kill, -signal.SIGKILL), ("print(next(found)['sample'].tolist())", 0)):
        run = [sys.executable, "-c", code.replace("{end}", end)]
        done = subprocess.run(run, stdout=subprocess.PIPE, text=True, timeout=120, check=False)
        assert done.returncode == status and done.stdout.startswith("[0, 1]")
    assert done.stdout.split("\n")[1] == "[2, 3]"


def test_20_no_sample_repeats_in_an_epoch_and_the_next_has_another_order(write: Write) -> None:
    reader = Reader([Source("a", [write("a", [numbered([8 * 101 + 1])])])], sequence_length=8)
    first = [int(b.tokens[0, 0]) for b in islice(reader.batches(1), 101)]
    second = [int(b.tokens[0, 0]) for b in islice(reader.batches(1), 101)]
    assert sorted(first) == sorted(second) == list(range(0, 808, 8))
    assert sum(a == b for a, b in zip(first, second, strict=True)) < 10


def test_21_a_manifest_made_anew_of_the_same_data_is_no_other_data(write: Write) -> None:
    path = write("a", [numbered([300])])
    state = Reader([Source("a", [path])], sequence_length=8).state_dict()
    newer = Manifest.load(path).model_copy(update={"glotmill_version": "99", "recipe": "renamed"})
    path.write_bytes(newer.to_json())
    Reader([Source("a", [path])], sequence_length=8).load_state_dict(state)


def test_21_what_is_missing_from_a_mix_is_named(write: Write, tmp_path: Path) -> None:
    with pytest.raises(ShardError, match=r"nowhere/manifest.json does not exist"):
        Reader([Source("a", [tmp_path / "nowhere" / "manifest.json"])], sequence_length=8)
    short = write("short", [numbered([5])])
    with pytest.raises(ShardError, match="source s holds 5 tokens, no block of 8"):
        Reader([Source("s", [short])], sequence_length=8)
    empty = write("empty", [[], [[]]])
    with pytest.raises(ShardError, match="source e: .*hold no token"):
        Reader([Source("e", [empty])], sequence_length=8)
    with pytest.raises(RecipeError, match="two sources are called s"):
        Reader([Source("s", [short]), Source("s", [short])], sequence_length=2)
