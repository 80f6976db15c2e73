"""Documents are taken out of an index: their generations are written anew without them, into new folders."""

import os
import shutil
import uuid
from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from glotmill.curate.dedup.documents import Ints
from glotmill.curate.dedup.index.files import bands_writer, entries_writer, place_in, signatures_file
from glotmill.curate.dedup.index.format import Generation, path_of, read_index, write_index
from glotmill.curate.dedup.index.locks import changing, sweep
from glotmill.schemas.atomic import Transaction, transaction
from glotmill.schemas.errors import InputError


def remove_generations(folder: Path, names: Sequence[str]) -> int:
    """Take out all that some output folders added; how many documents that was.

    Raises:
        InputError: there is no generation of that name.
    """
    with changing(folder):
        index = read_index(folder)
        known = {found.name: found for found in index.generations}
        if absent := [name for name in names if name not in known]:
            raise InputError(f"{folder} has no generation {absent[0]!r}; there are: {', '.join(known) or 'none'}")
        left = replace(index, generations=tuple(found for name, found in known.items() if name not in names))
        write_index(left)
        sweep(left)
        return sum(known[name].entries for name in set(names))


def remove_documents(folder: Path, ids: Set[str], *, column: str = "id") -> tuple[int, int]:
    """Take out documents by their ids: how many entries went, and how many ids no entry has.

    Memory holds one file of signatures, and a group of rows of a file of bands.

    Args:
        column: id, or source_id: the ids of the input, of which several documents may have the same.
    """
    with changing(folder):
        index = read_index(folder)
        wanted = pa.array(sorted(ids), pa.string())
        seen: set[str] = set()
        generations = []
        for found in index.generations:
            gone = _rows(path_of(folder, found), found, wanted, column, seen)
            generations.append(_without(folder, found, gone) if gone else found)
        left = replace(index, generations=tuple(generations))
        removed = sum(found.entries for found in index.generations) - sum(found.entries for found in left.generations)
        if removed:
            write_index(left)
        sweep(left)
        return removed, len(ids - seen)


def _rows(path: Path, generation: Generation, ids: pa.Array, column: str, seen: set[str]) -> dict[int, Ints]:
    """By file, the rows that go, ascending; adds to `seen` the ids that were found."""
    gone = {}
    for number, name in enumerate(generation.files):
        known = pq.read_table(path / signatures_file(name), columns=[column])[column]
        mask = pc.fill_null(pc.is_in(known, value_set=ids), False)
        rows = np.flatnonzero(mask.to_numpy())
        if len(rows):
            gone[number] = rows
            seen.update(known.filter(mask).to_pylist())
    return gone


def _without(folder: Path, generation: Generation, gone: dict[int, Ints]) -> Generation:
    """The generation without some rows, in a folder that nothing names yet."""
    removed = sum(map(len, gone.values()))
    made = replace(
        generation,
        folder=f"{generation.name}-{uuid.uuid4().hex[:12]}",
        entries=generation.entries - removed,
        removed=generation.removed + removed,
    )
    old = path_of(folder, generation)
    with transaction(path_of(folder, made), str(os.getpid())) as files:
        for number, name in enumerate(generation.files):
            _copy_entries(old / signatures_file(name), files.path(signatures_file(name)), gone.get(number))
        for path in sorted((old / "bands").glob("*/*.parquet")):
            _copy_band(path, files, str(path.relative_to(old)), gone)
        files.commit()
    return made


def _copy_entries(old: Path, new: Path, gone: Ints | None) -> None:
    if gone is None:
        shutil.copyfile(old, new)
        return
    with pq.ParquetFile(old) as file, entries_writer(new, file.schema_arrow) as writer:
        start = 0
        for group in range(file.metadata.num_row_groups):
            rows = file.read_row_group(group)
            stays = ~np.isin(np.arange(start, start + rows.num_rows), gone)
            start += rows.num_rows
            writer.write_table(rows.filter(pa.array(stays)))


def _copy_band(old: Path, files: Transaction, name: str, gone: dict[int, Ints]) -> None:
    """Rows behind one that goes move up; the order by key stays."""
    with pq.ParquetFile(old) as file, bands_writer(files.path(name)) as writer:
        for group in range(file.metadata.num_row_groups):
            rows = file.read_row_group(group)
            entry = rows["entry"].to_numpy().copy()
            number, row = place_in(entry)
            stays = np.ones(len(entry), np.bool_)
            for of, places in gone.items():
                mine = np.flatnonzero(number == of)
                before = np.searchsorted(places, row[mine])
                at = np.minimum(before, len(places) - 1)
                stays[mine] = places[at] != row[mine]
                entry[mine] -= before
            writer.write_table(rows.set_column(1, rows.schema.field(1), pa.array(entry)).filter(pa.array(stays)))
