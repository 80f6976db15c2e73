"""Who stays of documents that are alike, who goes and of whom: whatever the order, the files and the parts."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from glotmill.curate.dedup.bands import best_bands, chosen_bands, found_probability
from glotmill.curate.dedup.shingles import Shingling, shingles
from glotmill.curate.dedup.spark import connected
from glotmill.curate.kernels.forest import components
from glotmill.schemas.errors import RecipeError
from tests.curate.dedup_in_process import found, rows

WORDS = [f"w{i}" for i in range(4000)]


def text(seed: int, n: int = 120) -> list[str]:
    return list(np.random.default_rng(seed).choice(WORDS, n))


def edited(words: list[str], share: float, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    return [f"x{seed}.{i}" if random.random() < share else word for i, word in enumerate(words)]


def jaccard(left: str, right: str) -> float:
    hashes, bounds = shingles(pa.array([left, right]), Shingling())
    one, other = (set(hashes[bounds[i] : bounds[i + 1]].tolist()) for i in range(2))
    return len(one & other) / len(one | other) if one | other else 1.0


@pytest.fixture
def twins(tmp_path: Path) -> Any:
    def ask(documents: list[dict[str, Any]], **asked: Any) -> dict[int, int | None]:
        table = found(tmp_path / "out", documents, **asked)
        return {number: None if row["keep"] else int(row["twin"], 16) for number, row in table.items()}

    return ask


SAME = ["One text", "one  text", "ONE TEXT", "another text"]


def test_equal_texts_leave_one_and_name_it(tmp_path: Path) -> None:
    table = found(tmp_path, rows(SAME), keep=())
    (kept,) = {n for n in range(3) if table[n]["keep"]}
    for n in {0, 1, 2} - {kept}:
        row = table[n]
        assert (int(row["twin"], 16), row["similarity"], row["kind"], row["measured"]) == (kept, 1.0, "exact", "text")
    assert {table[n]["cluster_size"] for n in range(3)} == {3} and {int(table[n]["cluster"], 16) for n in range(3)} == {
        kept
    }
    assert (table[3]["keep"], table[3]["kind"], table[3]["cluster"], table[3]["cluster_size"]) == (True, None, None, 1)


@pytest.mark.parametrize(
    ("asked", "keeper"),
    [
        pytest.param({"keep": ("longest",)}, 1, id="longest"),
        pytest.param({"keep": ("shortest",)}, 0, id="shortest"),
        pytest.param({"keep": ("source_priority", "longest")}, 2, id="trusted source"),
        pytest.param({"keep": ("quality",)}, 3, id="widest margin"),
        pytest.param({"keep": ("newest",)}, 2, id="newest"),
        pytest.param({"keep": ("oldest",)}, 1, id="oldest"),
    ],
)
def test_the_policy_says_who_stays(twins: Any, asked: Any, keeper: int) -> None:
    documents = rows(["a b c", "a  b     c", "A b  c", "a b  C"])
    documents[2]["source"] = "law"
    documents[3]["margin"] = 0.5
    for document, date in zip(documents, ["2020", "2019-05-01T10:00", "2024-02", None], strict=True):
        document["date"] = date
    assert twins(documents, **asked) == {n: None if n == keeper else keeper for n in range(4)}


def test_near_duplicates_go_and_name_the_similarity(tmp_path: Path) -> None:
    base = text(1)
    near = " ".join([*base[:60], "new", *base[60:]])
    table = found(tmp_path, rows([" ".join(base), near, " ".join(text(2))]), keep=("shortest",))
    assert [table[n]["keep"] for n in range(3)] == [True, False, True]
    row = table[1]
    assert row["kind"] == "fuzzy" and row["cluster_size"] == 2
    assert abs(row["similarity"] - jaccard(" ".join(base), near)) < 0.1


def test_a_chain_doesn_t_drift(tmp_path: Path) -> None:
    """Each like the next at about .92, the first and the last not at all."""
    words = text(3, 220)
    chain = [" ".join(words[i * 4 : i * 4 + 100]) for i in range(30)]
    table = found(tmp_path, rows(chain), keep=())
    assert sum(row["keep"] for row in table.values()) > 2
    for number, row in table.items():
        if not row["keep"]:
            assert jaccard(chain[number], chain[int(row["twin"], 16)]) >= 0.75


@pytest.mark.parametrize("shortest", ["", "word", "two words", "..."])
def test_short_documents_go_only_for_equal_ones(twins: Any, shortest: str) -> None:
    got = twins(rows([shortest, shortest, shortest + " more", "quite another"]), keep=())
    assert sum(twin is not None for twin in got.values()) == 1 and got[2] is None and got[3] is None


def test_numbers_count_unless_masked(tmp_path: Path) -> None:
    pages = [f"Item {n} costs {n} euro and has {n} parts in {n} boxes" for n in range(20)]
    assert all(row["keep"] for row in found(tmp_path / "a", rows(pages)).values())
    masked = found(tmp_path / "b", rows(pages), digits="mask")
    assert sum(row["keep"] for row in masked.values()) == 1


def test_marks_count(twins: Any) -> None:
    assert set(twins(rows(["कुल", "कूल", "ที่", "ทิ", "mà", "má"])).values()) == {None}


@pytest.mark.parametrize(("scope", "gone"), [("all", 3), ("language", 2), ("source", 2)])
def test_twins_are_sought_within_the_scope(twins: Any, scope: str, gone: int) -> None:
    documents = rows([" ".join(text(5))] * 4)
    for place in (0, 1):
        documents[place] |= {"language": "ita_Latn", "source": "law"}
    assert sum(twin is not None for twin in twins(documents, scope=scope).values()) == gone


def test_documents_of_reference_sources_never_go(twins: Any) -> None:
    near = [" ".join(edited(text(6), 0.005, seed)) for seed in range(6)]
    documents = rows(near)
    for place in (4, 5):
        documents[place]["source"] = "law"
    got = twins(documents, reference=("law",))
    assert got[4] is None and got[5] is None and all(got[n] in (4, 5) for n in range(4))


def test_compared_with_reference_alone_others_may_repeat_one_another(twins: Any) -> None:
    one, other = " ".join(text(7)), " ".join(text(8))
    documents = rows([one, one, other, other, other])
    documents[4]["source"] = "law"
    got = twins(documents, reference=("law",), compare="index")
    assert got == {0: None, 1: None, 2: 4, 3: 4, 4: None}


def test_addresses_make_duplicates_when_asked(tmp_path: Path) -> None:
    documents = rows([" ".join(text(seed)) for seed in range(4)])
    urls = ["http://www.A.org/x/", "https://a.org/x#top", "https://a.org/X", None]
    for document, url in zip(documents, urls, strict=True):
        document["url"] = url
    table = found(tmp_path, documents, exact="url")
    assert [table[n]["keep"] for n in range(4)].count(False) == 1 and table[2]["keep"] and table[3]["keep"]
    (row,) = (row for row in table.values() if not row["keep"])
    assert (row["similarity"], row["measured"], row["kind"]) == (None, "url", "exact")


EDITS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([0.0, 0.005, 0.02, 0.05]), st.integers(0, 3)), max_size=14
)


@settings(max_examples=40, deadline=None)
@given(EDITS, st.integers(1, 4), st.integers(1, 3))
def test_the_invariants_hold_and_nothing_depends_on_files_parts_or_order(
    made: list[tuple[int, float, int]], files: int, parts: int
) -> None:
    texts = [" ".join(edited(text(base, 60), share, seed)) for base, share, seed in made]
    documents = rows(texts)
    with tempfile.TemporaryDirectory() as folder:
        table = found(Path(folder) / "a", documents, files=files, parts=parts)
        again = found(Path(folder) / "b", documents[::-1], files=1, parts=1)
    assert table == again
    for number, row in table.items():
        if not row["keep"]:
            twin = int(row["twin"], 16)
            assert table[twin]["keep"] and row["similarity"] >= 0.75 and row["cluster"] == row["twin"]
            assert jaccard(texts[number], texts[twin]) >= 0.75 - 0.13  # what a signature may be wrong by
            assert row["cluster_size"] == table[twin]["cluster_size"]
    kept = [number for number, row in table.items() if row["keep"]]
    for one in kept:
        for other in kept:
            if one < other:
                assert jaccard(texts[one], texts[other]) < 0.95  # such a pair is found but once in 10^8
    sizes = [row["cluster_size"] for row in table.values() if row["keep"]]
    assert sum(sizes) == len(texts)


@given(st.lists(st.tuples(st.integers(-5, 60), st.integers(-5, 60)), max_size=80))
def test_components_are_what_a_search_finds(edges: list[tuple[int, int]]) -> None:
    nodes, roots = components(*(np.array([e[i] for e in edges], np.int64) for i in range(2)))
    assert dict(zip(nodes.tolist(), roots.tolist(), strict=True)) == searched(edges)


def searched(edges: list[tuple[int, int]]) -> dict[int, int]:
    near: dict[int, set[int]] = {}
    for a, b in edges:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    out: dict[int, int] = {}
    for start in sorted(near):
        stack = [start] if start not in out else []
        while stack:
            node = stack.pop()
            if node not in out:
                out[node] = start
                stack.extend(near[node])
    return out


def test_stars_in_data_frames_find_the_components_of_a_search(spark: SparkSession) -> None:
    random = np.random.default_rng(4)
    edges = [(i, i + 1) for i in range(200)] + random.integers(300, 900, (400, 2)).tolist()
    rows_ = connected(spark.createDataFrame(pa.table({"node": [e[0] for e in edges], "root": [e[1] for e in edges]})))
    wanted = searched([(a, b) for a, b in edges if a != b])
    assert {row["node"]: row["root"] for row in rows_.toArrow().to_pylist()} == wanted


@pytest.mark.parametrize("similarity", [0.7, 0.75, 0.8, 0.9])
def test_the_chosen_bands_find_what_is_a_little_more_similar(similarity: float) -> None:
    bands, rows_ = best_bands(similarity, 128)
    assert bands * rows_ <= 128 and found_probability(similarity + 0.05, bands, rows_) > 0.97


def test_bands_that_don_t_fit_are_an_error() -> None:
    assert chosen_bands(0.8, 112, 14, None) == (14, 8) and chosen_bands(0.8, 112, None, 8) == (14, 8)
    with pytest.raises(RecipeError, match="20 bands of 8 rows need 160 permutations, there are 128"):
        chosen_bands(0.8, 128, 20, 8)
