"""The section on documents that repeat others."""

from collections.abc import Iterator

from glotmill.curate.dedup.excerpts import Excerpt
from glotmill.curate.dedup.summary import Cluster, Member, Summary
from glotmill.curate.report import prose, words
from glotmill.curate.report.facts import Facts
from glotmill.curate.report.figures import figure, place
from glotmill.curate.report.markup import Column, Html, Share, Table, bar_column, element, joined, number
from glotmill.curate.report.svg import bar

_NAMES = 40  # languages and sources shown
_MEASURED = {
    "text": "equal text",
    "bytes": "equal bytes",
    "url": "equal address",
    "signature": "estimated from signatures",
    "shingles": "counted over shingles",
}


def duplicates(facts: Facts, summary: Summary) -> Html:
    """How many documents repeat others, of which languages and sources, in clusters of which sizes, and examples."""
    if facts.recipe.dedup.mode == "off":
        return element("p", "The recipe asked for no deduplication (dedup.mode is off).")
    if not summary.gone:
        return joined([element("p", "No document repeats another one."), *_compared(summary)])
    return joined(
        [
            element("p", _told(facts, summary)),
            *_compared(summary),
            _sizes(summary),
            _names("language", summary),
            *([_names("source", summary)] if len(summary.sources) > 1 else []),
            *(_cluster(cluster) for cluster in summary.clusters),
        ]
    )


def _told(facts: Facts, summary: Summary) -> str:
    dedup = facts.recipe.dedup
    share = Share.of(summary.gone, summary.documents)
    groups = f"{summary.groups:,} {'group' if summary.groups == 1 else 'groups'}"
    text = f"{summary.gone:,} of {summary.documents:,} documents that the rules kept ({share}) repeat another one, in "
    text += f"{groups}. {prose.DUPLICATES[dedup.exact]}"
    if dedup.mode == "fuzzy":
        text += f" {prose.NEAR_DUPLICATES.format(similarity=dedup.similarity)}"
    return text if dedup.scope == "all" else f"{text} Twins were sought within each {dedup.scope} only."


def _compared(summary: Summary) -> list[Html]:
    run = summary.run
    if "compared" not in run:
        return []
    text = f"{run['compared']:,} pairs that share a band were compared, {run['compared_exactly']:,} of them by their "
    text += f"shingles; {run['below_similarity']:,} were too different. The largest bucket holds "
    text += f"{run['largest_bucket']:,} documents."
    if run["full_buckets"]:
        text += f" {run['full_buckets']:,} buckets were full: not all of their documents were compared."
    return [element("p", text, class_="note")]


def _sizes(summary: Summary) -> Html:
    classes = [one for one in summary.histogram() if one.title != "1"]
    most = max(one.documents for one in classes) if classes else 0
    rows = [[one.title, one.clusters, one.documents, bar(one.documents, most)] for one in classes]
    columns = [Column("Documents in the group"), number("Groups"), number("Documents"), bar_column()]
    return Table("Groups by size", columns, rows).html()


def _names(kind: str, summary: Summary) -> Html:
    counts = summary.languages if kind == "language" else summary.sources
    ranked = sorted(counts.items(), key=lambda item: (-item[1][1], -item[1][0], item[0]))
    most = ranked[0][1][1]
    rows = [[_name(kind, name), n, gone, Share.of(gone, n), bar(gone, most)] for name, (n, gone) in ranked]
    shown = min(_NAMES, sum(gone > 0 for _, (_, gone) in ranked))
    total = ["All", summary.documents, summary.gone, Share.of(summary.gone, summary.documents), Html("")]
    columns = [Column(kind.capitalize()), *map(number, ("Documents", "Removed", "Share")), bar_column()]
    return Table(f"Duplicates by {kind}", columns, rows, total, most=shown).html()


def _name(kind: str, name: str) -> object:
    return joined([words.name_of(name), " ", element("code", name)]) if kind == "language" else name


def _cluster(cluster: Cluster) -> Html:
    title = joined(["Group of ", element("span", cluster.size), " documents"])
    parts = [element("h3", title), *_kept(cluster.kept), *(_removed(member) for member in cluster.removed)]
    return element("section", joined(parts), class_="reason")


def _kept(excerpt: Excerpt | None) -> Iterator[Html]:
    if excerpt is None:
        yield element("p", "The document that stays lies in no file of this run.", class_="note")
    else:
        yield _figure(excerpt, "stays")


def _removed(member: Member) -> Html:
    how = _MEASURED.get(member.measured, member.measured)
    alike = how if member.similarity is None else f"similarity {member.similarity:.3g}, {how}"
    if member.excerpt is None:
        return element("p", joined(["removed: ", element("code", member.id), f", {alike}"]), class_="note")
    return _figure(member.excerpt, f"removed: {alike}")


def _figure(excerpt: Excerpt, fate: str) -> Html:
    about = [element("strong", fate), words.name_of(excerpt.language)]
    about.append(place(excerpt.source, excerpt.record, excerpt.url))
    return figure(excerpt.text, about, excerpt.language)
