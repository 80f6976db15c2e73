import unicodedata
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.kernels.unicode import BROKEN, KIND, LETTER, MARK, SPLITS, UPPER, scripts, unicode_table
from glotmill.curate.quality import quality

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PROSE = st.text(st.sampled_from("ab é.…\n\r\t\u2028\"'»-•ทคำกู漢かЖΩ; 12\u0301\u200d\ufffd😀"), max_size=80)


def measured(*texts: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = quality(pa.RecordBatch.from_pydict({"text": texts})).to_pylist()
    return rows


def one(text: str, signal: str) -> Any:
    return measured(text)[0][signal]


def is_space(char: str) -> bool:
    return char.isspace() or char in "\u0f0b\u0f0c"


def lines_of(text: str) -> list[str]:
    folded = (" ".join("".join(" " if is_space(c) else c for c in line).split()) for line in text.splitlines())
    return [line for line in folded if line]


def share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def slowly(text: str) -> dict[str, Any]:
    """What `quality` says of a text, from Python's own Unicode database, where that needs no tables of ours."""
    lines = lines_of(text)
    visible = [c for c in text if not is_space(c)]
    categories = [unicodedata.category(c)[0] for c in visible]
    cased = [c for c in visible if unicodedata.category(c) in ("Lu", "Lt", "Ll")]
    copies = {line: lines.count(line) for line in lines}
    total = sum(map(len, lines))
    return {
        "bytes": len(text.encode()),
        "chars": len(text),
        "lines": len(lines),
        "letter_share": share(sum(c in "LM" for c in categories), len(visible)),
        "digit_share": share(categories.count("N"), len(visible)),
        "symbol_share": share(sum(c in "PS" for c in categories) - text.count("\ufffd"), len(visible)),
        "uppercase_share": share(sum(unicodedata.category(c) != "Ll" for c in cased), len(cased)),
        "repeated_line_share": share(total - sum(map(len, copies)), total),
        "top_line_share": share(max([len(k) * n for k, n in copies.items() if n > 1], default=0), total),
    }


@given(TEXT | PROSE)
def test_the_kernel_counts_as_plain_python_does(text: str) -> None:
    row = measured(text)[0]
    assert {name: row[name] for name in slowly(text)} == slowly(text)


@given(st.lists(TEXT | PROSE, max_size=6))
def test_a_document_is_measured_alone_also_in_a_slice(texts: list[str]) -> None:
    alone = [measured(text)[0] for text in texts]
    batch = pa.RecordBatch.from_pydict({"text": ["before", *texts, "after"]})
    assert quality(batch.slice(1, len(texts))).to_pylist() == alone


@given(TEXT | PROSE)
def test_every_share_is_a_share(text: str) -> None:
    for name, value in measured(text)[0].items():
        if name.endswith("_share"):
            assert 0 <= value <= 1
        elif name != "text":
            assert value >= 0


@given(st.lists(st.binary(max_size=40), min_size=1))
def test_broken_utf8_is_measured_and_crashes_nothing(texts: list[bytes]) -> None:
    offsets = pa.array([0, *[sum(map(len, texts[: i + 1])) for i in range(len(texts))]], pa.int32())
    array = pa.StringArray.from_buffers(len(texts), offsets.buffers()[1], pa.py_buffer(b"".join(texts)))
    rows = quality(pa.RecordBatch.from_arrays([array], ["text"])).drop_columns("text").to_pylist()
    for row, raw in zip(rows, texts, strict=True):
        assert 0 <= row["broken_char_share"] <= 1 and row["bytes"] == len(raw)


@pytest.mark.parametrize(
    ("text", "units", "words"),
    [
        pytest.param("Nel mezzo del cammin", 4, 4, id="ita"),
        pytest.param("l'acqua è un vecchio-nuovo bene", 5, 5, id="ita apostrophe and hyphen join"),
        pytest.param("مرحبا بالعالم", 2, 2, id="arb"),
        pytest.param("का काम कूल है", 4, 4, id="hin vowel signs are in words"),
        pytest.param("می‌خواهم بروم", 2, 2, id="pes zero-width non-joiner joins"),
        pytest.param("ṣé ó dára", 3, 3, id="yor"),
        pytest.param("ṣe\u0301 o\u0301 da\u0301ra", 3, 3, id="yor decomposed"),
        pytest.param("한국어 문장입니다", 2, 2, id="kor spaces part words"),
        pytest.param("我们去年买", 5, 4, id="zho a word is one and a half characters"),
        pytest.param("ที่นี่", 2, 1, id="tha marks are no units"),
        pytest.param("使用Python3编程", 5, 4, id="zho with Latin"),
        pytest.param("བཀྲ་ཤིས་བདེ་ལེགས།", 4, 4, id="bod syllables"),
        pytest.param("ሰላም፡ዓለም", 2, 2, id="amh word space"),
        pytest.param("… — ! 😀", 0, 0, id="marks alone"),
        pytest.param("", 0, 0, id="empty"),
    ],
)
def test_words_and_units(text: str, units: int, words: int) -> None:
    assert (one(text, "units"), one(text, "words")) == (units, words)


@pytest.mark.parametrize(
    ("line", "ends"),
    [
        pytest.param("Fine.", True, id="full stop"),
        pytest.param('He said "no."', True, id="quote after it"),
        pytest.param("(Fine.) ", True, id="bracket and space after it"),
        pytest.param("« Non ! »", True, id="fra guillemets"),
        pytest.param("„Ja.“", True, id="deu quotes"),
        pytest.param("终于。”", True, id="zho"),
        pytest.param("はい！」", True, id="jpn"),
        pytest.param("नमस्ते।", True, id="hin danda"),
        pytest.param("ਸਤ ਸ੍ਰੀ ਅਕਾਲ |", True, id="pan a bar for danda"),
        pytest.param("ہے۔", True, id="urd"),
        pytest.param("བདེ་ལེགས།", True, id="bod shad"),
        pytest.param("ជំរាបសួរ។", True, id="khm"),
        pytest.param("မင်္ဂလာပါ။", True, id="mya"),
        pytest.param("ሰላም።", True, id="amh"),
        pytest.param("Τι κάνεις;", True, id="ell question mark"),
        pytest.param("Բարև ձեզ:", True, id="hye colon for verjaket"),
        pytest.param("And so…", True, id="ellipsis"),
        pytest.param("as follows:", False, id="eng colon"),
        pytest.param("one; two;", False, id="eng semicolon"),
        pytest.param("Home | About", False, id="menu"),
        pytest.param("a . b", False, id="full stop within"),
    ],
)
def test_a_line_ends_a_sentence(line: str, ends: bool) -> None:
    assert one(line, "terminal_line_share") == float(ends)


@pytest.mark.parametrize(
    ("text", "signal", "value"),
    [
        pytest.param("a\nb\na\na", "repeated_line_share", 0.5, id="first copy is free"),
        pytest.param("a  b\n a b ", "repeated_line_share", 0.5, id="white space does not tell lines apart"),
        pytest.param("好\u2028好", "repeated_line_share", 0.5, id="zho U+2028 ends a line"),
        pytest.param("नमस्ते\nनमस्ता", "repeated_line_share", 0.0, id="hin a vowel sign tells lines apart"),
        pytest.param("abc\nabc\nx", "top_line_share", 6 / 7, id="top line"),
        pytest.param("abc\nx", "top_line_share", 0.0, id="no line is repeated"),
        pytest.param("• a\n- b\n* c\nd", "bullet_line_share", 0.75, id="bullets"),
        pytest.param("a...\nb…\nc. . .\nd.", "ellipsis_line_share", 0.75, id="ellipses"),
        pytest.param("Home\nAbout us\nOne two three four five.", "short_line_share", 2 / 3, id="short lines"),
        pytest.param("ab\n我们去年买的书很贵", "menu_line_share", 2 / 11, id="zho nine characters are six words"),
        pytest.param("cafÃ©", "broken_char_share", 0.4, id="UTF-8 read as Latin-1"),
        pytest.param("NÃO", "broken_char_share", 0.0, id="por is no mojibake"),
        pytest.param("a\ufffd\x93b", "broken_char_share", 0.5, id="replacement and C1"),
        pytest.param("ABC def", "uppercase_share", 0.5, id="upper case"),
        pytest.param("12 ab", "digit_share", 0.5, id="digits"),
        pytest.param("ที่ 1", "letter_share", 0.75, id="tha marks count as letters"),
        pytest.param("abcd-efgh ij", "longest_word_chars", 9, id="longest word"),
        pytest.param("漢字", "longest_word_chars", 0, id="jpn has no words to be long"),
        pytest.param("ab cdef", "mean_word_chars", 3.0, id="mean word"),
        pytest.param("", "letter_share", 0.0, id="empty"),
    ],
)
def test_a_signal(text: str, signal: str, value: float) -> None:
    assert one(text, signal) == pytest.approx(value)


def test_the_table_knows_what_unicode_says() -> None:
    table = unicode_table()
    for code in [*range(0x3100), *range(0x4E00, 0x4F00), *range(0x10400, 0x10500), *range(0x1F600, 0x1F650)]:
        char, kind = chr(code), int(table[code]) & KIND
        assert (UPPER <= kind <= LETTER) == (unicodedata.category(char)[0] == "L")
        assert (kind == MARK) == (unicodedata.category(char)[0] == "M")
        assert bool(int(table[code]) & SPLITS) == char.isspace()
    assert int(table[0xFFFD]) & KIND == BROKEN
    assert {"Latn", "Cyrl", "Arab", "Thai", "Hani", "Ethi", "Nkoo", "Olck"} <= set(scripts())
