import io
import json
import os
import re
import subprocess
import sys
import time
import unicodedata
from itertools import combinations, combinations_with_replacement, groupby, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.kernels import ngrams, scan
from glotmill.curate.kernels.pieces import Pieces, pieces
from glotmill.curate.kernels.unicode import CLASS_SHIFT, unicode_table
from glotmill.curate.quality import quality
from glotmill.curate.repetition import repetition
from glotmill.schemas.errors import SchemaError

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
# What the reference below knows in full: letters, marks, numbers, joiners, ends of sentences and of lines.
SIGNS = (
    "aBéßΣσςЖИй1２٣अकुू্কুূทิุู่้ກุ່ກາខុ្កាမုစ漢字々かゞガタバｶﾞー가각\u1100\u1161\u11a8ㅏبَّשׁבשà\u0300\u0301\u0302\u0323\u3099"
    "'’‘-‐·\u00ad\u200c\u200d\u2060 \t\n\r\v\x1c\x85\u2028\u2029\u3000\u00a0་"
    '.!?…。！？।؟۔།។።;:,"»”)（«\x00\ufffd😀§'
)
PROSE = st.text(st.sampled_from(SIGNS), max_size=60)
WORDS = st.lists(
    st.sampled_from(
        "a Bb c. d! 人 好。 ก ข ကု か バス 1 22 ๆ कुल कूल, ΟΔΟΣ οδος que\u0301 \n \r\n \n\n \u2028 \u3000 - '".split(" ")
    ),
    max_size=30,
).map(" ".join)

UNSPACED = {  # letters of one word, by how Unicode's names begin
    "CJK UNIFIED": 1.5, "HIRAGANA": 3, "KATAKANA": 4, "HALFWIDTH KATAKANA": 4, "THAI": 4, "LAO": 4, "KHMER": 4,
    "MYANMAR": 4, "IDEOGRAPHIC ITERATION": 1.5,
}  # fmt: skip
TERMINALS, WIDE_TERMINALS = ".!?…।؟۔།។။።᙮", "。！？"
TERMINAL_AFTER = {
    ";": ("GREEK",),
    ":": ("ARMENIAN", "ETHIOPIC"),
    "|": ("DEVANAGARI", "BENGALI", "ORIYA", "GURMUKHI"),
}
CLOSINGS = "\"»”)]«'’\u00ad\u200c\u200d\u2060"
JOINERS = "'’‘-‐‑·\u00ad\u200c\u200d\u2060"


def cut(*texts: str) -> Pieces:
    return pieces(pa.array(texts, pa.string()))


def is_space(char: str) -> bool:
    return char.isspace() or char == "་"


def is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M" or char in "ﾞﾟ"


def is_word_char(char: str) -> bool:
    return unicodedata.category(char)[0] in "LN" and not is_mark(char)


def weight_of(char: str) -> int:
    if unicodedata.category(char)[0] == "L":
        for name, letters in UNSPACED.items():
            if unicodedata.name(char, "").startswith(name) or (name == "KATAKANA" and char == "ー"):
                return round(12 / letters)
    return 12


def key_of(unit: str) -> str:
    """What a unit is compared by: caseless, decomposed, marks in one order, joiners of one kind."""
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFD", unit).casefold())
    folded = re.sub("[\u00ad\u2060]", "", re.sub("[‐‑]", "-", re.sub("[’‘]", "'", folded)))
    runs = ((is_high, list(run)) for is_high, run in groupby(folded, lambda c: unicodedata.combining(c) > 0))
    return "".join(c for is_high, run in runs for c in (sorted(run) if is_high else run))


def slow_units(text: str) -> list[tuple[int, int, int, int]]:
    """Start, end, kind and weight of each unit."""
    found = []
    i = 0
    while i < len(text):
        if not is_word_char(text[i]):
            i += 1
            continue
        own, j = weight_of(text[i]), i + 1
        while j < len(text):
            k = j + 1 if text[j] in JOINERS and j + 1 < len(text) else j
            if not (is_mark(text[k]) or (own == 12 and is_word_char(text[k]) and weight_of(text[k]) == 12)):
                break
            j = k + 1
        letters = any(unicodedata.category(c)[0] == "L" and not is_mark(c) for c in text[i:j])
        found.append((i, j, scan.CLUSTER if own < 12 else scan.LETTERS_UNIT if letters else scan.DIGITS, own))
        i = j
    return found


def slow_lines(text: str) -> tuple[list[tuple[int, int]], list[int]]:
    """Bounds of the lines that aren't blank, and which of them begin paragraphs."""
    lines: list[tuple[int, int]] = []
    firsts = []
    begins = True
    at = 0
    for whole in text.splitlines(keepends=True):
        inner = [k for k, char in enumerate(whole) if not is_space(char)]
        if inner:
            if begins:
                firsts.append(len(lines))
            lines.append((at + inner[0], at + inner[-1] + 1))
        begins = not inner
        at += len(whole)
    return lines, firsts


def slow_sentences(text: str) -> list[int]:
    """Which units begin sentences."""
    units, (lines, _) = slow_units(text), slow_lines(text)
    line_of = [next(k for k, (a, b) in enumerate(lines) if a <= start < b) for start, *_ in units]
    firsts = [0] if units else []
    for u in range(1, len(units)):
        before, unit = units[u - 1], units[u]
        gap = text[before[1] : unit[0]]
        gap = "".join(" " if is_space(c) else c for c in gap)
        letter = unicodedata.name(text[before[0]], "")
        own = re.escape("".join(mark for mark, names in TERMINAL_AFTER.items() if letter.startswith(names)))
        ends = "[" + TERMINALS + WIDE_TERMINALS + own + "]"
        may_follow = "[" + re.escape(TERMINALS + WIDE_TERMINALS + CLOSINGS) + own + "]*"
        is_end = line_of[u] != line_of[u - 1] or any(c in WIDE_TERMINALS for c in gap)
        is_end = is_end or re.search(ends + may_follow + " ", gap) is not None
        both = before[2] == unit[2] == scan.CLUSTER
        repeats = text[before[0]] in "ๆໆ" or text[unit[0]] in "ๆໆ"
        if is_end or (both and " " in gap and letter.startswith(("THAI", "LAO")) and not repeats):
            firsts.append(u)
    return firsts


def check(text: str) -> None:
    found = cut(text)
    at = np.cumsum([0, *(len(char.encode()) for char in text)])
    units = slow_units(text)
    assert list(zip(found.unit_start, found.unit_end, strict=True)) == [(at[a], at[b]) for a, b, *_ in units]
    assert found.unit_chars.tolist() == [b - a for a, b, *_ in units]
    assert found.unit_kind.tolist() == [kind for *_, kind, _ in units]
    assert found.unit_weight.tolist() == [own for *_, own in units]
    keys = [key_of(text[a:b]) for a, b, *_ in units]
    for (left, right), (one, other) in zip(combinations(keys, 2), combinations(found.unit_hash, 2), strict=True):
        assert (left == right) == (one == other)

    lines, paragraphs = slow_lines(text)
    assert list(zip(found.line_start, found.line_end, strict=True)) == [(at[a], at[b]) for a, b in lines]
    folded = [" ".join("".join(" " if is_space(c) else c for c in text[a:b]).split()) for a, b in lines]
    assert found.line_chars.tolist() == [len(line) for line in folded]
    for (left, right), (one, other) in zip(combinations(folded, 2), combinations(found.line_hash, 2), strict=True):
        assert (left == right) == (one == other)
    assert found.line_unit.tolist() == [sum(a < line for a, *_ in units) for line, _ in lines] + [len(units)]
    assert found.paragraph_line.tolist() == [*paragraphs, len(lines)]
    assert found.sentence_unit.tolist() == [*slow_sentences(text), len(units)]


@given(PROSE | WORDS)
def test_the_cut_is_that_of_a_slow_reference(text: str) -> None:
    check(text)


def test_real_texts_are_cut_as_the_reference_cuts_them(shared_data: Path) -> None:
    with zstandard.open(shared_data / "docs.jsonl.zst", "rb") as file:
        for line in islice(io.TextIOWrapper(file, encoding="utf-8"), 0, None, 101):
            text = json.loads(line)["text"]
            check(text[len(text) // 2 :][:300])


@given(TEXT)
def test_lines_and_paragraphs_are_those_of_python_in_any_text(text: str) -> None:
    found, (lines, paragraphs) = cut(text), slow_lines(text)
    assert found.line_bounds[1] == len(lines) and found.paragraph_line.tolist() == [*paragraphs, len(lines)]


@given(TEXT | PROSE)
def test_units_lie_in_order_within_lines_and_sentences_and_paragraphs_part_them(text: str) -> None:
    found, raw = cut(text), text.encode()
    ends = [(int(a), int(b)) for a, b in zip(found.unit_start, found.unit_end, strict=True)]
    assert all(a < b for a, b in ends) and all(left[1] <= right[0] for left, right in pairwise(ends))
    assert [len(raw[a:b].decode()) for a, b in ends] == found.unit_chars.tolist()
    for k in range(len(found.line_start)):
        for u in range(found.line_unit[k], found.line_unit[k + 1]):
            assert found.line_start[k] <= found.unit_start[u] and found.unit_end[u] <= found.line_end[k]
    for bounds, items in ((found.paragraph_line, found.line_bounds), (found.sentence_unit, found.unit_bounds)):
        assert bounds[-1] == items[-1] and bounds[0] == 0 and all(a < b for a, b in pairwise(bounds.tolist()))


FLAT = ("unit_chars", "unit_hash", "unit_kind", "unit_weight", "line_hash", "line_chars")
BOUNDED = ("unit_bounds", "line_bounds", "paragraph_bounds", "sentence_bounds")


def one_by_one(texts: list[str], name: str) -> Any:
    return [value for text in texts for value in getattr(cut(text), name).tolist()]


@given(st.lists(TEXT | PROSE | WORDS, max_size=6), st.integers(0, 3))
def test_texts_of_a_batch_or_slice_are_cut_as_if_alone(texts: list[str], before: int) -> None:
    array = pa.array(["x. ก"] * before + texts + ["y"], pa.string()).slice(before, len(texts))
    found = pieces(array)
    for name in FLAT:
        assert getattr(found, name).tolist() == one_by_one(texts, name)
    for name in BOUNDED:
        assert np.diff(getattr(found, name)).tolist() == [int(getattr(cut(text), name)[-1]) for text in texts]
    assert found.counts.tolist() == [cut(text).counts[0].tolist() for text in texts]
    assert found.letters.tolist() == [cut(text).letters[0].tolist() for text in texts]
    for d, text in enumerate(texts):
        alone = cut(text)
        for name, bounds, of in (
            ("sentence_unit", "sentence_bounds", "unit_bounds"),
            ("paragraph_line", "paragraph_bounds", "line_bounds"),
            ("line_unit", "line_bounds", "unit_bounds"),
        ):
            a, b = getattr(found, bounds)[d], getattr(found, bounds)[d + 1]
            assert (getattr(found, name)[a:b] - getattr(found, of)[d]).tolist() == getattr(alone, name)[:-1].tolist()


def test_the_same_column_is_cut_once_and_another_one_anew() -> None:
    texts = pa.array(["a b", "c"])
    assert pieces(texts) is pieces(texts)
    assert pieces(texts.slice(1)).unit_bounds.tolist() == [0, 1] and pieces(texts).unit_bounds.tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    "column", [pa.array(["a", None]), pa.array([b"a"]), pa.array(["a"], pa.large_string()), pa.array([1])]
)
def test_a_column_of_another_type_or_with_nulls_is_named(column: Any) -> None:
    with pytest.raises(SchemaError, match="text"):
        pieces(column)


def units_of(text: str) -> list[str]:
    found, raw = cut(text), text.encode()
    return [raw[a:b].decode() for a, b in zip(found.unit_start, found.unit_end, strict=True)]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        pytest.param("L'été, déjà-vu!", "L'été déjà-vu", id="Latn"),
        pytest.param("O‘zbekiston gʻoz", "O‘zbekiston gʻoz", id="Latn uzb any apostrophe"),
        pytest.param("Пʼять об'єктів, м’ята", "Пʼять об'єктів м’ята", id="Cyrl"),
        pytest.param("Τι κάνεις;", "Τι κάνεις", id="Grek"),
        pytest.param("صَبَاحُ الخَيْر", "صَبَاحُ الخَيْر", id="Arab short vowels"),
        pytest.param("می‌خواهم", "می‌خواهم", id="Arab pes"),
        pytest.param("שָׁלוֹם צה״ל", "שָׁלוֹם צה״ל", id="Hebr points and gershayim"),
        pytest.param("हिन्दी में क्‍ष", "हिन्दी में क्‍ष", id="Deva"),
        pytest.param("কূল, কুল।", "কূল কুল", id="Beng"),
        pytest.param("தமிழ் மொழி", "தமிழ் மொழி", id="Taml"),
        pytest.param("മലയാളം", "മലയാളം", id="Mlym"),
        pytest.param("ක්‍රීඩා", "ක්‍රීඩා", id="Sinh joiner"),
        pytest.param("བཀྲ་ཤིས།", "བཀྲ ཤིས", id="Tibt"),
        pytest.param("ที่นี่", "ที่ นี่", id="Thai"),
        pytest.param("ທີ່ນີ້", "ທີ່ ນີ້", id="Laoo"),
        pytest.param("ប៊\u200cី ខ្មែរ", "ប៊\u200cី ខ្ មែ រ", id="Khmr a mark after a non-joiner"),
        pytest.param("မြန်မာ", "မြ န် မာ", id="Mymr"),
        pytest.param("我们2024年", "我 们 2024 年", id="Hans"),
        pytest.param("人々〆切", "人 々 〆 切", id="Jpan Han"),
        pytest.param("データがｶﾞｰ", "デ ー タ が ｶﾞ ｰ", id="Jpan kana"),
        pytest.param("한국어 문장", "한국어 문장", id="Kore"),
        pytest.param("\u1112\u1161\u11ab\u1100\u116e\u11a8", "\u1112\u1161\u11ab\u1100\u116e\u11a8", id="Kore jamo"),
        pytest.param("ሰላም፡ዓለም", "ሰላም ዓለም", id="Ethi"),
        pytest.param("Բարև ձեզ:", "Բարև ձեզ", id="Armn"),
        pytest.param("გამარჯობა!", "გამარჯობა", id="Geor"),
        pytest.param("ߒߞߏ ߞߊ߲", "ߒߞߏ ߞߊ߲", id="Nkoo"),
        pytest.param("ᏣᎳᎩ", "ᏣᎳᎩ", id="Cher"),
        pytest.param("𞤆𞤵𞤤𞤢𞤪", "𞤆𞤵𞤤𞤢𞤪", id="Adlm"),
        pytest.param("Vitamin B12 v2.0", "Vitamin B12 v2 0", id="numbers"),
    ],
)
def test_units_by_script(text: str, units: str) -> None:
    assert units_of(text) == units.split()


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        pytest.param("Go. Stop! Why?", ["Go", "Stop", "Why"], id="Latn"),
        pytest.param('He said "no." Then left (fast.) Pi is 3.14 at example.com', ["He", "Then", "Pi"], id="quotes"),
        pytest.param("Τι κάνεις; Καλά.", ["Τι", "Καλά"], id="Grek"),
        pytest.param("one; two: three", ["one"], id="no end"),
        pytest.param("Բարև: Ինչպես եք:", ["Բարև", "Ինչպես"], id="Armn"),
        pytest.param("कुल। कूल। क्या?", ["कुल", "कूल", "क्या"], id="Deva"),
        pytest.param("ہے۔ کیا؟ ہاں", ["ہے", "کیا", "ہاں"], id="Arab"),
        pytest.param("好。“不！”他说？是", ["好", "不", "他", "是"], id="Hans"),
        pytest.param("好。.不！?是", ["好", "不", "是"], id="Hans marks of both widths"),
        pytest.param("はい。いいえ！", ["は", "い"], id="Jpan"),
        pytest.param("네. 아니요.", ["네", "아니요"], id="Kore"),
        pytest.param("สวัสดี ครับ", ["ส", "ค"], id="Thai"),
        pytest.param("เล็ก ๆ ที่นี่ ครับ", ["เ", "ค"], id="Thai repeated word"),
        pytest.param("ຊ້າ ໆ ເດີ້", ["ຊ້"], id="Laoo repeated word"),
        pytest.param("ສະບາຍດີ ເຈົ້າ", ["ສ", "ເ"], id="Laoo"),
        pytest.param("ជំរាប។ សួរ", ["ជំ", "សួ"], id="Khmr"),
        pytest.param("မင်။ လာ", ["မ", "လာ"], id="Mymr"),
        pytest.param("བཀྲ། ཤིས།", ["བཀྲ", "ཤིས"], id="Tibt"),
        pytest.param("ሰላም። ዓለም፧ አዎ", ["ሰላም", "ዓለም", "አዎ"], id="Ethi"),
        pytest.param("a\nb\n\nc", ["a", "b", "c"], id="a line's end ends one"),
        pytest.param("... !", [], id="no units"),
    ],
)
def test_sentences_by_script(text: str, sentences: list[str]) -> None:
    units, found = units_of(text), cut(text)
    assert [units[u] for u in found.sentence_unit[:-1]] == sentences


def hashes(text: str) -> list[int]:
    found: list[int] = cut(text).unit_hash.tolist()
    return found


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("कुल कूल किल कील कल क्ल कँल कंल", id="hin"),
        pytest.param("কুল কূল কিল কীল কল", id="ben"),
        pytest.param("ที่ ทิ่ ที ทิ ท ที้ ที๊ ที๋", id="tha"),
        pytest.param("กุ้ กู่ กุ่ กู้ กุ กู ก่ ก้", id="tha vowel below and tone"),
        pytest.param("ກຸ້ ກູ່ ກຸ່ ກູ້", id="lao vowel below and tone"),
        pytest.param("ハ バ パ カ ガ ク グ", id="jpn"),
        pytest.param("ma má mà mả mã mạ mâ mấ mầ mẩ mẫ mậ mă mắ mằ mẳ mẵ mặ", id="vie"),
        pytest.param("o ó ò õ ọ ô ố ồ ộ ơ ớ ờ ợ u ư ứ ừ", id="vie o and u"),
        pytest.param("က ကာ ကိ ကီ ကု ကူ ကေ ကဲ က် ကံ က့ ကုံ", id="mya"),
        pytest.param("가 각 갂 간 거 나 까", id="kor"),
        pytest.param("ខ ខុ ខូ ខួ ខិ ខី ខ់ ខ៍", id="khm"),
        pytest.param("كَتَبَ كُتِبَ كُتُب كتب كَتَّبَ", id="arb"),
        pytest.param("שָׁ שַׁ שִׁ שֶׁ שָׂ שַׂ ש", id="heb"),
        pytest.param("தமிழ தமிழ் தமிழா தமிழி", id="tam"),
        pytest.param("ẹ̀ ẹ́ ẹ è é e ọ̀ ọ́", id="yor"),
        pytest.param("བ བི བུ བེ བོ", id="bod"),
        pytest.param("ክ ኩ ኪ ካ ኬ", id="amh"),
        pytest.param("и й і ї е ё", id="Cyrl"),
        pytest.param("l'a la l-a", id="joiners"),
        pytest.param("می‌خواهم میخواهم", id="pes non-joiner"),
        pytest.param("1 2 ১ ২ १ ๑", id="digits"),
    ],
)
def test_what_a_reader_tells_apart_hashes_apart_in_every_unicode_form(words: str) -> None:
    listed = words.split()
    forms = {form: [hashes(unicodedata.normalize(form, word)) for word in listed] for form in ("NFC", "NFD")}
    assert forms["NFC"] == forms["NFD"]
    assert len(set(map(tuple, forms["NFC"]))) == len(listed)


@given(PROSE | WORDS | TEXT)
def test_unicode_form_does_not_change_units(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    decomposed = unicodedata.normalize("NFD", text)
    assert hashes(text) == hashes(composed) == hashes(decomposed)
    for name in ("unit_kind", "unit_weight", "sentence_unit", "line_unit"):
        assert getattr(cut(composed), name).tolist() == getattr(cut(decomposed), name).tolist()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param("STRASSE", "straße", id="deu"),
        pytest.param("ΟΔΟΣ", "οδος", id="ell final sigma"),
        pytest.param("ДЕНЬ Ё", "день ё", id="rus"),
        pytest.param("ՀԱՅ", "հայ", id="hye"),
        pytest.param("ᲥᲐᲠᲗ", "ქართ", id="kat"),
        pytest.param("TIẾNG VIỆT", "tiếng việt", id="vie"),
        pytest.param("l’eau l‘eau", "l'eau l'eau", id="apostrophes"),
        pytest.param("мʼята", "м'ята", id="ukr apostrophe"),
        pytest.param("a‑b c‐d", "a-b c-d", id="hyphens"),
        pytest.param("co\u00adope\u00adrate", "cooperate", id="soft hyphens"),
        pytest.param("ﬁn", "fin", id="ligature"),
        pytest.param("\u212bngstr\u00f6m", "ångström", id="angstrom sign"),
        pytest.param("a\u0344", "a\u0308\u0301", id="a mark that decomposes"),
        pytest.param("a\u0301\u0323", "a\u0323\u0301", id="order of marks"),
        pytest.param("ﾊﾞ", "ﾊﾞ", id="half width"),
    ],
)
def test_what_differs_in_form_alone_hashes_alike(left: str, right: str) -> None:
    assert hashes(left) == hashes(right)


def test_no_two_pairs_of_marks_hash_alike() -> None:
    table = unicode_table()
    marks = [chr(c) for c in np.flatnonzero(table >> CLASS_SHIFT).tolist() if not unicodedata.decomposition(chr(c))]
    marks = [mark for mark in marks if unicodedata.combining(mark) and mark != "\u0345"]
    assert len(marks) > 700
    pairs = [a + b for a, b in combinations_with_replacement(marks, 2)]
    found = cut(" ".join("x" + pair for pair in pairs)).unit_hash
    assert len(np.unique(found)) == len(found) == len(pairs)


# Inputs that break others.

BAD = {
    "empty": "",
    "white space": " \t\n\r\n\u3000\u2028\u00a0" * 3,
    "marks alone": "\u0301\u093e\u0e34\u3099",
    "joiners alone": "--''\u200d\u200c\u2060",
    "emoji": "😀👩\u200d👩\u200d👧🇮🇹❤\ufe0f" * 5,
    "right-to-left marks": "\u200f\u202b\u202c\u200eשלום\u200f\u061c",
    "NULs": "\x00a\x00\x00b c\x00",
    "mixed newlines": "a\rb\nc\r\nd\n\re\vf\fg\x1ch\x85i\u2028j\u2029k\r\r\nl",
    "no known script": "\U000e0100\ue000\U00012000\U0001e900\U00016a40\u2fff\U000323b0",
    "marks without end": "a" + "\u0301" * 3000,
    "private and unassigned": "\ue000\uffff\ufdd0\U0010ffff",
    "one letter": "क",
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in BAD.items()])
def test_a_bad_text_is_cut_as_the_reference_cuts_it(text: str) -> None:
    found = cut(text)
    lines, paragraphs = slow_lines(text)
    assert found.unit_bounds[1] == len(slow_units(text))
    assert found.line_bounds[1] == len(lines) and found.paragraph_line.tolist() == [*paragraphs, len(lines)]
    row = pa.RecordBatch.from_pydict({"text": [text]})
    for measure in (quality, repetition):
        values = measure(row).drop_columns("text").to_pylist()[0]
        assert all(np.isfinite(value) for value in values.values())
        assert all(0 <= value <= 1 for name, value in values.items() if name.endswith("_share"))


@pytest.mark.parametrize(
    ("text", "units"),
    [
        pytest.param("buffalo " * 1_000_000, 1_000_000, id="one word a million times"),
        pytest.param("a" * 10_000_000, 1, id="10 MB in one word"),
        pytest.param("ab cd ef gh " * 830_000, 3_320_000, id="10 MB on one line"),
        pytest.param("ก" * 1_000_000, 1_000_000, id="Thai without a space"),
        pytest.param("漢字かな" * 250_000, 1_000_000, id="Japanese without a space"),
        pytest.param("가나다" * 1_000_000, 1, id="Korean without a space"),
        pytest.param("a" + "\u0301" * 2_000_000, 1, id="a million marks"),
        pytest.param("\n" * 5_000_000, 0, id="line ends"),
        pytest.param("a\n" * 1_000_000, 1_000_000, id="a million lines"),
        pytest.param("http://" * 1_000_000, 1_000_000, id="addresses"),
        pytest.param("." * 5_000_000, 0, id="full stops"),
    ],
)
def test_a_huge_text_takes_seconds(text: str, units: int) -> None:
    row = pa.RecordBatch.from_pydict({"text": [text]})
    for measure in (quality, repetition):
        measure(pa.RecordBatch.from_pydict({"text": ["compile."]}))
    began = time.process_time()
    found = repetition(quality(row))
    assert found["units"].to_pylist() == [units]
    assert time.process_time() - began < 20


def raw_array(texts: list[bytes]) -> Any:
    """A string array of bytes that need not be UTF-8; its buffer ends with the last one."""
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(b"".join(texts)))


LEADS = st.sampled_from(
    [b"\xf0\x9f\x98", b"\xe0\xb8", b"\xc3", b"\xf4\x8f\xbf", b"\xe3\x80", b"\xed\xa0\x80", b"\xc0\xaf"]
)
RAW = st.lists(st.binary(max_size=12) | LEADS | TEXT.map(str.encode), max_size=8).map(b"".join)


@given(st.lists(RAW, min_size=1, max_size=4), LEADS | st.just(b""))
def test_broken_utf8_is_cut_within_its_bounds(texts: list[bytes], tail: bytes) -> None:
    texts = [*texts, texts[0] + tail]
    found = pieces(raw_array(texts))
    ngrams.repeats(found)
    for d in range(len(texts)):
        units = slice(found.unit_bounds[d], found.unit_bounds[d + 1])
        starts, ends = found.unit_start[units], found.unit_end[units]
        assert np.all(starts >= found.offsets[d]) and np.all(ends <= found.offsets[d + 1]) and np.all(starts < ends)
        assert found.counts[d, scan.CHARS] <= len(texts[d])
        alone = pieces(raw_array([texts[d]]))
        assert alone.unit_hash.tolist() == found.unit_hash[units].tolist()


CHECKED = """
import numpy as np, pyarrow as pa
from glotmill.curate.kernels import compress, minhash, ngrams, phrases, pieces, scripts, shingles, urls
random = np.random.default_rng(7)
alphabet = [c.encode() for c in "aZé1.,'-: /www\\n\\r\\u2028\\u3000กุ้ ข漢。か\\u3099ー가Σς😀\\u0301\\u200d;:।་"]
alphabet += [b"http://", b"www.", b"javascript"]
alphabet += [b"\\xf0\\x9f\\x98", b"\\xe0\\xb8", b"\\xe3", b"\\xc3", b"\\xff", b"\\x80"]
for turn in range(400):
    size = int(random.integers(0, 40)) if turn else 0
    texts = []
    for _ in range(int(random.integers(1, 5))):
        if random.random() < 0.3:
            texts.append(random.bytes(size))
        else:
            texts.append(b"".join(alphabet[k] for k in random.integers(0, len(alphabet), size)))
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    array = pa.StringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(b"".join(texts)))
    cut = pieces.pieces(array)
    ngrams.repeats(cut), ngrams.paragraph_repeats(cut)
    hashed = shingles.word_shingles(cut, words=5, mask_digits=False)
    minhash.signatures(*hashed, permutations=4, seed=1)
    phrases.phrase_lines(cut, (("javascript",), ("漢 か", "a")))
    compress.compressed_bytes(array), urls.url_chars(array), scripts.main_scripts(array)
print("within bounds")
"""


@pytest.mark.slow
def test_no_kernel_reads_or_writes_outside_its_arrays(tmp_path: Path) -> None:
    root = Path(scan.__file__).parents[3]
    env = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(root)}
    run = subprocess.run([sys.executable, "-c", CHECKED], env=env, capture_output=True, text=True, cwd=tmp_path)
    assert run.stdout == "within bounds\n", run.stderr
