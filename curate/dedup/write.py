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
from glotmill.curate.kernels import leaders
from glotmill.schemas.atomic import Transaction
from glotmill.schemas.digest import rows_digest
from glotmill.schemas.document import DEDUP
from glotmill.schemas.parquet import write_table
from glotmill.schemas.units import Books, Outcome, Unit

LARGEST = 10  # clusters that are told of


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
        Books, the digests of the table and of the ids that stay, and as facts: documents and removed ones by language and source, kept documents by
        size of their cluster, the largest clusters, and in the first file what the whole run counted.
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
    how = np.full(n, stages.BY_ADDRESS if options.exact == "url" else leaders.TEXT, np.uint8)
    size[known] = numbers(stays["size"])[at_stays[known]]
    own_and_known = known & is_own
    how[own_and_known] = numbers(stays["how"])[at_stays[own_and_known]]
    similarity[gone], size[gone], how[gone] = (numbers(fates[name])[at[gone]] for name in ("similarity", "size", "how"))
    alone = keep & (size == 1)
    names = to_hex(twin)
    exact = np.isin(how, (leaders.TEXT, stages.BY_ADDRESS, leaders.KEPT))
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
            "measured": pa.array(_measured(options)[how], pa.string(), mask=keep),
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


def _measured(options: Options) -> Any:
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
    kept = table.filter(table["keep"])
    sizes = Counter(kept["cluster_size"].to_pylist())
    clusters = kept.filter(pc.greater(kept["cluster_size"], 1)).select(["cluster_size", "id"])
    largest = clusters.sort_by([("cluster_size", "descending"), ("id", "ascending")]).slice(0, LARGEST)
    return {
        "documents": {language: dict(sorted(of.items())) for language, of in sorted(counts.items())},
        "cluster_sizes": {str(size): count for size, count in sorted(sizes.items())},
        "largest_clusters": [[row["cluster_size"], row["id"]] for row in largest.to_pylist()],
    }
