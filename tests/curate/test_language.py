import io
import json
import sys
import unicodedata
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from glotmill.curate.identify.models import LID176, Library, language_model
from glotmill.curate.kernels.normal import simple_lower
from glotmill.curate.kernels.reading import read_windows
from glotmill.curate.kernels.subwords import likeliest
from glotmill.curate.kernels.windows import windows
from glotmill.curate.language import language
from glotmill.schemas.errors import RecipeError

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5)

ITALIAN = "La legge non ammette ignoranza, e la pioggia cade su giusti e ingiusti in tutta la città."


def labels(*texts: str) -> list[tuple[str, str]]:
    batch = language(pa.RecordBatch.from_pydict({"text": texts}))
    return list(zip(batch["language"].to_pylist(), batch["script"].to_pylist(), strict=True))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        pytest.param(ITALIAN, "ita_Latn", id="ita"),
        pytest.param("Все люди рождаются свободными и равными в своём достоинстве и правах.", "rus_Cyrl", id="rus"),
        pytest.param("Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια.", "ell_Grek", id="ell"),
        pytest.param("มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ", "tha_Thai", id="tha"),
        pytest.param("すべての人間は、生まれながらにして自由である。", "jpn_Jpan", id="jpn"),
        pytest.param("모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.", "kor_Kore", id="kor"),
        pytest.param("人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。", "zho_Hans", id="zho Hans"),
        pytest.param("人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心。", "zho_Hant", id="zho Hant"),
        pytest.param("सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।", "hin_Deva", id="hin"),
        pytest.param("১২৩ ... !", "zxx_Zzzz", id="no letters"),
        pytest.param("", "zxx_Zzzz", id="empty"),
    ],
)
def test_a_language_is_named_with_its_script(text: str, label: str) -> None:
    assert labels(text) == [(label, label[4:])]


@given(TEXTS)
def test_a_document_is_labelled_alone_and_scores_are_shares(texts: list[str]) -> None:
    batch = language(pa.RecordBatch.from_pydict({"text": [ITALIAN, *texts]}).slice(1))
    assert [row for text in texts for row in labels(text)] == list(
        zip(batch["language"].to_pylist(), batch["script"].to_pylist(), strict=True)
    )
    for name in ("language_score", "language_lead"):
        assert all(0 <= value <= 1 for value in batch[name].to_pylist())


def test_our_kernel_says_what_the_library_says() -> None:
    import fasttext

    path = Path(__file__).parents[2] / "curate" / "data" / "lid.176.ftz"
    lines = pa.array(
        [ITALIAN, "x", "한국어", "the of and", "a" * 200, "the of the of and", "ñandú  Straße", "\u00a0", "ब्रह्म"]
    )
    firsts = pa.array(range(len(lines) + 1)).to_numpy()
    ours = language_model(LID176).candidates(lines, firsts)
    theirs = Library(fasttext.load_model(str(path))).candidates(lines, firsts)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine[0][0] == other[0][0]
        assert mine[0][1] == pytest.approx(other[0][1], abs=1e-4)


@given(TEXTS, st.integers(1, 4), st.integers(1, 40))
def test_windows_are_lines_of_whole_characters_from_the_text(texts: list[str], count: int, size: int) -> None:
    lines, firsts = windows(pa.array(texts, pa.string()), count=count, size=size)
    lines.validate(full=True)
    found = lines.to_pylist()
    for index, text in enumerate(texts):
        seen = "".join(" " if ord(char) <= 32 or ord(char) == 127 else char for char in text)
        pieces = found[firsts[index] : firsts[index + 1]]
        assert all(piece in seen for piece in pieces) and len(pieces) <= count
        if len(text.encode()) <= count * size:
            assert pieces == [seen]
        assert all(len(piece.encode()) <= count * size + 40 for piece in pieces)


@given(st.lists(st.binary(max_size=60), min_size=1))
def test_broken_utf8_is_labelled_and_crashes_nothing(texts: list[bytes]) -> None:
    offsets = pa.array([0, *[sum(map(len, texts[: i + 1])) for i in range(len(texts))]], pa.int32())
    array = pa.StringArray.from_buffers(len(texts), offsets.buffers()[1], pa.py_buffer(b"".join(texts)))
    found = language(pa.RecordBatch.from_arrays([array], ["text"])).column("language")
    assert len(found) == len(texts) and found.null_count == 0


def test_a_model_that_is_absent_or_something_else_is_named(tmp_path: Path) -> None:
    other = tmp_path / "model.bin"
    other.write_bytes(b"no model")
    for path in (other, tmp_path / "absent.bin"):
        with pytest.raises(RecipeError, match="lid176"):
            language.bind(model=str(path))(pa.RecordBatch.from_pydict({"text": [ITALIAN]}))


@pytest.mark.parametrize("code", ["ita", "deu", "rus", "tha", "hin", "jpn", "kor", "vie", "tur", "fin", "heb", "tam"])
def test_translations_of_the_same_news_are_told_apart(shared_data: Path, code: str) -> None:
    documents: dict[str, list[str]] = defaultdict(list)
    with zstandard.open(shared_data / "parallel" / "ntrex_dev.jsonl.zst", "rb") as file:
        for line in io.TextIOWrapper(file, encoding="utf-8"):
            if f'"{code}"' in line:
                row = json.loads(line)
                documents[row["document"]] += row["sentences"] if row["lang"] == code else []
    found = labels(*("\n".join(text) for text in documents.values() if text))
    assert sum(name[:3] == code for name, _ in found) >= 0.98 * len(found) > 0


ACCENTED = "ces ell spa fra por pol vie hun ron tur lit isl hin ben kan mya pes hye bul rus jpn slk swe gle".split()
BICAMERAL = (
    "ces ell spa fra por pol vie hun ron tur lit isl hye bul rus ukr deu ita fin swe nld slk est lav kaz kat bel mkd"
).split()
DOTTED = str.maketrans({"i": "İ", "ı": "I"})


@cache
def paragraphs(code: str) -> list[str]:
    """Of the sample's pages in a language."""
    folder = Path(__file__).parents[2] / "recipes" / "samples" / "text"
    pages = [
        page for path in folder.glob(f"{code}_*.yaml") for page in YAML(typ="safe").load(path.read_bytes())["pages"]
    ]
    return [paragraph for page in pages for paragraph in page["paragraphs"]]


def judged(*texts: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        language(pa.RecordBatch.from_pydict({"text": texts})).drop_columns(["text"]).to_pylist()
    )
    return rows


def read(*texts: str) -> list[str]:
    """The one window of each text."""
    return list(read_windows(pa.array(texts, pa.string()), count=1, size=10**6)[1].to_pylist())


@pytest.mark.parametrize("code", ACCENTED)
def test_a_decomposed_text_is_judged_as_the_composed_one(code: str) -> None:
    whole = "\n".join(paragraphs(code))
    assert len(whole.encode()) > 1800
    texts = [unicodedata.normalize("NFC", text) for text in (*paragraphs(code), whole)]
    decomposed = [unicodedata.normalize("NFD", text) for text in texts]
    # A glance that holds no decomposed letter may be cut a few bytes elsewhere in a decomposed text.
    for row, other in zip(judged(*decomposed), judged(*texts), strict=True):
        assert (row["language"], row["script"]) == (other["language"], other["script"])
        assert row["language_score"] == pytest.approx(other["language_score"], abs=0.001)
    assert judged(whole)[0]["language"].startswith(code)


def test_decomposed_hangul_is_judged_as_its_syllables() -> None:
    text = "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 大韓民國은 民主共和國이다."
    assert judged(unicodedata.normalize("NFD", text)) == judged(text)
    assert judged(text)[0]["language"] == "kor_Kore"


@pytest.mark.parametrize("code", BICAMERAL)
def test_a_text_in_capitals_is_labelled_as_the_one_in_lower_case(code: str) -> None:
    texts = ["\n".join(paragraphs(code)[i : i + 3]) for i in range(0, 9, 3)]
    before = [row["language"] for row in judged(*texts)]
    assert [row["language"] for row in judged(*map(str.upper, texts))] == before
    assert [
        row["language"] for row in judged(*(unicodedata.normalize("NFD", text.upper()) for text in texts))
    ] == before
    assert all(str(name).startswith(code) for name in before)


def test_turkish_capitals_are_read_with_both_of_their_i() -> None:
    texts = paragraphs("tur")
    assert read(*(text.translate(DOTTED).upper() for text in texts if "i" in text)) == [
        text.translate(DOTTED).upper().replace("I", "ı").replace("İ", "i").lower() for text in texts if "i" in text
    ]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        pytest.param("ESTO ES EL TÍTULO", "esto es el título", id="spa"),
        pytest.param("Esto sólo es un breve TÍTULO DE HOY", "Esto sólo es un breve TÍTULO DE HOY", id="spa half of it"),
        pytest.param("ЦЕ НАЗВА Її", "це назва її", id="ukr"),
        pytest.param("ISPARTA'DA IŞIK VE DİL", "ısparta'da ışık ve dil", id="tur with a dotted I"),
        pytest.param("KIRMIZI", "kirmizi", id="tur without one"),
        pytest.param("DI\u0307L", "dil", id="tur decomposed"),
        pytest.param("STRASSE UND STRAẞE", "strasse und straße", id="deu"),
        pytest.param("ΛΟΓΟΣ ᾈΔΩ", "λογοσ ᾀδω", id="ell no final sigma, iota below"),
        pytest.param("ՀԱՅԱՍՏԱՆ", "հայաստան", id="hye"),
        pytest.param("ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ", "საქართველო", id="kat Mtavruli"),
        pytest.param("ᏣᎳᎩ", "ᏣᎳᎩ", id="chr whose running text is upper case"),
        pytest.param("𐐔𐐇𐐝𐐀", "𐐼𐐯𐑅𐐨", id="Deseret four bytes"),
        pytest.param("ȺȾ", "ⱥⱦ", id="lower case takes more bytes"),
        pytest.param("日本国 ABC", "日本国 abc", id="jpn"),
        pytest.param("e\u0301té", "été", id="fra half decomposed"),
        pytest.param("ड\u093c", "ड\u093c", id="hin nukta that NFC keeps apart"),
        pytest.param("न\u093c", "\u0929", id="hin nukta that NFC composes"),
        pytest.param("\u1112\u1161\u11ab", "한", id="kor conjoining jamo"),
        pytest.param("a\u0301\u0323", "ạ\u0301", id="marks out of order"),
        pytest.param("\u212b", "å", id="a singleton, then lower case"),
        pytest.param("", "", id="empty"),
    ],
)
def test_the_model_reads_composed_lower_case(text: str, seen: str) -> None:
    assert read(text) == [seen]


MARKED = st.lists(
    st.text(
        st.sampled_from(
            "aAeEiIoOıİàẠñҐйЇΰᾈßẞ가각\u1112\u1161\u11ab\u0300\u0301\u0323\u0345\u0327ढ़न\u093cকো\u09be\u212b 1"
        )
    ),
    max_size=5,
)


@given(TEXTS | MARKED)
def test_all_forms_of_a_text_are_read_alike(texts: list[str]) -> None:
    seen = read(*(unicodedata.normalize("NFC", text) for text in texts))
    assert read(*texts) == seen
    assert read(*(unicodedata.normalize("NFD", text) for text in texts)) == seen


def test_simple_lower_case_is_python_s_where_that_is_one_letter_and_a_letter() -> None:
    lower = simple_lower()
    for code in range(len(lower)):
        char = chr(code)
        if (
            unicodedata.category(char) in ("Lu", "Lt")
            and len(char.lower()) == 1
            and "CHEROKEE" not in unicodedata.name(char)
        ):
            assert chr(lower[code]) == char.lower()
        elif char != "İ":
            assert lower[code] == code
    assert all(len(chr(code).encode()) * 2 >= len(chr(lower[code]).encode()) for code in range(0xD800))
    assert all(chr(code).lower() == chr(code) for code in range(len(lower), sys.maxunicode + 1, 1) if code < 0x20000)


@given(st.lists(st.lists(st.integers(0, 5), min_size=7, max_size=7), min_size=1), st.integers(1, 7))
def test_the_likeliest_come_first_and_ties_by_place(rows: list[list[int]], size: int) -> None:
    values = np.array(rows, np.float32)
    assert likeliest(values, size).tolist() == np.argsort(-values, axis=1, kind="stable")[:, :size].tolist()


def test_scores_are_the_same_to_the_last_bit_whatever_was_met_before() -> None:
    texts = [text for code in (*ACCENTED, "zho", "tha") for text in paragraphs(code)]
    assert judged(*texts) == [row for text in texts for row in judged(text)]
    assert judged(*reversed(texts)) == judged(*texts)[::-1]


@pytest.mark.parametrize(
    ("label", "code"),
    [
        pytest.param("__label__swh_Latn", "swa_Latn", id="GlotLID's individual language"),
        pytest.param("__label__cmn_Hans", "zho_Hans", id="GlotLID's Mandarin"),
        pytest.param("__label__ita_Latn", "ita_Latn", id="as we write it"),
        pytest.param("__label__it", "ita_Latn", id="lid.176's"),
    ],
)
def test_models_of_other_labels_agree_on_the_names_of_languages(
    label: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Model:
        def candidates(self, lines: Any, firsts: Any, scripts: Any = None) -> list[list[tuple[str, float]]]:
            return [[(label, 0.9)]]

    monkeypatch.setattr("glotmill.curate.language.language_model", lambda name: Model())
    batch = pa.RecordBatch.from_pylist([{"text": "some words in Latin letters"}])
    assert language.bind(model="other")(batch)["language"].to_pylist() == [code]
