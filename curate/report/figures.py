"""An excerpt of data with what is known of it."""

from collections.abc import Iterable

from glotmill.curate.report.markup import Html, cut, element, joined, quotation

EXCERPT, PLACE = 220, 120  # code points shown


def figure(excerpt: str, facts: Iterable[object], language: str | None) -> Html:
    """The excerpt on one line, and facts below it."""
    text = cut(excerpt, EXCERPT)
    shown = quotation(text, language) if text.strip() else element("p", "no text", class_="note")
    items = joined((element("span", fact) for fact in facts), " ")
    return element("figure", joined([shown, element("figcaption", items)]))


def place(source: str, record: str, url: str | None) -> Html:
    """Where a document came from."""
    return element("code", cut(url or f"{source}: {record}", PLACE))
