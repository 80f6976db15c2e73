"""A trained vocabulary: the same everywhere, lossless, and fed by all languages alike."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard

from glotmill.schemas.errors import InputError, RecipeError
from glotmill.tokenize import vocabulary
from glotmill.tokenize.tokenizer import load
from glotmill.tokenize.vocabulary import train

SCRIPT = """
import hashlib, sys, pyarrow as pa
from glotmill.tokenize.vocabulary import train
texts = sys.stdin.buffer.read().decode().split("\\x1e")
print(hashlib.sha256(train([pa.array(texts)], vocabulary=700)).hexdigest())
"""


def test_another_process_trains_the_same_bytes(phrases: dict[str, str]) -> None:
    texts = list(phrases.values()) * 50
    here = hashlib.sha256(train([pa.array(texts[:9]), pa.array(texts[9:])], vocabulary=700)).hexdigest()
    there = subprocess.run([sys.executable, "-c", SCRIPT], input="\x1e".join(texts).encode(), capture_output=True)
    assert there.stdout.decode().strip() == here, there.stderr.decode()


def test_a_trained_model_has_every_control_token_and_the_size_asked_for(trained: Path) -> None:
    tokenizer = load(trained)
    assert (tokenizer.bos_id, tokenizer.eos_id) == (1, 2)
    assert tokenizer.specials == ("<s>", "</s>", "<pad>")
    assert 512 <= tokenizer.vocabulary_size <= 1000


def test_frequent_words_become_one_piece(trained: Path) -> None:
    assert len(load(trained).encode_batch(pa.array([" accounted"])).ids) == 1


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(["a"], id="one letter"),
        pytest.param(["a\n\nb\u2585c\u2581d\0e"], id="reserved characters"),
        pytest.param(["".join(map(chr, range(0x4E00, 0x9FFF)))], id="more characters than pieces"),
        pytest.param(["x" * 200_000], id="one endless word"),
        pytest.param(["", "\n", "ok"], id="empty texts among others"),
        pytest.param([" " * 5000], id="spaces"),
    ],
)
def test_small_and_odd_texts_train_a_smaller_vocabulary(tmp_path: Path, texts: list[str]) -> None:
    (tmp_path / "a.model").write_bytes(train([pa.array(texts)], vocabulary=32_000))
    tokenizer = load(tmp_path / "a.model")
    assert 260 < tokenizer.vocabulary_size <= 1500
    for text in texts:
        assert tokenizer.decode(tokenizer.encode_batch(pa.array([text])).ids) == text


@pytest.mark.parametrize("texts", [[], [""], ["\n\n"]], ids=["none", "empty", "line feeds"])
def test_no_text_is_an_error(texts: list[str]) -> None:
    with pytest.raises(InputError, match="no text to train"):
        train([pa.array(texts, pa.string())], vocabulary=1000)


def test_a_vocabulary_without_room_is_an_error() -> None:
    with pytest.raises(RecipeError, match="set it to 512 or more"):
        train([pa.array(["a"])], vocabulary=300)


def test_news_in_129_language_files_comes_back(tmp_path: Path) -> None:
    path = Path(__file__).parents[2] / "../shared/data/parallel/ntrex_dev.jsonl.zst"
    if not path.exists():
        pytest.skip("needs shared/data/parallel beside the repository")
    with zstandard.open(path, "rt", encoding="utf-8") as file:
        texts = pa.array(["\n".join(json.loads(line)["sentences"]) for line in file])
    some = texts.take(pa.array(range(0, len(texts), 8)))
    (tmp_path / "a.model").write_bytes(train([some], vocabulary=8000))
    tokenizer = load(tmp_path / "a.model")
    ids, offsets = tokenizer.encode_batch(some)
    decoded = [tokenizer.decode(ids[a:b]) for a, b in zip(offsets, offsets[1:], strict=False)]
    assert decoded == some.to_pylist() and len(decoded) > 500
    assert len(ids) < sum(len(text.encode()) for text in decoded) / 2


def test_no_more_than_the_excerpt_of_a_text_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "EXCERPT_BYTES", 10)
    assert train([pa.array(["aé" * 3 + "é" * 900])], vocabulary=600) == train([pa.array(["aé" * 3])], vocabulary=600)
