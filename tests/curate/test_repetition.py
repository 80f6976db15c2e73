import io
import json
import math
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.kernels.compress import compressed_bytes
from glotmill.curate.repetition import repetition

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SIGNS = "ab é.\n\n\n  ทกู漢かバЖΩς한1\u0301"
REPEATING = st.lists(st.text(st.sampled_from(SIGNS), max_size=8), min_size=1, max_size=4).flatmap(
    lambda parts: st.lists(st.sampled_from(parts), max_size=20).map("".join)
)
SPACED = st.lists(st.sampled_from("a b cc ddd é Ж कुल कूल من 한국 1 22, C!".split()), max_size=40)

TOP = {f"top_{n}_gram_share": n for n in (2, 3, 4)}
DUPLICATE = {f"duplicate_{n}_gram_share": n for n in range(5, 11)}


def measured(*texts: str) -> list[dict[str, Any]]:
    batch = pa.RecordBatch.from_pydict({"text": pa.array(texts, pa.string())})
    rows: list[dict[str, Any]] = repetition(batch).drop_columns("text").to_pylist()
    return rows


def one(text: str, signal: str) -> Any:
    return measured(text)[0][signal]


@pytest.mark.parametrize(
    ("text", "signal", "value"),
    [
        pytest.param("a\nb\na\na", "duplicate_line_share", 0.5, id="first copy of a line is free"),
        pytest.param("\n a \n\n a\n", "duplicate_line_share", 0.5, id="blank lines do not count"),
        pytest.param("好\u2028好\u2029好", "duplicate_line_share", 2 / 3, id="zho any line end"),
        pytest.param("नमस्ते\nनमस्ता", "duplicate_line_share", 0.0, id="hin a vowel sign tells apart"),
        pytest.param("a b\nc\n\nd\n\na  b\nc", "duplicate_paragraph_share", 1 / 3, id="paragraph of two lines"),
        pytest.param("a b\nc\n\nd\n\na  b\nc", "duplicate_paragraph_char_share", 4 / 9, id="its characters"),
        pytest.param("a\nb\n\nb\na", "duplicate_paragraph_share", 0.0, id="order of lines counts"),
        pytest.param(
            "a\r\n\r\na\r\n \t\r\na", "duplicate_paragraph_share", 2 / 3, id="CR LF and a blank line of spaces"
        ),
        pytest.param("a\nb", "duplicate_paragraph_share", 0.0, id="one paragraph"),
        pytest.param("alpha beta", "top_2_gram_share", 0.0, id="a run that occurs once is not repeated"),
        pytest.param("a " * 40, "top_2_gram_share", 1.0, id="one word"),
        pytest.param("a " * 40, "duplicate_10_gram_share", 1.0, id="one word, long runs"),
        pytest.param("ab cd ab cd xyz", "top_2_gram_share", 8 / 11, id="two words twice"),
        pytest.param("a b a b a", "top_2_gram_share", 4 / 5, id="a b as often as b a, overlapping nothing"),
        pytest.param("a b x a b y cc dd x cc dd y", "top_2_gram_share", 8 / 16, id="of equally many the longer run"),
        pytest.param("a b x a b y a b z ccc ddd q ccc ddd", "top_2_gram_share", 6 / 22, id="frequency before length"),
        pytest.param("a a a b", "top_2_gram_share", 3 / 4, id="what overlaps counts once"),
        pytest.param("a b c x a b c", "top_3_gram_share", 6 / 7, id="three words"),
        pytest.param("a b c x a b c", "top_4_gram_share", 0.0, id="no four words"),
        pytest.param("a b c d x a b c d", "top_4_gram_share", 8 / 9, id="four words"),
        pytest.param("A, b... a\nB!", "top_2_gram_share", 1.0, id="case, marks and lines do not tell apart"),
        pytest.param("1 2 3 4 5 x 1 2 3 4 5", "duplicate_5_gram_share", 10 / 11, id="five words"),
        pytest.param("1 2 3 4 5 6 x 1 2 3 4 5 6", "duplicate_5_gram_share", 12 / 13, id="six, of which five overlap"),
        pytest.param("1 2 3 4 5 x 1 2 3 4 5", "duplicate_6_gram_share", 0.0, id="no six words"),
        pytest.param("1 2 3 4 5 x 1 2 3 4 6", "duplicate_5_gram_share", 0.0, id="one digit differs"),
        pytest.param("a b c d e f a b c d", "duplicate_5_gram_share", 0.0, id="cut off by the end"),
        pytest.param("我们我们", "top_2_gram_share", 0.0, id="zho two words are three characters"),
        pytest.param("我们去我们去", "top_2_gram_share", 1.0, id="zho two words twice"),
        pytest.param("春眠不觉晓处处闻啼鸟" * 3, "duplicate_10_gram_share", 1.0, id="zho a line thrice"),
        pytest.param("春眠不觉晓处处闻啼鸟", "duplicate_5_gram_share", 0.0, id="zho a line once"),
        pytest.param("春眠不觉晓处处闻。春眠不觉晓处处闻？", "duplicate_5_gram_share", 1.0, id="zho eight characters"),
        pytest.param(
            "春眠不觉晓处处。春眠不觉晓处处？", "duplicate_5_gram_share", 0.0, id="zho seven are not five words"
        ),
        pytest.param("กินข้าวแล้ว" * 2, "top_2_gram_share", 1.0, id="tha eight letters are two words"),
        pytest.param("กินข้าวแล้ว " * 4, "duplicate_5_gram_share", 1.0, id="tha a sentence four times"),
        pytest.param("かな" * 20, "top_4_gram_share", 1.0, id="jpn two kana"),
        pytest.param("कुल कूल कुल कूल", "top_2_gram_share", 1.0, id="hin"),
        pytest.param("कुल कूल कूल कुल", "top_2_gram_share", 0.0, id="hin vowel signs tell apart"),
        pytest.param("a b a c", "unique_word_share", 3 / 4, id="three words of four"),
        pytest.param("Ab ab AB", "unique_word_share", 1 / 3, id="case does not count"),
        pytest.param("人人生而自由", "unique_word_share", 5 / 6, id="zho characters"),
        pytest.param("a b c d", "unit_entropy", 2.0, id="four words, two bits"),
        pytest.param("a a a a", "unit_entropy", 0.0, id="one word, no bits"),
        pytest.param("a a b b", "unit_entropy", 1.0, id="two words, one bit"),
        pytest.param("a a a b", "unit_entropy", 0.811, id="three to one"),
        pytest.param("abcdefghij", "compressed_share", 1.0, id="nothing repeats"),
        pytest.param("abcdefghij" * 2, "compressed_share", 13 / 20, id="ten bytes, then a match"),
        pytest.param("a" * 100, "compressed_share", 4 / 100, id="one letter, then a match with itself"),
        pytest.param("", "compressed_share", 1.0, id="empty"),
    ],
)
def test_a_signal(text: str, signal: str, value: float) -> None:
    assert one(text, signal) == pytest.approx(value, abs=5e-4 if signal == "unit_entropy" else 1e-12)


def slowly(words: list[str]) -> dict[str, float]:
    """The shares of runs and what is said of single words, where white space parts them."""
    keys = [word.strip(",!").casefold() for word in words]
    sizes = [len(key) for key in keys]
    total = sum(sizes)
    found: dict[str, float] = {}
    for name, n in (TOP | DUPLICATE).items():
        places: dict[tuple[str, ...], list[int]] = {}
        for i in range(len(keys) - n + 1):
            places.setdefault(tuple(keys[i : i + n]), []).append(i)
        repeated = [at for at in places.values() if len(at) > 1]
        covers = [sum(sizes[k] for k in {i + j for i in at for j in range(n)}) for at in repeated]
        most = max((len(at) for at in repeated), default=0)
        if n <= 4:
            part = max((cover for at, cover in zip(repeated, covers, strict=True) if len(at) == most), default=0)
        else:
            part = sum(sizes[k] for k in {i + j for at in repeated for i in at for j in range(n)})
        found[name] = part / total if total else 0.0
    counts = Counter(keys).values()
    found["unique_word_share"] = len(counts) / len(keys) if keys else 0.0
    found["unit_entropy"] = -sum(count / len(keys) * math.log2(count / len(keys)) for count in counts)
    return found


@given(SPACED)
def test_runs_of_words_are_those_of_a_slow_reference(words: list[str]) -> None:
    row = measured(" ".join(words))[0]
    for name, value in slowly(words).items():
        assert row[name] == pytest.approx(value, abs=1.1e-3 if name == "unit_entropy" else 1e-12)


@given(SPACED | st.lists(st.sampled_from("的一是不了"), max_size=60))
def test_what_longer_runs_cover_shorter_ones_cover(words: list[str]) -> None:
    row = measured(" ".join(words))[0]
    shares = [row[name] for name in DUPLICATE]
    assert shares == sorted(shares, reverse=True)


@given(SPACED, st.lists(st.sampled_from([" ", "\n", ", ", " — ", "\n\n", "\t"]), min_size=1))
def test_what_stands_between_words_does_not_count(words: list[str], gaps: list[str]) -> None:
    parts = [word + gaps[k % len(gaps)] for k, word in enumerate(words)]
    left, right = measured(" ".join(words), "".join(parts))
    for name in (*TOP, *DUPLICATE, "unique_word_share", "unit_entropy"):
        assert left[name] == right[name]


@given(st.lists(TEXT | REPEATING, max_size=5))
def test_every_share_is_a_share_and_entropy_is_bounded(texts: list[str]) -> None:
    for text, row in zip(texts, measured(*texts), strict=True):
        for name, value in row.items():
            assert math.isfinite(value)
            if name.endswith("_share"):
                assert 0 <= value <= 1
        assert 0 <= row["unit_entropy"] <= math.log2(max(1, len(text)))
        assert row["compressed_share"] > 0


@given(st.lists(TEXT | REPEATING, max_size=6), st.randoms(use_true_random=False))
def test_a_document_is_measured_as_if_alone_whatever_stands_around_it(texts: list[str], random: Any) -> None:
    alone = [measured(text)[0] for text in texts]
    order = list(range(len(texts)))
    random.shuffle(order)
    assert measured(*(texts[k] for k in order)) == [alone[k] for k in order]
    batch = pa.RecordBatch.from_pydict({"text": ["a b a b", *texts, "後"]}).slice(1, len(texts))
    assert repetition(batch).drop_columns("text").to_pylist() == alone


@given(st.lists(st.sampled_from("straße déjà Жизнь ΟΔΌΣ ǆ été 한국 कुल バス tiếng İzmir ﬁn".split()), max_size=30))
def test_case_does_not_count(words: list[str]) -> None:
    text = " ".join(words)
    rows = measured(text, text.lower(), text.upper(), text.title())
    for name in ("unique_word_share", "unit_entropy"):
        assert len({row[name] for row in rows}) == 1
    for name in (*TOP, *DUPLICATE):  # capitals may be longer: no share changes from nothing, or from all
        assert len({(row[name] > 0, row[name] == 1) for row in rows}) == 1


@given(REPEATING | TEXT)
def test_unicode_form_does_not_change_what_repeats(text: str) -> None:
    left, right = measured(unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text))
    for name in ("duplicate_line_share", "duplicate_paragraph_share", "unique_word_share", "unit_entropy"):
        assert left[name] == right[name]
    for name in (*TOP, *DUPLICATE):  # shares count code points, which decomposing changes
        assert (left[name] > 0, left[name] == 1) == (right[name] > 0, right[name] == 1)


@given(st.lists(st.sampled_from(["가나", "다라", "마바사아", "éàü", "ếề"]), max_size=30))
def test_a_text_twice_is_repeated_in_full(words: list[str]) -> None:
    row = measured(" ".join(words) + "\n\n" + " ".join(words))[0]
    for name, n in DUPLICATE.items():
        if len(words) >= n:
            assert row[name] == 1
    if words:
        assert row["duplicate_line_share"] == row["duplicate_paragraph_share"] == 0.5


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("The quick brown fox jumps over the lazy dog near the river bank today. ", id="eng"),
        pytest.param("Всі люди народжуються вільними і рівними у своїй гідності та правах завжди. ", id="ukr"),
        pytest.param("Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. ", id="ell"),
        pytest.param("يولد جميع الناس أحرارا ومتساوين في الكرامة والحقوق وقد وهبوا العقل. ", id="arb"),
        pytest.param("כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם וחוננו בתבונה. ", id="heb"),
        pytest.param("सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है। ", id="hin"),
        pytest.param("সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে থাকে সবাই। ", id="ben"),
        pytest.param("மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர் அவர்கள் மதிப்பிலும் சமமானவர்கள் என்க. ", id="tam"),
        pytest.param("มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ", id="tha"),
        pytest.param("ມະນຸດທຸກຄົນເກີດມາມີກຽດສັກສີສິດເສລີພາບແລະຄວາມສະເໝີພາບເທົ່າທຽມກັນ ", id="lao"),
        pytest.param("មនុស្សទាំងអស់កើតមកមានសេរីភាពនិងសមភាពក្នុងផ្នែកសេចក្ដីថ្លៃថ្នូរនិងសិទ្ធិ។", id="khm"),
        pytest.param("လူတိုင်းသည်တူညီလွတ်လပ်သောဂုဏ်သိက္ခာဖြင့်လည်းကောင်းတူညီလွတ်လပ်သောအခွင့်အရေး။", id="mya"),
        pytest.param("人人生而自由，在尊严和权利上一律平等，他们赋有理性和良心。", id="zho"),
        pytest.param("すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。", id="jpn"),
        pytest.param(
            "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하고 이성과 양심을 지닌다. ", id="kor"
        ),
        pytest.param("ሁሉም ሰው ነፃ ሆኖ ይወለዳል በክብርና በመብት እኩል ነው የማሰብና ሕሊና ተሰጥቶታል። ", id="amh"),
        pytest.param("འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས་ཆེ་མཐོངས་དང་། ", id="bod"),
    ],
)
def test_a_sentence_repeated_is_found_in_every_script_and_once_is_no_repetition(sentence: str) -> None:
    once, often = measured(sentence, sentence * 10)
    for name in DUPLICATE:
        assert once[name] == 0 and often[name] > 0.98  # where runs overshoot, the last letter may begin none
    for name in TOP:
        assert once[name] <= 0.25 and 0 < often[name] <= 0.75
    assert often["compressed_share"] < 0.25 < 0.6 < once["compressed_share"]
    assert often["unit_entropy"] == pytest.approx(once["unit_entropy"], abs=0.002)


@given(st.lists(st.binary(max_size=40) | REPEATING.map(str.encode), min_size=1))
def test_bytes_that_are_no_text_are_measured_and_crash_nothing(texts: list[bytes]) -> None:
    ends = [0]
    for raw in texts:
        ends.append(ends[-1] + len(raw))
    offsets = pa.array(ends, pa.int32()).buffers()[1]
    array = pa.StringArray.from_buffers(len(texts), offsets, pa.py_buffer(b"".join(texts)))
    columns = repetition(pa.RecordBatch.from_arrays([array], ["text"])).drop_columns("text")
    for column in columns:
        assert all(math.isfinite(value) and value >= 0 for value in column.to_pylist())
    for raw, left in zip(texts, compressed_bytes(array).tolist(), strict=True):
        assert min(1, len(raw)) <= left <= len(raw)


@pytest.mark.parametrize(
    "code", "amh arb ben bod deu ell eng hin jpn kat khm kor lao mya rus tam tha vie zho-CN zho-TW".split()
)
def test_sentences_told_twice_in_another_order_take_half_the_space(shared_data: Path, code: str) -> None:
    texts: list[list[str]] = []
    with zstandard.open(shared_data / "parallel" / "ntrex_dev.jsonl.zst", "rb") as file:
        for line in io.TextIOWrapper(file, encoding="utf-8"):
            if f'"{code}"' in line and len(texts) < 10:
                row = json.loads(line)
                texts += [row["sentences"]] if row["lang"] == code else []
    once = measured(*("\n".join(text) for text in texts))
    twice = measured(*("\n".join(text + text[::-1]) for text in texts))
    parts = [right["compressed_share"] / left["compressed_share"] for left, right in zip(once, twice, strict=True)]
    assert len(parts) == 10 and 0.5 < sum(parts) / 10 < 0.6
