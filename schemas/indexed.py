"""Megatron's indexed dataset, `PREFIX.bin` and `PREFIX.idx`, in numpy alone; one sequence a document.

`.bin` holds the tokens of all documents, one after the other, little-endian, without header. `.idx` holds,
little-endian and without padding: magic (9 bytes), version (u64, 1), dtype code (u8), sequences S (u64), documents + 1
(u64), S token counts (i32), S byte offsets into .bin (i64), first sequence of each document and S at the end (i64).
Source: `_IndexWriter` of megatron-core 0.16.1, megatron/core/datasets/indexed_dataset.py.

Neither file says which tokenizer made it, nor carries a checksum: that is what the manifest is for.
"""

import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import xxhash
from numpy.typing import NDArray

from glotmill.schemas.errors import ShardError

Tokens = NDArray[Any]  # integers of one of the dtypes below

MAGIC = b"MMIDIDX\0\0"
VERSION = 1
HEADER = struct.Struct("<9sQBQQ")
DTYPES = {1: "|u1", 2: "|i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}  # 6 and 7 are floats, which no token is
CODES = {np.dtype(name): code for code, name in DTYPES.items()}
MAX_SEQUENCE = 2**31 - 1  # token counts are i32
UINT16_BELOW = 65_500  # Megatron's writer switches here, one of its readers at 65,537: below, both say uint16
_CHUNK = 1 << 20  # documents whose offsets are made at a time


def dtype_for(vocabulary_size: int) -> np.dtype[Any]:
    """uint16 where every reader of Megatron expects it, else int32; `vocabulary_size` counts added tokens.

    >>> dtype_for(65_499), dtype_for(65_500)
    (dtype('uint16'), dtype('int32'))
    """
    return np.dtype("<u2" if vocabulary_size < UINT16_BELOW else "<i4")


def bin_path(prefix: Path) -> Path:
    return prefix.with_name(f"{prefix.name}.bin")


def idx_path(prefix: Path) -> Path:
    return prefix.with_name(f"{prefix.name}.idx")


class IndexedWriter:
    """Appends documents to a .bin; `finish` writes the .idx. Memory: 4 bytes a document, 20 while finishing.

    Args:
        path: The .bin to create. Nobody should see it under its final name before the .idx is there.
        vocabulary_size: Ids must be below; decides the dtype.
    """

    def __init__(self, path: Path, *, vocabulary_size: int) -> None:
        self.dtype = dtype_for(vocabulary_size)
        self.tokens = 0
        self._vocabulary_size = vocabulary_size
        self._path = path
        self._lengths = array("i")
        self._digest = xxhash.xxh3_128()
        self._file = path.open("wb")

    def add(self, tokens: Tokens, lengths: NDArray[np.integer[Any]]) -> None:
        """Append the documents whose tokens follow one another in `tokens`.

        Raises:
            ShardError: an id is outside the vocabulary, a document is too long, or the counts don't add up.
        """
        self._check(tokens, lengths)
        data = np.ascontiguousarray(tokens, self.dtype).data.cast("B")
        self._file.write(data)
        self._digest.update(data)
        self._lengths.frombytes(lengths.astype(np.intc).tobytes())
        self.tokens += len(tokens)

    def finish(self, idx: Path) -> str:
        """Close the .bin, write `idx`, and return the xxh3-128 of the .bin."""
        self._file.close()
        write_index(idx, np.frombuffer(self._lengths, np.intc), self.dtype)
        return self._digest.hexdigest()

    def __len__(self) -> int:
        """Documents so far."""
        return len(self._lengths)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def _check(self, tokens: Tokens, lengths: NDArray[np.integer[Any]]) -> None:
        if len(lengths) and (int(lengths.max()) > MAX_SEQUENCE or int(lengths.min()) < 0):
            raise ShardError(
                f"{self._path}: a document of {int(lengths.max())} tokens does not fit the format, which ends at "
                f"{MAX_SEQUENCE}; split the document, or drop it by a rule on its length"
            )
        if int(lengths.sum(dtype=np.int64)) != len(tokens):
            raise ShardError(
                f"{self._path}: the documents' lengths add up to {int(lengths.sum(dtype=np.int64))} and there are "
                f"{len(tokens)} tokens; pass each document's length, BOS and EOS included"
            )
        if len(tokens) and not (0 <= int(tokens.min()) and int(tokens.max()) < self._vocabulary_size):
            raise ShardError(
                f"{self._path}: token ids run from {int(tokens.min())} to {int(tokens.max())} and the vocabulary has "
                f"{self._vocabulary_size}; pass the tokenizer's whole size, added tokens included"
            )


def write_index(path: Path, lengths: NDArray[np.integer[Any]], dtype: np.dtype[Any]) -> None:
    """The .idx of documents of `lengths` tokens, whose .bin holds `dtype`."""
    with path.open("wb") as file:
        file.write(HEADER.pack(MAGIC, VERSION, CODES[dtype], len(lengths), len(lengths) + 1))
        file.write(lengths.astype("<i4").data)
        for part in _offsets(lengths, dtype.itemsize):
            file.write(part.data)
        for first in range(0, len(lengths) + 1, _CHUNK):
            file.write(np.arange(first, min(first + _CHUNK, len(lengths) + 1), dtype="<i8").data)


def _offsets(lengths: NDArray[np.integer[Any]], itemsize: int) -> Iterator[NDArray[np.int64]]:
    """Where each document begins, in bytes: the exclusive sum of lengths, in 64 bits."""
    end = 0
    for first in range(0, len(lengths), _CHUNK):
        ends = np.cumsum(lengths[first : first + _CHUNK], dtype="<i8") * itemsize + end
        yield np.concatenate(([end], ends[:-1])).astype("<i8")
        end = int(ends[-1])


@dataclass(frozen=True, slots=True)
class Index:
    """What a .idx says.

    Args:
        dtype: Of the tokens in the .bin.
        lengths: int32 [S], tokens of each sequence.
        pointers: int64 [S], first byte of each sequence in the .bin.
        documents: int64 [documents + 1], first sequence of each document, S at the end.
    """

    dtype: np.dtype[Any]
    lengths: NDArray[np.int32]
    pointers: NDArray[np.int64]
    documents: NDArray[np.int64]

    @property
    def bin_bytes(self) -> int:
        return int(self.lengths.sum(dtype=np.int64)) * self.dtype.itemsize


def read_index(path: Path) -> Index:
    """Map and check a .idx.

    Raises:
        ShardError: the file is absent, cut, of another format, or contradicts itself.
    """
    size = _size(path)
    if size < HEADER.size:
        raise ShardError(f"{path} has {size} bytes, less than the header of an index; {_REMEDY}")
    data = np.memmap(path, np.uint8, "r")
    magic, version, code, sequences, documents = HEADER.unpack(data[: HEADER.size].tobytes())
    if magic != MAGIC or version != VERSION or code not in DTYPES:
        raise ShardError(
            f"{path} begins with {magic!r}, version {version}, dtype code {code}; a token index begins with {MAGIC!r}, "
            f"version {VERSION} and a code of {sorted(DTYPES)}; {_REMEDY}"
        )
    expected = HEADER.size + 12 * sequences + 8 * documents
    if size != expected:
        raise ShardError(
            f"{path} has {size} bytes and its header announces {expected} ({sequences} sequences, {documents - 1} "
            f"documents, no modes: multimodal indexes are not read); {_REMEDY}"
        )
    cuts = np.cumsum([HEADER.size, 4 * sequences, 8 * sequences, 8 * documents])
    index = Index(
        np.dtype(DTYPES[code]),
        data[cuts[0] : cuts[1]].view("<i4"),
        data[cuts[1] : cuts[2]].view("<i8"),
        data[cuts[2] : cuts[3]].view("<i8"),
    )
    _check_index(path, index)
    return index


def _check_index(path: Path, index: Index) -> None:
    if len(index.lengths) and int(index.lengths.min()) < 0:
        raise ShardError(f"{path} holds a negative sequence length; {_REMEDY}")
    first = 0
    for part in _offsets(index.lengths, index.dtype.itemsize):
        found = index.pointers[first : first + len(part)]
        if not np.array_equal(found, part):
            at = first + int(np.flatnonzero(found != part)[0])
            raise ShardError(
                f"{path}: sequence {at} should begin at byte {int(part[at - first])}, where the one before it ends, "
                f"and the index says {int(index.pointers[at])}; {_REMEDY}"
            )
        first += len(part)
    documents = index.documents
    whole = len(documents) > 0 and documents[0] == 0 and documents[-1] == len(index.lengths)
    if not whole or bool(np.any(documents[1:] < documents[:-1])):
        raise ShardError(
            f"{path}: document boundaries must rise from 0 to the {len(index.lengths)} sequences; {_REMEDY}"
        )


_REMEDY = "delete it and run again: the step that made it will make it anew"


class IndexedTokens:
    """The tokens of a checked pair of files, mapped, not read.

    Raises:
        ShardError: a file is absent or damaged, or the .bin has another size than the .idx says.
    """

    def __init__(self, prefix: Path) -> None:
        self.prefix = prefix
        self.index = read_index(idx_path(prefix))
        found, expected = _size(bin_path(prefix)), self.index.bin_bytes
        if found != expected:
            raise ShardError(f"{bin_path(prefix)} has {found} bytes and its index asks for {expected}; {_REMEDY}")

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.index.dtype

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Tokens of each sequence."""
        return self.index.lengths

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First token of each sequence, counted in tokens."""
        return self.index.pointers // self.dtype.itemsize

    @cached_property
    def tokens(self) -> Tokens:
        """All tokens, in the order of the .bin."""
        if self.index.bin_bytes == 0:  # an empty file can't be mapped
            return np.empty(0, self.dtype)
        return np.memmap(bin_path(self.prefix), self.dtype, "r")

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, sequence: int) -> Tokens:
        start = int(self.index.pointers[sequence]) // self.dtype.itemsize
        return self.tokens[start : start + int(self.lengths[sequence])]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        raise ShardError(f"{path} does not exist; run again: the step that makes it will make it anew") from None
