import re
from collections import Counter
from importlib import resources
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from glotmill.curate.datatrove import datatrove, words_column
from glotmill.curate.judgement import judge_batch
from glotmill.curate.kernels.datatrove import ALPHA, DIGIT, SOLID, SPACE, TERMINAL, flags
from glotmill.curate.kernels.unicode import unicode_table
from glotmill.curate.rules import ruleset
from glotmill.curate.signals import numbers
from glotmill.schemas.errors import SchemaError
from glotmill.schemas.recipe import Quality

Row = dict[str, Any]

PARTS = st.sampled_from(
    [
        *"ab .,!?'\"#-*•…\n\n\n\r\t\v\x1c\x85\u2028\u00a0\u3000[]{1١é漢ท۔।៖»K\u212aİ😀",
        "\r\n", "\n\n", "...", "....", "[1]", "[12", "[edit]", "[citation needed]", " one two three", "Lorem IPSUM",
        "JavaScript", "javas\u212aript", "use coo\u212aies", " privacy policy", "the ", " of", "\n- ", "\n • x",
        "x" * 31, "x" * 1001, "Fine, then.\n", "a b\nc d e.\n",
    ]
)  # fmt: skip
TEXTS = st.lists(PARTS, max_size=30).map("".join) | st.text(st.characters(exclude_categories=["Cs"]))
WORDS = st.lists(
    st.sampled_from(["a", "ab", "b", "bc", "c", "b c", "漢", "é", "...", "#", "the", "of", "The", "١", "។"])
)


def measured(text: str, words: list[str] | None = None, sentences: list[int] | None = None, **params: bool) -> Row:
    columns = {"text": pa.array([text])}
    if words is not None:
        columns["given_words"] = pa.array([words], pa.list_(pa.string()))
    if sentences is not None:
        columns["line_sentences"] = pa.array([sentences], pa.list_(pa.int32()))
    row: Row = datatrove.bind(**params)(pa.RecordBatch.from_pydict(columns)).to_pylist()[0]
    return {name: value for name, value in row.items() if name.startswith("dt_")}


def broken(preset: str, text: str, words: list[str] | None = None, sentences: list[int] | None = None) -> list[str]:
    """The reasons of a preset's rules that a text breaks, in order."""
    file = resources.files("glotmill.curate").joinpath(f"data/datatrove_{preset}.yaml")
    written = YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))
    rules = ruleset(Quality(preset="none", rules=written["*"]), signals=numbers(datatrove))
    row = pa.RecordBatch.from_pylist([measured(text, words, sentences)])
    return [reason["reason"] for reason in judge_batch(row, rules)["reasons"].to_pylist()[0]]


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def repeated(items: list[str]) -> tuple[int, int]:
    """How many items occurred earlier, and their characters."""
    copies = [item for at, item in enumerate(items) if item in items[:at]]
    return len(copies), sum(map(len, copies))


def most_frequent(words: list[str], n: int) -> int:
    runs = [" ".join(words[at : at + n]) for at in range(len(words) - n + 1)]
    counts = Counter(runs)
    best = max(runs, key=lambda run: counts[run], default="")
    return len(best) * counts[best]


def met_again(words: list[str], n: int) -> int:
    met, chars, at = set(), 0, 0
    while at + n <= len(words):
        run = "".join(words[at : at + n])
        again = run in met
        met.add(run)
        chars += again * len(run)
        at += n if again else 1
    return chars


def is_symbol(char: str) -> bool:
    code = ord(char)
    control = code < 32 or 127 <= code < 160
    listed = char in "«»´–—’“”„…∶━►、〈〉《》「」【】％（），１：；～" or (
        code < 127 and 32 < code and not char.isalnum()
    )
    return (control and char not in "\t\n") or listed or bool(flags()[code] & TERMINAL)


def c4(text: str, sentences: list[int], terminal_lines: bool) -> Row:
    kept: list[int] = []
    stop = ""
    for line, number in zip(text.splitlines(), sentences, strict=True):
        words = line.split()
        clean = re.sub(r"\[(\d*|edit|citation needed)\]", "", line.strip())
        lower = clean.lower()
        ends = clean[-1:] in (".", "?", "!", '"', "'") and clean and not clean.endswith("...")
        if max(map(len, words), default=0) > 1000 or (terminal_lines and not ends) or len(words) < 3:
            continue
        if "lorem ipsum" in lower:
            stop = "lorem ipsum"
            break
        if "javascript" in lower:
            continue
        if "{" in clean:
            stop = "{"
            break
        policies = ["terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies"]
        if not any(policy in lower for policy in policies):
            kept.append(number)
    return {
        "dt_c4_lorem_ipsum": stop == "lorem ipsum",
        "dt_c4_curly_bracket": stop == "{",
        "dt_c4_lines_kept": len(kept),
        "dt_c4_sentences": sum(kept),
    }


def slowly(text: str, words: list[str], sentences: list[int], terminal_lines: bool = True) -> Row:
    """Every signal, written down from the definitions."""
    paragraphs = re.split(r"\n{2,}", text.strip())
    run_lines = re.split(r"\n+", text)
    lines = text.splitlines()
    full = [line for line in text.split("\n") if line.strip()]
    solid = [word for word in words if not all(is_symbol(char) for char in word)]
    return {
        "dt_dup_paragraph_share": repeated(paragraphs)[0] / len(paragraphs),
        "dt_dup_paragraph_char_share": share(repeated(paragraphs)[1], len(text)),
        "dt_dup_line_share": repeated(run_lines)[0] / len(run_lines),
        "dt_dup_line_char_share": share(repeated(run_lines)[1], len(text)),
        **{f"dt_top_{n}_gram_share": share(most_frequent(words, n), len(text)) for n in range(2, 5)},
        **{f"dt_dup_{n}_gram_share": share(met_again(words, n), len(text)) for n in range(5, 11)},
        "dt_words": len(solid),
        "dt_mean_word_chars": share(sum(map(len, solid)), len(solid)),
        "dt_hash_ratio": share(text.count("#"), len(words)),
        "dt_ellipsis_ratio": share(text.count("...") + text.count("…"), len(words)),
        "dt_bullet_line_share": share(sum(line.lstrip()[:1] in ("•", "-") for line in lines), len(lines)),
        "dt_ellipsis_line_share": share(sum(line.rstrip().endswith(("...", "…")) for line in lines), len(lines)),
        "dt_alpha_word_share": share(sum(any(c.isalpha() for c in word) for word in words), len(words)),
        "dt_stop_words": len({"the", "be", "to", "of", "and", "that", "have", "with"} & set(words)),
        **c4(text, sentences, terminal_lines),
        "dt_fw_lines": len(full),
        "dt_fw_line_punct_share": share(sum(bool(flags()[ord(line[-1])] & TERMINAL) for line in full), len(full)),
        "dt_fw_short_line_share": share(sum(len(line) <= 30 for line in full), len(full)),
        "dt_fw_dup_char_share": share(repeated(full)[1], len(text.replace("\n", ""))),
        "dt_fw_breaks_per_word": share(text.count("\n"), len(words)),
    }


@given(TEXTS, WORDS, st.lists(st.integers(0, 5), min_size=1), st.booleans())
def test_the_kernel_counts_as_the_definitions_do(text: str, words: list[str], some: list[int], ends: bool) -> None:
    sentences = [some[at % len(some)] for at in range(len(text.splitlines()))]
    assert measured(text, words, sentences, terminal_lines=ends) == slowly(text, words, sentences, ends)


@given(TEXTS)
def test_words_of_a_text_itself_count_as_the_definitions_do(text: str) -> None:
    sentences = [1] * len(text.splitlines())
    assert measured(text, text.split(), sentences) == slowly(text, text.split(), sentences)


@given(st.lists(st.tuples(TEXTS, WORDS), max_size=5))
def test_a_document_is_measured_alone_also_in_a_slice(rows: list[tuple[str, list[str]]]) -> None:
    texts, words = ["one two.", *(text for text, _ in rows), "x"], [["é", "b"], *(words for _, words in rows), []]
    batch = pa.RecordBatch.from_arrays(
        [pa.array(texts), pa.array(words, pa.list_(pa.string()))], ["text", "given_words"]
    )
    together = datatrove(batch.slice(1, len(rows))).drop_columns(["text", "given_words"]).to_pylist()
    assert together == [measured(*row) for row in rows]


@given(st.lists(st.binary(max_size=40), min_size=1))
def test_broken_utf8_crashes_nothing(texts: list[bytes]) -> None:
    offsets = pa.array([0, *[sum(map(len, texts[: at + 1])) for at in range(len(texts))]], pa.int32())
    array = pa.StringArray.from_buffers(len(texts), offsets.buffers()[1], pa.py_buffer(b"".join(texts)))
    rows = datatrove(pa.RecordBatch.from_arrays([array], ["text"])).drop_columns(["text"]).to_pylist()
    assert len(rows) == len(texts) and all(value >= 0 for row in rows for value in row.values())


@given(TEXTS)
def test_our_words_are_the_text_without_white_space(text: str) -> None:
    batch = pa.RecordBatch.from_pydict({"text": pa.array(["before", text])})
    words = words_column(batch).to_pylist()[1]
    visible = "".join(char for char in text if not char.isspace() and char not in "\u0f0b\u0f0c")
    assert "".join(words) == visible and "" not in words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param('He said "no".', ["He", "said", '"', "no", '"', "."], id="eng"),
        pytest.param("« Non ! »", ["«", "Non", "!", "»"], id="fra"),
        pytest.param("नमस्ते।", ["नमस्ते", "।"], id="hin vowel signs stay"),
        pytest.param("مرحبا؟", ["مرحبا", "؟"], id="arb"),
        pytest.param("终于。", ["终", "于", "。"], id="zho a letter is a word of our cut"),
        pytest.param("ที่นี่", ["ที่", "นี่"], id="tha marks stay with letters"),
        pytest.param("བདེ་ལེགས།", ["བདེ", "ལེགས", "།"], id="bod tsheg parts"),
        pytest.param("ሰላም።", ["ሰላም", "።"], id="amh"),
        pytest.param("...", [".", ".", "."], id="an ellipsis of full stops is three words"),
        pytest.param(" \n", [], id="blank"),
    ],
)
def test_without_a_words_column_words_are_those_of_our_cut(text: str, words: list[str]) -> None:
    assert words_column(pa.RecordBatch.from_pydict({"text": [text]})).to_pylist() == [words]


@pytest.mark.parametrize(
    ("text", "words", "signal", "value"),
    [
        # As datatrove 0.10.0 computed them.
        pytest.param(" ".join("a" * 8), ["a"] * 8, "dt_top_4_gram_share", 7 * 5 / 15, id="overlaps exceed the text"),
        pytest.param("好" * 100, ["好"] * 100, "dt_top_3_gram_share", 4.9, id="zho spaces that aren't there count"),
        pytest.param("alpha beta", ["alpha", "beta"], "dt_top_2_gram_share", 1.0, id="one occurrence is enough"),
        pytest.param("\na\n", ["a"], "dt_dup_line_share", 1 / 3, id="line feeds at both ends make equal lines"),
        pytest.param("", [], "dt_top_2_gram_share", 0.0, id="empty"),
        pytest.param("......", ["......"], "dt_ellipsis_ratio", 2.0, id="six full stops are two ellipses"),
        pytest.param("aa b aa b c", ["aa", "b", "aa", "b", "c"], "dt_top_2_gram_share", 8 / 11, id="the more frequent"),
        pytest.param("a bb ccc", ["a", "bb", "ccc"], "dt_top_2_gram_share", 4 / 8, id="the first of equals"),
        pytest.param("abcdef" * 2, [*"abcd", "ef", "ab", *"cdef"], "dt_dup_5_gram_share", 6 / 12, id="joined, equal"),
        pytest.param("a\r\nb\r\n", ["a", "b"], "dt_dup_line_char_share", 0.0, id="carriage returns are text"),
        pytest.param("Yes.\r\nNo.", ["Yes.", "No."], "dt_fw_line_punct_share", 0.5, id="a carriage return ends a line"),
        pytest.param('"Yes."', ['"Yes."'], "dt_fw_line_punct_share", 0.0, id="a quote ends no sentence"),
        pytest.param("ہے۔", ["ہے", "۔"], "dt_fw_line_punct_share", 1.0, id="urd"),
        pytest.param("བདེ།", ["བདེ", "།"], "dt_fw_line_punct_share", 0.0, id="bod a shad is none of its marks"),
        pytest.param("ជំរាប៖", ["ជំរាប", "៖"], "dt_fw_line_punct_share", 1.0, id="khm"),
        pytest.param("一二三。", ["一二三", "。"], "dt_words", 1, id="zho a mark is no word"),
        pytest.param("１ 2", ["１", "2"], "dt_words", 1, id="one full-width digit is a symbol"),
        pytest.param("नमस्ते ।", ["नमस्ते", "।"], "dt_mean_word_chars", 6.0, id="hin code points, marks too"),
        pytest.param("The the be", ["The", "the", "be"], "dt_stop_words", 2, id="case counts"),
        pytest.param("\u064b x", ["\u064b", "x"], "dt_alpha_word_share", 0.5, id="arb a mark alone is no letter"),
        pytest.param("- a\n\n\u3000• b\n* c", ["a"], "dt_bullet_line_share", 0.5, id="blank lines count"),
        pytest.param("One two three [1].", ["x"], "dt_c4_lines_kept", 1, id="a citation is taken out"),
        pytest.param("One two three. [١]", ["x"], "dt_c4_lines_kept", 0, id="and the space before it stays"),
        pytest.param("One two three [[1]].", ["x"], "dt_c4_lines_kept", 1, id="once"),
        pytest.param("Use coo\u212aies or not.", ["x"], "dt_c4_lines_kept", 0, id="the lower case of the kelvin sign"),
        pytest.param("Lorem ipsum dolor {.", ["x"], "dt_c4_curly_bracket", 0, id="lorem ipsum is looked for first"),
        pytest.param("{ javascript here.", ["x"], "dt_c4_curly_bracket", 0, id="javascript is looked for first"),
        pytest.param("{ privacy policy here.", ["x"], "dt_c4_curly_bracket", 1, id="before policies"),
        pytest.param("{ a\nLorem ipsum dolor.", ["x"], "dt_c4_lorem_ipsum", 1, id="lines without an end hide it"),
    ],
)
def test_a_signal(text: str, words: list[str], signal: str, value: float) -> None:
    assert measured(text, words)[signal] == pytest.approx(value, rel=1e-15)


def lines_of(count: int, *same: str) -> str:
    """`count` lines of four characters that differ, then those given."""
    return "\n".join([*(f"a{at:03}" for at in range(count)), *same])


def unlike(count: int) -> list[str]:
    return [f"w{at}" for at in range(count)]


LONG = "x" * 300

# Rule, the document at its limit, which passes, and the one beyond.
EDGES = [
    pytest.param("gopher", "repeated_paragraphs", (lines_of(6, *["b001"] * 4).replace("\n", "\n\n"), [LONG]),
                 (lines_of(5, *["b001"] * 5).replace("\n", "\n\n"), []), id="3 of 10 is no more than 3 of 10"),
    pytest.param("gopher", "repeated_paragraph_chars", ("ab\n\nab\n\ncd", []), ("abc\n\nabc\n\nd", []), id="0.2"),
    pytest.param("gopher", "repeated_lines", ("\n".join("abcdefgggg"), []), ("\n".join("abcdefffff"), []), id="0.3"),
    pytest.param("gopher", "repeated_line_chars", ("ab\nab\nab\ncdefghijklm", []), ("abc\nabc\nabc\ndefghijkl", []),
                 id="4 of 20"),
    pytest.param("gopher", "frequent_2_gram", ("x" * 20, ["ab", "c"]), ("x" * 19, ["ab", "c"]), id="2"),
    pytest.param("gopher", "frequent_3_gram", ("x" * 50, ["a", "b", "cdefg"]), ("x" * 49, ["a", "b", "cdefg"]), id="3"),
    pytest.param("gopher", "frequent_4_gram", ("x" * 50, [*"abc", "de"]), ("x" * 49, [*"abc", "de"]), id="4"),
    *(
        pytest.param("gopher", f"repeated_{n}_grams", ("x" * size, [*"abcdefghij"[:n], *"abcdefghij"[:n]]),
                     ("x" * (size - 1), [*"abcdefghij"[:n], *"abcdefghij"[:n]]), id=f"{n}")
        for n, size in ((5, 34), (6, 43), (7, 54), (8, 67), (9, 82), (10, 100))
    ),
    pytest.param("gopher", "few_words", ("x", [*unlike(50), "."]), ("x", [*unlike(49), "."]), id="50"),
    pytest.param("gopher", "many_words", ("x", ["a"] * 100_000 + ["!"]), ("x", ["a"] * 100_001), id="100,000"),
    pytest.param("gopher", "short_words", ("x", ["ab", "abcd", "."]), ("x", ["abc", "ab", "..."]), id="3"),
    pytest.param("gopher", "long_words", ("x", ["x" * 9, "x" * 11]), ("x", ["x" * 10, "x" * 11]), id="10"),
    pytest.param("gopher", "hashes", ("#", unlike(10)), ("#", unlike(9)), id="0.1"),
    pytest.param("gopher", "ellipses", ("...", unlike(10)), ("…...", unlike(19)), id="0.1"),
    pytest.param("gopher", "bullet_lines", ("- a\n" * 9 + "b", []), ("• a\n" * 10 + "b", []), id="0.9"),
    pytest.param("gopher", "ellipsis_lines", ("a…\n" * 3 + "b\n" * 7, []), ("a...\n" * 4 + "b\n" * 7, []), id="0.3"),
    pytest.param("gopher", "few_alpha_words", ("x", ["a"] * 4 + ["1"]), ("x", ["a"] * 3 + ["1"]), id="0.8"),
    pytest.param("gopher", "few_stop_words", ("x", ["the", "of"]), ("x", ["the", "Of", "the"]), id="2"),
    pytest.param("fineweb", "no_lines", ("a", []), (" \n\u3000", []), id="a line"),
    pytest.param("fineweb", "few_line_ends", ("a.\n" * 3 + "b\n" * 22, []), ("a.\n" * 3 + "b\n" * 23, []), id="0.12"),
    pytest.param("fineweb", "short_lines", ("x" * 30 + "\n" + "x" * 31, []), (("x" * 30 + "\n") * 3 + "x" * 31, []),
                 id="30 code points are short"),
    pytest.param("fineweb", "repeated_chars", ("a\na\n" + "x" * 98, []), ("a\na\n" + "x" * 97, []), id="0.01"),
    pytest.param("fineweb", "list", ("a\n\n\nb", unlike(10)), ("a\n\n\nb", unlike(9)), id="0.3"),
]  # fmt: skip


@pytest.mark.parametrize(("preset", "reason", "at", "beyond"), EDGES)
def test_a_value_at_the_limit_passes(
    preset: str, reason: str, at: tuple[str, list[str]], beyond: tuple[str, list[str]]
) -> None:
    assert reason not in broken(preset, *at)
    assert reason in broken(preset, *beyond)


@pytest.mark.parametrize(
    ("text", "sentences", "reasons"),
    [
        pytest.param("One two three.\nOne two three.", [3, 2], [], id="five sentences"),
        pytest.param("One two three.\nOne two three.", [3, 1], ["few_sentences"], id="four"),
        pytest.param("One two three.\nOne two.", [4, 9], ["few_sentences"], id="two words are no line"),
        pytest.param("One two three.\nOne two three...", [4, 9], ["few_sentences"], id="nor is an ellipsis an end"),
        pytest.param(f"One two {'x' * 999}.", [5], [], id="a word of 1,000"),
        pytest.param(f"One two {'x' * 1000}.", [5], ["few_sentences"], id="a word of 1,001"),
        pytest.param("One two three.\n{ b c.\nlorem ipsum dolor.", [9, 1, 1], ["curly_bracket"], id="the first counts"),
        pytest.param("One two three.\nlorem ipsum {.\n{ b c.", [9, 1, 1], ["lorem_ipsum"], id="in one line, lorem"),
    ],
)
def test_c4_judges_the_lines_that_it_keeps(text: str, sentences: list[int], reasons: list[str]) -> None:
    assert broken("c4", text, [], sentences) == reasons


def test_the_first_reason_is_the_one_that_datatrove_gives() -> None:
    assert broken("gopher", "alpha beta", ["alpha", "beta"])[0] == "frequent_2_gram"
    assert broken("gopher", "\na\n", ["a"])[0] == "repeated_lines"


def test_sentences_are_our_own_where_none_are_given() -> None:
    text = "He came. She saw!\nI see and say, “Who won?”"
    assert measured(text, terminal_lines=False)["dt_c4_sentences"] == 3


@pytest.mark.parametrize(
    ("name", "column", "message"),
    [
        pytest.param("given_words", pa.array([["a", None]]), "words.*1 nulls", id="a null word"),
        pytest.param("given_words", pa.array([None], pa.list_(pa.string())), "words.*1 nulls", id="no words"),
        pytest.param("given_words", pa.array(["a b"]), "words.*found string", id="words not cut"),
        pytest.param("line_sentences", pa.array([[1]], pa.list_(pa.int64())), "int64", id="wide numbers"),
        pytest.param(
            "line_sentences", pa.array([[1]], pa.list_(pa.int32())), "1 lines in row 0.* 2", id="too few lines"
        ),
    ],
)
def test_a_column_that_is_not_as_it_should_be_is_named(name: str, column: Any, message: str) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array(["a b\nc"]), column], ["text", name])
    with pytest.raises(SchemaError, match=message):
        datatrove(batch)


def test_the_flags_are_what_python_says_of_a_code_point() -> None:
    assert len(flags()) == len(unicode_table())
    for code in [*range(0x3100), *range(0xA000, 0xAC00), *range(0xFF00, 0x10000), *range(0x11000, 0x11200)]:
        char = chr(code)
        known = (bool(flags()[code] & bit) for bit in (SPACE, ALPHA, DIGIT, SOLID))
        assert tuple(known) == (char.isspace(), char.isalpha(), char.isdecimal(), not is_symbol(char))


def test_marks_and_symbols_are_as_many_as_datatrove_has() -> None:
    assert int((flags() & TERMINAL != 0).sum()) == 159
    assert int((flags() & SOLID == 0).sum()) == 281


@pytest.mark.parametrize(
    ("chars", "ends", "symbol"),
    [
        pytest.param(".!?。！？｡．؟۔।॥։።៖", True, True, id="ends a line"),
        pytest.param(":;\"'”»…)、，", False, True, id="a symbol alone"),
        pytest.param("\t\n\u00a0•།€¿©0é漢\u0301😀", False, False, id="neither"),
        pytest.param("\x00\x0b\r\x1c\x7f\x85\x9f", False, True, id="control characters"),
    ],
)
def test_a_mark_ends_a_line_or_makes_no_word(chars: str, ends: bool, symbol: bool) -> None:
    for char in chars:
        row = measured(f"a{char}", [char])
        assert (row["dt_words"] == 0) == symbol
        assert bool(flags()[ord(char)] & TERMINAL) == ends
