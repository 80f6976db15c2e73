"""The files of an index: entries, and by key of a band which of them have it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from glotmill.curate.blocks.packed import Kinds, numbers, spread
from glotmill.curate.dedup.documents import Hashes, Ints, load
from glotmill.curate.dedup.index.format import Generation, path_of
from glotmill.curate.dedup.options import BUCKET, Options
from glotmill.curate.kernels.minhash import BAND_BITS, band_keys, key_of
from glotmill.schemas.atomic import Transaction
from glotmill.schemas.units import Books, Outcome, Unit

KEYS = "keys"  # kind of the records from which files of bands are made
_ROW_BITS = 32
_ENTRIES_A_GROUP = 1024  # about 600 bytes each: few are read of many
_KEYS_A_GROUP = 1 << 14
_CHUNK_KEYS = 1 << 22
_HALVES = ("text_high", "text_low", "key_high", "key_low", "scope")
_KEY = pa.schema([pa.field("key", pa.uint64(), nullable=False), pa.field("entry", pa.int64(), nullable=False)])


def entries_schema(options: Options) -> pa.Schema:
    """Of a file of signatures: who an entry is, its hashes as `Documents` has them, and its signature."""
    fields = [pa.field("id", pa.string(), nullable=False), pa.field("source_id", pa.string())]
    fields += [pa.field(name, pa.string(), nullable=False) for name in ("source", "language")]
    fields += [pa.field(name, pa.uint64(), nullable=False) for name in _HALVES]
    fields.append(pa.field("short", pa.bool_(), nullable=False))
    if options.fuzzy:
        fields.append(pa.field("minhash", pa.list_(pa.uint32(), options.permutations), nullable=False))
    return pa.schema(fields)


def write_entries(unit: Unit, files: Transaction, *, out: Path, options: Options) -> tuple[Outcome, tuple[()]]:
    """Write signatures/<unit.key>.parquet: the documents of a file that OUT/dedup keeps, in the order of OUT/signals.

    Documents of reference sources are left out: whoever wants to be compared with them names the source.
    """
    documents = load(unit.key, 0, out, options, ("minhash", "shingles") if options.fuzzy else ())
    fates = pq.read_table(out / "dedup" / f"{unit.key}.parquet", columns=["id", "keep"])
    kept = pc.is_in(documents.table["id"], value_set=fates["id"].filter(fates["keep"]).combine_chunks()).to_numpy()
    taken = np.flatnonzero(kept & ~documents.fixed)
    about = documents.table.take(pa.array(taken))
    columns = {name: about[name] for name in ("id", "source_id", "source", "language")}
    for name, of in (("text", documents.text), ("key", documents.key)):
        columns |= {f"{name}_high": pa.array(of[taken, 0]), f"{name}_low": pa.array(of[taken, 1])}
    columns["scope"] = pa.array(documents.scope[taken])
    short = about["shingles"].to_numpy() < options.min_shingles if options.fuzzy else np.zeros(len(taken), np.bool_)
    columns["short"] = pa.array(short)
    if options.fuzzy:
        columns["minhash"] = about["minhash"]
    schema = entries_schema(options)
    table = pa.table(columns).cast(schema)
    with entries_writer(files.path(signatures_file(unit.key)), schema) as writer:
        writer.write_table(table, row_group_size=_ENTRIES_A_GROUP)
    count = int(kept.sum())
    skipped = {"reference": count - len(taken)} if count > len(taken) else {}
    return Outcome(Books(records=count, kept=len(taken), skipped=skipped)), ()


def signatures_file(name: str) -> str:
    return f"signatures/{name}.parquet"


def entries_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Hashes can't be compressed, and are many; names can."""
    names = [name for name in ("id", "source_id", "source", "language", "short") if name in schema.names]
    compression = {name: "ZSTD" if name in names else "NONE" for name in schema.names if name != "minhash"}
    return pq.ParquetWriter(
        path,
        schema,
        compression=compression | {"minhash.list.element": "NONE"},
        use_dictionary=["source", "language"],
        write_statistics=["source", "language"],
    )


def chunks_for(entries: int) -> int:
    """Into how many files a band is cut: a power of two, so that a chunk's keys have their first bits in common."""
    return int(1 << max(0, (-(-entries // _CHUNK_KEYS) - 1).bit_length()))


def band_names(options: Options, chunks: int) -> list[str]:
    """Names of all files of bands, by number; the last band holds keys of whole texts."""
    return [bands_file(number, chunks) for number in range((options.bands + 1) * chunks)]


def bands_file(number: int, chunks: int) -> str:
    return f"bands/band={number // chunks:02}/{number % chunks:04}.parquet"


def _file_of(keys: Hashes, chunks: int) -> Ints:
    """The number of the file that holds each key."""
    bits = 64 - BAND_BITS - (chunks.bit_length() - 1)
    return (keys >> np.uint64(bits)).astype(np.int64)


def whole_keys(keys: Hashes, options: Options) -> Hashes:
    """uint64 (n, 1): keys of the band of whole texts; equal for documents that are exact duplicates.

    Args:
        keys: uint64 (n, 2), `Documents.key`.
    """
    return key_of(options.bands, keys[:, 0] ^ (keys[:, 1] * np.uint64(0x9E3779B97F4A7C15)))[:, None]


def keys_of(minhash: Any, options: Options) -> pa.RecordBatch:
    """The keys of all bands of some signatures, without a scope."""
    found = band_keys(_signatures(minhash), np.zeros(len(minhash), np.uint64), bands=options.bands, rows=options.rows)
    return pa.RecordBatch.from_pydict(
        {"keys": pa.FixedSizeListArray.from_arrays(pa.array(found.ravel()), options.bands)}
    )


def _signatures(column: Any) -> npt.NDArray[np.uint32]:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    found: npt.NDArray[np.uint32] = whole.flatten().to_numpy().reshape(len(whole), -1)
    return found


def band_blocks(file: tuple[int, str], *, folder: Path, options: Options, chunks: int) -> Iterator[pa.RecordBatch]:
    """The keys of one file of signatures, to the files of bands that hold them.

    Args:
        file: Number and name.
        folder: Of the generation.
    """
    ordinal, name = file
    start = 0
    with pq.ParquetFile(folder / signatures_file(name)) as entries:
        columns = ["key_high", "key_low", "scope", "short", *(["minhash"] if options.fuzzy else [])]
        for batch in entries.iter_batches(1 << 14, columns=columns):
            rows = (np.int64(ordinal) << _ROW_BITS) + np.arange(start, start + batch.num_rows)
            start += batch.num_rows
            key = np.column_stack((numbers(batch["key_high"]), numbers(batch["key_low"])))
            found, entry = [whole_keys(key, options).ravel()], [rows]
            if options.fuzzy:
                long = np.flatnonzero(~batch["short"].to_numpy(zero_copy_only=False))
                signed = _signatures(batch["minhash"])[long]
                keys = band_keys(signed, numbers(batch["scope"])[long], bands=options.bands, rows=options.rows)
                found.append(keys.ravel())
                entry.append(np.repeat(rows[long], options.bands))
            records = pa.RecordBatch.from_arrays(
                [pa.array(np.concatenate(found)), pa.array(np.concatenate(entry))], schema=_KEY
            )
            yield from spread(records, _file_of(numbers(records["key"]), chunks).astype(np.int32), KEYS)


def write_band(unit: Unit, files: Transaction, part: int, kinds: Kinds, *, chunks: int) -> Outcome:
    """Write one file of a band: key, entry, sorted; an entry is a file's number, shifted by 32 bits, and a row."""
    records = kinds.table(KEYS, _KEY)
    order = np.lexsort((numbers(records["entry"]), numbers(records["key"])))
    table = pa.Table.from_batches([records]).take(pa.array(order))
    with bands_writer(files.path(bands_file(part, chunks))) as writer:
        writer.write_table(table, row_group_size=_KEYS_A_GROUP)
    return Outcome()


def place_in(entry: Ints) -> tuple[Ints, Ints]:
    """The number of each entry's file, and its row there."""
    return entry >> _ROW_BITS, entry & np.int64((1 << _ROW_BITS) - 1)


def bands_writer(path: Path) -> pq.ParquetWriter:
    """With statistics of each group of rows, so that a stretch of keys can be read alone."""
    return pq.ParquetWriter(
        path,
        _KEY,
        compression={"key": "NONE", "entry": "ZSTD"},
        use_dictionary=False,
        column_encoding={"key": "DELTA_BINARY_PACKED", "entry": "PLAIN"},
        write_statistics=True,
    )


@dataclass(frozen=True, slots=True)
class Known:
    """What a run compares its documents with.

    Args:
        folder: Of the index.
        generations: Those of it that count.
        first: Number of their first file: one more than the run's own files have.
    """

    folder: Path
    generations: tuple[Generation, ...]
    first: int

    def files(self) -> list[str]:
        """Their files of signatures; the node of an entry is the place here, from `first` on, and a row."""
        return [
            str(path_of(self.folder, found) / signatures_file(name))
            for found in self.generations
            for name in found.files
        ]

    def names(self) -> list[str]:
        """Of each file, the name of its generation."""
        return [found.name for found in self.generations for _ in found.files]

    def candidates(self, keys: Hashes) -> tuple[Hashes, Ints, dict[str, int]]:
        """The entries that have one of some keys: key and node of each, and what is to be told.

        Of a key at most BUCKET, since no more of a bucket are compared with. Memory holds a group of rows and what is
        found.

        Args:
            keys: uint64 (n,), any.
        """
        keys = np.unique(keys)
        taken = np.zeros(len(keys), np.int64)
        found: list[tuple[Hashes, Ints]] = []
        ordinal, left_out = self.first, np.zeros(len(keys), np.bool_)
        for generation in self.generations:
            for number in np.unique(_file_of(keys, generation.chunks)).tolist():
                path = path_of(self.folder, generation) / bands_file(number, generation.chunks)
                for key, entry in _matching(path, keys):
                    at = np.searchsorted(keys, key)
                    fits = taken[at] + _places(key) < BUCKET
                    left_out[at[~fits]] = True
                    np.add.at(taken, at[fits], 1)
                    found.append((key[fits], entry[fits] + (np.int64(ordinal) << _ROW_BITS)))
            ordinal += len(generation.files)
        told = {"index_entries": int(taken.sum()), "full_index_buckets": int(left_out.sum())}
        if not found:
            return np.empty(0, np.uint64), np.empty(0, np.int64), told
        return np.concatenate([key for key, _ in found]), np.concatenate([node for _, node in found]), told


def _places(keys: Hashes) -> Ints:
    """Of sorted keys, the place of each among its equals."""
    starts = np.concatenate(([True], keys[1:] != keys[:-1])) if len(keys) else np.empty(0, np.bool_)
    first = np.flatnonzero(starts)
    return np.arange(len(keys)) - first[np.cumsum(starts) - 1] if len(keys) else np.empty(0, np.int64)


def _matching(path: Path, keys: Hashes) -> Iterator[tuple[Hashes, Ints]]:
    """Key and entry of the rows of a file whose key is among some, sorted; groups of rows without such are skipped."""
    with pq.ParquetFile(path) as file:
        for group in range(file.metadata.num_row_groups):
            if not file.metadata.row_group(group).num_rows:
                continue
            bounds = file.metadata.row_group(group).column(0).statistics
            low, high = (np.uint64(bound) for bound in (bounds.min, bounds.max))
            here = keys[np.searchsorted(keys, low) : np.searchsorted(keys, high, side="right")]
            if len(here):
                rows = file.read_row_group(group)
                key, entry = rows["key"].to_numpy(), rows["entry"].to_numpy()
                at = np.minimum(np.searchsorted(here, key), len(here) - 1)
                taken = here[at] == key
                yield key[taken], entry[taken]


def read_entries(path: Path | str, rows: Ints) -> pa.Table:
    """Some rows, ascending, of a file of signatures; of groups without such nothing is read."""
    with pq.ParquetFile(path) as file:
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
        ends = np.cumsum(sizes)
        groups, place = np.unique(np.searchsorted(ends, rows, side="right"), return_inverse=True)
        starts = (ends - sizes)[groups]
        new_starts = np.cumsum([0, *np.asarray(sizes)[groups]])[:-1]
        table = file.read_row_groups(groups.tolist())
        return table.take(pa.array(rows - starts[place] + new_starts[place])).combine_chunks()
