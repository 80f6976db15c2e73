"""Whatever happens to a finished output, the check names the file and what is wrong with it."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from glotmill.schemas.atomic import file_digest
from glotmill.schemas.indexed import IndexedTokens
from glotmill.tokenize.check import Policy, check_shards, check_store
from glotmill.tokenize.tokenizer import load

Build = Callable[..., Path]


@pytest.fixture(scope="session")
def whole(build: Build, phrases: dict[str, str]) -> Path:
    return build({"u": list(phrases.items()), "v": [(k, f"{v} {v}") for k, v in phrases.items()]})


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    """A finished output to damage."""
    return Path(shutil.copytree(whole, tmp_path / "out"))


@pytest.mark.parametrize(("append_eos", "prepend_bos"), [(True, False), (True, True), (False, False)])
def test_a_good_output_has_no_problems(
    build: Build, phrases: dict[str, str], append_eos: bool, prepend_bos: bool
) -> None:
    out = build({"u": [*phrases.items(), ("eng_Latn", "")]}, append_eos=append_eos, prepend_bos=prepend_bos)
    assert check_store(out) == []
    assert check_shards(out, sample=1.0) == []


def test_a_hugging_face_tokenizer_passes_too(build: Build, phrases: dict[str, str], byte_level: Path) -> None:
    out = build({"u": list(phrases.items())}, tokenizer=load(byte_level))
    assert check_store(out) == [] and check_shards(out, sample=1.0) == []


def flip(path: Path, at: int = -1) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2])


def swap(one: Path, two: Path) -> None:
    shutil.move(one, one.with_suffix(".x"))
    shutil.move(two, one)
    shutil.move(one.with_suffix(".x"), two)


SHARD_DAMAGE = [
    pytest.param(lambda f: flip(f / "00000.bin"), r"00000\.bin has xxh3-128", id="flipped bit"),
    pytest.param(lambda f: cut(f / "00000.bin"), r"00000\.bin has \d+ bytes and was written with", id="cut .bin"),
    pytest.param(lambda f: (f / "00001.idx").unlink(), r"00001\.idx is missing", id="no .idx"),
    pytest.param(lambda f: swap(f / "00000.bin", f / "00001.bin"), r"00001\.bin has", id="swapped .bin"),
    pytest.param(lambda f: flip(f / "provenance/00001.parquet"), r"00001\.parquet has xxh3-128", id="provenance"),
    pytest.param(
        lambda f: shutil.copy(f / "00000.bin", f / "2.bin"), r"2\.bin is not in the manifest", id="stray shard"
    ),
    pytest.param(lambda f: (f / "manifest.json").unlink(), r"manifest\.json does not exist", id="no manifest"),
    pytest.param(lambda f: cut(f / "manifest.json"), r"manifest\.json: whole file", id="cut manifest"),
    pytest.param(lambda f: shutil.rmtree(f / "tokenizer"), "tokenizer does not exist", id="no tokenizer"),
]


@pytest.mark.parametrize(("damage", "message"), SHARD_DAMAGE)
def test_damage_to_a_shard_is_named(out: Path, damage: Callable[[Path], object], message: str) -> None:
    damage(out / "shards")
    problems = check_shards(out, sample=1.0)
    assert any(re.search(message, problem) for problem in problems), problems
    assert len(problems) <= 2


def test_another_tokenizer_is_named(out: Path, byte_level: Path) -> None:
    shutil.copyfile(byte_level / "tokenizer.json", out / "shards/tokenizer/tokenizer.json")
    assert any("fingerprint is" in problem and "another tokenizer" in problem for problem in check_shards(out))


def accept(out: Path, name: str) -> None:
    """Make the manifest agree with a changed file, as only a bug or an editor could."""
    path = out / "shards" / "manifest.json"
    manifest = json.loads(path.read_bytes())
    for shard in manifest["shards"]:
        for file in (shard["bin"], shard["idx"], shard["provenance"]):
            if file["path"] == name:
                file.update(bytes=(out / "shards" / name).stat().st_size, xxh3_128=file_digest(out / "shards" / name))
    path.write_text(json.dumps(manifest))


def poke(path: Path, at: int, token: int) -> None:
    tokens = np.fromfile(path, "<u2")
    tokens[at] = token
    tokens.tofile(path)


@pytest.mark.parametrize(
    ("at", "token", "message"),
    [
        pytest.param(0, 60_000, "holds ids from .* to 60000; the vocabulary has", id="outside the vocabulary"),
        pytest.param(-1, 5, r"1 documents lack EOS 2, the first is document \d+", id="no EOS"),
        pytest.param(0, 2, "control token 2 occurs", id="EOS inside"),
        pytest.param(0, 1, "control token 1 occurs 1 times where 0", id="BOS that nobody asked for"),
        pytest.param(0, 5, "holds other tokens than its text gives today", id="another token"),
    ],
)
def test_wrong_tokens_under_right_checksums_are_named(out: Path, at: int, token: int, message: str) -> None:
    poke(out / "shards/00000.bin", at, token)
    accept(out, "00000.bin")
    problems = check_shards(out, sample=1.0)
    assert len(problems) == 1 and re.search(message, problems[0]), problems


def test_provenance_that_misses_a_token_is_named(out: Path) -> None:
    path = out / "shards/provenance/00000.parquet"
    table = pq.read_table(path)
    wrong = np.array(table["start"].to_numpy())
    wrong[3] += 1
    pq.write_table(table.set_column(1, table.schema.field("start"), [wrong]), path)
    accept(out, "provenance/00000.parquet")
    assert any("start of row 3 is" in problem for problem in check_shards(out))
    pq.write_table(table.slice(1), path)
    accept(out, "provenance/00000.parquet")
    assert any("rows and its index" in problem for problem in check_shards(out))


def test_languages_that_do_not_add_up_are_named(out: Path) -> None:
    path = out / "shards/manifest.json"
    manifest = json.loads(path.read_bytes())
    by = manifest["tokens_by_language"]
    by["eng_Latn"], by["ita_Latn"] = by["eng_Latn"] + 1, by["ita_Latn"] - 1
    path.write_text(json.dumps(manifest))
    problems = check_shards(out)
    assert len(problems) == 2 and "language eng_Latn has" in problems[0]


def test_a_changed_document_is_named_by_the_sample(out: Path) -> None:
    path = out / "documents/u.parquet"
    table = pq.read_table(path)
    texts = table["text"].to_pylist()
    pq.write_table(table.set_column(2, table.schema.field("text"), [["changed", *texts[1:]]]), path)
    assert any("other tokens than its text gives" in problem for problem in check_shards(out, sample=1.0))
    path.unlink()
    assert any("is not in documents/ and kept/" in problem for problem in check_shards(out, sample=1.0))
    assert check_shards(out) == check_shards(out, sample=0.0) == []


STORE_DAMAGE = [
    pytest.param(lambda c: flip(c / "u.bin"), r"u\.bin has xxh3-128", id="flipped bit"),
    pytest.param(lambda c: cut(c / "u.bin"), r"u\.bin has \d+ bytes", id="cut .bin"),
    pytest.param(lambda c: (c / "u.idx").unlink(), r"u\.idx is missing", id="no .idx"),
    pytest.param(lambda c: (c / "v.docs.parquet").unlink(), r"v\.docs\.parquet is missing", id="no table"),
    pytest.param(lambda c: swap(c / "u.bin", c / "v.bin"), r"u\.bin has", id="swapped .bin"),
    pytest.param(
        lambda c: swap(c / "u.docs.parquet", c / "v.docs.parquet"), r"u\.docs\.parquet has", id="swapped table"
    ),
    pytest.param(lambda c: shutil.copy(c / "u.bin", c / "w.bin"), r"w\.idx does not exist", id="stray .bin"),
    pytest.param(
        lambda c: c.rename(c.parent / "xxx_Latn.web"), r"holds the cells \['ita_Latn\.web'\]", id="renamed cell"
    ),
]


@pytest.mark.parametrize(("damage", "message"), STORE_DAMAGE)
def test_damage_to_the_store_is_named(out: Path, damage: Callable[[Path], object], message: str) -> None:
    damage(out / "tokens" / "ita_Latn.web")
    problems = check_store(out)
    assert any(re.search(message, problem) for problem in problems), problems


def test_a_store_without_shards_is_checked_by_a_policy(build: Build, phrases: dict[str, str], trained: Path) -> None:
    out = build({"u": list(phrases.items())}, append_eos=False)
    shutil.rmtree(out / "shards")
    assert check_store(out) == []
    tokenizer = load(trained)
    policy = Policy(tokenizer.vocabulary_size, tokenizer.eos_id, None, ())
    assert all("lack EOS" in problem for problem in check_store(out, policy=policy))
    assert len(check_store(out, policy=policy)) == len(phrases)
    assert len(IndexedTokens(out / "tokens/ita_Latn.web/u")) == 1
