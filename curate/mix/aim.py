"""How many tokens of each cell come nearest to the target: under caps on epochs, bounds on shares, and a budget."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from glotmill.curate.mix.project import Contradiction, Floats, Group, Ints, Projected, divergence, project, variation
from glotmill.curate.mix.target import SHOWN, Target, matching, some_of, target
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.recipe import Mix

_ROUNDED = 1e-9  # of a share: what a cell may be short of without being told


@dataclass(frozen=True, slots=True)
class Short:
    """A cell that has fewer tokens than the target asks of it.

    Args:
        asked: Tokens.
        most: What its documents give when each is used as often as it may be.
        epochs: How often they would have to be used.
    """

    cell: str
    asked: int
    most: int
    epochs: float


@dataclass(slots=True)
class Aim:
    """Tokens of each cell.

    Args:
        budget: The sum; None where everything is taken once.
        tokens: Of each cell.
        target: Of each cell the share that is asked for, with what is pinned.
        divergence, variation: KL(tokens' shares || target) in nats, and their total variation distance.
        gap: What another feasible choice may save of the divergence at the most: 0 but for rounding.
        short: Cells with fewer tokens than asked, those that miss the most first.
        enough: The largest budget that meets the target.
        absent, outside: See `Target`.
    """

    budget: int | None
    tokens: dict[str, int]
    target: dict[str, float] = field(default_factory=dict)
    divergence: float = 0.0
    variation: float = 0.0
    gap: float = 0.0
    short: tuple[Short, ...] = ()
    enough: int = 0
    absent: dict[str, float] = field(default_factory=dict)
    outside: tuple[str, ...] = ()

    def told(self) -> list[str]:
        return told(self.to_json())

    def to_json(self) -> dict[str, Any]:
        return {
            "divergence": round(self.divergence, 9),
            "variation": round(self.variation, 9),
            "gap": round(self.gap, 12),
            "largest_budget_that_meets_the_target": self.enough,
            "short": {s.cell: {"asked": s.asked, "most": s.most, "epochs": round(s.epochs, 4)} for s in self.short},
            "absent": {name: round(share, 9) for name, share in sorted(self.absent.items())},
            "outside": list(self.outside),
        }


def told(near: Mapping[str, Any]) -> list[str]:
    """What people should know of a mix, one sentence each.

    Args:
        near: `Aim.to_json`, as mix.json keeps it; empty where no document was.
    """
    short, absent, outside = near.get("short", {}), near.get("absent", {}), near.get("outside", [])
    said = [
        f"{cell}: the target asks {of['asked']:,} tokens, and there are {of['most']:,}: "
        f"{of['asked'] - of['most']:,} short; {of['epochs']:.2f} epochs would do"
        for cell, of in list(short.items())[:SHOWN]
    ]
    if len(short) > SHOWN:
        said.append(f"{len(short) - SHOWN:,} other cells are short, too")
    if short:
        epochs = max(of["epochs"] for of in short.values())
        said.append(
            f"the nearest that can be had is {near['variation']:.2%} off the target (KL {near['divergence']:.3g}); "
            f"{epochs:.2f} epochs, more data for these cells, or {near['largest_budget_that_meets_the_target']:,} "
            "tokens or fewer would meet it"
        )
    if absent:
        said.append(f"nothing is there of {some_of(sorted(absent))}: others take its share")
    if outside:
        said.append(f"the target leaves out {some_of(outside)}")
    return said


def aim(asked: Mix, tokens: Mapping[str, int], base: Path) -> Aim:
    """Tokens of each cell, as the recipe asks.

    The target's shares are first moved to what `pin`, `at_least` and `at_most` ask, then to what the tokens there are
    allow; both times to the nearest ones in KL divergence. Tokens are whole and sum to the budget: largest remainders.

    Args:
        tokens: There are, of each cell.

    Raises:
        RecipeError: The target can't be read, constraints contradict each other (they are named), the budget is more
            than all caps allow, or `mix.short` is error and a cell is short.
    """
    names = sorted(tokens)
    found = target(asked, tokens, base)
    available = np.array([tokens[name] for name in names], np.int64)
    if not available.sum():
        return Aim(asked.tokens, dict.fromkeys(names, 0), found.shares)
    if _takes_everything(asked):
        return Aim(None, dict(tokens), found.shares, enough=int(available.sum()))
    most = np.floor(available * _epochs(asked, names)).astype(np.int64)
    groups = _groups(asked, names)
    wished = _wished(found, names, groups)
    enough = _largest(wished, most)
    budget = asked.tokens if asked.tokens is not None else enough
    _check_budget(budget, asked, available, most, wished)
    fitted = _fitted(wished, most, budget, groups)
    short = _short(names, wished, most, available, budget)
    result = Aim(
        budget,
        dict(zip(names, _whole(fitted.shares, budget, most), strict=True)),
        dict(zip(names, wished.tolist(), strict=True)),
        divergence(fitted.shares, wished),
        variation(fitted.shares, wished),
        fitted.gap,
        short,
        enough,
        found.absent,
        found.outside,
    )
    if short and asked.short == "error":
        raise RecipeError(". ".join(["mix.short is error, and the target can't be met", *result.told()]))
    return result


def _takes_everything(asked: Mix) -> bool:
    return (
        asked.tokens is None and asked.target == "proportional" and not (asked.pin or asked.at_least or asked.at_most)
    )


def _epochs(asked: Mix, names: list[str]) -> Floats:
    epochs = np.full(len(names), asked.max_epochs)
    for pattern, cap in asked.epoch_caps.items():
        if not (math.isfinite(cap) and cap >= 0):
            raise RecipeError(f"mix.epoch_caps.{pattern} is {cap!r}: give a number of epochs, 0 or more")
        epochs[_members(pattern, names, "epoch_caps")] = cap
    return epochs


def _members(pattern: str, names: list[str], key: str) -> Ints:
    return np.searchsorted(names, matching(pattern, names, key))  # names are sorted


def _groups(asked: Mix, names: list[str]) -> list[Group]:
    groups = []
    for key, bounds in (("pin", asked.pin), ("at_least", asked.at_least), ("at_most", asked.at_most)):
        for pattern, share in bounds.items():
            if not 0 <= share <= 1:
                raise RecipeError(f"mix.{key}.{pattern} is {share!r}: a share is a number from 0 to 1")
            low, high = {"pin": (share, share), "at_least": (share, 1.0), "at_most": (0.0, share)}[key]
            groups.append(Group(f"{key} {pattern} {share:g}", _members(pattern, names, key), low, high))
    return groups


def _wished(found: Target, names: list[str], groups: list[Group]) -> Floats:
    shares = np.array([found.shares[name] for name in names])
    if not groups:
        return shares
    try:
        return project(shares, np.zeros(len(names)), np.ones(len(names)), groups).shares
    except Contradiction as error:
        raise RecipeError(
            f"mix: {' and '.join(error.names)} contradict each other{_and_the_target(shares, groups)}: change one of "
            "them"
        ) from None


def _and_the_target(shares: Floats, groups: list[Group]) -> str:
    """A hint where a constraint asks something of cells that the target leaves out."""
    without = [group.name for group in groups if group.low > 0 and not shares[group.members].sum() > 0]
    return f" (the target leaves out the cells of {without[0]})" if without else ""


def _largest(wished: Floats, most: Any) -> int:
    """The largest budget of which no cell has too few tokens."""
    some = wished > 0
    return max(int(np.floor((most[some] / wished[some]).min() * (1 + 1e-12))), 1)


def _check_budget(budget: int, asked: Mix, available: Any, most: Any, wished: Floats) -> None:
    reachable = int(most[wished > 0].sum())
    if budget > reachable:
        there = int(available[wished > 0].sum())
        raise RecipeError(
            f"mix.tokens asks {budget:,} tokens; the kept documents have {there:,}, which {asked.max_epochs:g} epochs "
            f"make {reachable:,}. Lower mix.tokens to that, raise mix.max_epochs to {budget / max(there, 1):.2f} or "
            "more, or add sources"
        )


def _fitted(wished: Floats, most: Any, budget: int, groups: list[Group]) -> Projected:
    """The shares nearest to what is wished that the tokens there are allow."""
    try:
        return project(wished, np.zeros(len(wished)), np.minimum(most / budget, 1.0), groups)
    except Contradiction as error:
        told = " and ".join(name or "the tokens that there are, used as often as they may be," for name in error.names)
        raise RecipeError(
            f"mix: {told} contradict each other at {budget:,} tokens: lower mix.tokens, raise mix.max_epochs, add "
            "sources, or ask for other shares"
        ) from None


def _short(names: list[str], wished: Floats, most: Any, available: Any, budget: int) -> tuple[Short, ...]:
    missing = wished * budget - most
    at = np.flatnonzero(missing > np.maximum(1.0, _ROUNDED * budget))
    order = at[np.lexsort((at, -missing[at]))]
    return tuple(
        Short(names[k], round(wished[k] * budget), int(most[k]), float(wished[k] * budget / max(available[k], 1)))
        for k in order
    )


def _whole(shares: Floats, budget: int, most: Any) -> list[int]:
    """Whole tokens that sum to the budget, none above its cap: largest remainders, ties by name."""
    exact = shares * budget
    tokens = np.minimum(np.floor(exact + 1e-6).astype(np.int64), most)
    left = budget - int(tokens.sum())
    while left > 0:  # more than once only where caps are in the way
        room = np.flatnonzero((tokens < most) & (shares > 0))
        order = room[np.lexsort((room, -(exact[room] - tokens[room])))][:left]
        if not len(order):
            break
        tokens[order] += 1
        left -= len(order)
    over = np.flatnonzero(tokens > 0)
    for k in over[np.lexsort((over, (exact - tokens)[over]))][: max(0, -left)]:
        tokens[k] -= 1
    return [int(count) for count in tokens]
