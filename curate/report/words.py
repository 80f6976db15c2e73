"""Words for codes: languages, signals and reasons, each from the one place that defines it."""

import inspect
import re
from functools import cache

from langcodes import Language

from glotmill.curate.report.markup import Html, element, joined, tag
from glotmill.curate.rules import EVERYWHERE, Rule, RuleSet, scope_kind
from glotmill.curate.signals import MEASURES
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.languages import language
from glotmill.schemas.reasons import Quarantined, Related, Skipped, explained

_MOST_LIMITS = 8  # that are told one by one
_ENTRY = re.compile(r"^ {4}(\w+(?:,\s+\w+)*): (.*(?:\n {8}.*)*)", re.MULTILINE)


@cache
def meanings() -> dict[str, str]:
    """By signal, what its measure's docstring says that it is; empty where docstrings are stripped."""
    told: dict[str, str] = {}
    for measure in MEASURES:
        _, _, added = (inspect.getdoc(measure.run) or "").partition("Adds:\n")
        added, _, _ = added.partition("\n\n")
        told |= {
            name: " ".join(text.split()) for names, text in _ENTRY.findall(added) for name in re.split(r",\s+", names)
        }
    return told


def skip_meaning(reason: str) -> str:
    return explained(Skipped, reason, "never meant to be a document")


def quarantine_meaning(reason: str) -> str:
    return explained(Quarantined, reason, "the record could not be read")


def relation(reason: str) -> str:
    """What a reason means that comes from comparing documents, not from a rule."""
    return explained(Related, reason)


def rule_text(rules: RuleSet, reason: str) -> str:
    """What a reason's rules say, as `words < 20; Thai: words < 10; domain code: no limit`; where many languages have
    limits of their own, how many.
    """
    by_rule: dict[str, list[str]] = {}
    for scope, rule in rules.rules.get(reason, {}).items():
        by_rule.setdefault(str(rule) if rule else "no limit", []).append(scope)
    parts: list[str] = []
    crowded: dict[str, int] = {}
    for text, names in by_rule.items():
        others = [scope for scope in names if scope != EVERYWHERE]
        if EVERYWHERE in names:
            parts.insert(0, text)
        elif len(by_rule) > _MOST_LIMITS and not any(scope_kind(scope) == "domain" for scope in others):
            for scope in others:
                crowded[scope_kind(scope)] = crowded.get(scope_kind(scope), 0) + 1
        else:
            parts.append(f"{', '.join(scope.replace(':', ' ') for scope in others)}: {text}")
    if crowded:
        counts = " and ".join(f"{count:,} {kind}s" for kind, count in sorted(crowded.items()))
        parts.append(f"{counts} have limits of their own")
    return "; ".join(parts)


def signal_of(rules: RuleSet, reason: str) -> str | None:
    return next((rule.signal for rule in rules.rules.get(reason, {}).values() if rule), None)


def limits_used(rules: RuleSet, language: str) -> str:
    """Whose limits judge a language's documents: `all languages`, or `script Thai (2), all languages (11)`."""
    script = language.partition("_")[2]
    counts: dict[str, int] = {}
    resolved = rules.resolve(language=language, script=script)
    for reason, rule in resolved.items():
        if rule is not None:
            counts[_scope_text(rule)] = counts.get(_scope_text(rule), 0) + 1
        elif any(scope in rules.rules[reason] for scope in (language, script)):
            counts["none by choice"] = counts.get("none by choice", 0) + 1
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{name} ({count})" for name, count in sorted(counts.items(), key=lambda c: (c[1], c[0])))


def _scope_text(rule: Rule) -> str:
    kind = scope_kind(rule.scope)
    return "all languages" if kind == EVERYWHERE else f"{kind} {rule.scope}"


def name_of(code: str) -> Html:
    """A language for people: its English name and its own, each in its own direction."""
    english, own = _names(code)
    parts = [element("span", english, class_="language")]
    if own and own.casefold() != english.casefold():
        parts.append(element("bdi", own, class_="own", lang=tag(code)))
    return joined(parts, " ")


@cache
def _names(code: str) -> tuple[str, str]:
    try:
        listed = language(code)
    except RecipeError:  # a language in another script than its usual ones, or one that the table lacks
        other = Language.get(tag(code))
        own = other.autonym().partition(" (")[0]
        return other.language_name(), own if own != other.language else ""
    return listed.english, listed.autonym
