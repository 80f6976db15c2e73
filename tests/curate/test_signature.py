import io
import json
import random
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.dedup.shingles import Shingling
from glotmill.curate.dedup.signature import PERMUTATIONS, minhash
from glotmill.curate.kernels.pieces import pieces

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PROSE = st.text(st.sampled_from("ab é.\n ทกู漢かバЖς한1\u0301"), max_size=60)
NOTHING = 2**32 - 1

# Letters that make words of each script; where no space parts words, they stand side by side.
LETTERS = {
    "Latn": "abcdeéioöuxyz",
    "Cyrl": "абвгдеёжийї",
    "Grek": "αάβγδεζηςσ",
    "Arab": "ابتثجحخدَُِّ",
    "Hebr": "אבגדהוזְִּ",
    "Deva": "कखगघचािीुूे",
    "Beng": "কখগঘচািীুূে",
    "Taml": "கஙசஞடாிீுூ்",
    "Tibt": "ཀཁགངཅིེོུ",
    "Ethi": "ሀሁሂሃሄህሆለሉ",
    "Hang": "가나다라마바사아자차",
    "Geor": "აბგდევზთი",
}
UNSPACED = {
    "Thai": "กขคงจฉชาเแุู่้ิี",
    "Laoo": "ກຂຄງຈຊາເແຸູ່້",
    "Khmr": "កខគឃងចាិីុូ់",
    "Mymr": "ကခဂဃငစာိီုူ့",
    "Hani": "天地玄黄宇宙洪荒日月盈昃辰宿列张",
    "Jpan": "あいうえおかがハバパーデタ日本語",
}


def signed(
    *texts: str, words: int = 5, permutations: int = PERMUTATIONS, seed: int = 1, unit: Any = "words"
) -> npt.NDArray[np.uint32]:
    """uint32 (n, permutations)."""
    shingling = Shingling(unit, words=words)
    measure = minhash(shingling=shingling, permutations=permutations, seed=seed)
    batch = measure(pa.RecordBatch.from_pydict({"text": pa.array(texts, pa.string())}))
    found: npt.NDArray[np.uint32] = batch["minhash"].values.to_numpy()
    return found.reshape(len(texts), permutations)


def shingles(text: str, words: int = 5) -> set[tuple[int, ...]]:
    """Runs of units that weigh so many words, found slowly; the text itself where it is shorter."""
    cut = pieces(pa.array([text]))
    hashes, weights = cut.unit_hash.tolist(), cut.unit_weight.tolist()
    found = set()
    for i in range(len(hashes)):
        e, weight = i, 0
        while e < len(hashes) and weight < 12 * words:
            weight += weights[e]
            e += 1
        if weight >= 12 * words or i == 0:
            found.add(tuple(hashes[i:e]))
    return found


def jaccard(left: str, right: str) -> float:
    one, other = shingles(left), shingles(right)
    return len(one & other) / len(one | other)


def check_estimates(pairs: list[tuple[str, str]], least: int, spread: float) -> None:
    """The mean error lies within four standard errors of 0, and errors spread as binomial ones do."""
    exact = np.array([jaccard(left, right) for left, right in pairs])
    told = np.array([(a == b).mean() for a, b in (signed(left, right) for left, right in pairs)])
    inner = (exact > 0.02) & (exact < 0.98)
    assert inner.sum() >= least
    errors = (told - exact)[inner] / np.sqrt(exact * (1 - exact) / PERMUTATIONS)[inner]
    assert abs(errors.mean()) < 4 / np.sqrt(len(errors))
    assert 1 - spread < (errors**2).mean() < 1 + spread
    assert np.all(told[exact == 1] == 1) and np.all(told[exact == 0] < 0.1)


def invented(script: str, random_: random.Random) -> tuple[str, str]:
    """Two texts of one script, of which the second one leaves out, repeats and replaces some stretches of the first."""
    letters = (LETTERS | UNSPACED)[script]
    gap = "" if script in UNSPACED else " "

    def word() -> str:
        return "".join(random_.choices(letters, k=random_.randint(3, 7)))

    words = [word() for _ in range(random_.randint(30, 200))]
    other = list(words)
    for _ in range(random_.randint(1, 12)):
        at = random_.randrange(len(other))
        other[at : at + random_.randint(1, 8)] = [word() for _ in range(random_.randint(0, 8))] or words[:2]
    return gap.join(words), gap.join(other)


@pytest.mark.parametrize("script", [*LETTERS, *UNSPACED])
def test_the_estimate_is_unbiased_in_every_script(script: str) -> None:
    random_ = random.Random(script)
    check_estimates([invented(script, random_) for _ in range(150)], least=130, spread=0.5)


@pytest.mark.parametrize("code", "eng deu vie rus ell arb heb hin ben tam tha lao khm mya zho-CN jpn kor amh".split())
def test_the_estimate_is_unbiased_on_real_text(shared_data: Path, code: str) -> None:
    random_ = random.Random(code)
    pairs = []
    with zstandard.open(shared_data / "parallel" / "ntrex_dev.jsonl.zst", "rb") as file:
        for line in io.TextIOWrapper(file, encoding="utf-8"):
            row = json.loads(line) if f'"{code}"' in line else {}
            sentences: list[str] = row["sentences"] if row.get("lang") == code else []
            for _ in range(3 if sentences else 0):
                some = [sentence for sentence in sentences if random_.random() < random_.random() ** 0.5]
                pairs.append(("\n".join(sentences), "\n".join(some)))
    check_estimates(pairs, least=100, spread=0.6)


@given(st.lists(TEXT | PROSE, max_size=6), st.integers(0, 6))
def test_a_signature_does_not_depend_on_the_batch(texts: list[str], at: int) -> None:
    whole = signed(*texts)
    parts = [signed(*texts[:at]), signed(*texts[at:])]
    assert np.array_equal(whole, np.concatenate(parts))
    batch = pa.RecordBatch.from_pydict({"text": ["before", *texts, "after"]}).slice(1, len(texts))
    assert minhash()(batch)["minhash"].to_pylist() == whole.tolist()


@given(TEXT | PROSE, st.integers(1, 8))
def test_equal_shingles_sign_equally_and_others_don_t(text: str, words: int) -> None:
    found = shingles(text, words)
    row = signed(text, words=words)[0]
    assert (row == NOTHING).all() == (not found)
    for other in (unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text), f"  {text}!\n", "— " + text):
        assert np.array_equal(row, signed(other, words=words)[0])
    if found:
        assert not np.array_equal(row, signed(text + " x" * words, words=words)[0])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("", "... 😀", id="no words"),
        pytest.param("Hello, World", "hello — world!", id="case and marks"),
        pytest.param("a b c d e f", "A\nb, c. (d) e: f", id="what stands between words"),
        pytest.param("ΟΔΟΣ", "οδος", id="ell final sigma"),
        pytest.param("STRASSE", "straße", id="deu"),
        pytest.param("가나다", unicodedata.normalize("NFD", "가나다"), id="kor decomposed"),
        pytest.param("ế ở", unicodedata.normalize("NFD", "ế ở"), id="vie decomposed"),
        pytest.param("我们去，买书。", "我们去买书", id="zho marks"),
        pytest.param("a b a b a b a b a b a b", "a b a b a b a b a b", id="the same shingles more often"),
    ],
)
def test_texts_of_the_same_shingles_have_the_same_signature(left: str, right: str) -> None:
    one, other = signed(left, right)
    assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param("कुल", "कूल", id="hin vowel sign"),
        pytest.param("কুল", "কূল", id="ben vowel sign"),
        pytest.param("ที่", "ทิ", id="tha vowel and tone"),
        pytest.param("กุ้", "กู่", id="tha vowel below and tone"),
        pytest.param("ກຸ້", "ກູ່", id="lao vowel below and tone"),
        pytest.param("ハス", "バス", id="jpn voicing mark"),
        pytest.param("かく", "がく", id="jpn voicing mark of hiragana"),
        pytest.param("ゴール", "ゴル", id="jpn long vowel"),
        pytest.param("mà", "má", id="vie tone"),
        pytest.param("má", "ma", id="vie no tone"),
        pytest.param("ọ̀", "ọ́", id="yor tone"),
        pytest.param("က", "ကာ", id="mya vowel"),
        pytest.param("ប៊ិ", "ប៊ី", id="khm vowel"),
        pytest.param("갂", "각", id="kor last letter"),
        pytest.param("كَتَبَ", "كُتُبٌ", id="arb short vowels"),
        pytest.param("שָׁ", "שָׂ", id="heb dots"),
        pytest.param("й", "и", id="rus short i"),
        pytest.param("3 mele", "4 mele", id="digit"),
        pytest.param("a b c", "c b a", id="order"),
        pytest.param("a b", "ab", id="a space is no nothing"),
        pytest.param("", "x", id="empty"),
        pytest.param("a a", "a a a", id="shorter than a shingle"),
    ],
)
def test_what_a_reader_tells_apart_has_another_signature(left: str, right: str) -> None:
    one, other = signed(left, right)
    assert (one == other).mean() < 0.1
    around = "one two three four {} five six seven eight"  # four words on both sides are in no equal shingle
    one, other = signed(around.format(left), around.format(right))
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("text", "words", "runs"),
    [
        pytest.param("a b c d e", 5, ["a b c d e"], id="just one"),
        pytest.param("a b c d", 5, ["a b c d"], id="shorter"),
        pytest.param("a b c d e f", 5, ["a b c d e", "b c d e f"], id="two"),
        pytest.param("a b c", 1, ["a", "b", "c"], id="single words"),
        pytest.param("天地玄黄宇宙洪荒", 5, ["天地玄黄宇宙洪荒"], id="zho eight letters"),
        pytest.param("天地玄黄宇宙洪荒日", 5, ["天地玄黄宇宙洪荒", "地玄黄宇宙洪荒日"], id="zho nine"),
        pytest.param("กขคงจฉชซญ", 2, ["กขคงจฉชซ", "ขคงจฉชซญ"], id="tha eight letters are two words"),
        pytest.param("かきくけこさし", 2, ["かきくけこさ", "きくけこさし"], id="jpn six kana are two words"),
        pytest.param("我们 go home", 2, ["我们go", "们 go home", "go home"], id="zho and eng"),
        pytest.param("가나 다라 마바", 2, ["가나 다라", "다라 마바"], id="kor"),
    ],
)
def test_a_signature_is_the_least_of_each_shingle(text: str, words: int, runs: list[str]) -> None:
    whole, *parts = signed(text, *runs, words=words)
    assert np.array_equal(whole, np.minimum.reduce(parts))
    assert all(np.any(whole == part) for part in parts) and len(shingles(text, words)) == len(runs)


def test_signatures_stay_what_they_are() -> None:
    found = signed("All human beings are born free and equal.", "人人生而自由，在尊严和权利上一律平等。", "กุ้ง", "")
    assert found[:, :4].tolist() == [
        [1228543991, 565515020, 726137690, 122996694],
        [695907248, 4852836, 459101878, 328920152],
        [445621789, 1115746721, 3271295835, 2168792084],
        [4294967295, 4294967295, 4294967295, 4294967295],
    ]


def test_seeds_and_lengths_of_shingles_make_other_signatures() -> None:
    text = "All human beings are born free and equal."
    first = signed(text)[0]
    assert (first == signed(text, seed=2)[0]).mean() < 0.1
    assert (first == signed(text, words=4)[0]).mean() < 0.1
    assert signed(text, permutations=7).shape == (1, 7)


def test_images_are_spread_evenly() -> None:
    texts = [f"word{k}" for k in range(3000)]
    found = signed(*texts).astype(np.float64) / 2**32
    assert abs(found.mean() - 0.5) < 0.005
    assert abs(np.corrcoef(found.T) - np.eye(PERMUTATIONS)).max() < 0.12  # permutations say different things


@given(st.lists(st.binary(max_size=30), min_size=1))
def test_bytes_that_are_no_text_are_signed_and_crash_nothing(texts: list[bytes]) -> None:
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    array: Any = pa.StringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(b"".join(texts)))
    assert len(minhash()(pa.RecordBatch.from_arrays([array], ["text"]))["minhash"]) == len(texts)


@pytest.mark.parametrize("script", UNSPACED)
def test_texts_without_spaces_are_compared_by_runs_of_code_points(script: str) -> None:
    text = "".join(random.Random(script).choices(UNSPACED[script], k=60))
    whole, *parts = signed(text, *(text[i : i + 8] for i in range(len(text) - 7)), unit="auto")
    normal = unicodedata.normalize("NFC", text)
    if normal == text:
        assert np.array_equal(whole, np.minimum.reduce(parts))
    assert np.array_equal(whole, signed(text, unit="chars")[0])


def test_texts_with_spaces_are_compared_by_words_unless_asked() -> None:
    text = "All human beings are born free and equal."
    assert np.array_equal(signed(text, unit="auto"), signed(text))
    assert not np.array_equal(signed(text, unit="chars"), signed(text))
