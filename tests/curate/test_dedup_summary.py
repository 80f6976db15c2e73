"""What a run says of its duplicates: sums of its files' receipts, and the largest clusters wherever they lie."""

import random
import re
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.blocks.packed import spread
from glotmill.curate.dedup import guard, stages, summary
from glotmill.curate.dedup.excerpts import Excerpt, one_line
from glotmill.curate.dedup.summary import Cluster, Member, Summary, gather
from glotmill.curate.dedup.summary_text import brief, table
from glotmill.curate.dedup.write import largest_clusters
from glotmill.schemas.document import DEDUP
from glotmill.schemas.ledger import Receipt
from glotmill.schemas.recipe import Dedup
from glotmill.schemas.units import Books


def receipt(unit: str, facts: dict[str, Any], books: Books | None = None) -> Receipt:
    books = books or Books()
    return Receipt("dedup", unit, unit, "f", (), (), books, {"dedup": unit}, 0, facts, 0.0)


def facts(**told: Any) -> dict[str, Any]:
    return {"documents": {}, "cluster_sizes": {}, "largest_clusters": [], "run": {}} | told


# A cluster: documents that go, as (similarity or None, file).
CLUSTERS = st.lists(
    st.lists(st.tuples(st.sampled_from([0.75, 0.8, 1.0, None]), st.integers(0, 2)), min_size=1, max_size=4), max_size=25
)


def row(id: int, **told: Any) -> dict[str, Any]:
    return dict.fromkeys(DEDUP.names) | {"id": f"{id:032x}"} | told


@given(CLUSTERS, st.integers(0, 2))
def test_the_largest_clusters_of_a_run_are_found_in_the_facts_of_its_files(clusters: Any, home: int) -> None:
    files: list[list[dict[str, Any]]] = [[], [], []]
    for number, members in enumerate(clusters):
        about = {"cluster": f"{100 * number:032x}", "cluster_size": len(members) + 1}
        files[(number + home) % 3].append(row(100 * number, keep=True, **about))
        for place, (similarity, file) in enumerate(members, 1):
            gone = {"keep": False, "similarity": similarity, "measured": "text"}
            files[file].append(row(100 * number + place, **gone, **about))
    receipts = {}
    for number, rows in enumerate(files):
        told = largest_clusters(pa.Table.from_pylist(rows, schema=DEDUP))
        assert len(told) <= summary.LARGEST and all(len(of["removed"]) <= summary.EXAMPLES for of in told)
        receipts[f"u{number}"] = receipt(f"u{number}", facts(largest_clusters=told))
    ranked = sorted(enumerate(clusters), key=lambda item: (-len(item[1]), item[0]))[: summary.LARGEST]
    for found, (number, members) in zip(gather(receipts).clusters, ranked, strict=True):
        alike = sorted((2.0 if s is None else s, place) for place, (s, _) in enumerate(members, 1))
        assert (int(found.id, 16), found.size) == (100 * number, len(members) + 1)
        assert [int(member.id, 16) - 100 * number for member in found.removed] == [place for _, place in alike[:2]]


@given(CLUSTERS, st.integers(0, 10**6))
def test_the_guard_shows_the_same_clusters_however_they_are_shuffled(clusters: Any, seed: int) -> None:
    rows, kept = [], []
    for number, members in enumerate(clusters):
        kept.append({"node": 100 * number, "size": len(members) + 1, "how": 1})
        for place, (similarity, _) in enumerate(members, 1):
            gone = {"node": 100 * number + place, "twin": 100 * number, "twin_high": 0, "twin_low": 0}
            rows.append({**gone, "similarity": similarity or 1.0, "how": 1, "size": len(members) + 1})
    random.Random(seed).shuffle(rows)
    blocks: list[list[pa.RecordBatch]] = []
    for records, schema, kind in ((rows, stages.GONE, stages.FATE), (kept, stages.STAYS, stages.LEADER)):
        batch = pa.RecordBatch.from_pylist(records, schema=schema)
        parts = np.random.default_rng(seed).integers(0, 3, len(records))
        blocks.append(list(spread(batch, parts, kind)))
    batches = list(guard.candidates(batch for part in blocks for batch in part))
    found = guard.largest(pa.Table.from_batches(batches, schema=guard.CANDIDATE))
    ranked = sorted(enumerate(clusters), key=lambda item: (-len(item[1]), item[0]))[: guard.LARGEST]
    for group, (number, members) in zip(found, ranked, strict=True):
        alike = sorted((s or 1.0, place) for place, (s, _) in enumerate(members, 1))[: guard.EXAMPLES]
        assert (group.twin, group.size) == (100 * number, len(members) + 1)
        assert [(node - 100 * number, similarity) for node, similarity, _ in group.removed] == [
            (place, similarity) for similarity, place in alike
        ]


def a_summary(languages: int = 2) -> Summary:
    documents = {f"q{n:02}_Latn": {"law": [3, 1], "web": [2, 2]} for n in range(languages)}
    kept = Excerpt("a" * 32, "law", "x.jsonl@0", None, "ita_Latn", "The\nfirst \x1b[2Jone " + "long " * 40)
    members = (Member("b" * 32, "signature", 0.8125, kept), Member("c" * 32, "url", None))
    run = {"compared": 7, "compared_exactly": 2, "below_similarity": 1, "buckets": 9, "largest_bucket": 17}
    run |= {"buckets_from_16": 1, "buckets_from_256": 0, "full_buckets": 0, "components": 3, "largest_component": 1}
    told = facts(documents=documents, cluster_sizes={"1": 2, "3": 1, "4": 2, "1000": 1}, run=run)
    books = Books(5 * languages, 2 * languages, {"exact_duplicate": 2 * languages, "fuzzy_duplicate": languages})
    found = gather({"a": receipt("a", told, books), "b": receipt("b", facts(cluster_sizes={"3": 1}))})
    clusters = (Cluster("a" * 32, 1000, kept, members), Cluster("d" * 32, 4, None, ()))
    return Summary(**{name: getattr(found, name) for name in found.__dataclass_fields__} | {"clusters": clusters})


def test_the_table_says_every_count() -> None:
    text = table(a_summary())
    squeezed = re.sub("\n? +", lambda space: "\n" if "\n" in space[0] else " ", text)
    for line in (
        "removed 6 60.0%",
        "exact 4 40.0%",
        "pairs compared 7",
        "by shingles 2 the others by signature",
        "too different 1 in a bucket together, below dedup.similarity",
        "buckets 9 of two documents or more; the largest holds 17",
        "16 or more 1",
        "components 3 the largest of 1 document",
        "language documents removed share",
        "q00_Latn 5 3 60.0%",
        "law 6 2 33.3%",
        "1 2 2",
        "3-4 4 14",
        "1000+ 1 1,000",
        "1,000 documents",
        "0.81 signature The first [2Jone long",
        "url [cccccccc",
        "kept [in no file of this run]",
    ):
        assert f"\n{line}" in squeezed, line
    assert "256 or more" not in text and "and " not in text and "\x1b" not in text


def test_many_languages_end_in_the_sum_of_the_rest() -> None:
    text = table(a_summary(18))
    assert "q14_Latn" in text and "q15_Latn" not in text
    assert "\nand 3 more: 15 documents, 9 removed, 60.0%\n" in text


def test_the_short_form_has_three_lines() -> None:
    first, second, third = brief(a_summary()).splitlines()
    assert first == "duplicates: 6 of 10 documents removed, 60.0% (exact 4, 40.0%; fuzzy 2, 20.0%)"
    assert second.strip() == "7 pairs compared, 2 of them by shingles; 1 too different; largest bucket 17"
    assert third.strip() == "5 clusters, the largest of 1,000 documents: see dedup.json"


@pytest.mark.parametrize("of", [a_summary(), gather({})], ids=["some", "empty"])
def test_a_summary_reads_back_from_its_json_and_has_a_table(of: Summary) -> None:
    assert Summary.from_json(of.to_json()) == of
    assert table(of) and len(brief(of).splitlines()) == 3


@pytest.mark.parametrize("order", [("a", "b", "c"), ("c", "a", "b")], ids=str)
def test_the_order_of_files_changes_no_sum(order: tuple[str, ...]) -> None:
    files = {
        name: receipt(name, facts(documents={"ita_Latn": {name: [n, 1]}}, cluster_sizes={"2": n}), Books(n, n))
        for n, name in enumerate("abc", 1)
    }
    found = gather({name: files[name] for name in order})
    assert (found.documents, found.languages, found.sizes) == (6, {"ita_Latn": (6, 3)}, {2: 6})
    assert list(found.sources) == ["c", "b", "a"]


@given(st.text(), st.integers(2, 100))
def test_a_line_for_a_terminal_holds_nothing_that_it_obeys(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line) <= most and len(line.splitlines()) <= 1
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2066\u200f" for c in line)
    line.encode()


@pytest.mark.parametrize(
    ("asked", "counts", "stops"),
    [
        pytest.param({}, {"removed": 11, "removed_fuzzy": 3}, True, id="more"),
        pytest.param({}, {"removed": 10, "removed_fuzzy": 3}, False, id="just as much"),
        pytest.param({}, {}, False, id="nothing was compared"),
        pytest.param({"digits": "mask", "verify": "none"}, {"removed": 50, "removed_fuzzy": 3}, True, id="masked"),
    ],
)
def test_the_guard_stops_what_removes_more_than_its_share(
    asked: dict[str, Any], counts: dict[str, int], stops: bool
) -> None:
    samples = Mock(return_value=[])
    said = guard.message(Dedup(**asked), 0.1, 100, counts, samples)
    assert (said is not None) == stops == samples.called  # nothing is read without need
    if said:
        assert f"remove {counts['removed']} of 100 documents" in said and "max_removed_share, 10.0%" in said
        assert f"(exact {counts['removed'] - 3}, " in said
        assert ("dedup.digits: keep" in said) == (asked.get("digits") == "mask")
        assert ("dedup.verify" in said) == ("verify" in asked)
