"""The report of a run: one page that needs no other file, no script and no network."""

import json
from importlib import resources

from glotmill.curate.report import delivery, losses, prose
from glotmill.curate.report.duplicates import duplicates
from glotmill.curate.report.examples import Examples
from glotmill.curate.report.facts import Facts
from glotmill.curate.report.markup import Html, element, escape, joined
from glotmill.curate.report.svg import Stage, funnel
from glotmill.curate.rules import RuleSet
from glotmill.schemas.units import Books

STYLE = "style.css"


def page(facts: Facts, examples: Examples, ruleset: RuleSet) -> str:
    """The whole page of a run that `ruleset` judged. Equal facts, examples and rules give equal pages: it holds no
    time and no path of this machine.
    """
    sections = list(_sections(facts, examples, ruleset))
    style = resources.files("glotmill.curate.report").joinpath(STYLE).read_text(encoding="utf-8")
    links = joined(element("a", title, href=f"#{name}") for name, title, _ in sections)
    body = joined(
        [
            element(
                "header",
                joined(
                    [
                        element("p", "glotmill · report of a run", class_="kind"),
                        element("h1", facts.recipe.name),
                        _summary(facts),
                    ]
                ),
            ),
            _figures(facts),
            element("nav", links, **{"aria-label": "Sections"}),
            *(element("section", joined([element("h2", t), content]), id=name) for name, t, content in sections),
            element("footer", _footer(facts)),
        ]
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(facts.recipe.name)} · glotmill report</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def _sections(facts: Facts, examples: Examples, ruleset: RuleSet) -> list[tuple[str, str, Html]]:
    """Name, title and content of each section that the run has something to say in."""
    books, found = facts.books, list[tuple[str, str, Html]]()
    found.append(("funnel", "From records to tokens", funnel(stages(facts), _closing(facts))))
    if facts.measured:
        found.append(("languages", "Languages", delivery.languages(facts, ruleset)))
    if facts.mix is not None:
        found.append(("mix", "The mix: asked and delivered", delivery.mix(facts, facts.mix)))
    if facts.manifest is not None:
        found.append(("shards", "Shards", delivery.shards(facts.manifest)))
        found.append(("tokenizer", "Tokenizer", delivery.tokenizer(facts.manifest)))
    if "extract" in books:
        found.append(("sources", "Sources", losses.sources(facts)))
    if facts.cuts:
        found.append(("lines", "Lines cut out", losses.lines(facts)))
    if "cut" in books:
        found.append(("dropped", "Dropped documents", losses.drops(facts, examples, ruleset)))
    if "dedup" in books:
        found.append(("duplicates", "Duplicates", duplicates(facts, examples.duplicates)))
    if "extract" in books:
        found.append(("quarantine", "Quarantine", losses.quarantine(facts, examples)))
    found.append(("recipe", "Recipe", _recipe(facts)))
    return found


def stages(facts: Facts) -> list[Stage]:
    """The bars of the funnel, of the steps that were done. Each begins with what the one before left."""
    books = facts.books
    read = books.get("extract", Books())
    found = [Stage("Records", read.records), Stage("Documents", read.kept, losses.outcome(read))]
    for step, title, name in (
        ("judge", "Kept by rules", "dropped by rules"),
        ("dedup", "Unique", "duplicates"),
        ("mix", "In the mix", "left out by the mix"),
    ):
        if step in books:
            found.append(Stage(title, books[step].kept, ((name, sum(books[step].dropped.values())),)))
    return found


def _closing(facts: Facts) -> str:
    if facts.manifest is not None:
        totals = facts.manifest.totals
        return f"{totals.tokens:,} tokens in {totals.shards:,} {'shard' if totals.shards == 1 else 'shards'}"
    tokens = sum(cell.tokens for cell in facts.cells.values())
    return f"{tokens:,} tokens in the token store" if facts.cells else "no tokens yet"


def _summary(facts: Facts) -> Html:
    read, last = facts.books.get("extract", Books()), facts.books.get("cut")
    kept = f", {last.kept:,} were kept" if last else ""
    return element(
        "p",
        f"{read.records:,} records became {read.kept:,} documents{kept}: {_closing(facts)}. "
        "Every record is accounted for.",
        class_="summary",
    )


def _figures(facts: Facts) -> Html:
    """The numbers one looks for first."""
    read, last = facts.books.get("extract", Books()), facts.books.get("cut")
    tokens = delivery.delivered(facts)
    figures = [
        ("tokens", sum(tokens.values())),
        ("shards", facts.manifest.totals.shards if facts.manifest else None),
        (
            "languages delivered" if facts.cells else "languages",
            sum(count > 0 for count in tokens.values()) or len(facts.measured),
        ),
        ("records in", read.records),
        ("documents", read.kept),
        ("documents kept", last.kept if last else None),
        ("records quarantined", sum(read.quarantined.values())),
    ]
    items = (element("div", joined([element("dd", value), element("dt", name)])) for name, value in figures)
    return element("dl", joined(items), class_="figures")


def _recipe(facts: Facts) -> Html:
    told = facts.recipe.model_dump(mode="json", exclude_defaults=True)
    code = element("code", json.dumps(told, ensure_ascii=False, indent=2))
    return joined([element("p", prose.RECIPE), element("pre", code)])


def _footer(facts: Facts) -> Html:
    made = facts.manifest
    parts = [f"seed {facts.recipe.seed}"]
    if made is not None:
        parts = [f"glotmill {made.glotmill_version}", f"recipe {made.recipe_fingerprint}", *parts]
    return element("p", joined(parts, " · "))
