"""What a run's receipts, mix and manifest say, gathered for the page. No table is read here."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from glotmill.curate.mix.plan import Plan
from glotmill.schemas.ids import fingerprint
from glotmill.schemas.ledger import Ledger, Receipt
from glotmill.schemas.manifest import MANIFEST, Manifest
from glotmill.schemas.recipe import Recipe
from glotmill.schemas.units import Books

STEPS = (
    "extract",
    "measure",
    "judge",
    "dedup",
    "repeats",
    "cut",
    "tokenizer",
    "tokenize",
    "mix",
    "shard",
    "manifest",
)


@dataclass(slots=True)
class SourceFacts:
    """What came from one source of the recipe."""

    files: set[str] = field(default_factory=set)
    bytes_in: int = 0
    books: Books = field(default_factory=Books)


@dataclass(slots=True)
class CellFacts:
    """What the token store holds of a cell, or of several."""

    documents: int = 0
    tokens: int = 0
    bytes: int = 0  # UTF-8 of the texts

    def add(self, documents: int, tokens: int, bytes: int) -> None:
        self.documents += documents
        self.tokens += tokens
        self.bytes += bytes


@dataclass(slots=True)
class Facts:
    """One run.

    Args:
        books: By step, of the steps that were done.
        sources: By name, in the recipe's order.
        measured: Documents of each language before anything was dropped.
        dropped: By language and reason, where the step cut tells it.
        cuts: By reason of a line rule, the `lines` and `chars` that were cut out of documents, kept or not.
        broken: By reason, the documents that break its rule, whatever reason the books count them under.
        only: By reason, those that break no other rule.
        cells: By cell, the token store.
        mix: None before the step mix.
        manifest: None before the step manifest.
    """

    recipe: Recipe
    books: dict[str, Books]
    sources: dict[str, SourceFacts]
    measured: dict[str, int]
    dropped: dict[str, dict[str, int]]
    broken: dict[str, int]
    only: dict[str, int]
    cells: dict[str, CellFacts]
    cuts: dict[str, dict[str, int]] = field(default_factory=dict)
    mix: Plan | None = None
    manifest: Manifest | None = None

    @property
    def stored(self) -> dict[str, CellFacts]:
        """By language, the token store."""
        languages: dict[str, CellFacts] = {}
        for name, cell in self.cells.items():
            languages.setdefault(language_of(name), CellFacts()).add(cell.documents, cell.tokens, cell.bytes)
        return languages


def language_of(cell: str) -> str:
    """
    >>> language_of("ita_Latn.web")
    'ita_Latn'
    """
    return cell.partition(".")[0]


def evidence(ledger: Ledger) -> str:
    """A fingerprint of everything that the page may show."""
    return fingerprint([_evidence(ledger.receipts(step).values()) for step in STEPS])


def _evidence(receipts: Iterable[Receipt]) -> list[object]:
    return [
        [r.step, r.unit, r.digests, r.facts, r.books.records, r.books.kept]
        + [dict(sorted(reasons.items())) for reasons in (r.books.dropped, r.books.skipped, r.books.quarantined)]
        for r in receipts
    ]


def gather(ledger: Ledger, recipe: Recipe) -> Facts:
    """Sum up the receipts of a run; steps that it lacks are absent from the facts."""
    receipts = {step: ledger.receipts(step) for step in STEPS}
    facts = Facts(
        recipe,
        books={step: _total(found.values()) for step, found in receipts.items() if found},
        sources=_sources(recipe, receipts["extract"].values()),
        measured={},
        dropped={},
        broken={},
        only={},
        cells={},
    )
    for receipt in receipts["measure"].values():
        _add(facts.measured, receipt.facts["languages"])
        for reason, counts in receipt.facts.get("cuts", {}).items():
            _add(facts.cuts.setdefault(reason, {}), counts)
    for receipt in receipts["judge"].values():
        _add(facts.broken, receipt.facts.get("broken", {}))
        _add(facts.only, receipt.facts.get("only", {}))
    for receipt in receipts["cut"].values():
        for language, reasons in receipt.facts.get("dropped", {}).items():
            _add(facts.dropped.setdefault(language, {}), reasons)
    for receipt in receipts["tokenize"].values():
        for name, cell in receipt.facts["cells"].items():
            facts.cells.setdefault(name, CellFacts()).add(cell["documents"], cell["tokens"], cell["bytes"])
    if receipts["mix"]:
        facts.mix = Plan.from_json(json.loads(Path(ledger.out, "mix.json").read_bytes()))
    if receipts["manifest"]:
        facts.manifest = Manifest.load(ledger.out / "shards" / MANIFEST)
    return facts


def _add(counts: dict[str, int], others: dict[str, int]) -> None:
    for name, count in others.items():
        counts[name] = counts.get(name, 0) + count


def _total(receipts: Iterable[Receipt]) -> Books:
    books = Books()
    for receipt in receipts:
        books.add(receipt.books)
    return books


def _sources(recipe: Recipe, receipts: Iterable[Receipt]) -> dict[str, SourceFacts]:
    found = {source.name: SourceFacts() for source in recipe.sources}
    for receipt in receipts:
        stamped = [stamp.path.partition(":") for stamp in receipt.inputs]
        source = found.setdefault(stamped[0][0] if stamped else "", SourceFacts())
        source.files.update(name for _, _, name in stamped)
        source.bytes_in += receipt.bytes_in
        source.books.add(receipt.books)
    return found
