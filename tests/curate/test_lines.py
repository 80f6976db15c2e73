"""Line rules cut whole lines, keep what they cut, and let everything after them see what stays."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.line_rules import line_rules
from glotmill.curate.lines import LINE_SIGNALS, count_cuts, cuts, line_cuts, line_signals, without_cuts
from glotmill.curate.measure_unit import measure_unit
from glotmill.curate.quality import quality
from glotmill.schemas.atomic import transaction
from glotmill.schemas.document import DOCUMENT
from glotmill.schemas.edits import apply_edits, left_out
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.recipe import Quality
from glotmill.schemas.units import Unit

CHARS = st.characters(exclude_categories=["Cs"])
BREAKS = "\n \r \v \f \x1c \x1d \x1e \x85 \u2028 \u2029".split(" ")
LINE = st.text(st.sampled_from("ab. é…\t\u3000\xa0\u2003\x1f»คำกู漢か।۔؟Ж;5{A\u0301😀"), max_size=12)
TEXT = (
    st.text(CHARS)
    | st.lists(st.tuples(LINE, st.sampled_from([*BREAKS, "\r\n", "\n\r", "\n\n"])), max_size=8).map(
        lambda parts: "".join(line + end for line, end in parts)
    )
    | st.lists(LINE, max_size=8).map("\n".join)
)

# A text, and what stays of it when lines of fewer than three words are cut out.
SCRIPTS = {
    "Latn": ("Menu\nIl gatto dorme sul divano.\nAccedi", "Il gatto dorme sul divano.\n"),
    "Cyrl": ("Меню\nКошка спит на диване.\nВойти", "Кошка спит на диване.\n"),
    "Grek": ("Μενού\nΗ γάτα κοιμάται εδώ;\nΕίσοδος", "Η γάτα κοιμάται εδώ;\n"),
    "Arab": ("القائمة\nتنام القطة على الأريكة.\nدخول", "تنام القطة على الأريكة.\n"),
    "Hebr": ("תפריט\nהחתול ישן על הספה.\nכניסה", "החתול ישן על הספה.\n"),
    "Deva": ("मेनू\nबिल्ली सोफ़े पर सोती है।\nलॉगिन", "बिल्ली सोफ़े पर सोती है।\n"),
    "Taml": ("பட்டி\nபூனை சோபாவில் தூங்குகிறது இன்று.\nஉள்நுழை", "பூனை சோபாவில் தூங்குகிறது இன்று.\n"),
    "Thai": ("เมนู\nแมวนอนหลับอยู่บนโซฟาในห้องนั่งเล่น\nเข้า", "แมวนอนหลับอยู่บนโซฟาในห้องนั่งเล่น\n"),
    "Mymr": ("မီနူး\nကြောင်သည် ဆိုဖာပေါ်တွင် အိပ်နေသည်။\nဝင်", "ကြောင်သည် ဆိုဖာပေါ်တွင် အိပ်နေသည်။\n"),
    "Hans": ("菜单\n猫在沙发上睡觉。\n登录", "猫在沙发上睡觉。\n"),
    "Jpan": ("メニュー\n猫はソファの上で眠っています。\n入る", "猫はソファの上で眠っています。\n"),
    "Kore": ("메뉴\n고양이가 소파에서 자고 있다.\n로그인", "고양이가 소파에서 자고 있다.\n"),
    "Ethi": ("ምናሌ\nድመቷ ሶፋው ላይ ተኝታለች።\nግባ", "ድመቷ ሶፋው ላይ ተኝታለች።\n"),
    "Armn": ("Ցանկ\nԿատուն քնում է բազմոցին։\nՄուտք", "Կատուն քնում է բազմոցին։\n"),
}


def spans(text: str, rules: Mapping[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cuts(pa.array([text]), line_rules(Quality(preset="none", lines=dict(rules))))[
        0
    ].as_py()
    return found


def stays(text: str, **rules: str) -> str:
    texts = pa.array([text])
    return str(apply_edits(texts, cuts(texts, line_rules(Quality(preset="none", lines=dict(rules)))))[0])


def signals(text: str) -> dict[str, list[float]]:
    return {name: v.tolist() for name, v in line_signals(pieces(pa.array([text])), LINE_SIGNALS).items()}


def is_blank(line: str) -> bool:
    return not line.strip(" \u0f0b\u0f0c" + "".join(c for c in map(chr, range(0x3001)) if c.isspace()))


@given(st.lists(TEXT, max_size=4), st.integers(1, 8), st.integers(0, 2))
def test_cutting_is_leaving_whole_lines_out(texts: list[str], limit: int, skip: int) -> None:
    column = pa.array(texts, pa.string())[skip:]
    found = cuts(
        column,
        line_rules(Quality(preset="none", lines={"short": f"line_chars < {limit}", "full": "line_ends_sentence > 0"})),
    )
    for text, after, of in zip(texts[skip:], apply_edits(column, found).to_pylist(), found.to_pylist(), strict=True):
        kept, reasons = [], []
        values = signals(text)
        numbers = iter(range(len(values["line_chars"])))
        for line in text.splitlines(keepends=True):
            k = None if is_blank(line) else next(numbers)
            is_short = k is not None and values["line_chars"][k] < limit
            is_full = k is not None and values["line_ends_sentence"][k] > 0
            reasons.append("short" if is_short else "full" if is_full else None)
            kept += [] if reasons[-1] else [line]
        assert after == "".join(kept)
        merged = [
            reason for reason, before in zip(reasons, [None, *reasons], strict=False) if reason not in (None, before)
        ]
        assert [span["reason"] for span in of] == merged


@given(TEXT, st.integers(0, 6))
def test_nothing_is_lost(text: str, limit: int) -> None:
    texts = pa.array([text])
    found = cuts(
        texts, line_rules(Quality(preset="none", lines={"short": f"line_chars < {limit}", "words": "line_words > 1.5"}))
    )
    gone = left_out(texts, found).to_pylist()
    data, parts, place = text.encode(), [], 0
    for span, cut in zip(found[0].as_py(), gone, strict=True):
        assert place <= span["start"] < span["end"] <= len(data)
        parts += [data[place : span["start"]], cut.encode()]
        place = span["end"]
    parts.append(data[place:])
    assert b"".join(parts) == data
    assert b"".join(parts[::2]).decode() == apply_edits(texts, found)[0].as_py()


def _has_thai_or_lao(text: str) -> bool:
    return any("\u0e00" <= char <= "\u0eff" for char in text)


@pytest.mark.parametrize(
    ("line", "ends"),
    [
        pytest.param("แมวนอนหลับอยู่บนโซฟา", 1, id="tha no mark ends a sentence"),
        pytest.param("ແມວນອນຢູ່ເທິງໂຊຟາ", 1, id="lao no mark ends a sentence"),
        pytest.param("ឆ្មាដេកលើសាឡុង", 0, id="khm has a mark"),
        pytest.param("ឆ្មាដេកលើសាឡុង។", 1, id="khm with its mark"),
        pytest.param("The cat sleeps", 0, id="eng"),
        pytest.param("The cat sleeps.”", 1, id="eng with a quote after its mark"),
    ],
)
def test_a_line_ends_a_sentence_in_the_way_of_its_script(line: str, ends: int) -> None:
    assert line_signals(pieces(pa.array([line])), ["line_ends_sentence"])["line_ends_sentence"].tolist() == [ends]


@given(st.lists(TEXT, max_size=4))
def test_the_signals_of_lines_are_those_of_texts(texts: list[str]) -> None:
    column = pa.array(texts, pa.string())
    of = quality(pa.RecordBatch.from_pydict({"text": column}))
    cut = pieces(column)
    found = line_signals(cut, LINE_SIGNALS)
    for d, row in enumerate(of.to_pylist()):
        mine = {name: values[cut.line_bounds[d] : cut.line_bounds[d + 1]] for name, values in found.items()}
        count = len(mine["line_chars"])
        assert count == row["lines"]
        if not _has_thai_or_lao(texts[d]):  # where every line counts
            assert mine["line_ends_sentence"].sum() == pytest.approx(row["terminal_line_share"] * count)
        assert mine["line_curly_brackets"].sum() == row["curly_brackets"]
        assert mine["line_longest_word_chars"].max(initial=0) == row["longest_word_chars"]
        assert (mine["line_words"] < 5).sum() == pytest.approx(row["short_line_share"] * count)
        assert (mine["line_uppercase_share"] > 0.5).sum() == pytest.approx(row["uppercase_line_share"] * count)
        chars = mine["line_chars"]
        repeated = chars[mine["line_repeated"] > 0].sum()
        assert repeated == pytest.approx(row["repeated_line_share"] * chars.sum())
        for name, whole in (("javascript", "javascript_line_share"), ("boilerplate", "boilerplate_line_share")):
            assert mine[f"line_{name}"].sum() == pytest.approx(row[whole] * count)
        assert mine["line_lorem_ipsum"].sum() == row["lorem_ipsum"]
    data = "".join(texts).encode()
    alone = [data[start:end].decode() for start, end in zip(cut.line_start, cut.line_end, strict=True)]
    of = quality(pa.RecordBatch.from_pydict({"text": pa.array(alone, pa.string())}))
    for name in ("letter_share", "digit_share", "uppercase_share"):
        assert found[f"line_{name}"].tolist() == of[name].to_pylist()


@pytest.mark.parametrize("name", LINE_SIGNALS)
def test_a_signal_is_the_same_whatever_else_is_asked_for(name: str) -> None:
    text = "Lorem ipsum. Enable JavaScript {\nLorem ipsum.\n12\nPRIVACY policy\nLorem ipsum."
    cut = pieces(pa.array([text, *(text for text, _ in SCRIPTS.values())]))
    assert line_signals(cut, [name])[name].tolist() == line_signals(cut, LINE_SIGNALS)[name].tolist()
    assert len(set(line_signals(cut, [name])[name].tolist())) > 1


@pytest.mark.parametrize("script", SCRIPTS)
def test_short_lines_are_short_in_every_script(script: str) -> None:
    text, after = SCRIPTS[script]
    assert stays(text, menu="line_words < 3") == after


@pytest.mark.parametrize("end", [*BREAKS, "\r\n"])
def test_a_line_goes_with_its_break_whatever_break(end: str) -> None:
    assert stays(f"ab{end}abcde{end}ab{end}", short="line_chars < 3") == f"abcde{end}"
    assert stays(f"abcde{end}ab", short="line_chars < 3") == f"abcde{end}"
    assert stays(f"{end}\u3000ab\xa0{end} {end}abcde", short="line_chars < 3") == f"{end} {end}abcde"


def test_the_first_rule_that_holds_is_the_reason() -> None:
    text = "Enable JavaScript\nok\nok\nfine\n"
    rules = {"javascript": "line_javascript > 0", "repeated": "line_repeated > 0", "short": "line_chars < 20"}
    assert [(span["reason"], span["start"], span["end"]) for span in spans(text, rules)] == [
        ("javascript", 0, 18),
        ("short", 18, 21),
        ("repeated", 21, 24),
        ("short", 24, 29),
    ]
    assert [span["reason"] for span in spans(text, {"short": rules["short"]})] == ["short"]  # neighbours are one span


def test_c4s_line_rules_do_what_they_say() -> None:
    page = Path(__file__).parents[2].joinpath("docs", "recipe.md").read_text(encoding="utf-8")
    written = dict(re.findall(r'^        (\w+): "(line_.*?)"', page, re.MULTILINE))
    assert set(written) == {"no_sentence_end", "few_words", "long_word", "javascript", "policy"}
    good = "The cat sleeps on the sofa all day.\n"
    lines = {
        "no_sentence_end": "Read more about the cat on the sofa\n",
        "few_words": "Cat sleeps.\n",
        "long_word": f"The cat sleeps on the {'a' * 1001} sofa.\n",
        "javascript": "Please enable JavaScript in your browser to see the cat.\n",
        "policy": "By using this page you agree to our Privacy Policy.\n",
    }
    text = good + "".join(lines.values()) + good
    assert [span["reason"] for span in spans(text, written)] == list(lines)
    assert stays(text, **written) == good + good


def test_a_text_of_which_nothing_stays_is_empty() -> None:
    assert stays("ab\nab\r\n ab", short="line_chars < 3") == ""
    assert stays("", short="line_chars < 3") == ""
    assert stays("\n \n", short="line_chars < 3") == "\n \n"  # blank lines are no lines


def test_books_count_lines_and_characters() -> None:
    batch = pa.RecordBatch.from_pydict({"text": ["ab\n\nab\nécho écho.\n", "x", ""]})
    measured = line_cuts.bind(rules=line_rules(Quality(preset="none", lines={"short": "line_chars < 3"})))(batch)
    assert measured["cut_lines"].to_pylist() == [2, 1, 0]
    assert measured["cut_char_share"].to_pylist() == [6 / 18, 1, 0]
    assert count_cuts(measured["text"], measured["cuts"]) == {"short": {"lines": 3, "chars": 7}}
    assert without_cuts(measured)["text"].to_pylist() == ["\nécho écho.\n", "", ""]


def test_no_rules_cut_nothing_and_are_written_all_the_same() -> None:
    batch = pa.RecordBatch.from_pydict({"text": ["ab", ""]})
    measured = line_cuts(batch)
    assert measured.to_pylist() == [
        {"text": text, "cuts": [], "cut_lines": 0, "cut_char_share": 0} for text in ("ab", "")
    ]
    assert count_cuts(measured["text"], measured["cuts"]) == {}


def test_null_takes_a_line_rule_out() -> None:
    assert line_rules(Quality(preset="none", lines={"short": None})) == ()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("line_word < 3", "short.*quality.lines.*'line_word'.*did you mean 'line_words'"),
        ("words < 3", "did you mean 'line_words'"),
        ("line_words 3", "such as 'words < 50'"),
    ],
)
def test_a_line_rule_that_cant_be_read_says_what_to_write(rule: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        line_rules(Quality(preset="none", lines={"short": rule}))


def test_the_page_names_the_line_signals() -> None:
    page = Path(__file__).parents[2].joinpath("docs", "recipe.md").read_text(encoding="utf-8")
    table = page.partition("| line signal |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", table)) == set(LINE_SIGNALS)


def test_documents_are_measured_without_the_lines_that_are_cut(tmp_path: Path) -> None:
    texts = ["Menu\nLa gatta dorme.\n", "Menu\nLogin", "La gatta dorme.\n"]
    columns = {"id": ["0", "1", "2"], "text": texts, "source": ["s"] * 3, "domain": ["web"] * 3}
    rows = pa.table({f.name: pa.array(columns.get(f.name, [None] * 3), f.type) for f in DOCUMENT})
    (tmp_path / "documents").mkdir()
    pq.write_table(rows, tmp_path / "documents" / "u.parquet")
    with transaction(tmp_path, "t") as files:
        measures = (line_cuts.bind(rules=line_rules(Quality(preset="none", lines={"menu": "line_words < 2"}))), quality)
        outcome, _ = measure_unit(Unit("measure", "u", "u"), files, out=tmp_path, measures=measures)
        files.commit()
    assert outcome.facts["cuts"] == {"menu": {"lines": 3, "chars": 15}}
    found = pq.read_table(tmp_path / "signals" / "u.parquet").to_pylist()
    assert [row["bytes"] for row in found] == [16, 0, 16]
    assert [row["lines"] for row in found] == [1, 0, 1]
    assert [row["cuts"] for row in found] == [
        [{"start": 0, "end": 5, "reason": "menu"}],
        [{"start": 0, "end": 10, "reason": "menu"}],
        [],
    ]
