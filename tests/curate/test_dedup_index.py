"""What a run leaves out because an index holds it, and what index and corpus never hold together."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glotmill.curate.blocks.packed import Kinds
from glotmill.curate.dedup.index import files
from glotmill.curate.dedup.index.files import Known, bands_file, read_entries, signatures_file, write_band
from glotmill.curate.dedup.index.format import Generation, Index, pairs, read_index, write_index
from glotmill.curate.dedup.index.locks import changing, in_use, sweep
from glotmill.curate.dedup.index.parameters import check_parameters, parameters
from glotmill.curate.dedup.index.remove import remove_documents, remove_generations
from glotmill.curate.dedup.options import BUCKET, options
from glotmill.curate.kernels.minhash import band_keys, key_of
from glotmill.schemas.atomic import transaction
from glotmill.schemas.errors import InputError, RecipeError
from glotmill.schemas.recipe import Dedup
from glotmill.schemas.units import Unit
from tests.curate.dedup_in_process import SOURCES, added, found, rows
from tests.curate.test_duplicates import edited, jaccard, text

ENGLISH = [" ".join(text(seed, 60)) for seed in range(8)]
# By script: a text, and one near to it.
SCRIPTS = {
    "Latn": "Il mulino del paese macina ogni giorno il grano che i contadini portano dai campi vicini al fiume. " * 2,
    "Grek": "Ο μύλος του χωριού αλέθει κάθε μέρα το σιτάρι που φέρνουν οι αγρότες από τα χωράφια στο ποτάμι. " * 2,
    "Arab": "تطحن طاحونة القرية كل يوم القمح الذي يجلبه الفلاحون من الحقول القريبة من النهر إلى البيت القديم. " * 2,
    "Deva": "गाँव की चक्की हर दिन वह गेहूँ पीसती है जो किसान नदी के पास के खेतों से पुराने घर तक लाते हैं। " * 2,
    "Thai": "โรงสีของหมู่บ้านโม่ข้าวที่ชาวนานำมาจากทุ่งนาใกล้แม่น้ำทุกวันและส่งไปยังบ้านเก่าบนเนินเขา " * 2,
    "Jpan": "村の水車は毎日、農民たちが川の近くの畑から運んでくる小麦を挽き、丘の上の古い家へ送っている。" * 2,
    "Hang": "마을의 방앗간은 날마다 농부들이 강가의 밭에서 가져오는 밀을 빻아 언덕 위의 오래된 집으로 보낸다. " * 2,
    "Cyrl": "Деревенская мельница каждый день мелет пшеницу, которую крестьяне привозят с полей у реки к дому. " * 2,
}


class Snapshots:
    """Runs one after another that share an index."""

    def __init__(self, folder: Path, **asked: Any) -> None:
        self.folder, self.asked, self.number = folder, asked, 0
        self.index = Index(folder / "index")

    def run(self, documents: list[dict[str, Any]], *, add: bool = True, **asked: Any) -> dict[int, dict[str, Any]]:
        out = self.folder / f"out{self.number}"
        seen = (self.index, self.index.generations) if self.index.generations else None
        table = found(out, documents, index=seen, **{**self.asked, **asked})
        if add:
            self.index = added(self.folder / "index", out, f"g{self.number}", **self.asked)
        self.number += 1
        return table


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path)


@pytest.mark.parametrize("script", SCRIPTS)
def test_all_copies_of_an_indexed_document_go_and_name_it(snapshots: Snapshots, script: str) -> None:
    indexed = rows(["something else", SCRIPTS[script]])
    assert all(row["keep"] for row in snapshots.run(indexed).values())
    copies = rows([SCRIPTS[script]] * 3 + [f"  {SCRIPTS[script].upper()}", SCRIPTS[script] + "!"])
    for row in snapshots.run(copies).values():
        assert (row["keep"], row["twin"], row["index"]) == (False, indexed[1]["id"], "g0")
        assert row["similarity"] >= 0.75 and row["cluster"] == row["twin"] and row["cluster_size"] == 6


def test_near_copies_go_by_what_their_signatures_say(snapshots: Snapshots) -> None:
    snapshots.run(rows(ENGLISH))
    near = [f"{text[: len(text) // 2]} new {text[len(text) // 2 :]}" for text in ENGLISH]
    table = snapshots.run(rows(near), verify="exact")
    for number, row in table.items():
        assert (row["keep"], int(row["twin"], 16), row["measured"]) == (False, number, "signature")
        assert abs(row["similarity"] - jaccard(near[number], ENGLISH[number])) < 0.15


@pytest.mark.parametrize("short", ["", "word", "two words", "二つ"])
def test_short_documents_are_found_by_their_text(snapshots: Snapshots, short: str) -> None:
    snapshots.run(rows([short]))
    table = snapshots.run(rows([short, short, short + " x"]))
    assert [table[n]["keep"] for n in range(3)] == [False, False, True]
    assert table[0]["index"] == "g0" and table[0]["measured"] == "text"


@pytest.mark.parametrize("keep", ["longest", "newest", "source_priority"])
def test_no_policy_displaces_what_is_indexed(snapshots: Snapshots, keep: str) -> None:
    snapshots.run(rows([ENGLISH[0]], date="1999"))
    table = snapshots.run(rows([ENGLISH[0] + " more"], date="2020", source="law"), keep=(keep,))
    assert not table[0]["keep"] and table[0]["index"] == "g0"


def test_entries_that_are_alike_all_stay(snapshots: Snapshots) -> None:
    both = [ENGLISH[0], f"new {ENGLISH[0]}"]
    snapshots.run(rows(both), compare="index")
    assert snapshots.index.generations[0].entries == 2
    table = snapshots.run(rows([*both, *both]))
    assert {n: int(row["twin"], 16) for n, row in table.items()} == {0: 0, 1: 1, 2: 0, 3: 1}


def test_within_a_run_twins_are_those_of_the_run(snapshots: Snapshots) -> None:
    snapshots.run(rows([ENGLISH[0]]))
    table = snapshots.run(rows([ENGLISH[0], ENGLISH[1], ENGLISH[1]]), keep=())
    assert [row["index"] for row in table.values() if not row["keep"]].count(None) == 1
    assert sum(row["keep"] for row in table.values()) == 1


def test_compared_with_the_index_alone_documents_may_repeat_one_another(snapshots: Snapshots) -> None:
    snapshots.run(rows([ENGLISH[0]]))
    table = snapshots.run(rows([ENGLISH[0], ENGLISH[0], ENGLISH[1], ENGLISH[1]]), compare="index")
    assert [table[n]["keep"] for n in range(4)] == [False, False, True, True]
    assert [table[n]["cluster_size"] for n in range(4)] == [3, 3, 1, 1]


@pytest.mark.parametrize(("scope", "gone"), [("all", 2), ("language", 1), ("source", 1)])
def test_entries_of_another_scope_are_no_twins(tmp_path: Path, scope: str, gone: int) -> None:
    snapshots = Snapshots(tmp_path, scope=scope)
    snapshots.run(rows([ENGLISH[0], "short"]))
    same, other = rows([ENGLISH[0]]), rows(["short"], language="ita_Latn", source="law")
    other[0]["id"] = f"{1:032x}"
    table = snapshots.run(same + other)
    assert sum(not row["keep"] for row in table.values()) == gone


def test_addresses_are_found_in_the_index(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path, exact="url")
    snapshots.run(rows([ENGLISH[0]], url="http://www.A.org/x/") + rows(["w"], url="http://b.org/1", id="f" * 32))
    documents = rows([ENGLISH[1], ENGLISH[2], ENGLISH[0], "w"])
    for document, url in zip(documents, ["https://a.org/x", "https://a.org/y", None, "http://b.org/2"], strict=True):
        document["url"] = url
    table = snapshots.run(documents)
    assert (table[0]["keep"], table[0]["measured"], table[0]["similarity"]) == (False, "url", None)
    assert table[1]["keep"] and table[3]["keep"]
    assert (table[2]["keep"], table[2]["measured"], table[2]["similarity"]) == (False, "text", 1.0)


def test_exact_runs_share_an_index_without_signatures(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path, mode="exact")
    snapshots.run(rows(ENGLISH))
    entries = pq.read_table(tmp_path / "index" / "generations" / "g0" / signatures_file("f0"))
    assert "minhash" not in entries.schema.names
    table = snapshots.run(rows([ENGLISH[3].upper(), ENGLISH[3] + " more", ENGLISH[3]]))
    assert [table[n]["keep"] for n in range(3)] == [False, True, False]
    assert table[0]["index"] == "g0" and table[0]["cluster_size"] == 3


def test_reference_documents_are_not_added(tmp_path: Path) -> None:
    asked = {"reference": ("law",)}
    snapshots = Snapshots(tmp_path, **asked)
    snapshots.run(rows([ENGLISH[0]], source="law") + rows([ENGLISH[1]], id="1" * 32))
    assert snapshots.index.generations[0].entries == 1
    assert snapshots.run(rows([ENGLISH[0]]))[0]["keep"]


def test_the_files_of_bands_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_KEYS_A_GROUP", 3)
    found(tmp_path / "out", rows(ENGLISH))
    near = rows([ENGLISH[0], *(f"new {of}" for of in ENGLISH), ENGLISH[7]])
    tables = []
    for chunks in (1, 4, 64):
        index = added(tmp_path / f"index{chunks}", tmp_path / "out", "g", chunks=chunks)
        tables.append(found(tmp_path / f"out{chunks}", near, index=(index, index.generations), parts=3))
    assert tables[0] == tables[1] == tables[2]
    assert sum(row["index"] is not None for row in tables[0].values()) > 5


# What an index and a corpus never hold together.

MADE = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.005, 0.02, 0.05]), st.integers(0, 3)), max_size=24)


def signed(texts: list[str]) -> tuple[Any, Any]:
    """Signatures and keys of some texts, as a run makes them."""
    from glotmill.curate.dedup.signature import minhash

    told = options(Dedup(), SOURCES, signals=("words",))
    of = minhash()(pa.RecordBatch.from_pydict({"text": pa.array(texts, pa.string())}))["minhash"]
    signatures = of.flatten().to_numpy().reshape(len(texts), -1)
    return signatures, band_keys(signatures, np.zeros(len(texts), np.uint64), bands=told.bands, rows=told.rows)


def alike(texts: list[str]) -> Iterator[tuple[int, int]]:
    """Pairs that share a band and are, by signature and by shingles, as similar as asked."""
    if not texts:
        return
    signatures, keys = signed(texts)
    for one in range(len(texts)):
        for other in range(one):
            close = (signatures[one] == signatures[other]).mean() >= 0.75
            if close and (keys[one] == keys[other]).any() and jaccard(texts[one], texts[other]) >= 0.75:
                yield one, other


@pytest.mark.parametrize("steps", [1, 2, 5, 20])
@settings(max_examples=12, deadline=None)
@given(MADE)
def test_in_any_number_of_steps_no_two_that_are_alike_stay(steps: int, made: list[tuple[int, float, int]]) -> None:
    texts = [" ".join(edited(text(base, 60), share, seed)) for base, share, seed in made]
    documents = rows(texts)
    kept: set[int] = set()
    with tempfile.TemporaryDirectory() as folder:
        snapshots = Snapshots(Path(folder))
        for step in range(steps):
            if not (mine := documents[step::steps]):
                continue
            before = set(kept)
            table = snapshots.run(mine)
            assert table.keys() == {int(row["id"], 16) for row in mine}  # nothing is told of what is indexed
            kept |= {number for number, row in table.items() if row["keep"]}
            for number, row in table.items():
                if not row["keep"]:
                    twin = int(row["twin"], 16)
                    assert twin in kept and (row["index"] is not None) == (twin in before)
                    assert row["similarity"] >= 0.75 and jaccard(texts[number], texts[twin]) >= 0.75 - 0.13
        entries = sum(generation.entries for generation in snapshots.index.generations)
    assert entries == len(kept)
    assert not list(alike([texts[number] for number in sorted(kept)]))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 40), max_size=60), st.lists(st.integers(0, 40), max_size=10), st.sampled_from([1, 2, 8]))
def test_candidates_are_all_entries_with_one_of_the_keys(held: list[int], asked: list[int], chunks: int) -> None:
    def key(numbers: list[int]) -> Any:  # two bands
        hashes = np.array(numbers, np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return np.where(np.array(numbers) % 2, key_of(1, hashes), key_of(0, hashes)).astype(np.uint64)

    with tempfile.TemporaryDirectory() as folder:
        of = generation("g", files=("a", "b"), chunks=chunks)
        entries = [((place % 2) << 32) + place for place in range(len(held))]
        write_bands(Path(folder), of, key(held), np.array(entries, np.int64), bands=2)
        got_key, got_node, told = Known(Path(folder), (of,), 7).candidates(key(asked))
    wanted = sorted(
        (int(k), entry + (7 << 32))
        for number, k, entry in zip(held, key(held), entries, strict=True)
        if number in asked
    )
    assert sorted(zip(got_key.tolist(), got_node.tolist(), strict=True)) == wanted
    assert told == {"index_entries": len(wanted), "full_index_buckets": 0}


def test_of_a_bucket_no_more_entries_come_than_are_compared(tmp_path: Path) -> None:
    hot, cold = key_of(0, np.array([5 << 40, 9 << 40], np.uint64))
    of = generation("g", files=("a",))
    keys = np.concatenate((np.full(3 * BUCKET, hot), [cold])).astype(np.uint64)
    write_bands(tmp_path, of, keys, np.arange(len(keys)), bands=1)
    key, node, told = Known(tmp_path, (of, of), 0).candidates(np.array([hot, cold]))
    assert (key == hot).sum() == BUCKET and (key == cold).sum() == 2
    assert sorted(node[key == hot].tolist()) == list(range(BUCKET))
    assert told == {"index_entries": BUCKET + 2, "full_index_buckets": 1}


def generation(name: str, **of: Any) -> Generation:
    usual = {"run": name, "content": "c", "against": (), "folder": name, "entries": 0, "files": (), "chunks": 1}
    return Generation(name, **{**usual, **of})


def write_bands(folder: Path, of: Generation, key: Any, entry: Any, *, bands: int) -> None:
    number = files._file_of(key, of.chunks)
    with transaction(folder / "generations" / of.folder, "t") as written:
        for part in range(bands * of.chunks):
            kinds = Kinds()
            records = pa.RecordBatch.from_arrays(
                [pa.array(key[number == part]), pa.array(entry[number == part])], schema=files._KEY
            )
            kinds._batches[files.KEYS] = [records]
            write_band(Unit("index", "u", "u"), written, part, kinds, chunks=of.chunks)
        written.commit()


def test_of_a_file_of_bands_only_the_groups_with_a_wanted_key_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_KEYS_A_GROUP", 10)
    keys = key_of(0, np.arange(1000, dtype=np.uint64) << np.uint64(50))
    write_bands(tmp_path, generation("g"), keys, np.arange(1000), bands=1)
    read: list[int] = []
    plain = pq.ParquetFile.read_row_group

    def noted(self: pq.ParquetFile, group: int, **of: Any) -> pa.Table:
        read.append(group)
        return plain(self, group, **of)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", noted)
    path = tmp_path / "generations" / "g" / bands_file(0, 1)
    assert [entry.tolist() for _, entry in files._matching(path, keys[[15, 512]])] == [[15], [512]]
    assert read == [1, 51]


@given(st.sets(st.integers(0, 99), min_size=1), st.integers(1, 120))
def test_entries_are_read_by_row(wanted: set[int], group: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "entries.parquet"
        pq.write_table(pa.table({"id": [str(n) for n in range(100)]}), path, row_group_size=group)
        got = read_entries(path, np.array(sorted(wanted)))
    assert got["id"].to_pylist() == [str(n) for n in sorted(wanted)]


# Documents are taken out.


def test_what_was_removed_lets_its_copies_in_again(snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_KEYS_A_GROUP", 4)
    monkeypatch.setattr(files, "_ENTRIES_A_GROUP", 2)
    snapshots.run(rows(ENGLISH[:6]))
    snapshots.run(rows(ENGLISH[6:7], id="0" * 31 + "6") + rows(ENGLISH[7:], id="0" * 31 + "7"))
    gone = {f"{n:032x}" for n in (0, 3, 4)}
    before = snapshots.index
    assert remove_documents(before.folder, gone | {"nobody"}) == (3, 1)
    snapshots.index = read_index(before.folder)
    first, second = snapshots.index.generations
    assert (first.entries, first.removed, second) == (3, 3, before.generations[1])
    assert first.digest != before.generations[0].digest
    table = snapshots.run(rows(ENGLISH), add=False)
    assert {n for n, row in table.items() if row["keep"]} == {0, 3, 4}
    assert {n: int(row["twin"], 16) for n, row in table.items() if not row["keep"] and n < 6} == {1: 1, 2: 2, 5: 5}
    held = [path for path in before.folder.rglob("*.parquet") if "signatures" in path.parts]
    left = {id for path in held for id in pq.read_table(path)["id"].to_pylist()}
    assert not left & gone and len(held) == 4  # the old folder is gone, too
    assert remove_documents(before.folder, gone) == (0, 3)


@settings(max_examples=20, deadline=None)
@given(st.sets(st.integers(0, 7)), st.sets(st.integers(0, 7)))
def test_after_a_removal_the_index_is_one_that_never_held_them(one: set[int], other: set[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        snapshots = Snapshots(Path(folder))
        snapshots.run(rows(ENGLISH))
        for gone in (one, other):
            remove_documents(snapshots.index.folder, {f"{n:032x}" for n in gone})
        snapshots.index = read_index(snapshots.index.folder)
        left = set(range(8)) - one - other
        (made,) = snapshots.index.generations
        assert (made.entries, made.removed) == (len(left), 8 - len(left))
        keys = [pq.read_table(path)["key"] for path in snapshots.index.path(made).rglob("bands/*/*.parquet")]
        assert sum(map(len, keys)) == len(left) * 19  # one key a band, and that of the whole text
        table = snapshots.run(rows(ENGLISH), add=False)
        assert {n for n, row in table.items() if not row["keep"]} == left


def test_ids_of_the_input_may_be_named(snapshots: Snapshots) -> None:
    snapshots.run(rows(ENGLISH))
    assert remove_documents(snapshots.index.folder, {"a"}, column="source_id") == (0, 1)


def test_a_generation_is_taken_out_by_its_name(snapshots: Snapshots) -> None:
    snapshots.run(rows(ENGLISH[:2]))
    snapshots.run(rows(ENGLISH[2:]))
    folder = snapshots.index.folder
    with pytest.raises(InputError, match="no generation 'g7'; there are: g0, g1"):
        remove_generations(folder, ["g0", "g7"])
    assert remove_generations(folder, ["g0"]) == 2
    assert [found.name for found in read_index(folder).generations] == ["g1"]
    assert [path.name for path in (folder / "generations").iterdir()] == ["g1"]


# What an index refuses.

PARAMETERS = [
    ({"permutations": 96, "bands": 18, "rows": 5}, "dedup.permutations is 96 here and 128 there"),
    ({"seed": 2}, "dedup.seed is 2 here and 1 there"),
    ({"bands": 16, "rows": 8}, "dedup.bands is 16 here and 18 there; dedup.rows is 8 here and 7 there"),
    ({"min_shingles": 3}, "dedup.min_shingles is 3 here and 5 there"),
    ({"scope": "all"}, "dedup.scope is all here and language there"),
    ({"exact": "bytes"}, "dedup.exact is bytes here and text there"),
    ({"shingles": "chars"}, "dedup.shingles is chars here and auto there"),
    ({"shingle_words": 4}, "dedup.shingle_words is 4 here and 5 there"),
    ({"shingle_chars": 9}, "dedup.shingle_chars is 9 here and 8 there"),
    ({"digits": "mask"}, "dedup.digits is mask here and keep there"),
    ({"mode": "exact"}, "dedup.mode is exact here and fuzzy there"),
]


def told(**asked: Any) -> Any:
    return options(Dedup(**asked), SOURCES, signals=("words",))


@pytest.mark.parametrize(("asked", "message"), PARAMETERS)
def test_other_parameters_are_an_error_that_names_both(tmp_path: Path, asked: dict[str, Any], message: str) -> None:
    index = Index(tmp_path, parameters(told()))
    with pytest.raises(RecipeError) as caught:
        check_parameters(index, told(**asked))
    assert message in str(caught.value) and "or begin another index" in str(caught.value)


def test_the_remedy_is_one(tmp_path: Path) -> None:
    index = Index(tmp_path, parameters(told()))
    with pytest.raises(RecipeError, match="set dedup.seed=1, dedup.bands=18, dedup.rows=7, or begin"):
        check_parameters(index, told(similarity=0.9, seed=3))


@pytest.mark.parametrize(
    "asked",
    [{"similarity": 0.8, "bands": 18, "rows": 7}, {"verify": "exact"}, {"keep": ()}, {"compare": "index"}],
    ids=str,
)
def test_what_doesn_t_decide_an_entry_may_differ(tmp_path: Path, asked: dict[str, Any]) -> None:
    check_parameters(Index(tmp_path, json.loads(json.dumps(parameters(told())))), told(**asked))


def test_code_that_signs_in_another_way_is_noticed(tmp_path: Path) -> None:
    index = Index(tmp_path, {**parameters(told()), "probe": "of an older version"})
    with pytest.raises(RecipeError, match="version of glotmill that signs texts in another way"):
        check_parameters(index, told())


def test_another_format_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "index.json").write_text(json.dumps({"format": 2, "parameters": {}, "generations": []}))
    with pytest.raises(InputError, match="has format 2, and this version of glotmill reads format 1"):
        read_index(tmp_path)


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"format": 1}', b'{"format": 1, "generations": [{}]}', b"\xff"])
def test_a_damaged_index_is_an_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "index.json").write_bytes(data)
    with pytest.raises(InputError, match="is no index, or it is damaged"):
        read_index(tmp_path)


def test_a_folder_of_other_things_isn_t_taken_for_an_empty_index(tmp_path: Path) -> None:
    assert read_index(tmp_path / "new").generations == ()
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="holds 'file' and no index.json"):
        read_index(tmp_path)
    with pytest.raises(InputError, match="is a file"):
        read_index(tmp_path / "file")


def test_an_index_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = generation("g", against=(("a", "1"),), files=("x", "y"), removed=2)
    write_index(Index(tmp_path, {"mode": "exact"}, (made,)))
    assert read_index(tmp_path) == Index(tmp_path, {"mode": "exact"}, (made,))


def test_generations_are_known_by_name_and_digest(tmp_path: Path) -> None:
    one, other = generation("a"), generation("b")
    index = Index(tmp_path, None, (one, other))
    assert index.known(pairs([other])) == (other,) and index.known([]) == ()
    assert index.known([("a", "another digest")]) is None and index.known([("c", one.digest)]) is None


def test_what_no_index_names_is_swept_unless_somebody_uses_the_index(tmp_path: Path) -> None:
    index = Index(tmp_path, None, (generation("named"),))
    for name in ("named", "orphan"):
        (tmp_path / "generations" / name / "bands").mkdir(parents=True)
    with changing(tmp_path):
        with in_use(tmp_path):
            assert sweep(index) == 0 and (tmp_path / "generations" / "orphan").exists()
        assert sweep(index) == 1
    assert [path.name for path in (tmp_path / "generations").iterdir()] == ["named"]


def test_a_lost_file_is_an_error_and_not_an_empty_one(snapshots: Snapshots) -> None:
    snapshots.run(rows(ENGLISH))
    shutil.rmtree(snapshots.index.folder / "generations" / "g0" / "bands" / "band=03")
    with pytest.raises(FileNotFoundError):
        snapshots.run(rows(ENGLISH))
