"""HTML from values: text is escaped unless it says that it is markup, numbers are aligned and grouped."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langcodes import standardize_tag

_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Html(str):
    """Text that is markup already."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole, in [0, 1] as a rule; shown as a percentage."""

    value: float

    @classmethod
    def of(cls, part: float, whole: float) -> "Share":
        return cls(part / whole if whole else 0.0)

    def __str__(self) -> str:
        """
        >>> [str(Share(value)) for value in (0, 0.00004, 0.1234, 0.99999, 1)]
        ['0%', '<0.1%', '12.3%', '>99.9%', '100%']
        """
        if self.value in (0, 1):
            return f"{self.value:.0%}"
        if 0 < self.value < 0.001:
            return "<0.1%"
        return ">99.9%" if 0.999 < self.value < 1 else f"{self.value:.1%}"


def escape(text: str) -> Html:
    """`text` as HTML; what HTML can't hold (control characters, lone surrogates) becomes U+FFFD.

    >>> escape("a < b\\0")
    'a &lt; b\ufffd'
    """
    return Html(html.escape(_UNWRITABLE.sub("\ufffd", text)))


def show(value: Any) -> Html:
    """Any value of a cell.

    >>> show(1234567), show(None), show(0.25), show("<b>")
    ('1,234,567', '–', '0.25', '&lt;b&gt;')
    """
    if isinstance(value, Html):
        return value
    if value is None:
        return Html("–")
    if isinstance(value, bool):
        return Html("yes" if value else "no")
    if isinstance(value, int):
        return Html(f"{value:,}")
    if isinstance(value, float):
        return Html(f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}")
    return escape(str(value))


def element(name: str, content: Any, **attributes: str) -> Html:
    """One element; `class_` and `for_` lose their underscore.

    >>> element("p", "a & b", class_="note")
    '<p class="note">a &amp; b</p>'
    """
    pairs = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items())
    return Html(f"<{name}{pairs}>{show(content)}</{name}>")


def joined(parts: Iterable[Any], between: str = "") -> Html:
    return Html(between.join(show(part) for part in parts))


def quotation(text: str, language: str | None = None) -> Html:
    """An excerpt of data: its own direction and language, cut off from the text around it."""
    attributes = {"lang": tag(language)} if language else {}
    return element("blockquote", text, dir="auto", **attributes)


def tag(language: str) -> str:
    """BCP 47 of a language as glotmill writes it, for fonts and screen readers.

    >>> tag("zho_Hans"), tag("ita_Latn"), tag("zxx_Zzzz")
    ('zh-Hans', 'it', 'zxx')
    """
    try:
        return standardize_tag(language.replace("_Zzzz", "").replace("_", "-"))
    except ValueError:
        return "und"


def cut(text: str, most: int) -> str:
    """`text` in one line of at most `most` code points."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; numbers are aligned to the right. A bar belongs to the number at its left."""

    title: str
    numeric: bool = False
    kind: str = ""


def number(title: str) -> Column:
    return Column(title, numeric=True)


def bar_column() -> Column:
    return Column("", kind="bar")


@dataclass(slots=True)
class Table:
    """A table. Of more than `most` rows the rest is one line with the sums of their whole numbers."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    total: Sequence[Any] | None = None
    most: int = 100
    classes: str = field(default="")

    def __str__(self) -> str:
        shown, hidden = list(self.rows[: self.most]), self.rows[self.most :]
        if len(hidden) == 1:
            shown, hidden = list(self.rows), []
        body = [self._row(row) for row in shown]
        if hidden:
            body.append(self._row(self._rest(hidden), class_="rest"))
        head = "".join(self._head(column) for column in self.columns)
        foot = f"<tfoot>{self._row(self.total)}</tfoot>" if self.total is not None else ""
        return (
            f'<div class="wide" role="region" aria-label="{escape(self.caption)}" tabindex="0">'
            f'<table class="{escape(self.classes)}"><caption>{escape(self.caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>{foot}</table></div>\n"
        )

    def html(self) -> Html:
        return Html(str(self))

    def _head(self, column: Column) -> Html:
        """A bar has no title: it repeats the number at its left."""
        if not column.title:
            return self._cell(column, Html(""), "td")
        return self._cell(column, column.title, "th", scope="col")

    def _rest(self, hidden: Sequence[Sequence[Any]]) -> list[Any]:
        rest: list[Any] = [f"and {len(hidden):,} more"]
        for values in list(zip(*hidden, strict=True))[1:]:
            whole = all(isinstance(value, int) for value in values)
            rest.append(sum(values) if whole else Html(""))
        return rest

    def _row(self, row: Sequence[Any], **attributes: str) -> Html:
        cells = [
            self._cell(column, value, "td" if place else "th", **({} if place else {"scope": "row"}))
            for place, (column, value) in enumerate(zip(self.columns, row, strict=True))
        ]
        return element("tr", joined(cells), **attributes)

    def _cell(self, column: Column, value: Any, name: str, **attributes: str) -> Html:
        kind = "number" if column.numeric else column.kind
        return element(name, value, **attributes, **({"class": kind} if kind else {}))
