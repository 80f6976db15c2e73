import io
import json
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.kernels.windows import windows
from glotmill.curate.language import language
from glotmill.curate.lid import LID176, Library, language_model
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
    lines = pa.array([ITALIAN, "x", "한국어", "the of and", "a" * 200, "ñandú  Straße", "\u00a0", "ब्रह्म"])
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
