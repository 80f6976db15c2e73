"""Rules over lines as a recipe writes them."""

from collections.abc import Mapping

from glotmill.curate.lines import LINE_SIGNALS
from glotmill.curate.rules import Rule, parse_rule

_SCOPE = "quality.lines"  # named in errors


def line_rules(written: Mapping[str, str | None]) -> tuple[Rule, ...]:
    """The rules of `quality.lines`, in their order; null takes one out.

    >>> [str(rule) for rule in line_rules({"few_words": "line_words < 3", "javascript": None})]
    ['line_words < 3']

    Raises:
        RecipeError: a text is no rule, or names no line signal.
    """
    return tuple(
        parse_rule(text, reason=reason, scope=_SCOPE, signals=LINE_SIGNALS)
        for reason, text in written.items()
        if text is not None
    )
