"""Words for codes: languages, signals and reasons, each from the one place that defines it."""

import inspect
import re
from functools import cache

from langcodes import Language

from glotmill.curate.language import language as measure_language
from glotmill.curate.quality import quality
from glotmill.curate.report.markup import Html, element, joined, tag
from glotmill.curate.rules import EVERYWHERE, Rule, RuleSet, scope_kind

_ENTRY = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)
_SKIPPED = {
    "request": "what the crawler sent",
    "warcinfo": "the archive's own description",
    "metadata": "notes on another record",
    "revisit": "a page that had not changed since an earlier visit",
    "media_type": "no text: images, archives, scripts",
    "http_status": "the server answered with an error or a redirect",
    "continuation": "a later part of a record that was stored in parts",
    "record_type": "a kind of record that holds no page",
    "empty_text": "a page without text",
    "not_http": "no answer of a web server",
}
_QUARANTINED = {
    "corrupt_compression": "the compressed bytes are damaged",
    "corrupt_parquet": "the Parquet file, or a part of it, can't be read",
    "empty_file": "the file holds nothing",
    "extraction_failed": "the extractor gave up on the page",
    "garbage_between_records": "bytes between two records that belong to neither",
    "invalid_json": "the line is no JSON",
    "invalid_record": "the record's head is damaged",
    "invalid_utf8": "the bytes are no UTF-8",
    "length_mismatch": "the record states another length than it has",
    "no_text": "the record has no text where the recipe says that it is",
    "not_an_object": "the line is JSON, but no object",
    "text_not_string": "what should be the text is a number, a list or an object",
    "too_deep": "the page is nested too deeply to be a page",
    "too_large": "larger than the recipe's extract.max_record_bytes",
    "too_slow": "took longer than the recipe's extract.timeout_seconds",
    "truncated": "the file or record ends before it should",
    "undecodable": "no charset makes text of the bytes",
    "unsupported": "a format or coding that glotmill doesn't read",
}
_RELATIONS = {"exact_duplicate": "the text equals that of a document that is kept"}


@cache
def meanings() -> dict[str, str]:
    """By signal, what its measure's docstring says that it is; empty where docstrings are stripped."""
    told: dict[str, str] = {}
    for measure in (measure_language, quality):
        _, _, added = (inspect.getdoc(measure.run) or "").partition("Adds:\n")
        added, _, _ = added.partition("\n\n")
        told |= {name: " ".join(text.split()) for name, text in _ENTRY.findall(added)}
    return told


def skip_meaning(reason: str) -> str:
    return _SKIPPED.get(reason, "never meant to be a document")


def quarantine_meaning(reason: str) -> str:
    return _QUARANTINED.get(reason, "the record could not be read")


def relation(reason: str) -> str:
    """What a reason means that comes from comparing documents, not from a rule."""
    return _RELATIONS.get(reason, "")


def rule_text(rules: RuleSet, reason: str) -> str:
    """All that a reason's rules say, as `words < 20; Thai: words < 10; domain code: no limit`."""
    scopes = rules.rules.get(reason, {})
    parts: list[str] = []
    by_rule: dict[str, list[str]] = {}
    for scope, rule in scopes.items():
        by_rule.setdefault(str(rule) if rule else "no limit", []).append(scope)
    for text, names in by_rule.items():
        where = ", ".join(scope.replace(":", " ") for scope in names if scope != EVERYWHERE)
        if EVERYWHERE in names:
            parts.insert(0, text)
        elif where:
            parts.append(f"{where}: {text}")
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
    if code.startswith("zxx"):
        return "no language", ""
    language = Language.get(tag(code))
    own = language.autonym().partition(" (")[0]
    return language.language_name(), own if own != language.language else ""
