import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.calibrate.fit import BUDGET, fit, fitted_rules
from glotmill.curate.calibrate.folder import limits, write
from glotmill.curate.calibrate.reference import Reference
from glotmill.curate.calibrate.sample import languages, measure_sample, signals
from glotmill.curate.calibrate.unigrams import UNIGRAM, UNIGRAMS, unigrams
from glotmill.curate.measure import chain
from glotmill.curate.rules import parse_rule, ruleset
from glotmill.curate.signals import SIGNALS
from glotmill.schemas.errors import InputError, RecipeError
from glotmill.schemas.recipe import Quality

Floats = npt.NDArray[np.float64]
LABELS = ("ita_Latn", "deu_Latn", "tha_Thai")


def drawn(count: int, seed: int) -> tuple[npt.NDArray[np.object_], dict[str, Floats]]:
    """Documents of three languages whose signals lie within their rules' bounds."""
    draw = np.random.default_rng(seed)
    labels = np.array([LABELS[row % 3] for row in range(count)], object)
    values = {
        rule.signal: rule.lowest + (rule.highest - rule.lowest) * draw.beta(2, 5, count) for rule in fitted_rules()
    }
    return labels, values


@given(st.integers(3, 400), st.integers(0, 5))
def test_limits_stay_in_their_bounds_and_every_rule_can_be_read(count: int, seed: int) -> None:
    bounds = {rule.reason: rule for rule in fitted_rules()}
    for scope, reasons in fit(*drawn(count, seed)).items():
        for reason, text in reasons.items():
            if text is not None:
                rule = parse_rule(text, reason=reason, scope=scope, signals=(*SIGNALS, UNIGRAM))
                assert bounds[reason].lowest <= rule.limit <= bounds[reason].highest
                assert (rule.signal, rule.comparison) == (bounds[reason].signal, bounds[reason].comparison)


@pytest.mark.parametrize("count", [90, 900, 9000])
def test_the_reference_loses_no_more_than_the_budget(count: int) -> None:
    labels, values = drawn(count, 1)
    written = fit(labels, values, budget=BUDGET)
    for language in LABELS:
        gone = np.zeros(int((labels == language).sum()), bool)
        for rule in fitted_rules():
            if text := written[language][rule.reason]:
                limit = float(text.split()[-1])
                of = values[rule.signal][labels == language]
                gone |= of > limit if rule.comparison == ">" else of < limit
        assert gone.mean() <= BUDGET


def test_the_order_of_documents_changes_nothing() -> None:
    labels, values = drawn(300, 2)
    order = np.random.default_rng(0).permutation(300)
    assert fit(labels, values) == fit(labels[order], {name: of[order] for name, of in values.items()})


def test_a_script_has_the_loosest_limit_of_its_languages_and_none_about_their_words() -> None:
    written = fit(*drawn(600, 3))
    for reason in ("symbol_heavy", "few_alpha_words"):
        own = [float(str(written[language][reason]).split()[-1]) for language in ("ita_Latn", "deu_Latn")]
        loosest = max(own) if reason == "symbol_heavy" else min(own)
        assert float(str(written["Latn"][reason]).split()[-1]) == loosest
    assert not {"few_stop_words", "unlikely_words"} & written["Latn"].keys()


@pytest.mark.parametrize(
    ("language", "reason"),
    [
        pytest.param("tha_Thai", "few_line_ends", id="tha no mark ends a sentence"),
        pytest.param("tha_Thai", "short_words", id="tha no space parts words"),
        pytest.param("tha_Thai", "uppercase", id="tha no capitals"),
    ],
)
def test_what_says_nothing_in_a_language_is_taken_out(language: str, reason: str) -> None:
    assert fit(*drawn(300, 4))[language][reason] is None


def test_few_documents_are_drawn_towards_their_script() -> None:
    labels, values = drawn(3000, 5)
    odd = np.concatenate([labels, np.array(["fao_Latn"] * 3, object)])
    given_odd = {name: np.concatenate([of, of[:3]]) for name, of in values.items()}
    given_odd["symbol_share"][-3:] = 0.001
    limit = float(str(fit(odd, given_odd)["fao_Latn"]["symbol_heavy"]).split()[-1])
    assert limit > 0.1  # three plain documents don't forbid what their script's do


SENTENCES = {
    "eng_Latn": "The keeper of the harbour writes the height of the tide into a large book that is kept with care. ",
    "deu_Latn": "Im Museum hängt eine Karte, auf der jede Mühle am Fluss mit einem Rad verzeichnet ist und bleibt. ",
}


def batches() -> Iterator[pa.RecordBatch]:
    draw = random.Random(3)
    rows = []
    for language, sentence in SENTENCES.items():
        words = sentence.split()
        for number in range(70):
            text = " ".join(" ".join(draw.sample(words, len(words))) + "." for _ in range(8))
            rows.append({"id": f"{language}{number}", "text": text, "language_hint": language})
    yield pa.RecordBatch.from_pylist(rows[:100])
    yield pa.RecordBatch.from_pylist(rows[100:])


def test_a_folder_is_written_whole_and_read_as_rules_and_as_a_signal(tmp_path: Path) -> None:
    sample = measure_sample(batches, model="lid176")
    assert sample.table.num_rows == 140 and set(sample.words) == set(SENTENCES)
    fitted = fit(languages(sample.table), signals(sample.table))
    write(tmp_path / "c", fitted, sample.words, {"n": 1})
    assert limits(str(tmp_path / "c")) == fitted
    assert json.loads((tmp_path / "c" / "calibration.json").read_text()) == {"n": 1}
    rules = ruleset(Quality(calibration="c", rules={"Latn": {"menu": None}}), calibrated=fitted)
    found = rules.resolve(language="eng_Latn", script="Latn")
    assert found["unlikely_words"] is not None and found["unlikely_words"].scope == "eng_Latn"
    batch = pa.RecordBatch.from_pydict(
        {"text": [SENTENCES["eng_Latn"], SENTENCES["deu_Latn"], "12", "x"], "language": [*["eng_Latn"] * 3, "fra_Latn"]}
    )
    likely = chain([unigrams(str(tmp_path / "c"))])(batch)[UNIGRAM].to_pylist()
    assert likely[1] < -8 < -5 < likely[0] < 0 and likely[2:] == [0.0, 0.0]


def test_how_likely_words_are_is_the_mean_of_their_logarithms(tmp_path: Path) -> None:
    one = pa.RecordBatch.from_pydict(
        {"id": ["a", "b"], "text": ["tide tide book", "tide"], "language_hint": ["eng_Latn", "eng_Latn"]}
    )
    sample = measure_sample(lambda: [one], model="lid176")
    write(tmp_path, {}, sample.words, {})
    batch = pa.RecordBatch.from_pydict({"text": ["Tide book sand"], "language": ["eng_Latn"]})
    likely = chain([unigrams(str(tmp_path))])(batch)[UNIGRAM].to_pylist()
    assert likely == [pytest.approx((np.log(4 / 7) + np.log(2 / 7) + np.log(1 / 7)) / 3, rel=1e-6)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, "can't be read", id="absent"),
        pytest.param("a: [", "can't be read", id="no YAML"),
        pytest.param("- 1\n", "scopes", id="a list"),
        pytest.param("ita_Latn: {short: 3}\n", "scopes", id="a number for a rule"),
    ],
)
def test_a_folder_that_is_no_calibration_is_named(tmp_path: Path, content: str | None, said: str) -> None:
    if content is not None:
        (tmp_path / "limits.yaml").write_text(content)
    with pytest.raises(RecipeError, match=said) as caught:
        limits(str(tmp_path))
    assert str(tmp_path) in str(caught.value)
    with pytest.raises(RecipeError, match=UNIGRAMS):
        unigrams(str(tmp_path))


def test_reference_text_is_read_as_sources_are_and_bad_records_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "uno", "lang": "it"}\n{"body": 3}\n{"body": "due", "lang": "ita"}\n')
    pq.write_table(pa.table({"body": ["tre"], "lang": ["it"]}), tmp_path / "b.parquet")
    reference = Reference([str(tmp_path / "*")], "body", "lang")
    found = pa.Table.from_batches(reference.batches()).to_pylist()
    assert [(row["text"], row["language_hint"]) for row in found] == [
        ("uno", "ita_Latn"),
        ("due", "ita_Latn"),
        ("tre", "ita_Latn"),
    ]
    assert [record for record, _ in reference.refused] == ["a.jsonl@29"] or len(reference.refused) == 1


def test_reference_text_without_a_document_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": 3}\n')
    with pytest.raises(InputError, match="a.jsonl"):
        list(Reference([str(tmp_path / "a.jsonl")]).batches())
    with pytest.raises(InputError, match="nothing"):
        list(Reference([str(tmp_path / "nothing.jsonl")]).batches())
