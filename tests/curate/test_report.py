"""The report says what the receipts say, reads as one sound page, and is the same page for the same run."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate import rules
from glotmill.curate.mix.plan import Plan
from glotmill.curate.mix.plan import Share as Part
from glotmill.curate.report import examples, facts, words
from glotmill.curate.report.markup import Column, Html, Share, Table, cut, element, escape, number, show
from glotmill.curate.report.page import page
from glotmill.curate.report.svg import Stage, bar, funnel
from glotmill.curate.signals import SIGNALS
from glotmill.jobs import pipeline
from glotmill.jobs.report_step import report_step
from glotmill.jobs.state import State
from glotmill.jobs.units import Desk
from glotmill.schemas.atomic import RangeStamp, Transaction
from glotmill.schemas.document import DEDUP, DOCUMENT, DROPPED, EDITS, QUARANTINE, VERDICT
from glotmill.schemas.ids import document_id
from glotmill.schemas.ledger import Ledger, do_unit
from glotmill.schemas.manifest import FileEntry, Manifest, ShardEntry, TokenizerEntry, Totals
from glotmill.schemas.recipe import Quality, Recipe
from glotmill.schemas.units import Books, Outcome, Unit

HOSTILE = '</code><script>alert("x")</script><img src=x onerror=y>&amp; \u202e\0 עברית'
RUN = "run"
VOID = {"meta", "rect", "polygon", "path", "img", "br"}


class Page(HTMLParser):
    """Elements as they nest; unbalanced tags are remembered."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.faults: list[str] = []
        self.feed(text)
        self.close()
        self.faults += self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


class Run:
    """An output folder made of the ledger's own receipts."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.ledger = Ledger(out)
        self.ledger.begin(RUN)

    def do(
        self, step: str, key: str, outcome: Outcome, tables: dict[str, pa.Table] | None = None, source: str = "web"
    ) -> None:
        stamps = (RangeStamp(f"{source}:{key}.jsonl", 10, 0, 0, 10, "0" * 32),) if step == "extract" else ()

        def work(unit: Unit, files: Transaction) -> tuple[Outcome, tuple[RangeStamp, ...]]:
            for path, table in (tables or {}).items():
                pq.write_table(table, files.path(path))
            return outcome, stamps

        do_unit(
            Unit(step, key, key),
            work,
            out=self.out,
            run=RUN,
            token=f"{step}-{key}",
            config=None,
            code="",
            clock=lambda: 0.0,
        )

    def page(self, recipe: Recipe) -> str:
        return page(facts.gather(self.ledger, recipe), examples.gather(self.ledger), rules.ruleset(recipe.quality))


def table(schema: pa.Schema, *rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist([dict.fromkeys(schema.names) | row for row in rows], schema=schema)


@pytest.fixture
def recipe() -> Recipe:
    sources = [{"name": "web", "path": "*.warc.gz"}, {"name": "code", "path": "*.jsonl", "domain": "code"}]
    rules = {"tha_Thai": {"short": "units < 30"}}
    asked = {"name": "synthetic", "seed": 5, "sources": sources, "quality": {"rules": rules}}
    return Recipe.model_validate_json(json.dumps(asked))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Two units: 20 records, 14 documents, 4 dropped by rules, 3 duplicates, 7 tokenized."""
    made = Run(tmp_path)
    _read(made)
    _curate(made)
    return made


def _read(made: Run) -> None:
    bad = [{"source": "web", "record": f"a#{n}", "reason": "invalid_json", "error": HOSTILE} for n in range(7)]
    quarantine = table(QUARANTINE, *(row | {"excerpt": b"\xff\x00<b>" + bytes(10)} for row in bad))
    texts = [(document_id("web", f"a#{n}"), f"a#{n}", f"text {n} {HOSTILE}") for n in range(14)]
    documents = table(
        DOCUMENT,
        *(
            {"id": i, "record": r, "text": t, "source": "web", "domain": "web", "charset_guessed": False}
            for i, r, t in texts
        ),
    )
    made.do(
        "extract",
        "a",
        Outcome(
            Books(22, 14, {}, {"request": 1}, {"invalid_json": 7}), {"documents": "d", "quarantine": "q"}, bytes_in=1000
        ),
        {"quarantine/a.parquet": quarantine, "documents/a.parquet": documents},
    )
    made.do("extract", "b", Outcome(Books(5, 0, {}, {"empty_text": 5}), bytes_in=50), source="code")


def _curate(made: Run) -> None:
    ids = sorted(document_id("web", f"a#{n}") for n in range(14))
    gone: list[dict[str, Any]] = [
        {"id": i, "source": "web", "record": "a#0", "language": "heb_Hebr", "domain": "web"} for i in ids[:7]
    ]
    for row in gone[:4]:
        row |= {"step": "judge", "reason": "short", "excerpt": f"short {row['id']} {HOSTILE}"}
    for row in gone[4:]:
        row |= {"step": "dedup", "reason": "exact_duplicate", "twin": ids[9], "similarity": 1.0, "excerpt": "same"}
    broken = {"reason": "short", "signal": "words", "comparison": "<", "value": 3.0, "limit": 20.0, "scope": "*"}
    verdicts = table(VERDICT, *({"id": i, "keep": n > 3, "reasons": [broken] * (n < 4)} for n, i in enumerate(ids)))
    sizes = [{"id": i, "keep": n > 6, "cluster_size": 4 if i == ids[9] else 1} for n, i in enumerate(ids) if n > 3]
    cuts = pa.array([[{"start": 0, "end": 5, "reason": "menu"}]] * 14, EDITS)
    found = {
        "documents": {"heb_Hebr": {"web": [10, 3]}},
        "cluster_sizes": {"1": 6, "4": 1},
        "largest_clusters": [
            {"cluster": ids[9], "size": 4, "kept": True, "removed": [[ids[4], "text", 1.0], [ids[5], "signature", 0.8]]}
        ],
        "run": {},
    }
    signals = pa.table(
        {"id": [document_id("web", f"a#{n}") for n in range(14)], "language": ["heb_Hebr"] * 14, "cuts": cuts}
    )
    measured = {
        "languages": {"heb_Hebr": 11, "tha_Thai": 3},
        "cuts": {"menu": {"lines": 5, "chars": 40}, "<old>": {"lines": 2, "chars": 9}},
    }
    made.do("measure", "a", Outcome(Books(14, 14), facts=measured), {"signals/a.parquet": signals})
    made.do("judge", "a", Outcome(Books(14, 10, {"short": 4})), {"verdicts/a.parquet": verdicts})
    books = Books(10, 7, {"exact_duplicate": 2, "fuzzy_duplicate": 1})
    made.do("dedup", "a", Outcome(books, facts=found), {"dedup/a.parquet": table(DEDUP, *sizes)})
    counts = {"dropped": {"heb_Hebr": {"short": 4, "exact_duplicate": 3}}}
    books = Books(14, 7, {"short": 4, "exact_duplicate": 3})
    made.do("cut", "a", Outcome(books, facts=counts), {"dropped/a.parquet": table(DROPPED, *gone)})


def deliver(made: Run, cells: dict[str, int]) -> None:
    """Tokenize, mix and shard so many tokens of each cell; five tokens a document, two bytes a token."""
    store = {name: {"documents": n // 5, "tokens": n, "bytes": 2 * n} for name, n in cells.items()}
    made.do("tokenize", "a", Outcome(facts={"cells": store}))
    parts = {name: Part(n // 5, n, n, whole=1, planned=n) for name, n in cells.items()}
    (made.out / "mix.json").write_text(json.dumps(Plan(5, None, 1.0, parts).to_json()))
    made.do("mix", "all", Outcome(Books(7, 7), {"mix": "m"}))
    tokens = sum(cells.values())
    files = [FileEntry(path=f"s-00000{end}", bytes=2 * tokens, xxh3_128="ab" * 16) for end in (".bin", ".idx", ".p")]
    shard = ShardEntry(
        name="s-00000", documents=tokens // 5, tokens=tokens, bin=files[0], idx=files[1], provenance=files[2]
    )
    by_language: dict[str, int] = {}
    for name, n in cells.items():
        by_language[facts.language_of(name)] = by_language.get(facts.language_of(name), 0) + n
    manifest = Manifest(
        recipe="synthetic",
        recipe_fingerprint="f" * 32,
        glotmill_version="0",
        seed=5,
        tokenizer=TokenizerEntry(
            name="t.model",
            kind="sentencepiece",
            path="tokenizer",
            fingerprint="e" * 32,
            vocabulary_size=600,
            bos_id=1,
            eos_id=2,
        ),
        dtype="uint16",
        append_eos=True,
        prepend_bos=False,
        shards=(shard,),
        totals=Totals(shards=1, documents=tokens // 5, tokens=tokens),
        tokens_by_cell=cells,
        tokens_by_language=by_language,
        tokens_by_domain={"web": tokens},
        tokens_by_source={"web": tokens},
        data_path="",
    )
    (made.out / "shards").mkdir()
    (made.out / "shards" / "manifest.json").write_bytes(manifest.to_json())
    made.do("manifest", "all", Outcome(digests={"manifest": "m"}))


def test_the_page_is_sound_html_that_needs_nothing_else(run: Run, recipe: Recipe) -> None:
    deliver(run, {"heb_Hebr.web": 1_000, "tha_Thai.web": 500})
    text = run.page(recipe)
    seen = Page(text)
    assert seen.faults == []
    assert not {"script", "link", "img", "iframe"} & set(seen.names)
    assert all(link.removeprefix("#") in seen.ids and link.startswith("#") for link in seen.links)
    assert len(seen.ids) == len(set(seen.ids))
    assert "@import" not in text and "url(" not in text


def test_text_of_the_data_is_never_markup(run: Run, recipe: Recipe) -> None:
    seen = Page(run.page(recipe))
    assert not {name for name, _ in seen.attributes} & {"onerror", "src"}
    assert "alert(" in seen.text and "\0" not in seen.text
    assert ("dir", "auto") in seen.attributes and ("lang", "he") in seen.attributes


def test_the_page_says_the_counts_of_the_receipts(run: Run, recipe: Recipe) -> None:
    deliver(run, {"heb_Hebr.web": 1_000, "tha_Thai.web": 500})
    text = Page(run.page(recipe)).text
    assert "27 records became 14 documents, 7 were kept: 1,500 tokens in 1 shard." in text
    assert "−6 skipped · −7 quarantined" in text and "−4 dropped by rules" in text and "−3 duplicates" in text
    assert "web 1 1,000 22 14 1 7 63.6%" in text and "code 1 50 5 0 5 0 0%" in text
    assert "menu 5 40" in text and "All 7 49" in text
    assert "short words < 20; domain code: words < 5; tha_Thai: units < 30 4 28.6%" in text
    assert (
        "words 3 < 20" in text
        and "3 of 10 documents that the rules kept (30.0%) repeat another one, in 1 group. " in text
    )
    assert "Hebrew עברית heb_Hebr 11 200" in text and "short 4" in text
    assert "end-of-document token 2 after every document" in text


def test_the_step_writes_the_page_under_a_receipt(run: Run, recipe: Recipe, tmp_path: Path) -> None:
    state = State(recipe, tmp_path, run.out)
    step = report_step(state)
    units = step.units(state)
    spark: Any = None  # the page is made in the driver
    step.act(spark, state, units, Desk(str(run.out), RUN, step.config, step.code))
    written = run.out / "report.html"
    assert written.read_text(encoding="utf-8") == run.page(recipe)
    receipt = run.ledger.receipts("report")["all"]
    assert [stamp.path for stamp in receipt.files] == ["report.html"] and run.ledger.outputs_hold(receipt)
    assert pipeline.pending(step, step.units(state), run.ledger, {}) == []
    run.do("mix", "all", Outcome(digests={"mix": "another"}))
    assert [due.unit for due in pipeline.pending(step, step.units(state), run.ledger, {})] == step.units(state)


@pytest.mark.parametrize(
    ("mode", "said"), [("off", "asked for no deduplication"), ("exact", "Twins were sought within each language only")]
)
def test_the_page_says_how_duplicates_were_sought(run: Run, recipe: Recipe, mode: str, said: str) -> None:
    dedup = recipe.dedup.model_copy(update={"mode": mode, "scope": "language"})
    assert said in Page(run.page(recipe.model_copy(update={"dedup": dedup}))).text


def test_examples_are_the_smallest_ids_and_few(run: Run) -> None:
    found = examples.gather(run.ledger)
    ids = sorted(document_id("web", f"a#{n}") for n in range(14))
    assert [row["id"] for row in found.dropped["short"]] == ids[:3]
    assert all(row["broken"][0]["limit"] == 20 for row in found.dropped["short"])
    assert [row["record"] for row in found.quarantined["invalid_json"]] == [f"a#{n}" for n in range(5)]
    (cluster,) = found.duplicates.clusters
    assert (found.duplicates.groups, cluster.id, cluster.size) == (1, ids[9], 4)
    shown = [cluster.kept, *(member.excerpt for member in cluster.removed)]
    assert [(e.id, e.language) for e in shown if e] == [(i, "heb_Hebr") for i in (ids[9], ids[5], ids[4])]


def test_the_same_run_gives_the_same_page_and_a_change_another_unit(run: Run, recipe: Recipe) -> None:
    assert run.page(recipe) == run.page(recipe)
    before = facts.evidence(run.ledger)
    assert before == facts.evidence(Ledger(run.out))
    run.do("cut", "z", Outcome(Books(1, 1)))
    assert facts.evidence(run.ledger) != before


@pytest.mark.parametrize("steps", [(), ("extract",), ("extract", "measure", "judge")], ids=len)
def test_a_run_that_stopped_early_has_a_page(tmp_path: Path, run: Run, recipe: Recipe, steps: tuple[str, ...]) -> None:
    for step in facts.STEPS:
        if step not in steps:
            run.ledger.forget(step, list(run.ledger.receipts(step)))
    seen = Page(run.page(recipe))
    assert seen.faults == []
    assert "no tokens yet" in seen.text and "100%" not in seen.text


def test_a_hundred_languages_and_a_thousand_cells_stay_readable_with_exact_totals(run: Run, recipe: Recipe) -> None:
    codes = [f"q{chr(97 + n // 26)}{chr(97 + n % 26)}_Latn" for n in range(150)]
    cells = {f"{code}.d{n}": 1_000 + 10 * n for code in codes for n in range(10)}
    deliver(run, cells)
    text = run.page(recipe)
    seen = Page(text)
    assert seen.faults == [] and len(text) < 400_000
    assert "and 1,400 more" in seen.text and "All 1,500 cells" in seen.text
    assert "and 32 more" in seen.text and "All 152 languages" in seen.text
    assert f"{sum(cells.values()):,} tokens in 1 shard" in seen.text


@given(st.text())
def test_escaped_text_reads_back(text: str) -> None:
    seen = Page(element("p", text, title=text))
    assert seen.names == ["p"] and seen.faults == []
    assert "".join(seen.words) == "".join(Page(f"<p>{escape(text)}</p>").words)
    escape(text).encode()


@given(st.text(), st.integers(1, 30))
def test_a_cut_text_is_one_line_no_longer_than_asked(text: str, most: int) -> None:
    line = cut(text, most)
    assert len(line) <= most and len(line.splitlines()) <= 1


@given(st.lists(st.integers(0, 10**12), max_size=30), st.integers(1, 10))
def test_a_long_table_sums_what_it_leaves_out(values: list[int], most: int) -> None:
    rows = [[f"row {n}", value] for n, value in enumerate(values)]
    text = Page(str(Table("t", [Column("a"), number("b")], rows, most=most))).text
    hidden = values[most:]
    assert (f"and {len(hidden):,} more {sum(hidden):,}" in text) == (len(hidden) > 1)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (1234567, "1,234,567"),
        (None, "–"),
        (0.5, "0.5"),
        ("<&>", "&lt;&amp;&gt;"),
        (Html("<b>"), "<b>"),
        (Share.of(0, 0), "0%"),
        (Share.of(1, 10**9), "&lt;0.1%"),
        (Share.of(10**9 - 1, 10**9), "&gt;99.9%"),
        (Share.of(1, 3), "33.3%"),
    ],
    ids=str,
)
def test_a_value_is_shown_as_people_write_it(value: Any, shown: str) -> None:
    assert show(value) == shown


@given(st.lists(st.integers(0, 10**15), min_size=1, max_size=6))
def test_no_bar_of_the_funnel_is_wider_than_the_first_of_a_falling_row(counts: list[int]) -> None:
    drawn = funnel([Stage(HOSTILE, count, (("lost", 1),)) for count in sorted(counts, reverse=True)], HOSTILE)
    assert Page(drawn).faults == [] and "nan" not in drawn
    assert 'width="100.00"' in bar(3, 3) and 'width="0.00"' in bar(0, 0) and 'width="0.60"' in bar(1, 10**9)


@pytest.mark.parametrize(
    ("language", "limits"),
    [
        pytest.param("ita_Latn", "language ita_Latn (7), all languages (14)", id="ita its own"),
        pytest.param("grn_Latn", "script Latn (7), all languages (14)", id="grn its script's"),
        pytest.param("vai_Vaii", "all languages", id="vai neither"),
        pytest.param(
            "tha_Thai", "none by choice (2), language tha_Thai (6), all languages (13)", id="tha own and script"
        ),
        pytest.param("nod_Thai", "none by choice (2), script Thai (5), all languages (14)", id="nod by script"),
    ],
)
def test_whose_limits_were_used_is_told(language: str, limits: str) -> None:
    ruleset = rules.ruleset(Quality(rules={"tha_Thai": {"short": "units < 30"}}))
    assert words.limits_used(ruleset, language) == limits


def test_every_signal_that_a_rule_may_read_is_explained() -> None:
    assert set(SIGNALS) <= words.meanings().keys()


def test_a_reason_with_many_limits_tells_how_many() -> None:
    told = words.rule_text(rules.ruleset(Quality()), "top_2_gram")
    assert re.fullmatch(
        r"top_2_gram_share > 0\.4; domain code: no limit; \d+ languages and \d+ scripts have .* own", told
    )
    few = rules.ruleset(Quality(preset="none", rules={"short": "words < 50", "Thai": {"short": "words < 30"}}))
    assert words.rule_text(few, "short") == "words < 50; Thai: words < 30"
