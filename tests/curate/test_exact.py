import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from glotmill.curate.dedup.exact import text_hash
from glotmill.curate.kernels.normal import normal_form, normal_forms

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_MARKS = "\u0301\u0323\u0331\u093c\u1100\u1161\u11a8\u09c7\u09be\u00a0\u3000"
MARKED = st.text(st.sampled_from("aAeßİıǰΐΣσς éÈऩन가각ক\nﬁK" + _MARKS), max_size=30)


def hashes(*texts: str) -> list[str]:
    found: list[str] = text_hash(pa.RecordBatch.from_pydict({"text": texts}))["text_hash"].to_pylist()
    return found


def same(left: str, right: str) -> bool:
    first, second = hashes(left, right)
    return first == second


@given(st.lists(TEXT | MARKED))
def test_the_kernel_normalises_as_python_does(texts: list[str]) -> None:
    batch = pa.array(["before", *texts], pa.string())[1:]
    data, bounds = normal_forms(batch)
    found = [bytes(data[bounds[i] : bounds[i + 1]]).decode() for i in range(len(texts))]
    assert found == [normal_form(text) for text in texts]


@given(TEXT | MARKED)
def test_unicode_form_and_spacing_do_not_matter(text: str) -> None:
    assert same(text, unicodedata.normalize("NFD", text))
    assert same(text, "  " + text.replace(" ", " \n\u3000 ") + "\t")


@given(st.text(st.sampled_from("abcßéñžжиωάաբ 漢ทক1")))
def test_case_does_not_matter(text: str) -> None:
    assert same(text, text.upper()) and same(text, text.title())


@given(TEXT | MARKED, TEXT | MARKED)
def test_texts_of_different_form_have_different_hashes(left: str, right: str) -> None:
    assume(normal_form(left) != normal_form(right))
    assert not same(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param("कुल", "कूल", id="hin vowel sign"),
        pytest.param("কুল", "কূল", id="ben vowel sign"),
        pytest.param("ที่", "ทิ", id="tha vowel and tone"),
        pytest.param("ハス", "バス", id="jpn voicing mark"),
        pytest.param("mà", "má", id="vie tone"),
        pytest.param("má", "ma", id="vie no tone"),
        pytest.param("كَتَبَ", "كُتُبٌ", id="arb short vowels"),
        pytest.param("3 mele", "4 mele", id="digit"),
        pytest.param("Sì.", "Sì!", id="punctuation"),
        pytest.param("a b", "ab", id="a space is no nothing"),
        pytest.param("", "x", id="empty"),
    ],
)
def test_what_a_reader_tells_apart_stays_apart(left: str, right: str) -> None:
    assert not same(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param("STRASSE", "straße", id="deu"),
        pytest.param("ΟΔΟΣ", "οδος", id="ell final sigma"),
        pytest.param("각", "\u1100\u1161\u11a8", id="kor jamo"),
        pytest.param("Tiếng Việt", unicodedata.normalize("NFD", "TIẾNG VIỆT"), id="vie decomposed"),
        pytest.param("\u212b", "å", id="angstrom sign"),
        pytest.param("", " \n\u2003", id="white space is nothing"),
    ],
)
def test_what_differs_in_form_alone_is_the_same(left: str, right: str) -> None:
    assert same(left, right)


def test_a_hash_is_32_hex_digits_and_does_not_change() -> None:
    assert hashes("Hello,  World") == hashes("hello, world")
    assert hashes("") == ["99aa06d3014798d86001c324468d497f"]  # xxh3-128 of no bytes


@given(st.lists(st.binary(max_size=20), min_size=1))
def test_broken_utf8_is_hashed_and_crashes_nothing(texts: list[bytes]) -> None:
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    array = pa.StringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(b"".join(texts)))
    found = text_hash(pa.RecordBatch.from_arrays([array], ["text"]))["text_hash"].to_pylist()
    assert len(found) == len(texts) and all(len(name) == 32 for name in found)
