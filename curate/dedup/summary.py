"""What deduplication found in a whole run, summed up from the receipts of its files."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from glotmill.curate.dedup.excerpts import Excerpt, excerpts_by_id
from glotmill.schemas.atomic import write_atomic
from glotmill.schemas.ids import fingerprint
from glotmill.schemas.ledger import Ledger, Receipt

LARGEST = 10  # clusters that are told of
EXAMPLES = 2  # removed documents of each
FILE = "dedup.json"
FORMAT = 1
SIZES = (1, 2, 3, 5, 10, 100, 1000)  # from which classes of cluster sizes start

Counts = dict[str, tuple[int, int]]  # by name: documents, and those of them that were removed


@dataclass(frozen=True, slots=True)
class Member:
    """A removed document of a cluster.

    Args:
        measured: What told that it repeats the kept one, as in DEDUP.
        similarity: To the kept one; None for documents of one address.
        excerpt: None before it was read.
    """

    id: str
    measured: str
    similarity: float | None
    excerpt: Excerpt | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """A kept document and those that repeat it.

    Args:
        id: Of the kept document.
        size: Documents, the kept one included.
        kept: None where the kept document lies in no file of this run, or before it was read.
        removed: A few of them, the least similar ones.
    """

    id: str
    size: int
    kept: Excerpt | None
    removed: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Clusters of about one size; documents without a twin are clusters of one."""

    title: str
    clusters: int
    documents: int


@dataclass(frozen=True)
class Summary:
    """One run.

    Args:
        documents: That the judgement kept.
        removed: By kind (exact, fuzzy, paragraph).
        languages, sources: Documents and removed ones, most documents first.
        sizes: Kept documents by the size of their cluster.
        run: Counts of the comparison, see stages.told; empty where nothing was compared.
        clusters: The largest ones, largest first.
        evidence: Fingerprint of the receipts.
    """

    documents: int
    removed: dict[str, int]
    languages: Counts
    sources: Counts
    sizes: dict[int, int]
    run: dict[str, int]
    clusters: tuple[Cluster, ...]
    evidence: str

    @cached_property
    def gone(self) -> int:
        return sum(self.removed.values())

    @cached_property
    def groups(self) -> int:
        """Clusters of two documents or more whose kept document is in this run."""
        return sum(count for size, count in self.sizes.items() if size > 1)

    def histogram(self) -> list[SizeClass]:
        """Classes that have clusters, smallest first."""
        found = []
        for first, after in zip(SIZES, (*SIZES[1:], None), strict=True):
            here = {n: count for n, count in self.sizes.items() if n >= first and (after is None or n < after)}
            if here:
                documents = sum(n * count for n, count in here.items())
                found.append(SizeClass(_title(first, after), sum(here.values()), documents))
        return found

    def to_json(self) -> dict[str, Any]:
        """JSON values; see docs/recipe.md."""
        told = asdict(self)
        told["sizes"] = {str(size): count for size, count in self.sizes.items()}
        histogram = [asdict(one) for one in self.histogram()]
        return {"format": FORMAT, **told, "histogram": histogram}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> "Summary":
        """What `to_json` told."""
        return cls(
            documents=told["documents"],
            removed=told["removed"],
            languages={name: (n, gone) for name, (n, gone) in told["languages"].items()},
            sources={name: (n, gone) for name, (n, gone) in told["sources"].items()},
            sizes={int(size): count for size, count in told["sizes"].items()},
            run=told["run"],
            clusters=tuple(_cluster(cluster) for cluster in told["clusters"]),
            evidence=told["evidence"],
        )

    def counts(self) -> dict[str, Any]:
        """`to_json` without texts."""
        return {name: value for name, value in self.to_json().items() if name not in ("clusters", "evidence", "format")}


def _cluster(told: Mapping[str, Any]) -> Cluster:
    members = (Member(**{**member, "excerpt": _excerpt(member["excerpt"])}) for member in told["removed"])
    return Cluster(told["id"], told["size"], _excerpt(told["kept"]), tuple(members))


def _excerpt(told: Mapping[str, Any] | None) -> Excerpt | None:
    return Excerpt(**told) if told else None


def _title(first: int, after: int | None) -> str:
    if after is None:
        return f"{first}+"
    return str(first) if after == first + 1 else f"{first}-{after - 1}"


def gather(receipts: Mapping[str, Receipt]) -> Summary:
    """Sum up the receipts of the step dedup, by unit. No table is read: clusters are without excerpts."""
    removed: Counter[str] = Counter()
    languages, sources = dict[str, list[int]](), dict[str, list[int]]()
    sizes: Counter[int] = Counter()
    run: dict[str, int] = {}
    for receipt in receipts.values():
        removed.update({name.removesuffix("_duplicate"): n for name, n in receipt.books.dropped.items()})
        for language, of in receipt.facts["documents"].items():
            for source, counts in of.items():
                _add(languages, language, counts)
                _add(sources, source, counts)
        sizes.update({int(size): count for size, count in receipt.facts["cluster_sizes"].items()})
        run |= receipt.facts["run"]
    return Summary(
        documents=sum(receipt.books.records for receipt in receipts.values()),
        removed=dict(sorted(removed.items())),
        languages=_ranked(languages),
        sources=_ranked(sources),
        sizes=dict(sorted(sizes.items())),
        run=run,
        clusters=tuple(_clusters(receipts.values())),
        evidence=fingerprint([[r.unit, r.fingerprint, r.digests] for r in receipts.values()]),
    )


def _add(counts: dict[str, list[int]], name: str, more: Iterable[int]) -> None:
    counts[name] = [a + b for a, b in zip(counts.get(name, (0, 0)), more, strict=True)]


def _ranked(counts: Mapping[str, list[int]]) -> Counts:
    return {name: (n, gone) for name, (n, gone) in sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))}


def _clusters(receipts: Iterable[Receipt]) -> Iterator[Cluster]:
    size: dict[str, int] = {}
    removed: dict[str, list[Member]] = {}
    for told in (told for receipt in receipts for told in receipt.facts["largest_clusters"]):
        size[told["cluster"]] = told["size"]
        removed.setdefault(told["cluster"], []).extend(Member(*member) for member in told["removed"])
    for id in sorted(size, key=lambda id: (-size[id], id))[:LARGEST]:
        members = sorted(removed[id], key=lambda m: (m.similarity is None, m.similarity, m.id))
        yield Cluster(id, size[id], None, tuple(members[:EXAMPLES]))


def with_excerpts(summary: Summary, receipts: Mapping[str, Receipt], out: Path) -> Summary:
    """The same with the beginnings of the clusters' documents. Reads the files that hold them, at most
    LARGEST * (1 + EXAMPLES).
    """
    wanted = {id for cluster in summary.clusters for id in (cluster.id, *(m.id for m in cluster.removed))}
    found: dict[str, Excerpt] = {}
    for unit, receipt in receipts.items():
        here = {cluster["cluster"] for cluster in receipt.facts["largest_clusters"] if cluster["kept"]}
        here |= {id for cluster in receipt.facts["largest_clusters"] for id, *_ in cluster["removed"]}
        if here & wanted:
            found |= {excerpt.id: excerpt for excerpt in excerpts_by_id(out, unit, sorted(here & wanted))}
    clusters = (
        replace(cluster, kept=found.get(cluster.id), removed=tuple(_shown(m, found) for m in cluster.removed))
        for cluster in summary.clusters
    )
    return replace(summary, clusters=tuple(clusters))


def _shown(member: Member, found: Mapping[str, Excerpt]) -> Member:
    return replace(member, excerpt=found.get(member.id))


def load(out: Path) -> Summary | None:
    """What OUT/dedup.json says; None where it is absent, or not what this version writes."""
    try:
        told = json.loads((out / FILE).read_bytes().decode("utf-8", "surrogateescape"))
        return Summary.from_json(told) if told["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def bring_up_to_date(ledger: Ledger) -> Summary:
    """The summary of a run whose step dedup is done; OUT/dedup.json is written where it is absent or tells of other
    receipts.
    """
    receipts = ledger.receipts("dedup")
    summary, written = gather(receipts), load(ledger.out)
    if written is not None and written.evidence == summary.evidence:
        return written
    summary = with_excerpts(summary, receipts, ledger.out)
    data = json.dumps(summary.to_json(), ensure_ascii=False, indent=1)
    write_atomic(ledger.out / FILE, data.encode("utf-8", "surrogateescape"))
    return summary
