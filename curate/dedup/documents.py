"""The documents of one file as deduplication sees them: numbers, no text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import xxhash

from glotmill.curate.dedup.options import Options
from glotmill.schemas.errors import SchemaError

Hashes = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

# A node is a document's file and row. Documents that never go have smaller numbers than all others.
REMOVABLE = np.int64(1) << np.int64(62)
_ROW_BITS = 32


@dataclass(frozen=True, slots=True)
class Documents:
    """n documents that the judgement kept, in the order of their file.

    Args:
        table: id, source_id, source, language and what else was asked for.
        row: int64 (n,), places in the file.
        node: int64 (n,).
        id: uint64 (n, 2).
        text: uint64 (n, 2), hash of the normal text and of what the comparison is bound to.
        key: uint64 (n, 2), the same for what makes two documents exact duplicates; random where they have none.
        scope: uint64 (n,), hash of what the comparison is bound to.
        rank: float64 (n, criteria), ascending: the smallest stays.
        fixed: bool (n,), never removed.
    """

    table: pa.Table
    row: Ints
    node: Ints
    id: Hashes
    text: Hashes
    key: Hashes
    scope: Hashes
    rank: npt.NDArray[np.float64]
    fixed: npt.NDArray[np.bool_]

    def order(self) -> Ints:
        """Places of the documents, those first that stay rather than others."""
        return sorting(self.fixed, self.rank, self.text, self.id)


def sorting(fixed: Any, rank: Any, text: Hashes, id: Hashes, *first: Any) -> Ints:
    """The order in which documents are decided: by `first`, then fixed ones, the policy, content, id."""
    keys = [id[:, 1], id[:, 0], text[:, 1], text[:, 0], *(rank[:, k] for k in reversed(range(rank.shape[1]))), ~fixed]
    return np.lexsort([*keys, *reversed(first)])


def load(key: str, ordinal: int, out: Path, options: Options, columns: Sequence[str] = ()) -> Documents:
    """Read the documents of a file of OUT/signals that OUT/verdicts keeps.

    Args:
        ordinal: Number of the file.
        columns: Further columns of signals, for `table`.
    """
    wanted = {column for column, _ in options.keep} - {"source", "date", "margin"}
    base = ["id", "source_id", "source", "language", "text_hash", *columns]
    signals = pq.read_table(out / "signals" / f"{key}.parquet", columns=[*base, *sorted(wanted - set(base))])
    verdicts = pq.read_table(out / "verdicts" / f"{key}.parquet", columns=["id", "keep", "margin"])
    places = pc.index_in(signals["id"], value_set=verdicts["id"].combine_chunks())
    if places.null_count:
        raise SchemaError(f"{places.null_count} documents have no verdict: delete OUT/verdicts and run again")
    judged = verdicts.take(places.combine_chunks())
    rows = np.flatnonzero(judged["keep"].to_numpy())
    taken = pa.array(rows)
    table = signals.take(taken).append_column("margin", judged["margin"].take(taken))
    if options.exact == "url" or any(column == "date" for column, _ in options.keep):
        about = pq.read_table(out / "documents" / f"{key}.parquet", columns=["url", "date"]).take(taken)
        table = table.append_column("url", about["url"]).append_column("date", about["date"])
    return _documents(table, rows, ordinal, options)


def _documents(table: pa.Table, rows: Ints, ordinal: int, options: Options) -> Documents:
    scope = _scopes(table, options.scope)
    text = from_hex(table["text_hash"])
    text[:, 0] ^= scope
    fixed = np.isin(table["source"].to_numpy(zero_copy_only=False).astype(str), sorted(options.reference))
    id = from_hex(table["id"])
    return Documents(
        table=table,
        row=rows,
        node=nodes(ordinal, rows, fixed),
        id=id,
        text=text,
        key=_addresses(table["url"], scope, text) if options.exact == "url" else text,
        scope=scope,
        rank=_ranks(table, options),
        fixed=fixed,
    )


def stand_ins(documents: Documents, options: Options) -> tuple[Ints, Ints]:
    """Places of the documents that stand for those of the same file with the same key, and how many each stands for.

    Without comparisons of documents with each other, everybody stands for himself.
    """
    if not options.compare_all:
        everybody = np.arange(len(documents.node))
        return everybody, np.ones(len(everybody), np.int64)
    owner = owners(documents, options)
    first, count = np.unique(owner, return_counts=True)
    return first, count.astype(np.int64)


def owners(documents: Documents, options: Options) -> Ints:
    """Of each document the place of the one that stands for it."""
    order = documents.order()
    if not options.compare_all or not len(order):
        return np.arange(len(order))
    starts, group = groups(documents.key[order])
    owner = np.empty(len(order), np.int64)
    owner[order] = order[starts][group]
    owner[documents.fixed] = np.flatnonzero(documents.fixed)  # never removed, so nobody stands for it
    return owner


def groups(sorted_pairs: Hashes) -> tuple[Ints, Ints]:
    """Of sorted pairs, where each run of equal ones starts, and the number of each one's run."""
    is_first = np.ones(len(sorted_pairs), np.bool_)
    is_first[1:] = (sorted_pairs[1:] != sorted_pairs[:-1]).any(axis=1)
    return np.flatnonzero(is_first), np.cumsum(is_first) - 1


def nodes(ordinal: int, rows: Ints, fixed: npt.NDArray[np.bool_]) -> Ints:
    found: Ints = (np.int64(ordinal) << _ROW_BITS) + rows + np.where(fixed, 0, REMOVABLE)
    return found


def place_of(node: Ints) -> tuple[Ints, Ints]:
    """The number of each node's file, and its row there."""
    bare = node & ~REMOVABLE
    return bare >> _ROW_BITS, bare & np.int64((1 << _ROW_BITS) - 1)


def from_hex(names: pa.ChunkedArray) -> Hashes:
    """uint64 (n, 2) of n names of 32 hex digits."""
    digits = "".join(names.to_pylist())
    found: Hashes = np.frombuffer(bytes.fromhex(digits), ">u8").reshape(-1, 2).astype(np.uint64)
    return found


def to_hex(numbers: Hashes) -> pa.StringArray:
    """What `from_hex` read."""
    digits = numbers.astype(">u8").tobytes().hex().encode()
    offsets = np.arange(0, 32 * len(numbers) + 1, 32, dtype=np.int32)
    return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(offsets), pa.py_buffer(digits))


def _scopes(table: pa.Table, columns: Sequence[str]) -> Hashes:
    scope = np.zeros(table.num_rows, np.uint64)
    for column in columns:
        coded = table[column].combine_chunks().dictionary_encode()
        hashes = [xxhash.xxh3_64_intdigest(f"{column}={value}".encode()) for value in coded.dictionary.to_pylist()]
        scope ^= np.array(hashes, np.uint64)[coded.indices.to_numpy()] if hashes else scope
    return scope


def _addresses(urls: pa.ChunkedArray, scope: Hashes, text: Hashes) -> Hashes:
    """Hashes of addresses; of the text where there is no address."""
    found = text.copy()
    known = np.flatnonzero(pc.fill_null(pc.greater(pc.utf8_length(urls), 0), False).to_numpy())
    names = normal_addresses(urls.take(pa.array(known)))
    digests = b"".join(xxhash.xxh3_128_digest(name) for name in names.cast(pa.binary()).to_pylist())
    found[known] = np.frombuffer(digests, ">u8").reshape(-1, 2)
    found[known, 0] ^= scope[known]
    return found


def normal_addresses(urls: pa.ChunkedArray) -> pa.ChunkedArray:
    """Addresses as they are compared: no scheme, no user, no "www.", no default port, no fragment, no closing slash;
    the host in lower case.
    """
    for pattern, left in (
        (r"^\s+|\s+$|#.*$", ""),
        (r"^(?i:[a-z][a-z0-9+.-]*:)?//(?:[^/?@]*@)?(?i:www\.)?", ""),
        (r"^([^/:?]+):(?:80|443)(/|\?|$)", r"\1\2"),
        (r"/+(\?|$)", r"\1"),
    ):
        urls = pc.replace_substring_regex(urls, pattern, left)
    parts = pc.extract_regex(urls, r"^(?P<host>[^/?]*)(?P<rest>(?s:.*))$")
    return pc.binary_join_element_wise(pc.utf8_lower(pc.struct_field(parts, 0)), pc.struct_field(parts, 1), "")


def _ranks(table: pa.Table, options: Options) -> npt.NDArray[np.float64]:
    found = np.zeros((table.num_rows, max(1, len(options.keep))))
    for place, (column, sign) in enumerate(options.keep):
        if column == "source":
            values = pc.index_in(table["source"], value_set=pa.array(options.sources, pa.string()))
        elif column == "date":
            values = _days(table["date"])
        else:
            values = table[column].cast(pa.float64())
        numbers = sign * values.to_numpy().astype(np.float64)
        found[:, place] = np.where(np.isnan(numbers), np.inf, numbers)  # who has none goes rather than others
    return found


def _days(dates: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers that sort as dates do that are written year first: 20240131 for 2024-01-31T08:00; null for others."""
    digits = pc.replace_substring_regex(dates, r"^\s*(\d{4})(?:-?(\d{2})(?:-?(\d{2}))?)?.*$", r"\1\2\3")
    digits = pc.if_else(pc.match_substring_regex(digits, r"^\d{4}(\d{2}){0,2}$"), digits, None)
    return pc.utf8_rpad(digits, 8, "0").cast(pa.float64())
