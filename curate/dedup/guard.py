"""What a run says that would remove more than it may: how much, of which kind, and examples."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np
import pyarrow as pa

from glotmill.curate.blocks.packed import numbers, unpack
from glotmill.curate.dedup import stages
from glotmill.curate.dedup.documents import Ints, load, owners, place_of
from glotmill.curate.dedup.excerpts import Excerpt, excerpts
from glotmill.curate.dedup.options import Options
from glotmill.curate.dedup.summary import Cluster, Member
from glotmill.curate.dedup.summary_text import clusters, kinds, share
from glotmill.curate.dedup.write import measured_names
from glotmill.schemas.recipe import Dedup

LARGEST = 5  # clusters that are shown
EXAMPLES = 2  # removed documents of each

# A document of a large cluster: node is -1 where the row only tells that the cluster exists.
CANDIDATE = pa.schema(
    [
        ("twin", pa.int64()),
        ("size", pa.int64()),
        ("node", pa.int64()),
        ("similarity", pa.float64()),
        ("how", pa.int16()),
    ]
)
_NOBODY = -1


def candidates(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Of blocks FATE and LEADER, the largest clusters, each with the documents least like the kept one; what is largest
    of all is among the largest of each block, since sizes are those of the whole run.

    Args:
        rows: Of BLOCK.
    """
    for batch in rows:
        for kind, data in zip(batch["kind"].to_pylist(), batch["data"], strict=True):
            records = unpack(data.as_buffer())
            if kind == stages.FATE and records.num_rows:
                yield _of_fates(records)
            elif kind == stages.LEADER and records.num_rows:
                yield _of_leaders(records)


def _of_fates(records: pa.RecordBatch) -> pa.RecordBatch:
    order = np.lexsort(
        (
            numbers(records["node"]),
            numbers(records["similarity"]),
            numbers(records["twin"]),
            -numbers(records["size"]),
        )
    )
    twin = numbers(records["twin"])[order]
    starts = np.flatnonzero(np.concatenate(([True], twin[1:] != twin[:-1])))
    within = np.arange(len(twin)) - np.repeat(starts, np.diff([*starts, len(twin)]))
    end = starts[LARGEST] if len(starts) > LARGEST else len(twin)
    taken = order[:end][within[:end] < EXAMPLES]
    return records.select(CANDIDATE.names).take(pa.array(taken)).cast(CANDIDATE)


def _of_leaders(records: pa.RecordBatch) -> pa.RecordBatch:
    node, size = numbers(records["node"]), numbers(records["size"])
    taken = np.lexsort((node, -size))[:LARGEST]
    nobody = np.full(len(taken), _NOBODY)
    columns = [node[taken], size[taken], nobody, np.ones(len(taken)), np.zeros(len(taken), np.int16)]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=CANDIDATE)


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes of a cluster.

    Args:
        removed: (node, similarity, how) of those least like the kept one.
    """

    twin: int
    size: int
    removed: list[tuple[int, float, int]]


def largest(found: pa.Table) -> list[Group]:
    """The largest clusters among the rows of `candidates`."""
    groups: dict[int, Group] = {}
    order = [("size", "descending"), ("twin", "ascending"), ("similarity", "ascending"), ("node", "ascending")]
    for row in found.sort_by(order).to_pylist():
        group = groups.setdefault(row["twin"], Group(row["twin"], row["size"], []))
        if row["node"] != _NOBODY and len(group.removed) < EXAMPLES:
            group.removed.append((row["node"], row["similarity"], row["how"]))
    return list(groups.values())[:LARGEST]


@dataclass(frozen=True, slots=True)
class Shown:
    """Reads what is shown of clusters.

    Args:
        files: Keys of all files, in the order of their numbers.
    """

    files: Sequence[str]
    out: Path
    options: Options

    def clusters(self, found: pa.Table) -> list[Cluster]:
        """The largest clusters among the rows of `candidates`, with excerpts."""
        return [self._cluster(group) for group in largest(found)]

    def _cluster(self, group: Group) -> Cluster:
        kept = self._excerpt(group.twin)
        equal = self._equal(group.twin, EXAMPLES - len(group.removed))
        removed = tuple(self._member(*of) for of in (*group.removed, *equal))
        return Cluster(kept.id if kept else "", group.size, kept, removed)

    def _member(self, node: int, similarity: float, how: int) -> Member:
        excerpt = self._excerpt(node)
        assert excerpt is not None, "a removed document lies in no file"
        by_address = how == stages.BY_ADDRESS
        return Member(excerpt.id, measured_names(self.options)[how], None if by_address else similarity, excerpt)

    def _equal(self, twin: int, most: int) -> list[tuple[int, float, int]]:
        """Documents of the kept one's own file for which it stands: no block tells of each."""
        file, _ = place_of(np.array([twin]))
        if not most or file[0] >= len(self.files):
            return []
        documents = load(self.files[file[0]], int(file[0]), self.out, self.options)
        owner = documents.node[owners(documents, self.options)]
        equal: Ints = documents.node[(owner == twin) & (documents.node != twin)][:most]
        return [(int(node), 1.0, stages.exact_how(self.options)) for node in equal]

    def _excerpt(self, node: int) -> Excerpt | None:
        """None for what lies in the index."""
        (file,), (row,) = place_of(np.array([node]))
        return next(excerpts(self.out, self.files[file], [int(row)])) if file < len(self.files) else None


def message(
    dedup: Dedup, limit: float, documents: int, counts: dict[str, int], samples: Callable[[], Sequence[Cluster]]
) -> str | None:
    """What the run stops with; None where it removes no more than it may.

    Args:
        limit: dedup.max_removed_share.
        documents: That were compared.
        counts: Of the whole run, see stages.told.
        samples: Reads the largest clusters; called only when the run stops.
    """
    removed = counts.get("removed", 0)
    if not documents or removed <= limit * documents:
        return None
    fuzzy = counts["removed_fuzzy"]
    enough = ceil(1000 * removed / documents) / 1000
    by_kind = kinds({"exact": removed - fuzzy, "fuzzy": fuzzy}, documents)
    return "\n".join(
        (
            f"deduplication would remove {removed:,} of {documents:,} documents, {share(removed, documents)}, which is "
            f"more than dedup.max_removed_share, {limit:.1%}; nothing was removed ({by_kind})",
            clusters("largest clusters", samples()),
            f"if they do repeat each other, set dedup.max_removed_share to {enough:g} or more, or "
            "to null; if they don't:",
            *(f"  {remedy}" for remedy in _remedies(dedup)),
        )
    )


def _remedies(dedup: Dedup) -> Iterator[str]:
    if dedup.exact == "url":
        yield "dedup.exact: text compares texts instead of addresses"
    if dedup.mode == "fuzzy":
        yield f"dedup.similarity above {dedup.similarity:g} asks for documents that are more alike"
        yield "dedup.shingle_words and dedup.shingle_chars: longer shingles tell more texts apart"
        if dedup.digits == "mask":
            yield "dedup.digits: keep tells texts apart that differ in numbers alone"
        if dedup.verify == "none":
            yield "dedup.verify: signature removes nothing below dedup.similarity"
    if dedup.scope == "all":
        yield "dedup.scope: language or source compares fewer documents"
    yield "quality.lines cuts out what pages of one site share, before they are compared"
