"""A remote store, read by ranges; a damaged shard, told by its sizes and header."""

import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

from glotmill.schemas.errors import InputError, ShardError
from glotmill.train.data import Reader, Source, StoreOptions, loader
from glotmill.train.reading.stored import Remote

from .conftest import Write, numbered


@dataclass
class Bucket:
    """A store that speaks as much S3 as a reader needs: HEAD, ranged GET, and a listing that is always empty."""

    root: Path
    endpoint: str = ""
    sent: dict[str, int] = field(default_factory=dict)
    ranges: list[tuple[str, int, int]] = field(default_factory=list)
    answer: Callable[[str, int, int, bytes], tuple[int, bytes]] = lambda path, start, stop, data: (206, data)

    @property
    def options(self) -> StoreOptions:
        return StoreOptions(endpoint=self.endpoint, anonymous=True, backoff=0.01, block_bytes=1 << 12, retries=2)


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[Bucket]:
    found = Bucket(tmp_path)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _file(self) -> Path:
            return tmp_path / unquote(urlsplit(self.path).path).removeprefix("/bucket/")

        def do_HEAD(self) -> None:
            path = self._file()
            self.send_response(200 if path.is_file() else 404)
            self.send_header("Content-Length", str(path.stat().st_size if path.is_file() else 0))
            self.end_headers()

        def do_GET(self) -> None:
            path = self._file()
            if not path.is_file():
                listing = "list-type" in self.path
                self._send(200 if listing else 404, b"<ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>")
                return
            data, asked = path.read_bytes(), self.headers["Range"]
            start, stop = 0, len(data)
            if asked:
                first, last = asked.removeprefix("bytes=").split("-")
                start, stop = int(first), min(int(last) + 1, len(data))
            status, body = found.answer(path.name, start, stop, data[start:stop])
            found.ranges.append((path.name, start, stop))
            found.sent[path.name] = found.sent.get(path.name, 0) + len(body)
            self._send(status, body, f"bytes {start}-{stop - 1}/{len(data)}")

        def _send(self, status: int, body: bytes, range_: str = "") -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if range_:
                self.send_header("Content-Range", range_)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield found
    server.shutdown()


LENGTHS = np.random.default_rng(1).integers(0, 900, 400).tolist()


def both(write: Write, bucket: Bucket, **options: Any) -> tuple[Reader, Reader]:
    path = write(
        "a",
        [numbered(LENGTHS[:100]), numbered(LENGTHS[100:200]), [], numbered([3])],
        losses=[[1, 0] * (sum(LENGTHS[:100]) // 2) + [1] * (sum(LENGTHS[:100]) % 2), None, None, None],
    )
    options = {"sequence_length": 256} | options
    remote = Reader([Source("a", ["s3://bucket/a/manifest.json"])], **options, store=bucket.options)
    return Reader([Source("a", [path])], **options), remote


@pytest.mark.parametrize("packing", ["concat", "best_fit"])
def test_a_remote_store_gives_what_the_disk_gives(write: Write, bucket: Bucket, packing: str) -> None:
    local, remote = both(write, bucket, packing=packing, pool_tokens=20_000)
    for one, other in islice(zip(local.batches(8), remote.batches(8), strict=True), 30):
        for name in ("tokens", "labels", "loss_mask", "position_ids", "cu_seqlens", "segments", "refs"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
        mine, theirs = local.documents(one, 3), remote.documents(other, 3)
        assert [(p.sequence, p.first, p.at, p.tokens) for p in mine] == [
            (p.sequence, p.first, p.at, p.tokens) for p in theirs
        ]


def test_an_epoch_in_permuted_order_downloads_every_byte_about_once(write: Write, bucket: Bucket) -> None:
    path = write("a", [numbered(LENGTHS[:120])])
    bin_bytes = path.with_name("shard-0.bin").stat().st_size
    options = StoreOptions(endpoint=bucket.endpoint, anonymous=True, block_bytes=1 << 12, cache_bytes=1 << 16)
    source = Source("a", ["s3://bucket/a/manifest.json"])
    reader = Reader([source], sequence_length=128, block_tokens=1024, store=options)
    samples = reader.unseen()["a"].unseen // 128
    for _ in islice(reader.batches(1), samples):
        pass
    assert 0.9 * bin_bytes < bucket.sent["shard-0.bin"] <= 1.01 * bin_bytes
    assert bucket.sent["shard-0.idx"] <= 1.1 * path.with_name("shard-0.idx").stat().st_size
    asked = [stop - start for name, start, stop in bucket.ranges if name == "shard-0.bin"]
    assert max(asked) <= 2 * 1025  # ranges, never the file


def test_a_packed_epoch_downloads_every_byte_about_once(write: Write, bucket: Bucket) -> None:
    path = write("a", [numbered(LENGTHS[:120])])
    options = StoreOptions(endpoint=bucket.endpoint, anonymous=True, block_bytes=1 << 12, cache_bytes=1 << 16)
    source = Source("a", ["s3://bucket/a/manifest.json"])
    reader = Reader([source], sequence_length=128, packing="best_fit", pool_tokens=10_000, store=options)
    batches = reader.batches(1)
    while next(batches).state["sources"]["a"][0] == 0:
        pass
    size = path.with_name("shard-0.bin").stat().st_size
    assert bucket.sent["shard-0.bin"] < 2 * size  # blocks at the edges of pools come twice


def test_the_cache_is_bounded(write: Write, bucket: Bucket) -> None:
    write("a", [numbered(LENGTHS[:120])])
    options = StoreOptions(endpoint=bucket.endpoint, anonymous=True, block_bytes=1 << 10, cache_bytes=10_000)
    store = Remote(options)
    for start in range(0, 60_000, 777):
        store.read("s3://bucket/a/shard-0.bin", start, start + 100)
        assert store._held <= 10_000 and store._held == sum(map(len, store._cache.values()))


def test_a_short_answer_is_an_error_and_never_tokens(write: Write, bucket: Bucket) -> None:
    write("a", [numbered(LENGTHS[:120])])
    source = Source("a", ["s3://bucket/a/manifest.json"])
    reader = Reader([source], sequence_length=128, store=bucket.options)
    bucket.root.joinpath("a/shard-0.bin").write_bytes(b"\1" * 50)  # cut after it was opened
    with pytest.raises((ShardError, InputError), match="shard-0.bin"):
        list(islice(reader.batches(8), 20))


def test_a_request_that_fails_is_tried_again_and_one_that_goes_on_failing_is_told(write: Write, bucket: Bucket) -> None:
    write("a", [numbered(LENGTHS[:120])])
    source = Source("a", ["s3://bucket/a/manifest.json"])
    reader = Reader([source], sequence_length=128, store=bucket.options)
    whole = next(Reader([source], sequence_length=128, store=bucket.options).batches(4)).tokens
    failures = iter([True])
    bucket.answer = lambda path, start, stop, data: (403, b"") if next(failures, False) else (206, data)
    assert np.array_equal(next(reader.batches(4)).tokens, whole)
    bucket.answer = lambda path, start, stop, data: (403, b"")
    with pytest.raises(InputError, match=r"shard-0\.(bin|idx): 3 requests failed.* endpoint"):
        list(islice(reader.batches(64), 20))


def test_workers_read_a_remote_store(write: Write, bucket: Bucket) -> None:
    pytest.importorskip("torch")
    local, remote = both(write, bucket)
    whole = [batch.tokens.tolist() for batch in islice(local.batches(4), 4)]
    assert [b["tokens"].tolist() for b in islice(loader(remote, 4, workers=2), 4)] == whole


def test_a_document_is_found_in_a_remote_index_of_uneven_lengths(write: Write, bucket: Bucket) -> None:
    lengths = [1] * 30_000 + [0] * 500 + [5000] * 3 + [2] * 30_000
    path = write("a", [[[7] * n for n in lengths]])
    local = Reader([Source("a", [path])], sequence_length=128).sources["a"].shards[0]
    remote = Reader([Source("a", ["s3://bucket/a/manifest.json"])], sequence_length=128, store=bucket.options)
    for token in [0, 1, 29_999, 30_000, 30_001, 35_000, 45_000, 45_001, 60_000, 104_999, 105_000]:
        assert remote.sources["a"].shards[0].first_document(token) == local.first_document(token)


def test_a_manifest_that_is_not_in_the_store_is_told(bucket: Bucket) -> None:
    with pytest.raises(ShardError, match=r"s3://bucket/b/manifest.json does not exist"):
        Reader([Source("a", ["s3://bucket/b/manifest.json"])], sequence_length=8, store=bucket.options)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2])


def header(path: Path, at: int, value: bytes) -> None:
    data = bytearray(path.read_bytes())
    data[at : at + len(value)] = value
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        pytest.param(lambda f: cut(f / "shard-0.bin"), r"shard-0.bin has \d+ bytes and .*manifest.json says", id="cut"),
        pytest.param(lambda f: cut(f / "shard-0.idx"), r"shard-0.idx has \d+ bytes", id="index cut"),
        pytest.param(lambda f: (f / "shard-0.idx").unlink(), "shard-0.idx does not exist", id="no index"),
        pytest.param(lambda f: (f / "shard-0.bin").unlink(), "shard-0.bin does not exist", id="no tokens"),
        pytest.param(lambda f: header(f / "shard-0.idx", 0, b"X"), "no token index", id="magic"),
        pytest.param(lambda f: header(f / "shard-0.idx", 17, b"\4"), "4-byte tokens", id="dtype"),
        pytest.param(lambda f: header(f / "shard-0.idx", 34, struct.pack("<i", 41)), "ends at token", id="lengths"),
        pytest.param(lambda f: (f / "shard-0.loss.bin").write_bytes(b"\1"), "loss.bin has 1 bytes", id="loss"),
    ],
)
def test_a_damaged_shard_is_told_before_a_token_comes(write: Write, damage: Any, said: str) -> None:
    path = write("a", [numbered([40])])
    damage(path.parent)
    with pytest.raises(ShardError, match=said):
        next(Reader([Source("a", [path])], sequence_length=8).batches(1))
