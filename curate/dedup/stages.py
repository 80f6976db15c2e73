"""The stages of deduplication: each a function from the records of one part to blocks for the next stage.

    sign      a file's documents             -> doc, to the part of their text
    same      documents with one text        -> member, self, to the part of their first; band, to the part of a key
    buckets   bands with one key             -> edge: from each document to the bucket's smallest
    forest    some edges                     -> edge: the smallest of the component; in the end node, to its file
    fetch     a file's nodes                 -> full: signature and shingles, to the part of the component
    decide    components                     -> fate: who goes, and who is its twin
    resolve   fates and members of one text  -> star: who goes, in the end, to the part of the kept document
    size      all of a kept document's       -> fate and leader, to the file of each

Documents of one text travel as one (`same`), and within a file already (`sign`), so that a million equal ones cost less
than a million different ones. Nothing depends on the order in which records come or on the number of parts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from glotmill.curate.blocks.packed import Kinds, block, numbers, pack, spread
from glotmill.curate.dedup.documents import (
    REMOVABLE,
    Hashes,
    Ints,
    from_hex,
    groups,
    load,
    place_of,
    sorting,
    stand_ins,
)
from glotmill.curate.dedup.index.files import Known, read_entries, whole_keys
from glotmill.curate.dedup.options import BUCKET, Options
from glotmill.curate.dedup.shingles import shingles
from glotmill.curate.kernels import leaders as kernel
from glotmill.curate.kernels.forest import components
from glotmill.curate.kernels.minhash import BAND_BITS, band_keys
from glotmill.curate.kernels.shingles import distinct
from glotmill.schemas.edits import apply_edits

Blocks = Iterator[pa.RecordBatch]

DOC, MEMBER, BAND, EDGE, NODE, FULL, FATE, STAR, LEADER, COUNTS = (
    "doc", "member", "band", "edge", "node", "full", "fate", "star", "leader", "counts",
)  # fmt: skip
_U, _I, _F = pa.uint64(), pa.int64(), pa.float64()
_MEMBER = pa.schema([("rep", _I), ("rep_high", _U), ("rep_low", _U), ("node", _I), ("count", _I)])
_EDGE = pa.schema([("node", _I), ("root", _I)])
_FATE = pa.schema(
    [("node", _I), ("twin", _I), ("twin_high", _U), ("twin_low", _U), ("similarity", _F), ("how", pa.uint8())]
)
_STAR = pa.schema([*_FATE, ("count", _I)])
GONE = pa.schema([*_FATE, ("size", _I)])  # what a file learns of a document that goes
STAYS = pa.schema([("node", _I), ("size", _I), ("how", pa.uint8())])  # and of one that others are twins of

BY_ADDRESS = 4  # how a twin was found, beside the kernel's TEXT, SIGNATURE and SHINGLES
_HOT = (16, 256, 4096, 65536)  # sizes from which buckets are counted


@dataclass(frozen=True, slots=True)
class Parts:
    """Into how many parts the records of each shuffle go.

    Args:
        texts, bands, components, stars: By text, band key, component, and kept document.
    """

    texts: int
    bands: int
    components: int
    stars: int


def sign(file: tuple[int, str], *, out: Path, options: Options, parts: Parts) -> Blocks:
    """The documents of one file that stand for all those equal to them."""
    ordinal, key = file
    documents = load(key, ordinal, out, options, ("minhash", "shingles") if options.fuzzy else ())
    first, count = stand_ins(documents, options)
    if not len(first):
        return
    columns: dict[str, Any] = {
        "key_high": documents.key[first, 0],
        "key_low": documents.key[first, 1],
        "text_high": documents.text[first, 0],
        "text_low": documents.text[first, 1],
        "id_high": documents.id[first, 0],
        "id_low": documents.id[first, 1],
        "rank": _lists(documents.rank[first]),
        "node": documents.node[first],
        "count": count,
    }
    if options.fuzzy:
        taken = documents.table.select(["minhash", "shingles"]).take(pa.array(first))
        keys = band_keys(
            signatures_of(taken["minhash"]), documents.scope[first], bands=options.bands, rows=options.rows
        )
        columns["bands"] = _lists(keys)
        columns["short"] = pa.array(taken["shingles"].to_numpy() < options.min_shingles)
    records = pa.RecordBatch.from_pydict(columns)
    yield from spread(records, _part(documents.key[first, 0], parts.texts), DOC)


def same(part: int, kinds: Kinds, *, options: Options, parts: Parts, indexed: bool = False) -> Blocks:
    """Documents with one key: the first by the policy goes on for all.

    Args:
        indexed: There is an index to compare with: whole texts are sought in it, too.
    """
    docs = kinds.table(DOC, pa.schema([]))
    key = _pairs(docs, "key")
    node = numbers(docs["node"])
    fixed = node < REMOVABLE
    order = sorting(fixed, _matrix(docs["rank"]), _pairs(docs, "text"), _pairs(docs, "id"))
    grouped = order[np.lexsort((key[order, 1], key[order, 0]))]  # stable: within a key by the policy
    starts, group = groups(key[grouped])
    rep = np.empty(len(grouped), np.int64)
    rep[grouped] = grouped[starts][group]
    alone = fixed if options.compare_all else fixed | ~fixed[rep]
    rep[alone] = np.flatnonzero(alone)
    is_rep = rep == np.arange(len(rep))
    yield from _members(docs, node, rep, is_rep, parts)
    if options.fuzzy:
        goes_on = is_rep & ~docs["short"].to_numpy(zero_copy_only=False)
        yield from _bands(_matrix(docs["bands"])[goes_on], node[goes_on], options, parts)
    if indexed:
        yield from _bands(whole_keys(key[is_rep], options), node[is_rep], options, parts)


def _members(docs: pa.RecordBatch, node: Ints, rep: Ints, is_rep: npt.NDArray[np.bool_], parts: Parts) -> Blocks:
    """What stands for what; one that stands for itself alone is left out."""
    count = numbers(docs["count"])
    told = np.flatnonzero(~is_rep | (count > 1))
    id = _pairs(docs, "id")
    columns = [node[rep[told]], id[rep[told], 0], id[rep[told], 1], node[told], count[told]]
    records = pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=_MEMBER)
    yield from spread(records, _part(node[rep[told]], parts.stars), MEMBER)


def _bands(keys: Hashes, node: Ints, options: Options, parts: Parts) -> Blocks:
    """Each key with one node for all that have it here; the others get an edge to it, so that a bucket that holds a
    third of all documents is many small rows nowhere.
    """
    flat, nodes = keys.ravel(), np.repeat(node, keys.shape[1])
    first, edges, sizes = _stars(flat, nodes, np.ones(len(flat), np.int64), options)
    records = pa.RecordBatch.from_pydict({"key": flat[first], "node": nodes[first], "size": sizes})
    yield from spread(records, key_part(flat[first], options, parts), BAND)
    yield from _edges(*edges, part=0)


def key_range(part: int, options: Options, parts: Parts) -> tuple[int, int]:
    """The first key of a part, and the first one after it: parts are stretches of the keys, and so of the bands."""
    step = _key_step(options, parts)
    return part * step, (part + 1) * step


def key_part(keys: Hashes, options: Options, parts: Parts) -> npt.NDArray[np.int32]:
    """The part of each key."""
    found: npt.NDArray[np.int32] = (keys // np.uint64(_key_step(options, parts))).astype(np.int32)
    return found


def _key_step(options: Options, parts: Parts) -> int:
    return -(-((options.bands + 1) << (64 - BAND_BITS)) // parts.bands)  # one more band, of whole texts


def buckets(part: int, kinds: Kinds, *, options: Options, known: Known | None = None) -> Blocks:
    """Edges within the buckets of one part of all keys, and how large the buckets are.

    Args:
        known: Entries of an index: those of the same buckets count as documents that are never removed.
    """
    bands = kinds.table(BAND, pa.schema([("key", _U), ("node", _I), ("size", _I)]))
    key, node, size = (numbers(bands[name]) for name in ("key", "node", "size"))
    if known:
        its_key, its_node, from_index = known.candidates(key)
        key, node = np.concatenate((key, its_key)), np.concatenate((node, its_node))
        size = np.concatenate((size, np.ones(len(its_key), np.int64)))
        yield from told(from_index)
    _, edges, sizes = _stars(key, node, size, options, last=True)
    yield from _edges(*edges, part=part)
    counts = {"buckets": int((sizes > 1).sum()), "largest_bucket": int(sizes.max(initial=0))}
    counts |= {f"buckets_from_{size}": int((sizes >= size).sum()) for size in _HOT}
    yield from told(counts)


def _stars(
    key: Hashes, node: Ints, size: Ints, options: Options, *, last: bool = False
) -> tuple[Ints, tuple[Ints, Ints], Ints]:
    """Places of each key's smallest node, edges of the others to it, and the sum of sizes of each key."""
    if not len(key):
        return np.empty(0, np.int64), (np.empty(0, np.int64),) * 2, np.empty(0, np.int64)
    order = np.lexsort((node, key))
    sorted_key = key[order]
    is_first = np.concatenate(([True], sorted_key[1:] != sorted_key[:-1]))
    starts = np.flatnonzero(is_first)
    group = np.cumsum(is_first) - 1
    nodes = node[order]
    others = ~is_first
    if not options.compare_all:
        if not last:  # fixed nodes may lie elsewhere: nothing is known of a bucket yet
            return order, (np.empty(0, np.int64),) * 2, size[order]
        others &= (nodes[starts] < REMOVABLE)[group]
    edges = nodes[others], nodes[starts][group[others]]
    return order[starts], edges, np.add.reduceat(size[order], starts)


def _edges(node: Ints, root: Ints, *, part: int) -> Blocks:
    """A spanning forest of some edges."""
    if len(node):
        records = pa.RecordBatch.from_arrays([pa.array(c) for c in _trees(node, root)], schema=_EDGE)
        yield from spread(records, np.full(records.num_rows, part, np.int32), EDGE)


def _trees(node: Ints, root: Ints) -> tuple[Ints, Ints]:
    nodes, roots = components(node, root)
    inner = nodes != roots
    return nodes[inner], roots[inner]


def forest(part: int, kinds: Kinds) -> Blocks:
    """Fewer edges with the same components."""
    edges = kinds.table(EDGE, _EDGE)
    yield from _edges(numbers(edges["node"]), numbers(edges["root"]), part=part)


def assigned(part: int, kinds: Kinds) -> Blocks:
    """All edges, to each node's component, to the node's file."""
    edges = kinds.table(EDGE, _EDGE)
    nodes, roots = components(numbers(edges["node"]), numbers(edges["root"]))
    yield from to_files(nodes, roots)


def to_files(nodes: Ints, roots: Ints) -> Blocks:
    """Nodes with their components, to their files."""
    records = pa.RecordBatch.from_arrays([pa.array(nodes), pa.array(roots)], schema=_EDGE)
    yield from spread(records, place_of(nodes)[0].astype(np.int32), NODE)


def fetch(
    part: int,
    kinds: Kinds,
    *,
    files: tuple[str, ...],
    out: Path,
    options: Options,
    parts: Parts,
    known: Known | None = None,
) -> Blocks:
    """What is needed to compare the nodes of one file of the run, or behind those, of the index."""
    asked = kinds.table(NODE, _EDGE)
    order = np.argsort(place_of(numbers(asked["node"]))[1])
    node, root = numbers(asked["node"])[order], numbers(asked["root"])[order]
    rows = place_of(node)[1]
    if known is None or part < len(files):
        columns = _of_run(files[part], part, rows, out, options)
    else:
        columns = _of_index(known.files()[part - len(files)], rows, options)
    records = pa.RecordBatch.from_pydict({"root": root, "node": node, **columns})
    yield from spread(records, _part(root, parts.components), FULL)


def _of_run(key: str, part: int, rows: Ints, out: Path, options: Options) -> dict[str, Any]:
    signed = ["minhash", "shingles"] if options.fuzzy else []
    documents = load(key, part, out, options, signed)
    at = np.searchsorted(documents.row, rows)
    taken = documents.table.select(signed).take(pa.array(at))
    short = taken["shingles"].to_numpy() < options.min_shingles if options.fuzzy else np.zeros(len(at), np.bool_)
    return {
        **_halves(id=documents.id[at], text=documents.text[at], key=documents.key[at]),
        "scope": documents.scope[at],
        "rank": _lists(documents.rank[at]),
        "short": pa.array(short),
        **({"minhash": _lists(signatures_of(taken["minhash"]))} if options.fuzzy else {}),
        "sets": _sets(key, documents.row[at], out, options),
    }


def _of_index(path: str, rows: Ints, options: Options) -> dict[str, Any]:
    """Entries come before all documents of the run; their shingles aren't known, so their signatures are believed."""
    entries = read_entries(path, rows)
    rank = np.full((len(rows), max(1, len(options.keep))), -np.inf)
    return {
        **_halves(id=from_hex(entries["id"])),
        **{name: numbers(entries[name]) for name in ("text_high", "text_low", "key_high", "key_low", "scope")},
        "rank": _lists(rank),
        "short": entries["short"].combine_chunks(),
        **({"minhash": _lists(signatures_of(entries["minhash"]))} if options.fuzzy else {}),
        "sets": _no_sets(len(rows)),
    }


def _halves(**pairs: Hashes) -> dict[str, Any]:
    return {f"{name}_{half}": of[:, k] for name, of in pairs.items() for k, half in enumerate(("high", "low"))}


def _no_sets(n: int) -> pa.LargeListArray:
    return pa.LargeListArray.from_arrays(pa.array(np.zeros(n + 1, np.int64)), pa.array([], _U))


def _sets(key: str, rows: Ints, out: Path, options: Options) -> pa.Array:
    """The different shingles of some documents of a file, sorted; nothing where signatures alone count."""
    if not options.needs_sets:
        return _no_sets(len(rows))
    found = []
    cuts = pq.read_table(out / "signals" / f"{key}.parquet", columns=["cuts"])["cuts"].combine_chunks()
    start = 0
    with pq.ParquetFile(out / "documents" / f"{key}.parquet") as texts:
        for batch in texts.iter_batches(512, columns=["text"]):
            wanted = pa.array(rows[slice(*np.searchsorted(rows, (start, start + batch.num_rows)))])
            here = pa.array(np.asarray(wanted) - start)
            start += batch.num_rows
            if len(wanted):
                judged = apply_edits(batch["text"].take(here), cuts.take(wanted))
                hashes, bounds = distinct(*shingles(judged, options.shingling))
                found.append(pa.LargeListArray.from_arrays(bounds, hashes))
    return pa.chunked_array(found, pa.large_list(_U)).combine_chunks()


def decide(part: int, kinds: Kinds, *, options: Options, parts: Parts) -> Blocks:
    """Who goes of each component, and who is its twin."""
    full = kinds.table(FULL, pa.schema([]))
    root, node, id = numbers(full["root"]), numbers(full["node"]), _pairs(full, "id")
    fixed = node < REMOVABLE
    order = sorting(fixed, _matrix(full["rank"]), _pairs(full, "text"), id, root)
    full = full.take(pa.array(order))
    node, id, fixed = node[order], id[order], fixed[order]
    n = len(node)
    signatures = signatures_of(full["minhash"]) if options.fuzzy else np.zeros((n, 1), np.uint32)
    sets = full["sets"]
    text, key = _pairs(full, "text"), _pairs(full, "key")
    found = kernel.leaders(
        band_keys(signatures, numbers(full["scope"]), bands=options.bands, rows=options.rows),
        signatures,
        sets.flatten().to_numpy(),
        sets.offsets.to_numpy() - sets.offsets[0].as_py(),
        key,
        full["short"].to_numpy(zero_copy_only=False),
        fixed,
        similarity=options.similarity,
        margin=options.margin,
        verify=options.verify,
        compare_all=options.compare_all,
        most=BUCKET,
    )
    gone = np.flatnonzero(found.twin >= 0)
    twin = found.twin[gone]
    how = found.how[gone]
    if options.exact == "url":
        how[how == kernel.TEXT] = BY_ADDRESS
        how[(text[gone] == text[twin]).all(axis=1) & (how != BY_ADDRESS)] = kernel.TEXT
    columns = [node[gone], node[twin], id[twin, 0], id[twin, 1], found.similarity[gone], how]
    records = pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=_FATE)
    yield from spread(records, _part(node[gone], parts.stars), FATE)
    counts = {"compared": found.compared, "compared_exactly": found.exact, "below_similarity": found.below}
    counts |= {"full_buckets": found.full, "most_kept_in_a_bucket": found.largest}
    counts |= {"components": len(np.unique(root)), "largest_component": _most(root), "in_components": len(root)}
    yield from told(counts)


def _most(root: Ints) -> int:
    return int(np.unique(root, return_counts=True)[1].max(initial=0))


def resolve(part: int, kinds: Kinds, *, options: Options, parts: Parts) -> Blocks:
    """The kept document of everyone: of those that stand for others, and of the others."""
    members, fates = kinds.table(MEMBER, _MEMBER), kinds.table(FATE, _FATE)
    order = np.argsort(numbers(fates["node"]))
    fates = fates.take(pa.array(order))
    known = numbers(fates["node"])
    rep = numbers(members["rep"])
    at = np.searchsorted(known, rep)
    at[at == len(known)] = 0
    goes = known[at] == rep if len(known) else np.zeros(len(rep), np.bool_)
    alone = ~np.isin(known, numbers(members["node"]))  # who goes and stands for nobody
    node = np.concatenate((numbers(members["node"]), known[alone]))

    def of(kept: str, fate: str) -> Any:
        of_members = numbers(members[kept]).copy()
        of_members[goes] = numbers(fates[fate])[at[goes]]
        return np.concatenate((of_members, numbers(fates[fate])[alone]))

    similarity = np.ones(len(rep))
    similarity[goes] = numbers(fates["similarity"])[at[goes]]
    how = np.full(len(rep), exact_how(options), np.uint8)
    how[goes] = numbers(fates["how"])[at[goes]]
    twin = of("rep", "twin")
    columns = [
        node,
        twin,
        of("rep_high", "twin_high"),
        of("rep_low", "twin_low"),
        np.concatenate((similarity, numbers(fates["similarity"])[alone])),
        np.concatenate((how, numbers(fates["how"])[alone])),
        np.concatenate((numbers(members["count"]), np.ones(int(alone.sum()), np.int64))),
    ]
    records = pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=_STAR)
    yield from spread(records, _part(twin, parts.stars), STAR)


def size(part: int, kinds: Kinds, *, files: int) -> Blocks:
    """How many documents each kept one stands for, told to the files of all of them."""
    star = kinds.table(STAR, _STAR)
    node, twin, count = numbers(star["node"]), numbers(star["twin"]), numbers(star["count"])
    kept, group = np.unique(twin, return_inverse=True)
    is_kept = node == twin
    sizes = np.zeros(len(kept), np.int64)
    np.add.at(sizes, group, count)
    told_of_itself = np.zeros(len(kept), np.bool_)
    told_of_itself[group[is_kept]] = True
    sizes += ~told_of_itself
    gone = star.append_column("size", pa.array(sizes[group])).filter(pa.array(~is_kept)).select(GONE.names)
    yield from spread(gone, place_of(node[~is_kept])[0].astype(np.int32), FATE)
    file = place_of(kept)[0]
    here = file < files  # the others are in the index
    least_alike = np.zeros(len(kept), np.uint8)
    np.maximum.at(least_alike, group[~is_kept], numbers(star["how"])[~is_kept])
    columns = [kept[here], sizes[here], least_alike[here]]
    leaders = pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=STAYS)
    yield from spread(leaders, file[here].astype(np.int32), LEADER)
    fuzzy = ~is_kept & is_fuzzy(numbers(star["how"]))
    removed = int(count[~is_kept].sum() + (count[is_kept] - 1).sum())
    yield from told({"removed": removed, "removed_fuzzy": int(count[fuzzy].sum())})


def exact_how(options: Options) -> int:
    """How documents with one key were found."""
    return BY_ADDRESS if options.exact == "url" else kernel.TEXT


def is_fuzzy(how: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Which ones were found by their likeness."""
    return np.isin(how, (kernel.SIGNATURE, kernel.SHINGLES))


def told(counts: dict[str, int]) -> Blocks:
    """Counts of a stage, for the first file's books: largest_* and most_* are maxima, others sums."""
    names = pa.array(list(counts), pa.string())
    records = pa.RecordBatch.from_pydict({"name": names, "count": pa.array(list(counts.values()), _I)})
    yield block([0], COUNTS, [pack(records)])


def total(kinds: Kinds) -> dict[str, int]:
    """The counts of all parts."""
    found: dict[str, int] = {}
    records = kinds.table(COUNTS, pa.schema([("name", pa.string()), ("count", _I)]))
    for name, count in zip(records["name"].to_pylist(), records["count"].to_pylist(), strict=True):
        largest = name.startswith(("largest_", "most_"))
        found[name] = max(found.get(name, 0), count) if largest else found.get(name, 0) + count
    return dict(sorted(found.items()))


def signatures_of(column: Any) -> npt.NDArray[np.uint32]:
    """uint32 (n, permutations) of a column `minhash`."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    found: npt.NDArray[np.uint32] = whole.flatten().to_numpy().reshape(len(whole), -1)
    return found


def _part(numbers: npt.NDArray[Any], parts: int) -> npt.NDArray[np.int32]:
    """A part for each number, whatever its own pattern."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    found: npt.NDArray[np.int32] = (mixed % np.uint64(parts)).astype(np.int32)
    return found


def _pairs(records: pa.RecordBatch, name: str) -> Hashes:
    return np.column_stack((numbers(records[f"{name}_high"]), numbers(records[f"{name}_low"])))


def _lists(rows: npt.NDArray[Any]) -> pa.FixedSizeListArray:
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])


def _matrix(column: pa.FixedSizeListArray) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = column.flatten().to_numpy().reshape(len(column), -1)
    return found
