import numpy as np
import pyarrow as pa
import pytest

from glotmill.curate.calibrate.word_counts import WordCounts, log_probabilities
from glotmill.curate.kernels import vocabulary as table
from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.stop_words import stop_words


def measured(text: str, language: str | None) -> tuple[int, float]:
    batch = pa.RecordBatch.from_pydict({"text": [text], "language": pa.array([language], pa.string())})
    found = stop_words(batch)
    return found["stop_words"][0].as_py(), round(found["stop_word_share"][0].as_py(), 3)


@pytest.mark.parametrize(
    ("text", "language", "count", "share"),
    [
        pytest.param("The cat and THE dog", "eng_Latn", 2, 0.6, id="eng whatever the case"),
        pytest.param("La casa e il mare", "ita_Latn", 3, 0.6, id="ita"),
        pytest.param("Der Hund und die Katze", "deu_Latn", 3, 0.6, id="deu"),
        pytest.param("дом и сад не в лесу", "rus_Cyrl", 3, 0.5, id="rus"),
        pytest.param("राम और श्याम के घर", "hin_Deva", 2, 0.4, id="hin"),
        pytest.param("ο σκύλος και η γάτα", "ell_Grek", 3, 0.6, id="ell"),
        pytest.param("ο σκυ\u0301λος και\u0300", "ell_Grek", 1, 0.333, id="ell another accent is another word"),
        pytest.param("我的书在他的家", "zho_Hans", 3, 0.571, id="zho by letters"),
        pytest.param("the and of", "ita_Latn", 0, 0.0, id="another language's"),
        pytest.param("the and of", "grn_Latn", 0, 0.0, id="no list"),
        pytest.param("the and of", None, 0, 0.0, id="no language"),
        pytest.param("", "eng_Latn", 0, 0.0, id="empty"),
        pytest.param("12 34", "eng_Latn", 0, 0.0, id="numbers are no words"),
    ],
)
def test_stop_words_are_those_of_the_language(text: str, language: str | None, count: int, share: float) -> None:
    assert measured(text, language) == (count, share)


def test_a_composed_and_a_decomposed_text_have_the_same_stop_words() -> None:
    assert measured("đã và là", "vie_Latn") == measured("đa\u0303 va\u0300 la\u0300", "vie_Latn")
    assert measured("đã và là", "vie_Latn")[0] >= 2


def test_a_vocabulary_keeps_languages_apart_and_counts_distinct_units_once_a_text() -> None:
    cut = pieces(pa.array(["a b a", "a b", "c"]))
    units = [np.unique(pieces(pa.array([text])).unit_hash) for text in ("a", "a b")]
    known = table.vocabulary(["one", "two"], units, [np.full(len(of), -1.0) for of in units], np.array([-5.0, -7.0]))
    found = table.look_up(cut, pa.array(["one", "two", "two"]), known)
    assert found[:, table.DISTINCT].tolist() == [1, 2, 0]
    assert found[:, table.SUM].tolist() == [-7.0, -2.0, -7.0]
    assert found[:, table.UNITS].tolist() == [3, 2, 1]


def test_counts_grow_over_batches_and_leave_numbers_out() -> None:
    counts = WordCounts()
    counts.add(pieces(pa.array(["a b 1", "a"])), ["x", "y"])
    counts.add(pieces(pa.array(["b b A"])), ["x"])
    found = {group: sorted(of.tolist()) for group, (_, of) in counts.counts().items()}
    assert found == {"x": [2, 3], "y": [1]}


def test_probabilities_are_smoothed_by_one_and_sum_to_one() -> None:
    values, unseen = log_probabilities(np.array([3, 1]))
    assert np.exp(values).tolist() == pytest.approx([4 / 7, 2 / 7]) and np.exp(unseen) == pytest.approx(1 / 7)
    _, of_half = log_probabilities(np.array([3, 1]), of_all=0.5)
    assert np.exp(of_half) == pytest.approx(1 / 11)
