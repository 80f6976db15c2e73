"""Text is text: no library reads control tokens in it, adds its own, truncates or pads."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.schemas.errors import RecipeError
from glotmill.tokenize import tokenizer as module
from glotmill.tokenize.tokenizer import Tokenizer, check_policy, is_lossless, load

TEXT = st.text(st.characters(exclude_categories=["Cs"]))  # lone surrogates are not UTF-8
TRAPS = TEXT | st.text(st.sampled_from(" \u2581\u2585\t\n\r\0a<s>/|\u00a0\u0301é中"))


@pytest.fixture(scope="session", params=["trained", "byte_level"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return load(request.getfixturevalue(request.param))


@given(texts=st.lists(TRAPS, max_size=5))
def test_every_text_comes_back(tokenizer: Tokenizer, texts: list[str]) -> None:
    ids, offsets = tokenizer.encode_batch(pa.array(texts, pa.string()))
    assert ids.dtype == np.int32 and len(offsets) == len(texts) + 1 and offsets[-1] == len(ids)
    assert [tokenizer.decode(ids[a:b]) for a, b in zip(offsets, offsets[1:], strict=False)] == texts


@given(texts=st.lists(TRAPS, min_size=1, max_size=4))
def test_a_text_is_encoded_alone_and_without_control_tokens(tokenizer: Tokenizer, texts: list[str]) -> None:
    whole = tokenizer.encode_batch(pa.array(["x", *texts]).slice(1))
    parts = [tokenizer.encode_batch(pa.array([text])).ids for text in texts]
    assert whole.ids.tolist() == np.concatenate(parts).tolist()
    assert not {tokenizer.eos_id, tokenizer.bos_id} & set(whole.ids.tolist())
    assert not len(whole.ids) or 0 <= whole.ids.min() <= whole.ids.max() < tokenizer.vocabulary_size


def test_phrases_in_every_script_come_back(tokenizer: Tokenizer, phrases: dict[str, str]) -> None:
    for text in phrases.values():
        assert tokenizer.decode(tokenizer.encode_batch(pa.array([text])).ids) == text
    assert is_lossless(tokenizer)


def test_long_texts_are_cut_into_calls_but_never_inside(
    tokenizer: Tokenizer, phrases: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = pa.array([*phrases.values(), ""])
    once = tokenizer.encode_batch(texts)
    monkeypatch.setattr(module, "BATCH_BYTES", 100)
    often = tokenizer.encode_batch(texts)
    assert once.ids.tolist() == often.ids.tolist() and once.offsets.tolist() == often.offsets.tolist()


def test_padding_and_truncation_of_the_file_are_ignored(byte_level: Path) -> None:
    ids, offsets = load(byte_level).encode_batch(pa.array(["abcdefghijklmnop qrst", "z"]))
    assert offsets[1] > 4 and offsets[2] - offsets[1] == 1


def test_a_copy_is_the_same_tokenizer(tokenizer: Tokenizer, tmp_path: Path) -> None:
    for name, path in tokenizer.files.items():
        shutil.copyfile(path, tmp_path / name)
    copy = load(tmp_path)
    assert (copy.fingerprint, copy.eos_id, copy.bos_id) == (tokenizer.fingerprint, tokenizer.eos_id, tokenizer.bos_id)


def test_well_known_names_are_found_where_no_file_names_a_token(byte_level: Path) -> None:
    tokenizer = load(byte_level / "tokenizer.json")
    assert (tokenizer.eos_id, tokenizer.bos_id) == (0, None)
    assert tokenizer.specials == ("<|endoftext|>", "<|im_end|>")


@pytest.mark.parametrize(
    ("config", "eos"),
    [
        pytest.param({"eos_token": "<|im_end|>"}, 1, id="a name"),
        pytest.param({"eos_token": {"content": "<|im_end|>", "lstrip": False}}, 1, id="an object"),
        pytest.param({"eos_token": None}, None, id="null means none"),
        pytest.param({}, 0, id="not said"),
    ],
)
def test_the_config_beside_it_says_which_token_ends(
    byte_level: Path, tmp_path: Path, config: dict[str, object], eos: int | None
) -> None:
    shutil.copyfile(byte_level / "tokenizer.json", tmp_path / "tokenizer.json")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    tokenizer = load(tmp_path)
    assert tokenizer.eos_id == eos
    assert (tokenizer.fingerprint == load(byte_level).fingerprint) == (eos == 0)


def test_an_end_token_that_the_file_does_not_call_special_is_text_in_a_text(byte_level: Path, tmp_path: Path) -> None:
    raw = json.loads((byte_level / "tokenizer.json").read_text(encoding="utf-8"))
    for token in raw["added_tokens"]:
        token["special"] = False
    (tmp_path / "tokenizer.json").write_text(json.dumps(raw), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "<|endoftext|>"}')
    tokenizer = load(tmp_path)
    assert tokenizer.eos_id == 0
    assert 0 not in tokenizer.encode_batch(pa.array(["a <|endoftext|> b"])).ids


def test_ids_with_holes_count_up_to_the_largest(byte_level: Path, tmp_path: Path) -> None:
    raw = json.loads((byte_level / "tokenizer.json").read_text(encoding="utf-8"))
    raw["model"]["vocab"]["zz"] = 70_000
    (tmp_path / "tokenizer.json").write_text(json.dumps(raw), encoding="utf-8")
    assert load(tmp_path).vocabulary_size == 70_001


def write(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content)
    return folder / name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(lambda f: f / "none", "does not exist; name a sentencepiece", id="absent"),
        pytest.param(lambda f: f, "holds nothing, and neither tokenizer.json", id="empty folder"),
        pytest.param(lambda f: write(f, "a.model", "junk"), "is no sentencepiece model", id="junk model"),
        pytest.param(lambda f: write(f, "a.model", ""), "is no sentencepiece model", id="empty model"),
        pytest.param(lambda f: write(f, "tokenizer.json", "{}"), "can't read", id="junk json"),
    ],
)
def test_what_is_no_tokenizer_is_named(tmp_path: Path, make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(RecipeError, match=message):
        load(make(tmp_path))


def test_a_config_that_names_a_token_the_vocabulary_lacks_is_named(byte_level: Path, tmp_path: Path) -> None:
    shutil.copyfile(byte_level / "tokenizer.json", tmp_path / "tokenizer.json")
    write(tmp_path, "tokenizer_config.json", '{"eos_token": "<end>"}')
    with pytest.raises(RecipeError, match="names the token '<end>', which the tokenizer lacks.*<|endoftext|>"):
        load(tmp_path)


def test_a_policy_the_tokenizer_cannot_follow_names_option_and_tokens(byte_level: Path) -> None:
    tokenizer = load(byte_level)
    check_policy(tokenizer, append_eos=True, prepend_bos=False)
    with pytest.raises(
        RecipeError, match=r"shards.prepend_bos is true .*<\|im_end\|>.*set shards.prepend_bos to false"
    ):
        check_policy(tokenizer, append_eos=True, prepend_bos=True)
