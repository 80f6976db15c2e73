"""Where shards lie: a local disk, mapped; or an S3-compatible store, read by ranges through a bounded cache."""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from glotmill.schemas.errors import InputError, ShardError

Bytes = NDArray[np.uint8]
REMOTE = "s3://"
_OPEN = 4096  # objects whose size is kept; none holds a connection
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How a remote store is read; nothing here changes what a local disk does, or which tokens come.

    Args:
        endpoint: Of an S3-compatible store; AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL by default. Keys and region are
            taken from where the AWS tools take them (environment, profile, role).
        block_bytes: What is asked for at once where no better unit is known: indexes, and documents to be packed.
        cache_bytes: At most this much of the store is held in memory, in every process that reads.
        retries: Further tries of a request that fails.
        backoff: Seconds before the first of these; each waits twice as long as the one before.
        anonymous: Ask without keys.
        parallel: Requests at a time, in every process that reads.
    """

    endpoint: str | None = None
    block_bytes: int = 1 << 18
    cache_bytes: int = 1 << 28
    retries: int = 5
    backoff: float = 0.5
    anonymous: bool = False
    parallel: int = 16


def joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}"


class Local:
    """Files of a disk, mapped once and kept."""

    remote = False

    def sizes(self, paths: Sequence[str]) -> list[int | None]:
        """Bytes of each file, None where there is none."""
        return [_size(path) for path in paths]

    def whole(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def mapped(self, path: str) -> Bytes:
        """All bytes of a file; pages are read when they are looked at."""
        if not _size(path):
            return np.empty(0, np.uint8)
        return np.asarray(np.memmap(path, np.uint8, "r"))


class Remote:
    """Files of an S3-compatible store, by ranges, through a cache of the most recently used ones.

    Opened anew in every process: neither connections nor threads survive a fork.
    """

    remote = True

    def __init__(self, options: StoreOptions) -> None:
        self.options = options
        self.fetched_bytes = 0  # of this process
        self.requests = 0
        self._opened: Any = None
        self._pool: ThreadPoolExecutor | None = None
        self._forget()

    def sizes(self, paths: Sequence[str]) -> list[int | None]:
        """Bytes of each file, None where there is none; asked for in parallel."""
        keys = [path.removeprefix(REMOTE) for path in paths]
        found = self._tried(lambda: self._filesystem().get_file_info(keys), paths[0]) if paths else []
        return [info.size if info.is_file else None for info in found]

    def whole(self, path: str) -> bytes:
        (size,) = self.sizes([path])
        if size is None:
            raise FileNotFoundError(path)
        return self._asked(path, 0, size).tobytes()

    def read(self, path: str, start: int, stop: int, *, unit: tuple[int, int] | None = None) -> Bytes:
        """Bytes start to before stop.

        Args:
            unit: A range around it that will be wanted whole, and is asked for at once; else blocks of a grid are,
                which `stop` must not lead beyond the file's end.
        """
        if unit is not None:
            return self._kept(path, *unit)[start - unit[0] : stop - unit[0]]
        size = self._size(path)
        step = self.options.block_bytes
        blocks = [self._kept(path, at, min(at + step, size)) for at in range(start // step * step, stop, step)]
        whole = blocks[0] if len(blocks) == 1 else np.concatenate(blocks) if blocks else np.empty(0, np.uint8)
        begin = start // step * step
        return whole[start - begin : stop - begin]

    def in_parallel(self, requests: Sequence[Callable[[], T]]) -> list[T]:
        """What requests give, some of them at a time."""
        self._own_process()
        if len(requests) < 2:
            return [request() for request in requests]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.options.parallel, "glotmill-reader")
        return list(self._pool.map(lambda request: request(), requests))

    def _kept(self, path: str, start: int, stop: int) -> Bytes:
        self._own_process()
        key = (path, start, stop)
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
            coming, mine = self._coming.get(key), Future[Bytes]()
            if coming is None:
                self._coming[key] = mine
        if coming is not None:  # another thread asks for it already
            return coming.result()
        try:
            data = self._asked(path, start, stop)
        except BaseException as error:
            mine.set_exception(error)
            with self._lock:
                del self._coming[key]
            raise
        mine.set_result(data)
        with self._lock:
            del self._coming[key]
            self._cache[key] = data
            self._held += len(data)
            while self._held > self.options.cache_bytes and len(self._cache) > 1:
                self._held -= len(self._cache.popitem(last=False)[1])
        return data

    def _asked(self, path: str, start: int, stop: int) -> Bytes:
        """One ranged request. A short answer is an error, never memory that nobody wrote."""
        data: bytes = self._tried(lambda: self._file(path).read_at(stop - start, start), path)
        with self._lock:
            self.fetched_bytes += len(data)
            self.requests += 1
        if len(data) != stop - start:
            raise ShardError(
                f"{path}: bytes {start} to {stop} were asked for and {len(data)} came; the object was cut or changed "
                "while it was read: copy it again, or point to an unchanged copy"
            )
        return np.frombuffer(data, np.uint8)

    def _tried(self, request: Any, path: str) -> Any:
        wait = self.options.backoff
        for left in range(self.options.retries, -1, -1):
            try:
                return request()
            except FileNotFoundError:
                raise
            except OSError as error:
                if not left:
                    raise InputError(
                        f"{path}: {self.options.retries + 1} requests failed, the last with: {error}; look at "
                        "endpoint, region, keys and network"
                    ) from error
                with self._lock:
                    self._files.pop(path, None)
                time.sleep(wait)
                wait *= 2

    def _filesystem(self) -> Any:
        self._own_process()
        if self._opened is None:
            from pyarrow.fs import S3FileSystem  # local readers pay nothing for it

            endpoint = (
                self.options.endpoint or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
            )
            given: dict[str, Any] = {"anonymous": True} if self.options.anonymous else {}
            if endpoint:
                scheme, _, host = endpoint.rpartition("://")
                given |= {"endpoint_override": host, "scheme": scheme or "https"}
                given |= {"region": os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"}
            self._opened = S3FileSystem(**given)
        return self._opened

    def _file(self, path: str) -> Any:
        filesystem = self._filesystem()
        file = self._files.get(path)
        if file is None:
            file = filesystem.open_input_file(path.removeprefix(REMOTE))
            with self._lock:
                if len(self._files) >= _OPEN:
                    self._files.clear()
                self._files[path] = file
        return file

    def _size(self, path: str) -> int:
        return int(self._tried(lambda: self._file(path).size(), path))

    def _own_process(self) -> None:
        if self._process != os.getpid():
            self._forget()

    def _forget(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._cache: OrderedDict[tuple[str, int, int], Bytes] = OrderedDict()
        self._held = 0
        self._files: dict[str, Any] = {}
        self._coming: dict[tuple[str, int, int], Future[Bytes]] = {}
        self._opened = None
        self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        return {"options": self.options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["options"])  # type: ignore[misc]


def _size(path: str) -> int | None:
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        return None
