"""What is asked of a mix, and the nearest one that can be had."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from glotmill.curate.mix.aim import Aim, aim
from glotmill.curate.mix.project import Floats, Group, contradiction, project
from glotmill.curate.mix.target import target
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.recipe import Mix

THERE = {"ita_Latn.web": 6000, "ita_Latn.law": 1000, "deu_Latn.web": 2500, "deu_Latn.code": 500}


def shares(there: dict[str, int] = THERE, base: Path = Path(), /, **asked: Any) -> dict[str, float]:
    return {name: round(share, 6) for name, share in target(Mix(**asked), there, base).shares.items()}


def aimed(there: dict[str, int] = THERE, /, **asked: Any) -> Aim:
    return aim(Mix(**asked), there, Path())


# --- targets


def test_proportional_is_what_there_is() -> None:
    assert shares() == {"ita_Latn.web": 0.6, "ita_Latn.law": 0.1, "deu_Latn.web": 0.25, "deu_Latn.code": 0.05}


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        pytest.param("language", {"ita_Latn.web": 3 / 7, "ita_Latn.law": 1 / 14, "deu_Latn.code": 1 / 12}),
        pytest.param("domain", {"ita_Latn.web": 20 / 85, "ita_Latn.law": 1 / 3, "deu_Latn.code": 1 / 3}),
        pytest.param("cell", {"ita_Latn.web": 1 / 4, "ita_Latn.law": 1 / 4, "deu_Latn.code": 1 / 4}),
    ],
)
@pytest.mark.parametrize("rule", ["uniform", "unimax"])
def test_uniform_weighs_labels_alike(rule: str, over: str, expected: dict[str, float]) -> None:
    found = shares(target=rule, over=over)
    assert {name: found[name] for name in expected} == {name: round(share, 6) for name, share in expected.items()}


def test_a_temperature_raises_what_is_rare() -> None:
    found = shares({"ita_Latn.web": 10_000, "fao_Latn.web": 100}, target="temperature", temperature=2.0)
    assert found == {"ita_Latn.web": round(10 / 11, 6), "fao_Latn.web": round(1 / 11, 6)}
    assert shares(target="temperature", temperature=1.0) == shares()


def test_a_table_may_name_cells_languages_and_domains_by_any_tag() -> None:
    found = shares(target={"it.web": 0.5, "de": 0.3, "*.law": 0.2})
    assert found == {"ita_Latn.web": 0.5, "ita_Latn.law": 0.2, "deu_Latn.web": 0.25, "deu_Latn.code": 0.05}


def test_what_is_named_is_not_part_of_a_pattern() -> None:
    found = shares(target={"ita_Latn": 0.5, "ita_Latn.law": 0.1, "deu_Latn": 0.4})
    assert (found["ita_Latn.web"], found["ita_Latn.law"]) == (0.5, 0.1)


def test_cells_that_a_table_leaves_out_get_nothing_and_are_told() -> None:
    found = target(Mix(target={"ita_Latn.web": 1.0}), THERE, Path())
    assert found.outside == ("deu_Latn.code", "deu_Latn.web", "ita_Latn.law") and found.shares["deu_Latn.web"] == 0


@pytest.mark.parametrize(
    "text",
    [
        "cell,share\nita_Latn.web,0.75\ndeu_Latn.web,0.25\n",
        "language,domain,share\nit,web,0.75\nde,web,0.25\n",
        "share,domain,language,note\n0.75,web,ita_Latn,x\n0.25,web,deu_Latn,\n",
    ],
)
def test_tables_come_from_csv(tmp_path: Path, text: str) -> None:
    (tmp_path / "base.csv").write_text(text)
    found = shares(THERE, tmp_path, target="base.csv")
    assert (found["ita_Latn.web"], found["deu_Latn.web"], found["deu_Latn.code"]) == (0.75, 0.25, 0.0)


def test_tables_come_from_yaml_in_which_no_is_norwegian(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("no: 0.25\nit: 0.75\n")
    found = shares({"nob_Latn.web": 10, "ita_Latn.web": 10}, tmp_path, target="base.yaml")
    assert found == {"nob_Latn.web": 0.25, "ita_Latn.web": 0.75}


def test_marginals_alone_are_raked(tmp_path: Path) -> None:
    (tmp_path / "domains.csv").write_text("domain,share\nweb,0.5\nlaw,0.3\ncode,0.2\n")
    found = shares(THERE, tmp_path, target={"languages": {"it": 0.6, "de": 0.4}, "domains": "domains.csv"})
    assert found == {"ita_Latn.web": 0.3, "ita_Latn.law": 0.3, "deu_Latn.web": 0.2, "deu_Latn.code": 0.2}


def test_marginals_that_no_cells_have_are_an_error() -> None:
    with pytest.raises(RecipeError, match="a language has too few domains"):
        shares(target={"languages": {"it": 0.6, "de": 0.4}, "domains": {"web": 0.1, "law": 0.8, "code": 0.1}})


WRONG = [
    pytest.param({"target": {"it": 0.5, "de": 0.4}}, "sum to 0.9, not to 1.*mix.normalise", id="sum"),
    pytest.param({"target": {"it": -0.5, "de": 1.5}}, "it -0.5: a share is a number from 0 to 1", id="negative"),
    pytest.param({"target": {"it": 0.0}}, "sum to 0", id="nothing"),
    pytest.param(
        {"target": {"it": 0.5, "fra_Latn": 0.5}}, r"no document is in fra_Latn\.\*, of which 0.5", id="absent"
    ),
    pytest.param({"target": {"it": 0.5, "*.web": 0.5}}, r"ita_Latn.web answers to .* and to", id="two patterns"),
    pytest.param({"target": {"languages": {"it": 1.0}, "it": 1.0}}, "not both", id="both forms"),
    pytest.param({"target": "nowhere.csv"}, "none of the rules.*no such file", id="no file"),
    pytest.param({"target": {"web": 1.0}}, "names no language", id="no language"),
    pytest.param({"pin": {"it": 1.5}}, "mix.pin.it is 1.5: a share", id="pinned too high"),
    pytest.param({"at_least": {"*.poetry": 0.1}}, r"no document is in \*.poetry", id="bound of nothing"),
    pytest.param({"pin": {"it": 0.6, "de": 0.6}}, "pin it 0.6 and pin de 0.6 contradict", id="pins"),
    pytest.param(
        {"at_least": {"it": 0.6}, "at_most": {"ita_Latn.web": 0.1, "ita_Latn.law": 0.1}},
        "at_least it 0.6 and at_most ita_Latn.web 0.1 and at_most ita_Latn.law 0.1 contradict",
        id="bounds",
    ),
    pytest.param(
        {"target": {"it": 1.0}, "at_least": {"de": 0.1}},
        "the target leaves out the cells of at_least de",
        id="left out",
    ),
    pytest.param({"tokens": 20_001, "max_epochs": 2}, "asks 20,001 tokens.*Lower.*raise.*2.00", id="budget"),
    pytest.param(
        {"tokens": 9_000, "pin": {"deu_Latn.code": 0.5}},
        "pin deu_Latn.code 0.5 and the tokens that there are.*contradict each other at 9,000 tokens",
        id="caps",
    ),
    pytest.param(
        {"target": "uniform", "over": "cell", "tokens": 4000, "short": "error"},
        r"deu_Latn.code: the target asks 1,000 tokens, and there are 500: 500 short; 2.00 epochs would do",
        id="short",
    ),
    pytest.param({"epoch_caps": {"it": -1.0}, "tokens": 5}, "epoch_caps.it is -1.0", id="cap"),
]


@pytest.mark.parametrize(("asked", "said"), WRONG)
def test_what_cannot_be_is_said_with_a_remedy(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        aimed(**asked)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cell,part\nx,1\n", "columns cell, part: it needs share"),
        ("cell,share\nita_Latn.web,much\n", "line 2: the share 'much' is no number"),
        ("cell,share\nita_Latn.web,nan\n", "cells: ita_Latn.web nan: a share is a number"),
        ("cell,share\nita_Latn.web,0.5\nita_Latn.web,0.5\n", "line 3: ita_Latn.web has a share already"),
    ],
)
def test_a_bad_table_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "base.csv").write_text(text)
    with pytest.raises(RecipeError, match=f"base.csv.*{said}"):
        shares(THERE, tmp_path, target="base.csv")


def test_shares_are_divided_by_their_sum_when_asked() -> None:
    assert shares(target={"it": 3, "de": 1}, normalise=True)["deu_Latn.code"] == round(0.25 / 6, 6)


def test_what_is_absent_is_shared_by_all_or_by_the_nearest() -> None:
    asked = {"ita_Latn.web": 0.2, "deu_Latn.web": 0.4, "ita_Latn.poetry": 0.4}
    skipped = shares(target=asked, absent="skip")
    near = shares(target=asked, absent="nearest")
    assert (skipped["ita_Latn.web"], skipped["deu_Latn.web"]) == (round(1 / 3, 6), round(2 / 3, 6))
    assert (near["ita_Latn.web"], near["deu_Latn.web"]) == (0.6, 0.4)


# --- what can be had


def test_everything_once_is_the_default() -> None:
    found = aimed()
    assert found.tokens == THERE and found.budget is None and not found.told()


def test_without_a_budget_a_target_takes_what_its_scarcest_cell_allows() -> None:
    found = aimed(target={"ita_Latn.web": 0.5, "deu_Latn.code": 0.5}, max_epochs=3)
    assert found.budget == 3000 and found.tokens["deu_Latn.code"] == found.tokens["ita_Latn.web"] == 1500
    assert not found.short and found.divergence == pytest.approx(0, abs=1e-12)


def test_unimax_is_water_filling_under_caps() -> None:
    """Chung et al. 2023, algorithm 1, by hand: the rare language gives its cap, the others share the rest."""
    there = {"ita_Latn.web": 10_000, "deu_Latn.web": 10_000, "fao_Latn.web": 100}
    found = aimed(there, target="unimax", tokens=6_000, max_epochs=4)
    assert found.tokens == {"fao_Latn.web": 400, "deu_Latn.web": 2800, "ita_Latn.web": 2800}
    (short,) = found.short
    assert (short.cell, short.asked, short.most) == ("fao_Latn.web", 2000, 400)
    assert short.epochs == pytest.approx(20)


def test_pins_and_bounds_hold_exactly() -> None:
    found = aimed(tokens=4000, pin={"*.code": 0.1}, at_most={"ita_Latn": 0.3}, at_least={"*.law": 0.08})
    assert found.tokens["deu_Latn.code"] == 400 and sum(found.tokens.values()) == 4000
    assert found.tokens["ita_Latn.web"] + found.tokens["ita_Latn.law"] == 1200 and found.tokens["ita_Latn.law"] >= 320


def test_a_cap_of_its_own_goes_before_the_cap_of_all() -> None:
    found = aimed(target={"deu_Latn.code": 0.5, "ita_Latn.web": 0.5}, tokens=4000, epoch_caps={"*.code": 4})
    assert found.tokens["deu_Latn.code"] == 2000


CASES = st.integers(0, 10**9)


@settings(max_examples=60, deadline=None)
@given(CASES)
def test_the_projection_is_the_nearest_of_all_feasible_shares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    wished = np.maximum(rng.dirichlet(np.full(n, 0.5)), 1e-6)
    wished /= wished.sum()
    inside = rng.dirichlet(np.ones(n))
    upper = np.where(rng.random(n) < 0.5, np.minimum(1, inside * rng.uniform(1, 3, n)), 1.0)
    lower = np.where(rng.random(n) < 0.2, inside * rng.random(n), 0.0)
    groups = []
    for k in range(int(rng.integers(0, 5))):
        members = np.flatnonzero(rng.random(n) < 0.4)
        total = float(inside[members].sum())
        low, high = [(total, total), (total * 0.98, 1.0), (0.0, min(1.0, total * 1.02))][k % 3]
        if len(members):
            groups.append(Group(str(k), members, low, high))
    found = project(wished, lower, upper, groups)
    assert found.missed < 1e-9 and found.gap < 1e-9
    assert found.divergence <= by_scipy(wished, lower, upper, groups, inside) + 1e-6


def by_scipy(wished: Floats, lower: Floats, upper: Floats, groups: list[Group], start: Floats) -> float:
    """SLSQP's minimum, or that of the feasible start where it finds none."""

    def value(p: Floats) -> float:
        return float(np.sum(p * np.log(np.maximum(p, 1e-300) / wished)))

    rules: list[dict[str, Any]] = [{"type": "eq", "fun": lambda p: p.sum() - 1}]
    for group in groups:
        rules.append({"type": "ineq", "fun": lambda p, g=group: p[g.members].sum() - g.low})
        rules.append({"type": "ineq", "fun": lambda p, g=group: g.high - p[g.members].sum()})
    done = minimize(
        value, start, bounds=list(zip(np.maximum(lower, 1e-14), upper, strict=True)), constraints=rules, method="SLSQP",
        jac=lambda p: np.log(np.maximum(p, 1e-300) / wished) + 1, options={"maxiter": 500, "ftol": 1e-13},
    )  # fmt: skip
    return float(done.fun) if done.success else value(start)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["ita_Latn", "deu_Latn", "tha_Thai"]), st.sampled_from(["web", "law", "code"])),
        st.integers(1, 10**9),
        min_size=1,
    ),
    st.floats(0.001, 1.0),
    st.sampled_from([1.0, 1.5, 4.0]),
    st.sampled_from(["proportional", "uniform", "temperature"]),
    st.sampled_from(["language", "domain", "cell"]),
)
def test_tokens_are_whole_sum_to_the_budget_and_respect_the_caps(
    there: dict[tuple[str, str], int], part: float, epochs: float, rule: str, over: str
) -> None:
    tokens = {f"{language}.{domain}": count for (language, domain), count in there.items()}
    most = {name: math.floor(count * epochs) for name, count in tokens.items()}
    budget = max(1, int(sum(most.values()) * part))
    found = aimed(tokens, target=rule, over=over, tokens=budget, max_epochs=epochs)
    assert sum(found.tokens.values()) == budget
    assert all(0 <= found.tokens[name] <= most[name] for name in tokens)
    assert found.gap < 1e-9 and found.divergence >= -1e-12
    if not found.short:
        assert all(abs(found.tokens[name] - found.target[name] * budget) < 2 for name in tokens)


def test_of_constraints_that_contradict_none_is_named_in_vain() -> None:
    groups = [
        Group("a", np.array([0]), 0.5, 1.0),
        Group("b", np.array([1]), 0.6, 1.0),
        Group("c", np.array([2]), 0.0, 0.9),
    ]
    assert contradiction(np.full(3, 1 / 3), np.zeros(3), np.ones(3), groups) == ["a", "b"]
    assert contradiction(np.full(3, 1 / 3), np.zeros(3), np.ones(3), groups[1:]) == []


def test_seven_thousand_cells_and_a_cell_of_one_token_are_planned() -> None:
    there = {f"ita_Latn.d{n}": 1 + n * n for n in range(7000)}
    found = aimed(there, target="uniform", over="cell", tokens=10**8, max_epochs=4, at_least={"ita_Latn.d0": 1e-8})
    assert sum(found.tokens.values()) == 10**8 and found.tokens["ita_Latn.d0"] == 4
    assert json.dumps(found.to_json())
