from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.judgement import judge_batch
from glotmill.curate.rules import Rule, RuleSet, parse_rule, ruleset
from glotmill.curate.signals import SIGNALS
from glotmill.schemas.errors import RecipeError, SchemaError
from glotmill.schemas.recipe import Quality


def signals(**columns: list[Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(columns)


def rules_of(**rules: Any) -> RuleSet:
    return ruleset(Quality(preset="none", rules=rules))


@pytest.mark.parametrize(
    ("text", "signal", "comparison", "limit"),
    [
        pytest.param("words < 50", "words", "<", 50, id="plain"),
        pytest.param("  units<=1_000 ", "units", "<=", 1000, id="spaces and underscores"),
        pytest.param("repeated_line_share > .3", "repeated_line_share", ">", 0.3, id="no leading zero"),
        pytest.param("chars >= 1e6", "chars", ">=", 1e6, id="exponent"),
        pytest.param("lines == 0", "lines", "==", 0, id="equal"),
        pytest.param("lines != -1", "lines", "!=", -1, id="unequal to a negative number"),
    ],
)
def test_a_rule_is_read_as_written(text: str, signal: str, comparison: str, limit: float) -> None:
    rule = parse_rule(text, reason="short")
    assert (rule.signal, rule.comparison, rule.limit) == (signal, comparison, limit)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("word < 50", "did you mean 'words'", id="unknown signal"),
        pytest.param("words", "such as 'words < 50'", id="no comparison"),
        pytest.param("words < many", "plain number", id="no number"),
        pytest.param("words < nan", "plain number", id="nan"),
        pytest.param("words < 1e999", "plain number", id="infinite"),
        pytest.param("words => 5", "such as", id="no such comparison"),
        pytest.param("", "such as", id="empty"),
    ],
)
def test_a_rule_that_cannot_be_read_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        parse_rule(text, reason="short")


@given(st.sampled_from(SIGNALS), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), st.floats(-1e6, 1e6))
def test_what_a_rule_prints_it_reads(signal: str, comparison: str, limit: float) -> None:
    rule = parse_rule(f"{signal} {comparison} {limit!r}", reason="r")
    assert rule == Rule("r", signal, comparison, limit)  # type: ignore[arg-type]


def test_the_preset_reads_only_what_is_measured() -> None:
    rules = ruleset(Quality())
    assert rules.reasons[0] == "empty"
    assert set(rules.signals) <= set(SIGNALS)


def test_the_narrowest_scope_decides() -> None:
    rules = rules_of(
        short="words < 50",
        Thai={"short": "units < 30"},
        tha_Thai={"short": "units < 20"},
        **{"domain:code": {"short": None}},
    )

    def limit(**key: str) -> float | None:
        rule = rules.resolve(**key)["short"]
        return None if rule is None else rule.limit

    assert limit(domain="web", language="ita_Latn", script="Latn") == 50
    assert limit(domain="web", language="nod_Thai", script="Thai") == 30
    assert limit(domain="web", language="tha_Thai", script="Thai") == 20
    assert limit(domain="code", language="tha_Thai", script="Thai") is None


def test_a_rule_for_every_language_replaces_the_presets_in_all_of_them() -> None:
    preset = ruleset(Quality())
    scopes = ruleset(Quality(rules={"long_words": "mean_word_chars > 9"})).rules["long_words"]
    assert preset.rules["long_words"]["Thai"] is None and "Thai" not in scopes
    assert scopes["domain:code"] is None


def test_null_takes_a_reason_out() -> None:
    assert "menu" not in ruleset(Quality(rules={"menu": None})).reasons


def test_null_for_a_reason_that_no_rule_has_is_an_error() -> None:
    with pytest.raises(RecipeError, match="did you mean 'menu'"):
        ruleset(Quality(rules={"menus": None}))


def test_a_scope_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(RecipeError, match="Taii"):
        rules_of(Taii={"short": "words < 5"})


def test_a_new_reason_counts_after_the_presets() -> None:
    reasons = ruleset(Quality(rules={"huge": "chars > 1e6"})).reasons
    assert reasons[-1] == "huge" and reasons[:-1] == ruleset(Quality()).reasons


def test_a_verdict_holds_every_broken_rule_and_the_margin_of_the_nearest() -> None:
    rules = rules_of(short="words < 50", tall="lines > 10")
    batch = signals(words=[40, 60, 50], lines=[11, 9, 10])
    verdict = judge_batch(batch, rules).to_pylist()
    assert [row["keep"] for row in verdict] == [False, True, True]
    assert [row["reason"] for row in verdict] == ["short", None, None]
    assert [[r["reason"] for r in row["reasons"]] for row in verdict] == [["short", "tall"], [], []]
    assert verdict[0]["reasons"][0] == {
        "reason": "short", "signal": "words", "comparison": "<", "value": 40.0, "limit": 50.0, "scope": "*",
    }  # fmt: skip
    assert [row["margin"] for row in verdict] == [None, pytest.approx(0.1), 0.0]
    assert [row["margin_rule"] for row in verdict] == [None, "tall", "short"]


def test_a_document_that_no_rule_concerns_is_kept_without_a_margin() -> None:
    for rules in (RuleSet(), rules_of(tha={"short": "words < 50"})):
        batch = signals(words=[1], language=["ita_Latn"])
        assert judge_batch(batch, rules).to_pylist() == [
            {"keep": True, "reason": None, "reasons": [], "margin": None, "margin_rule": None}
        ]


@pytest.mark.parametrize("value", [None, float("nan")])
def test_what_was_not_measured_cannot_pass(value: float | None) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([value], pa.float64())], ["letter_share"])
    with pytest.raises(SchemaError, match="null or NaN"):
        judge_batch(batch, rules_of(not_text="letter_share < 0.5"))


def test_a_signal_that_is_absent_is_named() -> None:
    with pytest.raises(SchemaError, match="letter_share"):
        judge_batch(signals(words=[1]), rules_of(not_text="letter_share < 0.5"))


@given(st.lists(st.floats(0, 1), min_size=1), st.floats(0, 1))
def test_keep_is_the_absence_of_reasons(values: list[float], limit: float) -> None:
    verdict = judge_batch(signals(letter_share=values), rules_of(not_text=f"letter_share < {limit!r}"))
    assert verdict["keep"].to_pylist() == (~(np.array(values) < limit)).tolist()
    assert [not reasons for reasons in verdict["reasons"].to_pylist()] == verdict["keep"].to_pylist()
