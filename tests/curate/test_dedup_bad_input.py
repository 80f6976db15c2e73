"""Corpora that break deduplication elsewhere: one huge bucket, a long chain, huge documents, all alike, none alike."""

from pathlib import Path
from typing import Any

import pytest

from glotmill.curate.blocks.packed import Kinds
from glotmill.curate.dedup import stages
from tests.curate.dedup_in_process import found, rows
from tests.curate.test_duplicates import edited, jaccard, text

BOILERPLATE = text(1, 400)


def told(table: dict[int, dict[str, Any]]) -> dict[int, int]:
    """The twin of each removed document."""
    return {n: int(row["twin"], 16) for n, row in table.items() if not row["keep"]}


def assert_rightly_gone(table: dict[int, dict[str, Any]], texts: list[str], least: float) -> None:
    """Every removed document has a kept twin to which it is as similar as asked."""
    for n, twin in told(table).items():
        assert table[twin]["keep"]
        assert jaccard(texts[n], texts[twin]) >= least, (n, twin)


def boilerplate(own: int) -> list[str]:
    """600 pages of one site of which so many words of 500 are each one's own, and 1,400 others."""
    site = [" ".join(BOILERPLATE[: 500 - own] + text(100 + n, own)) for n in range(600)]
    return site + [" ".join(text(1000 + n, 60)) for n in range(1400)]


def test_a_bucket_with_a_third_of_the_corpus_costs_no_others(tmp_path: Path) -> None:
    texts = boilerplate(own=100)  # two of them share 396 of 596 runs: .66
    table = found(tmp_path, rows(texts))
    assert_rightly_gone(table, texts, 0.75)
    assert all(table[n]["keep"] for n in range(600, 2000))
    assert len(told(table)) == 0


def test_of_a_bucket_with_a_third_of_the_corpus_one_stays_where_all_are_alike(tmp_path: Path) -> None:
    texts = boilerplate(own=100)
    texts[:600] = [" ".join(BOILERPLATE + text(100 + n, 20)) for n in range(600)]  # .90
    table = found(tmp_path, rows(texts))
    twins = told(table)
    assert len(twins) == 599 and len(set(twins.values())) == 1
    assert {row["cluster_size"] for n, row in table.items() if n < 600} == {600}
    assert_rightly_gone(table, texts, 0.75)


def test_a_bucket_is_compared_with_so_many_that_stay_and_the_full_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: dict[str, int] = {}
    decide = stages.decide

    def noted(*args: Any, **kwargs: Any) -> Any:
        for block in decide(*args, **kwargs):
            yield block
            if stages.COUNTS in block["kind"].to_pylist():
                counts.update(stages.total(_kinds(block)))

    monkeypatch.setattr(stages, "decide", noted)
    monkeypatch.setattr(stages, "BUCKET", 16)
    texts = boilerplate(own=100)
    table = found(tmp_path, rows(texts), parts=1)
    assert_rightly_gone(table, texts, 0.75)
    assert counts["full_buckets"] > 0 and counts["most_kept_in_a_bucket"] > 16
    assert counts["compared"] < 600 * 18 * 16


def _kinds(block: Any) -> Kinds:
    kinds = Kinds()
    for kind, data in zip(block["kind"].to_pylist(), block["data"], strict=True):
        kinds.add(kind, data.as_buffer())
    return kinds


def test_a_chain_of_a_thousand_keeps_as_many_as_differ(tmp_path: Path) -> None:
    window = text(6, 200 + 8 * 1000)
    chain = [" ".join(window[8 * n : 8 * n + 200]) for n in range(1000)]  # .92 like the next, .44 like the tenth
    assert 0.91 < jaccard(chain[0], chain[1]) < 0.93
    table = found(tmp_path, rows(chain), files=3, parts=3)
    assert_rightly_gone(table, chain, 0.75)
    assert 200 < 1000 - len(told(table)) < 500
    kept = [n for n, row in table.items() if row["keep"]]
    assert all(jaccard(chain[a], chain[b]) < 0.8 for a, b in zip(kept, kept[1:], strict=False))


def test_documents_of_ten_megabytes_are_compared_like_others(tmp_path: Path) -> None:
    long = [" ".join(text(7, 2_000_000)), " ".join(text(8, 2_000_000))]
    words = long[0].split(" ")
    near = " ".join(words[:1_000_000] + ["more"] + words[1_000_050:])
    assert len(long[0]) > 9_500_000
    table = found(tmp_path, rows([*long, near, " ".join(words[:50])]), keep=("longest",))
    assert told(table) == {2: 0}
    assert table[2]["similarity"] == pytest.approx(jaccard(long[0], near), abs=0.12)


def test_of_twenty_thousand_identical_documents_one_stays(tmp_path: Path) -> None:
    table = found(tmp_path, rows([" ".join(text(9))] * 20_000), files=4, parts=3)
    kept = [row for row in table.values() if row["keep"]]
    assert [row["cluster_size"] for row in kept] == [20_000]
    assert {row["twin"] for row in table.values() if not row["keep"]} == {kept[0]["id"]}


def test_of_documents_of_which_none_is_like_another_all_stay(tmp_path: Path) -> None:
    table = found(tmp_path, rows(" ".join(text(n, 40)) for n in range(3000)), files=3, parts=3)
    assert all(row["keep"] and row["cluster_size"] == 1 and row["twin"] is None for row in table.values())


@pytest.mark.parametrize("shortest", ["", " \n ", "word", "語", "❦"])
def test_documents_without_or_with_one_word_go_for_equal_ones_alone(tmp_path: Path, shortest: str) -> None:
    near = " ".join(edited(text(3), 0.01, 4))
    table = found(tmp_path, rows([shortest, shortest, f"{shortest}x", " ".join(text(3)), near, ""]))
    twins = told(table)
    expected = 3 if shortest.strip() == "" else 2  # the last one is as empty
    assert len(twins) == expected and table[2]["keep"]
