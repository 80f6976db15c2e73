import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.presets import PRESETS, preset, preset_lines
from glotmill.curate.rules import RuleSet, ruleset
from glotmill.curate.stop_words import lists
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.recipe import Language, Quality

UNSPACED = ("zho_Hans", "zho_Hant", "jpn_Jpan", "tha_Thai", "lao_Laoo", "khm_Khmr", "mya_Mymr")


def limits(rules: RuleSet, language: str) -> dict[str, str]:
    resolved = rules.resolve(language=language, script=language[4:], domain="web")
    return {reason: str(rule) for reason, rule in resolved.items() if rule}


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("language", UNSPACED)
def test_no_preset_judges_the_length_of_words_that_no_space_parts(name: str, language: str) -> None:
    told = limits(ruleset(Quality.model_validate({"preset": name})), language)
    assert not [rule for rule in told.values() if rule.startswith("mean_word_chars")]


@pytest.mark.parametrize("name", ["gopher", "fineweb", "fineweb2", "dclm"])
def test_stop_words_are_asked_for_only_where_there_is_a_list(name: str) -> None:
    rules = ruleset(Quality.model_validate({"preset": name}))
    assert limits(rules, "eng_Latn")["few_stop_words"] == "stop_words < 2"
    assert "few_stop_words" not in limits(rules, "grn_Latn")
    assert len(lists()) >= 60 and all(len(words) >= 2 for words in lists().values())


def test_gopher_has_the_limits_of_the_paper() -> None:
    told = limits(ruleset(Quality(preset="gopher")), "eng_Latn")
    assert told["short"] == "words < 50" and told["long"] == "words > 100000"
    assert told["short_words"] == "mean_word_chars < 3" and told["long_words"] == "mean_word_chars > 10"
    top = {2: 0.2, 3: 0.18, 4: 0.16}
    assert [told[f"top_{n}_gram"] for n in top] == [f"top_{n}_gram_share > {limit:g}" for n, limit in top.items()]
    duplicate = dict(zip(range(5, 11), (0.15, 0.14, 0.13, 0.12, 0.11, 0.1), strict=True))
    assert [told[f"duplicate_{n}_gram"] for n in duplicate] == [
        f"duplicate_{n}_gram_share > {limit:g}" for n, limit in duplicate.items()
    ]


@pytest.mark.parametrize(
    ("language", "reason", "rule", "scope"),
    [
        pytest.param("ita_Latn", "top_2_gram", "top_2_gram_share > 0.198", "ita_Latn", id="ita published"),
        pytest.param("deu_Latn", "few_line_ends", None, None, id="deu switched off"),
        pytest.param("hau_Latn", "top_2_gram", "top_2_gram_share > 0.2", "hau_Latn", id="hau 2.82 can't be a share"),
        pytest.param("tha_Thai", "repeated_lines", "duplicate_line_share > 0.349", "tha_Thai", id="tha published"),
        pytest.param("zho_Hant", "few_alpha_words", "alpha_word_share < 0.735", "zho_Hant", id="zho_Hant as Hani"),
        pytest.param("xxx_Thai", "repeated_lines", None, "Thai", id="Thai script"),
        pytest.param("vai_Vaii", "repeated_lines", "duplicate_line_share > 0.3", "*", id="vai Gopher's"),
    ],
)
def test_fineweb2_falls_back_from_language_to_script_to_gopher(
    language: str, reason: str, rule: str | None, scope: str | None
) -> None:
    found = ruleset(Quality(preset="fineweb2")).resolve(language=language, script=language[4:])[reason]
    assert (found and found.scope) == scope
    assert rule is None or str(found) == rule


def test_c4_cuts_lines_and_glotmill_none() -> None:
    assert preset_lines("c4")["no_sentence"] == "line_ends_sentence < 1"
    assert preset_lines("glotmill") == {} == preset_lines("none")
    assert "no_sentence" not in preset_lines("fineweb")


def test_an_unknown_preset_and_an_unknown_signal_name_what_there_is() -> None:
    with pytest.raises(RecipeError, match="gopher, c4"):
        preset("gofer")
    with pytest.raises(RecipeError, match="did you mean 'digit_share'"):
        ruleset(Quality(preset="gopher", rules={"numeric": "digits_share > 0.2"}))
    with pytest.raises(RecipeError, match="no measure adds"):
        ruleset(Quality(rules={"unlikely": "unigram_logprob < -9"}))


def test_documents_in_languages_that_are_not_wanted_are_dropped_and_source_code_is_not() -> None:
    rules = ruleset(Quality(preset="none"), Language(keep=("ita", "zho_Hant")))
    assert rules.reasons == ("other_language",)
    for language, dropped in (("ita_Latn", False), ("zho_Hant", False), ("zho_Hans", True), ("und_Latn", True)):
        assert ("other_language" in limits(rules, language)) == dropped
    assert rules.resolve(domain="code", language="eng_Latn", script="Latn")["other_language"] is None


def test_a_score_may_be_asked_of_all_languages_or_none() -> None:
    assert ruleset(Quality(preset="none"), Language()).reasons == ()
    rules = ruleset(Quality(preset="none"), Language(min_score=0.4))
    assert limits(rules, "ita_Latn") == {"uncertain_language": "language_score < 0.4"}
    measured = ruleset(Quality(preset="none"), Language(min_score="per_language"))
    assert "uncertain_language" in limits(measured, "ita_Latn") and "uncertain_language" in limits(measured, "xxx_Latn")


@given(st.sets(st.sampled_from(["ita_Latn", "tha_Thai", "zho_Hans", "hau_Latn", "nod_Thai"]), min_size=1))
def test_rules_narrowed_to_some_languages_judge_those_alike(languages: set[str]) -> None:
    rules = ruleset(Quality(preset="fineweb2"))
    narrow = rules.narrowed(languages)
    assert narrow.reasons == rules.reasons
    language = random.Random(len(languages)).choice(sorted(languages))
    for domain in ("web", "code"):
        key = {"language": language, "script": language[4:], "domain": domain}
        assert narrow.resolve(**key) == rules.resolve(**key)
    assert sum(1 for _ in narrow) < 6000 < sum(1 for _ in rules)
