"""One shard as the reader sees it: checked by its sizes and header, never scanned."""

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glotmill.schemas.errors import ShardError
from glotmill.schemas.indexed import DTYPES, HEADER, MAGIC, VERSION
from glotmill.train.reading.kernels.fill import first_at_or_after
from glotmill.train.reading.stored import Bytes, Local, Remote

Ints = NDArray[np.int64]
_CHUNK = 4096  # pointers asked for at a time


@dataclass(frozen=True)
class Shard:
    """A pair of files, and perhaps a third with loss masks.

    Args:
        prefix: Path without `.bin` and `.idx`.
        documents: Sequences in the .idx.
        loss: `PREFIX.loss.bin` holds one byte a token.
        digest: Of what the manifest says of the files.
    """

    prefix: str
    tokens: int
    documents: int
    itemsize: int
    loss: bool
    digest: str
    store: Local | Remote

    @property
    def bin(self) -> str:
        return f"{self.prefix}.bin"

    @property
    def idx(self) -> str:
        return f"{self.prefix}.idx"

    @property
    def loss_bin(self) -> str:
        return f"{self.prefix}.loss.bin"

    @cached_property
    def mapped(self) -> tuple[Bytes, Bytes, Bytes | None]:
        """.bin, .idx and .loss.bin of a local shard."""
        assert isinstance(self.store, Local)
        self.check()
        loss = self.store.mapped(self.loss_bin) if self.loss else None
        return self.store.mapped(self.bin), self._index, loss

    @cached_property
    def addresses(self) -> tuple[int, int, int]:
        """Where the tokens, the pointers of the index and the loss mask (0: none) of a local shard lie in memory."""
        tokens, index, loss = self.mapped
        return _address(tokens), _address(index) + self._pointers_at, 0 if loss is None else _address(loss)

    def first_document(self, token: int) -> int:
        """The first sequence that begins at or after a token."""
        byte = token * self.itemsize
        if isinstance(self.store, Local):
            return int(first_at_or_after(self.addresses[1], self.documents, byte))
        return self._remote_first(byte)

    def pointers(self, first: int, last: int) -> Ints:
        """First byte of the sequences first to before last."""
        found: Ints = self._column(self._pointers_at, "<i8", first, last)
        return found

    def lengths(self, first: int, last: int) -> Ints:
        """Tokens of the sequences first to before last."""
        found: Ints = self._column(HEADER.size, "<i4", first, last).astype(np.int64)
        return found

    def pointers_within(self, start: int, stop: int) -> Ints:
        """First bytes of the sequences that begin at bytes start to before stop."""
        first = self.first_document(-(-start // self.itemsize))
        parts = [np.empty(0, np.int64)]
        while first < self.documents:
            part = self.pointers(first, min(first + _CHUNK, self.documents))
            inside = bisect_left(part, stop)
            parts.append(part[:inside])
            if inside < len(part):
                break
            first += len(part)
        return np.concatenate(parts)

    def check(self) -> None:
        """Header and last sequence against the manifest: constant time, whatever the size.

        Raises:
            ShardError: the index is of another format, or contradicts the manifest.
        """
        head = self._idx_bytes(0, HEADER.size).tobytes()
        magic, version, code, sequences, _ = HEADER.unpack(head)
        if magic != MAGIC or version != VERSION or code not in DTYPES:
            raise ShardError(f"{self.idx} is no token index (it begins with {head[:18]!r}); {REMEDY}")
        itemsize = np.dtype(DTYPES[code]).itemsize
        if sequences != self.documents or itemsize != self.itemsize:
            raise ShardError(
                f"{self.idx} announces {sequences} sequences of {itemsize}-byte tokens, its manifest {self.documents} "
                f"of {self.itemsize} bytes; {REMEDY}"
            )
        if sequences:
            last = slice(sequences - 1, sequences)
            end = int(self.pointers(last.start, last.stop)[0]) // itemsize + int(self.lengths(last.start, last.stop)[0])
            if end != self.tokens:
                raise ShardError(f"{self.idx} ends at token {end}, its manifest at {self.tokens}; {REMEDY}")

    @property
    def _pointers_at(self) -> int:
        return HEADER.size + 4 * self.documents

    def _column(self, at: int, kind: str, first: int, last: int) -> Any:
        size = np.dtype(kind).itemsize
        return np.frombuffer(self._idx_bytes(at + size * first, at + size * last).tobytes(), kind)

    def _idx_bytes(self, start: int, stop: int) -> Bytes:
        if isinstance(self.store, Local):
            return self._index[start:stop]
        return self.store.read(self.idx, start, stop)

    @cached_property
    def _index(self) -> Bytes:
        assert isinstance(self.store, Local)
        return self.store.mapped(self.idx)

    def _remote_first(self, byte: int) -> int:
        """Interpolation search: documents come in random order, so the first guess is close, and few blocks are read.

        Every second probe halves, which bounds the number of probes whatever the lengths are.
        """
        self.checked()
        low, high = 0, self.documents  # pointer[low - 1] < byte <= pointer[high]
        below, above, halve = 0, self.tokens * self.itemsize, False
        while high - low > _CHUNK:
            share = 0.5 if halve or above == below else (byte - below) / (above - below)
            probe = min(max(low + int(share * (high - low)) - _CHUNK // 2, low), high - _CHUNK)
            part = self.pointers(probe, probe + _CHUNK)
            if part[0] >= byte:
                high, above = probe, int(part[0])
            elif part[-1] < byte:
                low, below = probe + _CHUNK, int(part[-1])
            else:
                return probe + int(np.searchsorted(part, byte))
            halve = not halve
        return low + int(np.searchsorted(self.pointers(low, high), byte))

    def checked(self) -> None:
        """`check`, the first time."""
        if "_is_checked" not in self.__dict__:
            self.check()
            self.__dict__["_is_checked"] = True

    def __getstate__(self) -> dict[str, Any]:
        kept = ("prefix", "tokens", "documents", "itemsize", "loss", "digest", "store")
        return {name: self.__dict__[name] for name in kept}


REMEDY = "copy the shards again, or run the recipe again; `glotmill verify` tells what differs"


def _address(data: Bytes) -> int:
    return int(data.__array_interface__["data"][0])
