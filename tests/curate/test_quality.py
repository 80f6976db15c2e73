import unicodedata
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.kernels.compress import compressed_bytes
from glotmill.curate.kernels.phrases import phrase_lines
from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.kernels.unicode import BROKEN, KIND, LETTER, MARK, SPLITS, UPPER, rows, scripts, unicode_table
from glotmill.curate.kernels.urls import url_chars
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


SENTENCES = {
    "Latn": ("Today it rains. Stay at home!", 2),
    "Cyrl": ("Сегодня дождь. Оставайтесь дома!", 2),
    "Grek": ("Τι κάνεις; Βρέχει.", 2),
    "Armn": ("Անձրեւ է։ Մնա տանը։", 2),
    "Geor": ("წვიმს. დარჩი სახლში!", 2),
    "Hebr": ("יורד גשם. נשאר בבית?", 2),
    "Arab": ("المطر ينزل. هل نبقى؟", 2),
    "Deva": ("बारिश है। घर पर रहो।", 2),
    "Beng": ("বৃষ্টি হচ্ছে। ঘরে থাকো।", 2),
    "Taml": ("மழை பெய்கிறது. வீட்டில் இரு!", 2),
    "Sinh": ("වැස්සයි. ගෙදර ඉන්න!", 2),
    "Tibt": ("ཆར་པ་འབབ། ནང་དུ་སྡོད།", 2),
    "Ethi": ("ዝናብ ነው። ቤት ቆይ።", 2),
    "Thai": ("วันนี้ฝนตก อยู่บ้าน", 2),
    "Laoo": ("ມື້ນີ້ຝົນຕົກ ຢູ່ເຮືອນ", 2),
    "Khmr": ("ថ្ងៃនេះភ្លៀង។ នៅផ្ទះ។", 2),
    "Mymr": ("မိုးရွာသည်။ အိမ်နေပါ။", 2),
    "Hans": ("今天下雨。留在家里！", 2),
    "Jpan": ("今日は雨です。家にいます！", 2),
    "Kore": ("비가 온다. 집에 있어라!", 2),
}


@pytest.mark.parametrize("script", SENTENCES)
def test_new_signals_mean_the_same_in_every_script(script: str) -> None:
    text, sentences = SENTENCES[script]
    page = f"{text}\n\n{text}\nhttps://example.org/a?b=1\n"
    row, plain = measured(page, text)
    assert plain["sentences"] == sentences and row["sentences"] == 2 * sentences + 1
    assert (plain["paragraphs"], row["paragraphs"]) == (1, 2)
    spaced = " ".join(text.replace("་", " ").split())  # tsheg is a space of one character
    assert plain["mean_line_chars"] == len(spaced) and row["mean_line_chars"] == (2 * len(spaced) + 25) / 3
    assert plain["url_share"] == 0 and row["url_share"] == 25 / len("".join(page.replace("་", " ").split()))
    assert plain["alpha_word_share"] == 1 and plain["emoji_share"] == 0 and plain["numeric_line_share"] == 0
    assert plain["uppercase_line_share"] == 0 and plain["hash_ratio"] == plain["ellipsis_ratio"] == 0
    assert plain["mixed_script_share"] == 0 and 0 < row["mixed_script_share"] < 0.5 or script == "Latn"
    assert plain["breaks_per_word"] == 0
    assert row["boilerplate_line_share"] == row["javascript_line_share"] == row["lorem_ipsum"] == 0


@pytest.mark.parametrize("script", SENTENCES)
def test_an_address_ends_where_the_text_goes_on(script: str) -> None:
    before, after = SENTENCES[script][0].split(" ", 1) if " " in SENTENCES[script][0] else ("今天", "下雨。")
    for address in ("http://example.com/a-b_c?d=1&e=%20#f", "www.example.com", "WWW.example.com/", "ftp://u:p@h:21/"):
        for text in (
            f"{before} {address} {after}",
            f"{before}\n{address}\u3000{after}",
            f"{before}（{address}）{after}",
        ):
            assert round(one(text, "url_share") * len("".join(text.replace("་", " ").split()))) == len(address)
        if script in ("Thai", "Laoo", "Khmr", "Mymr", "Hans", "Jpan", "Kore"):
            text = "".join((before + address + after).split())
            assert round(one(text, "url_share") * len(text)) == len(address)


@pytest.mark.parametrize(
    ("text", "signal", "value"),
    [
        pytest.param("a1 b 22 --", "alpha_word_share", 2 / 4, id="tokens with a letter"),
        pytest.param(
            "我们去年买 12 ——", "alpha_word_share", 10 / 16, id="zho five letters are three and a third words"
        ),
        pytest.param("नमस्ते १२", "alpha_word_share", 1 / 2, id="hin"),
        pytest.param("ok 😀😀", "emoji_share", 0.5, id="emoji"),
        pytest.param("™ © 1 # *", "emoji_share", 0.0, id="signs are no emoji"),
        pytest.param("❤\ufe0fab", "emoji_share", 1 / 4, id="heart"),
        pytest.param("ALL Caps\nno caps\nAB12", "uppercase_line_share", 2 / 3, id="most letters"),
        pytest.param("ABcd", "uppercase_line_share", 0.0, id="half is not most"),
        pytest.param("ΠΡΟΣΟΧΗ\nПРИВЕТ\nՀԱՅ\n漢字", "uppercase_line_share", 3 / 4, id="any script with case"),
        pytest.param("1,000\n٢٣\n१२\na 1\n--", "numeric_line_share", 3 / 5, id="numbers of any script"),
        pytest.param("{a} { }", "curly_brackets", 2, id="opening brackets"),
        pytest.param("# a\n## b c d", "hash_ratio", 3 / 4, id="hashes"),
        pytest.param("####", "hash_ratio", 1.0, id="at most one"),
        pytest.param("a... b… c.. d", "ellipsis_ratio", 2 / 4, id="ellipses"),
        pytest.param("U.S.A. 1.2.3.4 a.b.c.d.", "ellipsis_ratio", 0.0, id="full stops apart are no ellipsis"),
        pytest.param("我们去... 好… 。。。", "ellipsis_ratio", 2 / (4 * 8 / 12), id="zho ellipses"),
        pytest.param("a......", "ellipsis_ratio", 1.0, id="six dots are two"),
        pytest.param("a . . . b", "ellipsis_ratio", 0.0, id="spaced dots"),
        pytest.param("a b\nc d\n", "breaks_per_word", 2 / 4, id="line breaks"),
        pytest.param("a\r\nb\rc\u2028d\x85", "breaks_per_word", 4 / 4, id="of every kind, CR LF once"),
        pytest.param("\n\n\n", "breaks_per_word", 3.0, id="no words count as one"),
        pytest.param("\r\n\r\n", "breaks_per_word", 2.0, id="CR LF twice"),
        pytest.param("abcd жи", "mixed_script_share", 1 / 3, id="Latin with Cyrillic"),
        pytest.param("pаypаl", "mixed_script_share", 1 / 3, id="letters that look alike"),
        pytest.param("今日はデータ한", "mixed_script_share", 0.0, id="Han, kana and Hangul are one"),
        pytest.param("漢字ab", "mixed_script_share", 0.5, id="as many"),
        pytest.param("١٢ 12 —", "mixed_script_share", 0.0, id="no letters"),
        pytest.param("ñandú", "mixed_script_share", 0.0, id="accents are no script"),
        pytest.param("a\n\nb\nc\n \t\nd", "paragraphs", 3, id="blank lines part paragraphs"),
        pytest.param("\n\n", "paragraphs", 0, id="no paragraph"),
        pytest.param("ab\n\ncdef", "mean_line_chars", 3.0, id="blank lines do not count"),
        pytest.param("क  ख", "mean_line_chars", 3.0, id="white space counts once"),
        pytest.param("see http://x.y now", "url_share", 10 / 16, id="address"),
        pytest.param("see HTTPS://x.y, www.z.w.", "url_share", 20 / 23, id="the marks after it belong to it"),
        pytest.param("://", "url_share", 0.0, id="no scheme"),
        pytest.param("awww.x ...www x://", "url_share", 4 / 16, id="within a word"),
        pytest.param("http://a/http://b", "url_share", 1.0, id="one in another"),
        pytest.param('<a href="http://x.y">', "url_share", 10 / 20, id="quoted"),
        pytest.param("http://de.wikipedia.org/wiki/Köln", "url_share", 1.0, id="letters beside ASCII's"),
        pytest.param("请看http://例.cn", "url_share", 7 / 13, id="zho letters end it"),
        pytest.param("JavaScript!\njavascripts\nJAVA script", "javascript_line_share", 1 / 3, id="whole word"),
        pytest.param("请启用JavaScript。\n好", "javascript_line_share", 1 / 2, id="within Chinese"),
        pytest.param("Lorem  ipsum\nlorem, IPSUM\nlorem ipsums", "lorem_ipsum", 2, id="lines"),
        pytest.param("lorem\nipsum", "lorem_ipsum", 0, id="a phrase ends with its line"),
        pytest.param("lorem ipsum lorem ipsum", "lorem_ipsum", 1, id="a line counts once"),
    ],
)
def test_a_new_signal(text: str, signal: str, value: float) -> None:
    assert one(text, signal) == pytest.approx(value)


BOILERPLATE = [(code, phrase) for code, phrase in rows("boilerplate.tsv")]


@pytest.mark.parametrize(
    ("code", "phrase"), BOILERPLATE, ids=[f"{code} {k}" for k, (code, _) in enumerate(BOILERPLATE)]
)
def test_boilerplate_is_found_whatever_its_case_and_never_within_a_word(code: str, phrase: str) -> None:
    capitals = phrase.replace("i", "İ").upper() if code in ("aze", "tur") else phrase.upper()
    apostrophe, decomposed = phrase.replace("'", "’"), unicodedata.normalize("NFD", phrase)
    for line in (phrase, capitals, phrase.title(), apostrophe, decomposed, f"Xy {phrase}, xy", f"({phrase})"):
        assert one(f"{line}\nab", "boilerplate_line_share") == 0.5
    if code in ("cmn", "jpn", "tha"):
        assert one(f"{phrase[0]}{phrase}{phrase[0]}", "boilerplate_line_share") == 1.0
    elif not any(f" {other} " in f" {phrase} " for _, other in BOILERPLATE if other != phrase):
        first, *others = phrase.split()
        inside = [" ".join([first, "z", *others])] if others else []
        for line in (f"z{phrase}", f"{phrase}z", f"z-{phrase}", f"{phrase}'z", *inside):
            assert one(line, "boilerplate_line_share") == 0


def test_boilerplate_is_known_in_many_languages() -> None:
    codes = {code for code, _ in BOILERPLATE}
    assert len(codes) >= 30 and {"eng", "cmn", "jpn", "kor", "rus", "ara", "hin", "tha", "vie", "ell", "heb"} <= codes


@given(
    st.lists(TEXT | PROSE, max_size=4), st.lists(st.sampled_from(["privacy policy", "隐私政策", "ab", "ก"]), max_size=3)
)
def test_phrases_are_counted_by_lines_and_kinds(texts: list[str], phrases: list[str]) -> None:
    array = pa.array([*texts, "Privacy   POLICY\nab\n我的隐私政策"], pa.string())
    cut = pieces(array)
    counts = phrase_lines(cut, (tuple(phrases), ("ab",)))
    assert counts.shape == (len(texts) + 1, 2) and counts[-1, 1] == 1
    assert counts[-1, 0] == len(set(phrases) - {"ก"})
    assert (counts <= np.diff(cut.line_bounds)[:, None]).all()


@given(TEXT | PROSE)
def test_addresses_and_compressed_bytes_are_within_bounds(text: str) -> None:
    array = pa.array([text])
    assert 0 <= url_chars(array)[0] <= sum(not c.isspace() for c in text)
    assert (len(text) > 0) <= compressed_bytes(array)[0] <= len(text.encode())


def test_the_table_knows_what_unicode_says() -> None:
    table = unicode_table()
    for code in [*range(0x3100), *range(0x4E00, 0x4F00), *range(0x10400, 0x10500), *range(0x1F600, 0x1F650)]:
        char, kind = chr(code), int(table[code]) & KIND
        assert (UPPER <= kind <= LETTER) == (unicodedata.category(char)[0] == "L")
        assert (kind == MARK) == (unicodedata.category(char)[0] == "M")
        assert bool(int(table[code]) & SPLITS) == char.isspace()
    assert int(table[0xFFFD]) & KIND == BROKEN
    assert {"Latn", "Cyrl", "Arab", "Thai", "Hani", "Ethi", "Nkoo", "Olck"} <= set(scripts())
