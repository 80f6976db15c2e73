import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fasttext
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.kernels.normal import normal_form
from glotmill.curate.kernels.spaced import one_line, spaced
from glotmill.curate.measure import Measure
from glotmill.curate.trained.classifier import HQ, LINE, LQ, UNITS, as_lines, classifier, fingerprint, side_file
from glotmill.curate.trained.fasttext_file import contents
from glotmill.curate.trained.fasttext_training import clean_memory, train_supervised
from glotmill.schemas.errors import RecipeError

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5)
GOOD = "The council met on Monday, and it agreed that the bridge would be repaired before winter.\nEveryone was glad."
BAD = "cheap bags buy now\ncheap watches buy now\nclick here click here"


def trained(path: Path, *lines: str, **options: Any) -> Path:
    text = path.with_suffix(".txt")
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    train_supervised(text, dim=4, epoch=100, lr=1.0, bucket=1000, minCount=1, **options).save_model(str(path))
    return path


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that someone else trained on texts as they are."""
    good, bad = GOOD.replace("\n", " "), BAD.replace("\n", " ")
    path = tmp_path_factory.mktemp("foreign") / "model.bin"
    return trained(path, f"{HQ} {good}", f"__label__cc {bad}", f"{HQ} {good} again", f"__label__cc {bad} more")


def scores(measure: Measure, *texts: str) -> list[float]:
    found: list[float] = (
        measure(pa.RecordBatch.from_pydict({"text": pa.array(texts, pa.string())})).column(1).to_pylist()
    )
    return found


def test_a_classifier_is_a_measure_of_one_column(foreign: Path) -> None:
    measure = classifier("edu", str(foreign))
    assert measure.adds == pa.schema({"edu_score": pa.float32()})
    good, bad = scores(measure, GOOD, BAD)
    assert good > 0.6 > 0.4 > bad
    assert scores(pickle.loads(pickle.dumps(measure)), GOOD) == [good]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GOOD, id="line feeds"),
        pytest.param("The council\r\nmet\u2028on Monday\x85and it agreed", id="other line breaks"),
        pytest.param("", id="empty"),
        pytest.param("\n\n", id="only line breaks"),
        pytest.param("__label__hq __label__cc buy", id="labels as words"),
        pytest.param("Buy\0now", id="a NUL"),
        pytest.param("人人生而自由，在尊严和权利上一律平等。", id="Hans"),
        pytest.param("มนุษย์ทั้งหลายเกิดมามีอิสระ", id="Thai"),
    ],
)
def test_a_foreign_models_score_is_what_the_library_predicts(foreign: Path, text: str) -> None:
    labels, values = fasttext.load_model(str(foreign)).predict(" ".join(text.splitlines()), k=-1)
    wanted = dict(zip(labels, values.tolist(), strict=True)).get(HQ, 0.0)
    assert scores(classifier("edu", str(foreign)), text) == [pytest.approx(min(1.0, wanted), abs=1e-6)]


@given(TEXTS)
def test_a_score_is_a_share_and_a_text_is_judged_alone(foreign: Path, texts: list[str]) -> None:
    measure = classifier("edu", str(foreign))
    together = scores(measure, *texts)
    assert all(0 <= score <= 1 for score in together)
    assert together == [score for text in texts for score in scores(measure, text)]


def test_the_probabilities_of_all_labels_add_up_to_one(foreign: Path) -> None:
    other = scores(classifier("edu", str(foreign), "__label__cc"), GOOD)
    assert scores(classifier("edu", str(foreign)), GOOD)[0] + other[0] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("loss", ["hs", "ova", "softmax"])
def test_a_model_of_any_loss_is_read(tmp_path: Path, loss: str) -> None:
    path = trained(tmp_path / "model.bin", f"{HQ} good news", f"{LQ} bad spam", loss=loss)
    wanted = dict(zip(*fasttext.load_model(str(path)).predict("good", k=-1), strict=True))[HQ]
    assert scores(classifier("edu", str(path)), "good") == [pytest.approx(min(1.0, wanted), abs=1e-6)]


def test_a_quantised_model_is_read(foreign: Path, tmp_path: Path) -> None:
    lines = [f"{HQ if i % 2 else LQ} word{i} and word{i * 7 % 90}" for i in range(300)]
    model = fasttext.load_model(str(trained(tmp_path / "model.bin", *lines)))
    model.quantize(str(tmp_path / "model.txt"), qnorm=True, verbose=0)
    path = tmp_path / "model.ftz"
    model.save_model(str(path))
    assert set(contents(path).labels) == {HQ, LQ}
    assert 0 <= scores(classifier("edu", str(path)), "word1 and word7")[0] <= 1


def test_only_the_first_characters_are_read(foreign: Path) -> None:
    measure = classifier("edu", str(foreign))
    bound = Measure(measure.run, measure.reads, measure.adds, {**measure.params, "max_chars": len(GOOD)})
    assert scores(bound, GOOD + " " + BAD) == scores(bound, GOOD) == scores(measure, GOOD)
    assert scores(measure, GOOD + " " + BAD) != scores(measure, GOOD)


def test_a_model_that_is_replaced_is_loaded_again(tmp_path: Path) -> None:
    path = trained(tmp_path / "model.bin", f"{HQ} apple pear", f"{LQ} stone iron")
    before = scores(classifier("edu", str(path)), "apple")
    trained(path, f"{HQ} stone iron rock", f"{LQ} apple pear plum")
    assert before[0] > 0.5 > scores(classifier("edu", str(path)), "apple")[0]


def test_a_label_that_the_model_lacks_is_named_with_the_nearest(foreign: Path) -> None:
    with pytest.raises(
        RecipeError, match=r"no label '__label__hp'; it has '__label__\w\w', .*did you mean '__label__hq'"
    ):
        classifier("edu", str(foreign), "__label__hp")
    with pytest.raises(RecipeError, match="did you mean '__label__cc'"):
        classifier("edu", str(foreign), "cc")
    with pytest.raises(RecipeError, match="set quality.classifiers.edu.label"):
        classifier("edu", str(foreign), "__label__wiki")


def damaged(tmp_path: Path, foreign: Path, how: Callable[[bytes], bytes]) -> Path:
    path = tmp_path / "damaged.bin"
    path.write_bytes(how(foreign.read_bytes()))
    return path


@pytest.mark.parametrize(
    ("how", "said"),
    [
        pytest.param(lambda data: b"", "empty", id="empty"),
        pytest.param(lambda data: b"no model at all", "not a fastText model", id="something else"),
        pytest.param(lambda data: data[:60], "cut short", id="within the arguments"),
        pytest.param(lambda data: data[:120], "cut short", id="within the dictionary"),
        pytest.param(lambda data: data[:-1], "cut short", id="one byte short"),
        pytest.param(lambda data: data + b"x", "1 bytes follow", id="one byte long"),
    ],
)
def test_a_damaged_model_is_found_before_any_work(
    tmp_path: Path, foreign: Path, how: Callable[[bytes], bytes], said: str
) -> None:
    with pytest.raises(RecipeError, match=f"{said}.*quality.classifiers.edu.model"):
        classifier("edu", str(damaged(tmp_path, foreign, how)))


def test_a_model_that_is_absent_or_no_classifier_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"absent.bin does not exist.*train-quality"):
        classifier("edu", str(tmp_path / "absent.bin"))
    text = tmp_path / "text.txt"
    text.write_text("some words some words\n")
    with clean_memory():
        vectors = fasttext.train_unsupervised(str(text), dim=2, minCount=1, bucket=10, thread=1, verbose=0)
    vectors.save_model(str(tmp_path / "vectors.bin"))
    with pytest.raises(RecipeError, match="word vectors"):
        classifier("edu", str(tmp_path / "vectors.bin"))


def test_a_side_file_says_how_texts_are_read(tmp_path: Path) -> None:
    path = trained(tmp_path / "model.bin", f"{HQ} 人 人 生", f"{LQ} 打 折 店")
    plain = scores(classifier("edu", str(path)), "人人生")
    alone = fingerprint(str(path))
    side = {"format": "glotmill-classifier-1", "model": alone["model"], "normalisation": UNITS, "max_chars": 2}
    side_file(path).write_text(json.dumps(side))
    measure = classifier("edu", str(path))
    assert scores(measure, "人人生") != plain
    assert scores(measure, "人人生") == scores(measure, "人人打")  # two characters are read
    assert fingerprint(str(path)) != alone


@pytest.mark.parametrize(
    ("side", "said"),
    [
        pytest.param("{", "move it away", id="no JSON"),
        pytest.param("[]", "move it away", id="no object"),
        pytest.param('{"labels": ["a"]}', "move it away", id="someone else's"),
        pytest.param(
            '{"format": "glotmill-classifier-1", "model": "0", "normalisation": "units", "max_chars": 9}',
            "describes another model",
            id="of another model",
        ),
        pytest.param(
            '{"format": "glotmill-classifier-1", "model": "0", "normalisation": "bytes", "max_chars": 9}',
            "train the model again",
            id="of a later version",
        ),
    ],
)
def test_a_side_file_that_does_not_fit_is_an_error(tmp_path: Path, side: str, said: str) -> None:
    path = trained(tmp_path / "model.bin", f"{HQ} apple", f"{LQ} stone")
    side_file(path).write_text(side)
    with pytest.raises(RecipeError, match=said):
        classifier("edu", str(path))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("Hello, World!\n«Oui»", "hello , world ! « oui »", id="Latn"),
        pytest.param("don't  http://x.y", "don't http :// x . y", id="an apostrophe and an address"),
        pytest.param("E\u0301COLE", "école", id="decomposed"),
        pytest.param("ΟΔΟΣ ΑΒ;", "οδοσ αβ ;", id="Grek"),
        pytest.param("人人生而自由，在", "人 人 生 而 自 由 ， 在", id="Hani"),
        pytest.param("ย์ทั้งหลาย", "ย์ ทั้ ง ห ล า ย", id="Thai, marks with their letters"),
        pytest.param("កម្ពុជា", "ក ម្ ពុ ជា", id="Khmr"),
        pytest.param("བོད་སྐད།", "བོད སྐད །", id="Tibt, the tsheg parts"),
        pytest.param("한국어 3월", "한국어 3월", id="Hang"),
        pytest.param("नमस्ते दुनिया।", "नमस्ते दुनिया ।", id="Deva"),
        pytest.param("مرحبا، بالعالم", "مرحبا ، بالعالم", id="Arab"),
        pytest.param("__label__hq </s>", "__ label __ hq </ s >", id="a label is no label"),
        pytest.param(" \t\r\n", "", id="white space"),
    ],
)
def test_a_line_is_units_parted_by_spaces(text: str, line: str) -> None:
    assert as_lines(pa.array([text]), normalisation=UNITS, max_chars=1000).to_pylist() == [line]


@given(TEXTS)
def test_a_spaced_line_keeps_every_visible_character(texts: list[str]) -> None:
    lines = spaced(pa.array(["x", *texts], pa.string()).slice(1)).to_pylist()
    assert len(lines) == len(texts)
    for text, line in zip(texts, lines, strict=True):
        assert line == " ".join(line.split(" ")) == line.strip(" ")
        assert "\n" not in line and not any(word.startswith("__label__") for word in line.split())
        seen = [char for char in normal_form(text) if char.isprintable() and not char.isspace()]
        assert [char for char in line if char.isprintable() and char != " " and char not in "་༌"] == [
            char for char in seen if char not in "་༌"
        ]


@given(TEXTS, st.integers(1, 30))
def test_a_line_is_the_first_characters_with_spaces_for_line_breaks(texts: list[str], chars: int) -> None:
    lines = one_line(pa.array(["\n", *texts], pa.string()).slice(1), chars=chars).to_pylist()
    for text, line in zip(texts, lines, strict=True):
        head = text[:chars]
        assert len(line) == len(head)
        assert all(b == (" " if a.splitlines() == [""] else a) for a, b in zip(head, line, strict=True))


@given(st.lists(st.binary(max_size=60), min_size=1))
def test_broken_utf8_is_scored_and_crashes_nothing(foreign: Path, texts: list[bytes]) -> None:
    offsets = pa.array([0, *[sum(map(len, texts[: i + 1])) for i in range(len(texts))]], pa.int32())
    array = pa.StringArray.from_buffers(len(texts), offsets.buffers()[1], pa.py_buffer(b"".join(texts)))
    measure = classifier("edu", str(foreign))
    for normalisation in (UNITS, LINE):
        bound = Measure(measure.run, measure.reads, measure.adds, {**measure.params, "normalisation": normalisation})
        found = bound(pa.RecordBatch.from_arrays([array], ["text"])).column("edu_score")
        assert len(found) == len(texts) and found.null_count == 0
