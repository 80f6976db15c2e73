"""The summary of a deduplication for a terminal."""

from collections.abc import Iterable, Iterator

from glotmill.curate.columns import columns
from glotmill.curate.dedup.excerpts import Excerpt
from glotmill.curate.dedup.options import BUCKET
from glotmill.curate.dedup.summary import Cluster, Counts, Summary

MOST = 15  # languages, and sources
_HOT = "buckets_from_"


def table(summary: Summary) -> str:
    """All of it: counts, languages, sources, sizes of clusters, and the largest ones with excerpts."""
    parts = [
        _head(summary),
        _names("language", summary.languages),
        _names("source", summary.sources),
        _sizes(summary),
        clusters("largest clusters", summary.clusters),
    ]
    return "\n\n".join(part for part in parts if part)


def brief(summary: Summary) -> str:
    """Three lines of it."""
    run = summary.run
    largest = max((cluster.size for cluster in summary.clusters), default=0)
    return "\n".join(
        (
            f"duplicates: {summary.gone:,} of {summary.documents:,} documents removed, "
            f"{share(summary.gone, summary.documents)} ({kinds(summary.removed, summary.documents)})",
            f"  {_compared(run)}" if "compared" in run else "  only exact duplicates were sought",
            f"  {_plural(summary.groups, 'cluster')}, the largest of {_plural(largest, 'document')}: see dedup.json",
        )
    )


def share(part: int, whole: int) -> str:
    """
    >>> share(1, 8), share(0, 0)
    ('12.5%', '0.0%')
    """
    return f"{part / whole if whole else 0.0:.1%}"


def kinds(removed: dict[str, int], documents: int) -> str:
    """
    >>> kinds({"exact": 10, "fuzzy": 0}, 100)
    'exact 10, 10.0%; fuzzy 0, 0.0%'
    """
    return "; ".join(f"{kind} {count:,}, {share(count, documents)}" for kind, count in removed.items()) or "none"


def clusters(title: str, found: Iterable[Cluster]) -> str:
    """Clusters with the beginnings of the document that is kept and of a few that go; nothing of none."""
    lines = [line for cluster in found for line in _cluster(cluster)]
    return "\n".join([title, *lines]) if lines else ""


def _cluster(cluster: Cluster) -> Iterator[str]:
    yield f"  {cluster.size:,} documents"
    yield f"    {'kept':<14}  {_quoted(cluster.kept, 'in no file of this run')}"
    for member in cluster.removed:
        by = member.measured if member.similarity is None else f"{member.similarity:.2f} {member.measured}"
        yield f"    {by:<14}  {_quoted(member.excerpt, member.id)}"


def _quoted(excerpt: Excerpt | None, otherwise: str) -> str:
    return f"{excerpt.line()}  [{excerpt.place()}]" if excerpt else f"[{otherwise}]"


def _head(summary: Summary) -> str:
    run, n = summary.run, summary.documents
    counts = {"removed": summary.gone, **{f"  {kind}": count for kind, count in summary.removed.items()}}
    counts["kept"] = n - summary.gone
    rows = [("documents", n, ""), *((name, count, f"{share(count, n):>6}") for name, count in counts.items())]
    if "compared" in run:
        rows += [
            ("pairs compared", run["compared"], ""),
            ("  by shingles", run["compared_exactly"], "the others by signature"),
            ("  too different", run["below_similarity"], "in a bucket together, below dedup.similarity"),
            ("buckets", run["buckets"], f"of two documents or more; the largest holds {run['largest_bucket']:,}"),
            *((f"  {size:,} or more", count, "") for size, count in _hot(run)),
            ("  full", run["full_buckets"], f"compared with {BUCKET} kept documents of the bucket, not with all"),
            ("components", run["components"], f"the largest of {_plural(run['largest_component'], 'document')}"),
        ]
    width = max(len(f"{count:,}") for _, count, _ in rows)
    return "\n".join(f"{name:<16}  {count:>{width},}  {about}".rstrip() for name, count, about in rows)


def _hot(run: dict[str, int]) -> list[tuple[int, int]]:
    """Sizes from which buckets are counted, and how many are at least so large; without sizes that no bucket has."""
    sizes = sorted(int(name.removeprefix(_HOT)) for name in run if name.startswith(_HOT))
    return [(size, run[f"{_HOT}{size}"]) for size in sizes if run[f"{_HOT}{size}"]]


def _compared(run: dict[str, int]) -> str:
    text = f"{_plural(run['compared'], 'pair')} compared, {run['compared_exactly']:,} of them by shingles; "
    text += f"{run['below_similarity']:,} too different; largest bucket {run['largest_bucket']:,}"
    return text + (f"; {_plural(run['full_buckets'], 'full bucket')}" if run["full_buckets"] else "")


def _names(title: str, counts: Counts) -> str:
    shown = list(counts.items())[:MOST]
    rows = [(name, n, gone, share(gone, n)) for name, (n, gone) in shown]
    text = columns((title, "documents", "removed", "share"), rows)
    more = len(counts) - len(shown)
    if more:
        rest = list(counts.values())[MOST:]
        n, gone = sum(of for of, _ in rest), sum(of for _, of in rest)
        text += f"\nand {more:,} more: {n:,} documents, {gone:,} removed, {share(gone, n)}"
    return text


def _sizes(summary: Summary) -> str:
    rows = [(one.title, one.clusters, one.documents) for one in summary.histogram()]
    return columns(("cluster size", "clusters", "documents"), rows)


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
