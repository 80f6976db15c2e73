"""Drawings: the funnel of a run, and bars in tables. Colours and fonts are the style sheet's."""

from collections.abc import Sequence
from dataclasses import dataclass

from glotmill.curate.report.markup import Html, Share, escape

_LEFT, _WIDE, _ROW, _BAR = 190, 600, 66, 34
_WIDTH = 960


@dataclass(frozen=True, slots=True)
class Stage:
    """One bar of the funnel: what is left, and what went away to get there."""

    title: str
    count: int
    losses: tuple[tuple[str, int], ...] = ()


def bar(part: float, whole: float) -> Html:
    """A bar in a table cell, as long as `part` of `whole`. It repeats the number beside it, so it has no words."""
    width = 100 * min(max(part / whole if whole else 0.0, 0.0), 1.0)
    width = max(width, 0.6) if part else 0.0
    return Html(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{width:.2f}" height="8"/></svg>'
    )


def funnel(stages: Sequence[Stage], closing: str) -> Html:
    """The stages from top to bottom, bars in proportion to the first; `closing` is a line below them."""
    most = max((stage.count for stage in stages), default=0)
    height = _ROW * len(stages) + 30
    told = "; ".join(f"{stage.title}: {stage.count:,}" for stage in stages)
    parts = [
        f'<svg class="funnel" viewBox="0 0 {_WIDTH} {height}" role="img" aria-labelledby="funnel-title funnel-desc">',
        '<title id="funnel-title">From records to tokens</title>',
        f'<desc id="funnel-desc">{escape(f"{told}; {closing}")}</desc>',
    ]
    for place, stage in enumerate(stages):
        if place:
            parts.append(_fall(place, stages[place - 1].count, stage, most))
        parts.append(_stage(place, stage, most))
    parts.append(_text(_LEFT, height - 8, "closing", closing))
    return Html("\n".join([*parts, "</svg>\n"]))


def _length(count: int, most: int) -> float:
    return max(_WIDE * count / most, 2.0) if most and count else 0.0


def _stage(place: int, stage: Stage, most: int) -> str:
    top, length = place * _ROW, _length(stage.count, most)
    middle = top + _BAR / 2
    share = f" · {Share.of(stage.count, most)}" if place else ""
    return "\n".join(
        (
            _text(_LEFT - 14, middle + 5, "title", stage.title, anchor="end"),
            f'<rect class="left" x="{_LEFT}" y="{top}" width="{length:.1f}" height="{_BAR}" rx="2"/>',
            _text(_LEFT + length + 12, middle + 6, "count", f"{stage.count:,}{share}"),
        )
    )


def _fall(place: int, before: int, stage: Stage, most: int) -> str:
    """The slope between two bars, and what was lost on it."""
    top, bottom = (place - 1) * _ROW + _BAR, place * _ROW
    wide, narrow = _LEFT + _length(before, most), _LEFT + _length(stage.count, most)
    points = f"{_LEFT},{top} {wide:.1f},{top} {narrow:.1f},{bottom} {_LEFT},{bottom}"
    lost = " · ".join(f"−{count:,} {name}" for name, count in stage.losses if count) or "nothing lost"
    middle = (top + bottom) / 2 + 5
    kind = "lost" if any(count for _, count in stage.losses) else "nothing"
    return f'<polygon class="fall" points="{points}"/>\n' + _text(_LEFT + 10, middle, kind, lost)


def _text(x: float, y: float, kind: str, text: str, *, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
