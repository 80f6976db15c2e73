"""The documents of one file that are kept, as the search for repeats reads them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import xxhash

from glotmill.curate.dedup.documents import from_hex, normal_addresses
from glotmill.schemas.edits import apply_edits
from glotmill.schemas.errors import SchemaError
from glotmill.schemas.recipe import Dedup, Lines, Substrings

Hashes = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

_ROWS = 512  # documents in memory: they may be megabytes each
_ROW_BITS = 32


@dataclass(frozen=True, slots=True)
class Asked:
    """What a recipe asks for.

    Args:
        lines, substrings: The sections; None for what is not asked for.
        sources: Names of the sources. Documents come in this order, then by id: what repeats is cut out of later ones.
        reference: How many of them, the first ones, are never cut.
    """

    lines: Lines | None
    substrings: Substrings | None
    sources: tuple[str, ...]
    reference: int

    @classmethod
    def of(cls, dedup: Dedup, sources: Sequence[str]) -> "Asked":
        """From a recipe's section and the names of its sources, most trusted first."""
        first = [name for name in sources if name in dedup.reference]
        others = [name for name in sources if name not in dedup.reference]
        return cls(dedup.lines, dedup.substrings, (*first, *others), len(first))


@dataclass(frozen=True, slots=True)
class Order:
    """Where n documents come among all: smaller ones are earlier.

    Args:
        source: int32 (n,), place of the source among Asked.sources.
        id: uint64 (n, 2).
    """

    source: npt.NDArray[np.int32]
    id: Hashes

    def rank(self) -> Ints:
        """int64 (n,), each document's place when all are sorted; equal for equal ones."""
        order = np.lexsort((self.id[:, 1], self.id[:, 0], self.source))
        source, id = self.source[order], self.id[order]
        is_new = np.ones(len(order), np.int64)
        is_new[1:] = (source[1:] != source[:-1]) | (id[1:] != id[:-1]).any(axis=1)
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.cumsum(is_new)
        return ranks

    def after(self, other: "Order") -> npt.NDArray[np.bool_]:
        """Of each, whether it comes after the one at the same place in `other`."""
        found: npt.NDArray[np.bool_] = self.source > other.source
        same = self.source == other.source
        for half in (0, 1):
            found |= same & (self.id[:, half] > other.id[:, half])
            same = same & (self.id[:, half] == other.id[:, half])
        return found

    def take(self, places: Any) -> "Order":
        return Order(self.source[places], self.id[places])


@dataclass(frozen=True, slots=True)
class Batch:
    """n kept documents of a file, in its order.

    Args:
        id: string (n,).
        row: int64 (n,), rows of the file.
        original: string (n,), the texts as documents/ has them.
        cuts: EDITS (n,), what the line rules cut out of them.
        text: string (n,), what that leaves.
        order: Of the documents.
        scope: uint64 (n,), hash of what a line is compared within; 0 where no lines are asked for.
    """

    id: pa.StringArray
    row: Ints
    original: pa.StringArray
    cuts: pa.ListArray
    text: pa.StringArray
    order: Order
    scope: Hashes

    def take(self, places: Ints) -> "Batch":
        taken = pa.array(places)
        return Batch(
            id=self.id.take(taken),
            row=self.row[places],
            original=self.original.take(taken),
            cuts=self.cuts.take(taken),
            text=self.text.take(taken),
            order=self.order.take(places),
            scope=self.scope[places],
        )


def node_of(file: int, row: Ints) -> Ints:
    """A number for a document: its file and row."""
    found: Ints = (np.int64(file) << _ROW_BITS) + row
    return found


def file_of(node: Ints) -> npt.NDArray[np.int32]:
    found: npt.NDArray[np.int32] = (node >> _ROW_BITS).astype(np.int32)
    return found


def row_of(node: Ints) -> Ints:
    found: Ints = node & np.int64((1 << _ROW_BITS) - 1)
    return found


def batches(key: str, out: Path, asked: Asked, rows: Ints | None = None) -> Iterator[Batch]:
    """The documents of OUT/documents/<key>.parquet that OUT/dedup keeps.

    Args:
        rows: Only those of these rows, ascending.

    Raises:
        SchemaError: The tables of the file don't belong together.
    """
    dedup = pq.read_table(out / "dedup" / f"{key}.parquet", columns=["id", "keep"])
    kept = dedup.filter(dedup["keep"])["id"].combine_chunks()
    by_host = asked.lines is not None and asked.lines.within == "host"
    columns = ["id", "source", "text", *(["url"] if by_host else [])]
    first = 0
    with (
        pq.ParquetFile(out / "documents" / f"{key}.parquet") as documents,
        pq.ParquetFile(out / "signals" / f"{key}.parquet") as signals,
    ):
        cuts = signals.iter_batches(_ROWS, columns=["id", "cuts"])
        for document, cut in zip(documents.iter_batches(_ROWS, columns=columns), cuts, strict=True):
            if not document["id"].equals(cut["id"]):
                raise SchemaError(f"signals/{key}.parquet has other documents than documents/: run again without it")
            taken = pc.is_in(document["id"], value_set=kept).to_numpy(zero_copy_only=False)
            row = np.arange(first, first + len(taken))
            if rows is not None:
                low, high = np.searchsorted(rows, (first, first + len(taken)))
                asked_for = np.zeros(len(taken), np.bool_)
                asked_for[rows[low:high] - first] = True
                taken = taken & asked_for
            first += len(taken)
            if taken.any():
                mask = pa.array(taken)
                yield _batch(document.filter(mask), cut["cuts"].filter(mask), row[taken], asked)


def _batch(documents: pa.RecordBatch, cuts: pa.ListArray, row: Ints, asked: Asked) -> Batch:
    original, source = documents["text"], documents["source"]
    place = pc.index_in(source, value_set=pa.array(asked.sources, pa.string())).to_numpy().astype(np.int32)
    scope = np.zeros(len(row), np.uint64)
    if asked.lines is not None and asked.lines.within != "all":
        names = source if asked.lines.within == "source" else hosts(documents["url"], source)
        scope = _hashes(names)
    return Batch(
        id=documents["id"],
        row=row,
        original=original,
        cuts=cuts,
        text=apply_edits(original, cuts),
        order=Order(place, from_hex(pa.chunked_array([documents["id"]]))),
        scope=scope,
    )


def hosts(urls: pa.StringArray, sources: pa.StringArray) -> pa.StringArray:
    """Hosts of n addresses, in lower case, without "www." and port; where there is none, "source " and its name."""
    addresses = normal_addresses(pa.chunked_array([urls]))
    host = pc.struct_field(pc.extract_regex(addresses, r"^(?P<host>[^/?:]+)"), 0)
    nameless = pc.binary_join_element_wise("source", sources, " ")
    return pc.coalesce(host, pa.chunked_array([nameless])).combine_chunks()


def _hashes(names: pa.StringArray) -> Hashes:
    coded = names.dictionary_encode()
    hashes = [xxhash.xxh3_64_intdigest(name.encode()) for name in coded.dictionary.to_pylist()]
    found: Hashes = np.array(hashes, np.uint64)[coded.indices.to_numpy()]
    return found
