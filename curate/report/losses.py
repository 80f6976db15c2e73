"""The sections on what didn't make it: sources, drops, quarantine."""

import re
from collections.abc import Iterable, Mapping

from glotmill.curate.line_rules import line_rules
from glotmill.curate.report import prose, words
from glotmill.curate.report.examples import Examples, Row
from glotmill.curate.report.facts import Facts
from glotmill.curate.report.figures import PLACE, figure, place
from glotmill.curate.report.markup import (
    Column,
    Html,
    Share,
    Table,
    bar_column,
    cut,
    element,
    joined,
    number,
)
from glotmill.curate.report.svg import bar
from glotmill.curate.rules import RuleSet
from glotmill.schemas.units import Books

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # in bytes that are no text: shown as \xNN
_ERROR = 240  # code points shown


def sources(facts: Facts) -> Html:
    """What each source of the recipe gave."""
    sources = facts.sources
    whole = facts.books["extract"]
    rows = [[name, *_source(len(s.files), s.bytes_in, s.books)] for name, s in sources.items()]
    files, read = sum(len(s.files) for s in sources.values()), sum(s.bytes_in for s in sources.values())
    total = ["All", *_source(files, read, whole)]
    titles = ("Files", "Bytes read", "Records", "Documents", "Skipped", "Quarantined", "Became documents")
    return joined(
        [
            element("p", prose.SOURCES),
            Table("Records by source", [Column("Source"), *map(number, titles)], rows, total).html(),
            _reasons_by_source(facts),
        ]
    )


def _source(files: int, read: int, books: Books) -> list[object]:
    fates = [books.kept, _sum(books.skipped), _sum(books.quarantined)]
    return [files, read, books.records, *fates, Share.of(books.kept, books.records)]


def _reasons_by_source(facts: Facts) -> Html:
    rows: list[list[object]] = []
    for name, source in facts.sources.items():
        for fate, reasons in (("skipped", source.books.skipped), ("quarantined", source.books.quarantined)):
            for reason, count in _ranked(reasons):
                explained = words.skip_meaning(reason) if fate == "skipped" else words.quarantine_meaning(reason)
                rows.append([name, fate, element("code", reason), explained, count])
    if not rows:
        return element("p", "Every record became a document.")
    columns = [Column("Source"), Column("Fate"), Column("Reason"), Column("Meaning", kind="text"), number("Records")]
    return Table("Records that became no document", columns, rows, most=60).html()


def drops(facts: Facts, examples: Examples, rules: RuleSet) -> Html:
    """Every reason for which documents were dropped, with its rule and a few of those documents."""
    books = facts.books["cut"]
    ranked = _ranked(books.dropped)
    if not ranked:
        return element("p", "No document was dropped.")
    rows = [
        [element("code", reason), words.rule_text(rules, reason) or words.relation(reason), count]
        + [Share.of(count, books.records), *_counterfactual(facts, reason), bar(count, ranked[0][1])]
        for reason, count in ranked
    ]
    gone = _sum(books.dropped)
    total = ["All", "", gone, Share.of(gone, books.records), "", "", Html("")]
    columns = [Column("Reason"), Column("Dropped where", kind="text"), number("Documents"), number("Share of all")]
    columns += [number("Break it"), number("It alone removes")]
    return joined(
        [
            element("p", prose.DROPS),
            Table("Dropped documents by reason", [*columns, bar_column()], rows, total, most=60).html(),
            *(_reason(reason, count, examples.dropped.get(reason, []), rules) for reason, count in ranked[:60]),
        ]
    )


def lines(facts: Facts) -> Html:
    """What the line rules cut out of the texts."""
    rules = {rule.reason: rule for rule in line_rules(facts.recipe.quality)}
    ranked = sorted(facts.cuts.items(), key=lambda item: (-item[1]["lines"], item[0]))
    rows = [
        [element("code", reason), str(rules.get(reason, "")), counts["lines"], counts["chars"]]
        + [bar(counts["lines"], ranked[0][1]["lines"])]
        for reason, counts in ranked
    ]
    total = ["All", "", *(sum(counts[name] for _, counts in ranked) for name in ("lines", "chars")), Html("")]
    columns = [Column("Reason"), Column("Cut where", kind="text"), number("Lines"), number("Characters")]
    table = Table("Lines cut out by reason", [*columns, bar_column()], rows, total, most=60)
    return joined([element("p", prose.LINES), table.html()])


def _counterfactual(facts: Facts, reason: str) -> list[int | str]:
    """Documents that break a rule, and those that only this one removes; nothing for what is no rule."""
    if reason not in facts.broken:
        return ["", ""]
    return [facts.broken[reason], facts.only.get(reason, 0)]


def _reason(reason: str, count: int, rows: Iterable[Row], rules: RuleSet) -> Html:
    signal = words.signal_of(rules, reason)
    meaning = words.meanings().get(signal or "", "")
    told = joined([element("code", signal), ": ", meaning]) if signal and meaning else None
    parts = [element("h3", joined([element("code", reason), element("span", count, class_="count")]))]
    if told:
        parts.append(element("p", told, class_="note"))
    parts += [_dropped(row) for row in rows]
    return element("section", joined(parts), class_="reason")


def _dropped(row: Row) -> Html:
    facts = [words.name_of(row["language"]), row["domain"], place(row["source"], row["record"], row["url"])]
    if row["broken"]:
        first, *others = row["broken"]
        facts.insert(0, element("strong", _comparison(first)))
        if others:
            facts.append(f"also {', '.join(_comparison(rule) for rule in others[:4])}")
    elif row["twin"]:
        alike = "" if row["similarity"] is None else f", similarity {row['similarity']:g}"
        facts.insert(0, joined(["repeats ", element("code", row["twin"]), alike]))
    return figure(row["excerpt"], facts, row["language"])


def _comparison(rule: Row) -> str:
    scope = "" if rule["scope"] == "*" else f" ({rule['scope']})"
    return f"{rule['signal']} {_short(rule['value'])} {rule['comparison']} {rule['limit']:g}{scope}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.3g}"


def quarantine(facts: Facts, examples: Examples) -> Html:
    """Records that could not be read, with the error and their first bytes."""
    books = facts.books["extract"]
    ranked = _ranked(books.quarantined)
    if not ranked:
        return element("p", "Every record could be read.")
    parts = [element("p", prose.QUARANTINE)]
    for reason, count in ranked:
        parts.append(element("h3", joined([element("code", reason), element("span", count, class_="count")])))
        parts.append(element("p", words.quarantine_meaning(reason), class_="note"))
        parts += [_quarantined(row) for row in examples.quarantined.get(reason, [])]
    return joined(parts)


def _quarantined(row: Row) -> Html:
    excerpt = _CONTROL.sub(lambda c: f"\\x{ord(c[0]):02x}", row["excerpt"].decode("utf-8", "backslashreplace"))
    place = joined([row["source"], " · ", element("code", cut(row["record"], PLACE))])
    return figure(excerpt, [place, cut(row["error"], _ERROR)], None)


def _ranked(reasons: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(reasons.items(), key=lambda item: (-item[1], item[0]))


def _sum(reasons: Mapping[str, int]) -> int:
    return sum(reasons.values())


def outcome(books: Books) -> tuple[tuple[str, int], ...]:
    """Losses of a step, named for the funnel."""
    return ("skipped", _sum(books.skipped)), ("quarantined", _sum(books.quarantined)), ("dropped", _sum(books.dropped))
