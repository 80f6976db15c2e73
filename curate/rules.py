"""A rule is data: a signal, a comparison and a limit, under a reason's name and for a scope.

It says what is dropped: `words < 50` drops the documents for which it holds. We call such a rule broken.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Literal, cast, get_args

from glotmill.curate.kernels.unicode import scripts
from glotmill.curate.language import thresholds
from glotmill.curate.presets import Written, preset
from glotmill.curate.signals import SIGNALS, names
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.languages import parse_language
from glotmill.schemas.recipe import Language, Quality

Comparison = Literal["<", "<=", ">", ">=", "==", "!="]
EVERYWHERE = "*"
DOMAIN = "domain:"
_CODE = f"{DOMAIN}code"
SMALLEST_LIMIT = 1e-9  # what a margin is divided by where the limit is nearer to zero

_WRITTEN = re.compile(r"\s*(?P<signal>[A-Za-z_]\w*)\s*(?P<comparison><=|>=|==|!=|<|>)\s*(?P<limit>\S+)\s*")
_NUMBER = re.compile(r"[+-]?(\d[\d_]*)?\.?\d+([eE][+-]?\d+)?")
_REASON = re.compile(r"[a-z][a-z0-9_]*")
_EXAMPLE = "such as 'words < 50'"


@dataclass(frozen=True, slots=True)
class Rule:
    """Drop a document, for `reason`, where `signal comparison limit` holds; `scope` says whose limit this is."""

    reason: str
    signal: str
    comparison: Comparison
    limit: float
    scope: str = EVERYWHERE

    def __str__(self) -> str:
        return f"{self.signal} {self.comparison} {self.limit:g}"


def parse_rule(text: str, *, reason: str, scope: str = EVERYWHERE, signals: Collection[str] = SIGNALS) -> Rule:
    """The rule that `words < 50` writes.

    Raises:
        RecipeError: `text` is no rule, names no known signal, or its limit is no finite number.
    """
    where = f"rule {reason!r}" + (f" of {scope}" if scope != EVERYWHERE else "")
    if not _REASON.fullmatch(reason):
        raise RecipeError(f"{where}: write the reason's name in lower case, digits and underscores, such as too_short")
    found = _WRITTEN.fullmatch(text)
    if not found:
        raise RecipeError(
            f"{where} is {text!r}: write a signal, one of {' '.join(get_args(Comparison))}, and a number, {_EXAMPLE}"
        )
    signal, comparison, limit = found["signal"], found["comparison"], found["limit"]
    if signal not in signals:
        raise RecipeError(f"{where} reads {signal!r}, which no measure adds: {_nearest(signal, signals)}")
    if not _NUMBER.fullmatch(limit) or not math.isfinite(float(limit)):
        raise RecipeError(f"{where} compares with {limit!r}: write a plain number, {_EXAMPLE}")
    return Rule(reason, signal, cast(Comparison, comparison), float(limit), scope)


@dataclass(frozen=True)
class RuleSet:
    """Rules by reason and scope. The order of reasons is the order in which they count.

    Args:
        rules: reason -> scope -> rule, or None where the scope takes the reason out.
    """

    rules: Mapping[str, Mapping[str, Rule | None]] = field(default_factory=dict)

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(self.rules)

    @cached_property
    def signals(self) -> tuple[str, ...]:
        """The signals that some rule reads, sorted."""
        return tuple(sorted({rule.signal for rule in self}))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Those of the columns domain, language and script that decide between scopes here."""
        kinds = {scope_kind(scope) for scopes in self.rules.values() for scope in scopes}
        return tuple(key for key in ("domain", "language", "script") if key in kinds)

    @property
    def reads(self) -> tuple[str, ...]:
        """Every column that a judgement reads."""
        return (*self.keys, *self.signals)

    @property
    def written(self) -> list[Any]:
        """All of it as a JSON value; equal ones judge alike."""
        return [
            [reason, [[scope, rule and asdict(rule)] for scope, rule in of.items()]]
            for reason, of in self.rules.items()
        ]

    def __iter__(self) -> Iterator[Rule]:
        """Every rule, reason by reason."""
        return (rule for scopes in self.rules.values() for rule in scopes.values() if rule is not None)

    def narrowed(self, languages: Collection[str]) -> "RuleSet":
        """The same rules without the scopes of other languages than these: a preset may have thousands."""
        return RuleSet(
            {
                reason: {
                    scope: rule
                    for scope, rule in scopes.items()
                    if scope_kind(scope) != "language" or scope in languages
                }
                for reason, scopes in self.rules.items()
            }
        )

    def resolve(
        self, *, domain: str | None = None, language: str | None = None, script: str | None = None
    ) -> dict[str, Rule | None]:
        """By reason, the rule for one document: that of its domain, else its language, its script, or every one's."""
        order = (f"{DOMAIN}{domain}", language, script, EVERYWHERE)
        return {
            reason: next((scopes[scope] for scope in order if scope is not None and scope in scopes), None)
            for reason, scopes in self.rules.items()
        }


def scope_kind(scope: str) -> str:
    """domain, language, script, or "*"."""
    if scope == EVERYWHERE:
        return EVERYWHERE
    if scope.startswith(DOMAIN):
        return "domain"
    return "script" if len(scope) == 4 and scope[0].isupper() else "language"


def ruleset(
    quality: Quality,
    language: Language | None = None,
    *,
    signals: Collection[str] | None = None,
    calibrated: Written | None = None,
) -> RuleSet:
    """The rules of a recipe: those of its section on languages, its preset's, the calibrated ones, then its own.

    A rule that the recipe writes for every language replaces the preset's in all languages and scripts (not in a
    domain, unless it is null); one written for a language, a script or `domain:NAME` adds to that scope alone.

    Args:
        language: The recipe's section; None has no rules.
        signals: Those that rules may read; by default what this section has measured.
        calibrated: The limits of the folder that `quality.calibration` names.

    Raises:
        RecipeError: a rule can't be read, or null takes out a reason that no rule has.
    """
    known = names(quality) if signals is None else signals
    rules: dict[str, dict[str, Rule | None]] = {}
    written = preset(quality.preset, semantics=quality.semantics)
    for given in (language_rules(language) if language else {}, written, calibrated or {}):
        for scope, reasons in given.items():
            for reason, text in reasons.items():
                _put(rules, scope, reason, text, known)
    for key, value in quality.rules.items():
        if isinstance(value, dict):
            scope = _scope(key)
            for reason, text in value.items():
                _check_null(rules, scope, reason, text)
                _put(rules, scope, reason, text, known)
        else:
            _check_null(rules, EVERYWHERE, key, value)
            _replace(rules, key, value, known)
    return RuleSet({reason: scopes for reason, scopes in rules.items() if any(scopes.values())})


def language_rules(language: Language) -> Written:
    """What the recipe's section on languages drops: documents whose language is uncertain, or isn't wanted.

    Source code is exempt: what its comments are written in doesn't matter.
    """
    rules: Written = {}
    uncertain, other = "uncertain_language", "other_language"
    if language.min_score is not None:
        limits = thresholds() if language.min_score == "per_language" else {EVERYWHERE: language.min_score}
        for scope, limit in limits.items():
            rules.setdefault(scope, {})[uncertain] = f"language_score < {limit:g}"
        rules.setdefault(_CODE, {})[uncertain] = None
    if language.keep is not None:
        for scope, text in {EVERYWHERE: "language_score >= 0", **dict.fromkeys((*language.keep, _CODE))}.items():
            rules.setdefault(scope, {})[other] = text
    return rules


def _replace(rules: dict[str, dict[str, Rule | None]], reason: str, text: str | None, signals: Collection[str]) -> None:
    old = rules.get(reason, {})
    _put(rules, EVERYWHERE, reason, text, signals)
    kept = {scope: rule for scope, rule in old.items() if text is not None and scope_kind(scope) == "domain"}
    rules[reason] = {EVERYWHERE: rules[reason][EVERYWHERE], **kept}


def _put(
    rules: dict[str, dict[str, Rule | None]], scope: str, reason: str, text: str | None, signals: Collection[str]
) -> None:
    rule = None if text is None else parse_rule(text, reason=reason, scope=scope, signals=signals)
    rules.setdefault(reason, {})[scope] = rule


def _check_null(rules: Mapping[str, object], scope: str, reason: str, text: str | None) -> None:
    if text is None and reason not in rules:
        where = "" if scope == EVERYWHERE else f" of {scope}"
        raise RecipeError(f"rule {reason!r}{where} is null, but no rule has that reason: {_nearest(reason, rules)}")


def _scope(key: str) -> str:
    """The scope that a recipe's key names: `tha`, `th` and `tha_Thai` are one language."""
    if key == EVERYWHERE or key.startswith(DOMAIN):
        return key
    if scope_kind(key) == "script":
        known = {*scripts(), "Hans", "Hant", "Jpan", "Kore"}
        if key not in known:
            raise RecipeError(f"quality.rules names the script {key!r}, which doesn't exist: {_nearest(key, known)}")
        return key
    try:
        return parse_language(key)
    except ValueError as error:
        raise RecipeError(f"quality.rules names {key!r}: {error}") from error


def _nearest(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"write one of {', '.join(names)}"
