"""What became of each document of a file, written to OUT/dedup."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glotmill.curate.blocks.packed import Kinds, numbers
from glotmill.curate.dedup import stages
from glotmill.curate.dedup.documents import Documents, Ints, load, owners, place_of, to_hex
from glotmill.curate.dedup.index.files import Known
from glotmill.curate.dedup.options import Options
from glotmill.curate.dedup.summary import EXAMPLES, LARGEST
from glotmill.schemas.atomic import Transaction
from glotmill.schemas.digest import rows_digest
from glotmill.schemas.document import DEDUP
from glotmill.schemas.parquet import write_table
from glotmill.schemas.units import Books, Outcome, Unit


def write_dedup(
    unit: Unit,
    files: Transaction,
    part: int,
    kinds: Kinds,
    *,
    out: Path,
    options: Options,
    index: Known | None = None,
) -> Outcome:
    """Write dedup/<unit.key>.parquet, a row for each document that the judgement kept, sorted by id.

    Args:
        part: Number of the file.
        kinds: FATE, LEADER and COUNTS records for it.
        index: What of an index the documents were compared with.

    Returns:
        Books, the digests of the table and of the ids that stay, and as facts: documents and removed ones by language
        and source, kept documents by size of their cluster, the largest clusters with the documents here that are
        least like the one kept, and in the first file what the whole run counted.
    """
    documents = load(unit.key, part, out, options)
    table = _table(documents, owners(documents, options), kinds, options, index)
    table = table.sort_by("id").combine_chunks()
    rows, digest = write_table(files.path(f"dedup/{unit.key}.parquet"), [table], DEDUP)
    kinds_of_gone = Counter(f"{kind}_duplicate" for kind in table.filter(pc.invert(table["keep"]))["kind"].to_pylist())
    books = Books(records=rows, kept=rows - kinds_of_gone.total(), dropped=dict(sorted(kinds_of_gone.items())))
    facts = _facts(documents, table) | {"run": stages.total(kinds)}
    stay = table.filter(table["keep"]).select(["id"]).combine_chunks()
    return Outcome(books, {"dedup": digest, "kept": rows_digest([stay])}, facts=facts)


def _table(documents: Documents, owner: Ints, kinds: Kinds, options: Options, index: Known | None) -> pa.Table:
    """Columns of DEDUP, in the order of the file."""
    n = len(owner)
    fates = kinds.table(stages.FATE, stages.GONE)
    stays = kinds.table(stages.LEADER, stages.STAYS)
    gone, at = _find(documents.node[owner], numbers(fates["node"]))
    known, at_stays = _find(documents.node[owner], numbers(stays["node"]))
    is_own = owner == np.arange(n)
    keep = ~gone & is_own
    twin = documents.id[owner]
    twin[gone, 0], twin[gone, 1] = (numbers(fates[f"twin_{half}"])[at[gone]] for half in ("high", "low"))
    similarity, size = np.ones(n), np.ones(n, np.int64)
    how = np.full(n, stages.exact_how(options), np.uint8)
    size[known] = numbers(stays["size"])[at_stays[known]]
    own_and_known = known & is_own
    how[own_and_known] = numbers(stays["how"])[at_stays[own_and_known]]
    similarity[gone], size[gone], how[gone] = (numbers(fates[name])[at[gone]] for name in ("similarity", "size", "how"))
    alone = keep & (size == 1)
    names = to_hex(twin)
    exact = ~stages.is_fuzzy(how)
    return pa.table(
        {
            "id": documents.table["id"],
            "source_id": documents.table["source_id"],
            "keep": keep,
            "kind": pa.array(np.where(exact, "exact", "fuzzy"), pa.string(), mask=alone),
            "twin": _where(~keep, names),
            "similarity": pa.array(similarity, mask=keep | (how == stages.BY_ADDRESS)),
            "cluster": _where(~alone, names),
            "cluster_size": size,
            "measured": pa.array(measured_names(options)[how], pa.string(), mask=keep),
            "index": _generations(numbers(fates["twin"])[at[gone]], gone, index),
        },
        schema=DEDUP,
    )


def _generations(twin: Ints, gone: Any, index: Known | None) -> pa.Array:
    """What the twins that lie in the index belong to there.

    Args:
        twin: Nodes of the twins of those that are gone.
    """
    found = np.full(len(gone), None, object)
    if index:
        file = place_of(twin)[0] - index.first
        names = np.array([*index.names(), None], object)
        found[gone] = names[np.where(file < 0, -1, file)]
    return pa.array(found, pa.string())


def measured_names(options: Options) -> Any:
    """What DEDUP says under `measured`, by the number that says how a twin was found."""
    names = ["", "bytes" if options.exact == "bytes" else "text", "signature", "shingles", "url"]
    return np.array(names, object)


def _find(wanted: Ints, nodes: Ints) -> tuple[Any, Ints]:
    """Of each wanted node, whether it is among `nodes`, and where."""
    if not len(nodes):
        return np.zeros(len(wanted), np.bool_), np.zeros(len(wanted), np.int64)
    order = np.argsort(nodes)
    at = np.searchsorted(nodes, wanted, sorter=order)
    at[at == len(nodes)] = 0
    places = order[at]
    return nodes[places] == wanted, places


def _where(condition: Any, names: pa.StringArray) -> pa.StringArray:
    return names.take(pa.array(np.arange(len(names)), mask=~condition))


def _facts(documents: Documents, table: pa.Table) -> dict[str, Any]:
    about = pa.table({name: documents.table[name] for name in ("id", "language", "source")})
    joined = about.sort_by("id").append_column("keep", table["keep"])
    counts: dict[str, dict[str, list[int]]] = {}
    for row in joined.group_by(["language", "source"]).aggregate([("keep", "count"), ("keep", "sum")]).to_pylist():
        of = [row["keep_count"], row["keep_count"] - row["keep_sum"]]
        counts.setdefault(row["language"], {})[row["source"]] = of
    sizes = Counter(table.filter(table["keep"])["cluster_size"].to_pylist())
    return {
        "documents": {language: dict(sorted(of.items())) for language, of in sorted(counts.items())},
        "cluster_sizes": {str(size): count for size, count in sorted(sizes.items())},
        "largest_clusters": largest_clusters(table),
    }


def largest_clusters(table: pa.Table) -> list[dict[str, Any]]:
    """The largest clusters that have documents here. Sizes are those of the whole run, so that the run's largest are
    among the largest of each file that they reach.
    """
    rows = table.filter(pc.greater(table["cluster_size"], 1))
    clusters = rows.group_by("cluster").aggregate([("cluster_size", "max"), ("keep", "any")])
    ranked = clusters.sort_by([("cluster_size_max", "descending"), ("cluster", "ascending")]).slice(0, LARGEST)
    gone = rows.filter(pc.and_(pc.invert(rows["keep"]), pc.is_in(rows["cluster"], ranked["cluster"].combine_chunks())))
    removed: dict[str, list[list[Any]]] = {}
    for row in gone.sort_by([("similarity", "ascending"), ("id", "ascending")]).to_pylist():
        of = removed.setdefault(row["cluster"], [])
        if len(of) < EXAMPLES:
            of.append([row["id"], row["measured"], row["similarity"]])
    return [
        {
            "cluster": row["cluster"],
            "size": row["cluster_size_max"],
            "kept": row["keep_any"],
            "removed": removed.get(row["cluster"], []),
        }
        for row in ranked.to_pylist()
    ]
