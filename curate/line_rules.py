"""Rules over lines as a recipe writes them."""

from glotmill.curate.lines import LINE_SIGNALS
from glotmill.curate.presets import preset_lines
from glotmill.curate.rules import Rule, parse_rule
from glotmill.schemas.recipe import Quality

_SCOPE = "quality.lines"  # named in errors


def line_rules(quality: Quality) -> tuple[Rule, ...]:
    """The line rules of a recipe: its preset's, then those of `quality.lines`, in their order; null takes one out.

    >>> [str(rule) for rule in line_rules(Quality(lines={"few_words": "line_words < 3", "javascript": None}))]
    ['line_words < 3']

    Raises:
        RecipeError: a text is no rule, or names no line signal.
    """
    written = preset_lines(quality.preset, semantics=quality.semantics) | quality.lines
    return tuple(
        parse_rule(text, reason=reason, scope=_SCOPE, signals=LINE_SIGNALS)
        for reason, text in written.items()
        if text is not None
    )
