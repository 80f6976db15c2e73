"""The sections on what was delivered: languages, the mix, the tokenizer, the shards."""

from glotmill.curate.mix.aim import told
from glotmill.curate.mix.plan import Plan
from glotmill.curate.mix.plan import Share as Part
from glotmill.curate.report import prose, words
from glotmill.curate.report.facts import CellFacts, Facts, language_of
from glotmill.curate.report.markup import Column, Html, Share, Table, bar_column, element, joined, number
from glotmill.curate.report.svg import bar
from glotmill.curate.rules import RuleSet
from glotmill.schemas.manifest import Manifest

LANGUAGES, CELLS, SHARDS = 120, 100, 50  # rows shown


def languages(facts: Facts, rules: RuleSet) -> Html:
    """Every language: documents found and kept, tokens, and whose limits judged it."""
    stored, tokens = facts.stored, delivered(facts)
    codes = sorted({*facts.measured, *stored}, key=lambda c: (-tokens.get(c, 0), -facts.measured.get(c, 0), c))
    whole, most = sum(tokens.values()), max(tokens.values(), default=0)
    columns = [
        Column("Language"),
        *map(number, ("Documents", "Kept", "Dropped", "Tokens", "Share of tokens")),
        bar_column(),
        number("Bytes per token"),
        Column("Limits used", kind="text"),
        *([Column("Most dropped for")] if facts.dropped else []),
    ]
    rows = []
    for code in codes:
        name = joined([words.name_of(code), " ", element("code", code)])
        figures = _figures(facts, facts.measured.get(code, 0), stored.get(code, CellFacts()), tokens.get(code, 0))
        row = [name, *figures, words.limits_used(rules, code), _main_reason(facts.dropped.get(code, {}))]
        row[5:5] = [Share.of(tokens.get(code, 0), whole), bar(tokens.get(code, 0), most)]
        rows.append(row[: len(columns)])
    every = CellFacts()
    for cell in stored.values():
        every.add(cell.documents, cell.tokens, cell.bytes)
    total = [f"All {len(codes):,} languages", *_figures(facts, sum(facts.measured.values()), every, whole), "", ""]
    total[5:5] = [Share.of(whole, whole), ""]
    told = Table("Languages by tokens", columns, rows, total[: len(columns)], most=LANGUAGES, classes="languages")
    return joined([element("p", prose.LANGUAGES), told.html()])


def _figures(facts: Facts, found: int, stored: CellFacts, tokens: int) -> list[object]:
    """Documents, kept, dropped, tokens, bytes per token; nothing is known of kept ones before they are tokenized."""
    if "tokenize" not in facts.books:
        return [found, None, None, None, None]
    return [found, stored.documents, Share.of(found - stored.documents, found), tokens, _bytes_per_token(stored)]


def delivered(facts: Facts) -> dict[str, int]:
    """By language, the tokens in the shards; in the token store while there are no shards."""
    if facts.manifest is not None:
        return facts.manifest.tokens_by_language
    return {code: cell.tokens for code, cell in facts.stored.items()}


def _main_reason(dropped: dict[str, int]) -> Html:
    """The reason that took most documents; nothing where none was dropped."""
    if not dropped:
        return Html("")
    reason, count = min(dropped.items(), key=lambda item: (-item[1], item[0]))
    return joined([element("code", reason), f" {count:,}"])


def _bytes_per_token(cell: CellFacts) -> Html | None:
    return Html(f"{cell.bytes / cell.tokens:.2f}") if cell.tokens else None


def mix(facts: Facts, plan: Plan) -> Html:
    """Asked and delivered, cell by cell."""
    made = facts.manifest.tokens_by_cell if facts.manifest is not None else None
    names = sorted(plan.cells, key=lambda name: (-plan.cells[name].planned, name))
    rows = [_cell(name, plan.cells[name], None if made is None else made.get(name, 0)) for name in names]
    sums = [sum(getattr(s, key) for s in plan.cells.values()) for key in ("documents", "available", "asked", "planned")]
    given = None if made is None else sum(made.values())
    target = Share.of(round(sum(s.target for s in plan.cells.values()) * 1e6), 1_000_000)
    total = [
        "",
        *sums[:2],
        target,
        *sums[2:],
        given,
        _epochs(sums[3], sums[1]),
        _delta((given if given is not None else sums[3]) - sums[2]),
    ]
    columns = [
        Column("Language"),
        Column("Domain"),
        *map(number, ("Documents", "Available", "Target", "Asked", "Planned", "Delivered", "Epochs", "Off by")),
    ]
    budget = "Everything once" if plan.budget is None else f"A budget of {plan.budget:,} tokens"
    budget += f"; at most {plan.max_epochs:g} {'epoch' if plan.max_epochs == 1 else 'epochs'}"
    said = told(plan.nearness)
    return joined(
        [
            element("p", f"{budget}. {prose.MIX}"),
            *([element("ul", joined(element("li", sentence) for sentence in said))] if said else []),
            Table("Cells by planned tokens", columns, rows, [f"All {len(rows):,} cells", *total], most=CELLS).html(),
        ]
    )


def _cell(name: str, part: Part, made: int | None) -> list[object]:
    language, domain = language_of(name), name.partition(".")[2]
    off = (made if made is not None else part.planned) - part.asked
    target = Share.of(round(part.target * 1e6), 1_000_000)
    figures = [part.documents, part.available, target, part.asked, part.planned, made]
    return [
        joined([words.name_of(language), " ", element("code", language)]),
        domain,
        *figures,
        _epochs(part.planned, part.available),
        _delta(off),
    ]


def _epochs(planned: int, available: int) -> Html:
    return Html(f"{planned / available:.2f}" if available else "–")


def _delta(tokens: int) -> Html:
    return Html("0" if not tokens else f"{tokens:+,}".replace("-", "−"))


def tokenizer(manifest: Manifest) -> Html:
    """Which tokenizer made the tokens, and how they lie on disk."""
    used = manifest.tokenizer
    control = [
        f"begin-of-document token {used.bos_id} before every document" if manifest.prepend_bos else "",
        f"end-of-document token {used.eos_id} after every document" if manifest.append_eos else "",
    ]
    width = "two bytes a token" if manifest.dtype == "uint16" else "four bytes a token"
    items = (
        ("Tokenizer", f"{used.name} ({used.kind})"),
        ("Vocabulary", f"{used.vocabulary_size:,} pieces, added tokens included"),
        ("Fingerprint", element("code", used.fingerprint)),
        ("Between documents", "; ".join(filter(None, control)) or "nothing"),
        ("Stored as", joined([element("code", manifest.dtype), f", {width}"])),
        ("Copy", element("code", f"shards/{used.path}")),
    )
    return element("dl", joined(element("div", joined([element("dt", t), element("dd", d)])) for t, d in items))


def shards(manifest: Manifest) -> Html:
    """The files to train on."""
    sizes = [sum(file.bytes for file in shard.files()) for shard in manifest.shards]
    rows = [
        (element("code", shard.bin.path), shard.documents, shard.tokens, size, element("code", shard.bin.xxh3_128))
        for shard, size in zip(manifest.shards, sizes, strict=True)
    ]
    totals = manifest.totals
    columns = [Column("File"), *map(number, ("Documents", "Tokens", "Bytes")), Column("Checksum (xxh3-128)")]
    total = [f"All {totals.shards:,} shards", totals.documents, totals.tokens, sum(sizes), ""]
    return joined(
        [
            element("p", prose.SHARDS),
            Table("Shards", columns, rows, total, most=SHARDS).html(),
        ]
    )
