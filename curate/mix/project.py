"""The nearest feasible distribution: a KL projection onto boxes and sums of groups, with its certificate.

    minimise    sum p_i log(p_i / q_i)
    subject to  sum p = 1,   lower_i <= p_i <= upper_i,   low_G <= sum of p over G <= high_G

Its solution has the form p_i = clip(q_i exp(nu_0 + sum of nu_G over the groups of i), lower_i, upper_i). The
multipliers are found one after another, each exactly (Bregman 1967, "The relaxation method of finding the common point
of convex sets"; Csiszar 1975 for KL), and by Newton's steps on those that are active where that is slow.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

EXACT = 1e-12  # of a share: what a constraint may be missed by
_SWEEPS = 2000
_NEWTON_AFTER = 20  # sweeps


@dataclass(frozen=True, slots=True)
class Group:
    """What some shares sum to.

    Args:
        name: For messages.
        members: Indices.
        low, high: Least and largest sum.
    """

    name: str
    members: Ints
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class Projected:
    """A solution.

    Args:
        shares: float64 (n,), sums to 1.
        divergence: KL(shares || target) in nats.
        gap: Divergence minus a lower bound of what any feasible shares have: the certificate.
        missed: The most that a constraint is missed by.
    """

    shares: Floats
    divergence: float
    gap: float
    missed: float


class Contradiction(ValueError):
    """No shares meet all constraints; `names` has those that can't be met together, none of them superfluous."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(f"no shares meet {', '.join(names)}")
        self.names = names


def divergence(p: Floats, q: Floats) -> float:
    """KL(p || q) in nats; infinite where p has what q lacks."""
    some = p > 0
    if (q[some] <= 0).any():
        return float("inf")
    return float(np.sum(p[some] * np.log(p[some] / q[some])))


def variation(p: Floats, q: Floats) -> float:
    """Total variation distance."""
    return float(np.abs(p - q).sum() / 2)


def project(target: Floats, lower: Floats, upper: Floats, groups: Sequence[Group] = ()) -> Projected:
    """The feasible shares nearest to `target`.

    Args:
        target: float64 (n,), not negative; where it is 0 the share is 0.
        lower, upper: float64 (n,), bounds of each share.

    Raises:
        Contradiction: nothing is feasible.
    """
    upper = np.where(target > 0, upper, 0.0)
    if against := contradiction(target, lower, upper, groups):
        raise Contradiction(against)
    dual = _Dual(target, lower, upper, groups)
    for sweep in range(_SWEEPS):
        dual.sweep()
        if dual.missed() < EXACT:
            break
        if sweep >= _NEWTON_AFTER:
            dual.newton()
    shares = dual.shares()
    return Projected(shares, divergence(shares, target), abs(dual.gap()), dual.missed())


class _Dual:
    """The multipliers, and what follows from them."""

    def __init__(self, target: Floats, lower: Floats, upper: Floats, groups: Sequence[Group]) -> None:
        self._some = np.flatnonzero(upper > 0)
        place = np.full(len(target), -1)
        place[self._some] = np.arange(len(self._some))
        self._size = len(target)
        self._weights, self._lower, self._upper = target[self._some], lower[self._some], upper[self._some]
        every = Group("all", np.arange(len(self._some)), 1.0, 1.0)
        self._groups = [*(Group(g.name, _known(place[g.members]), g.low, g.high) for g in groups), every]
        self._nu = np.zeros(len(self._groups))
        self._log = np.zeros(len(self._some))  # sum of the multipliers of each

    def sweep(self) -> None:
        """Meet one constraint after another; all sum to 1 at the end."""
        for number, group in enumerate(self._groups):
            self._move(number, group)

    def _move(self, number: int, group: Group) -> None:
        at = group.members
        weights = self._weights[at] * np.exp(self._log[at] - self._nu[number])
        lower, upper = self._lower[at], self._upper[at]
        free = float(np.clip(weights, lower, upper).sum())
        wanted = min(max(free, group.low), group.high)
        factor = 1.0 if wanted == free else _level(weights, lower, upper, wanted)
        self._set(number, at, float(np.log(factor)))

    def _set(self, number: int, at: Ints, value: float) -> None:
        self._log[at] += value - self._nu[number]
        self._nu[number] = value

    def _found(self) -> Floats:
        with np.errstate(over="ignore"):
            found: Floats = np.clip(self._weights * np.exp(self._log), self._lower, self._upper)
        return found

    def newton(self) -> None:
        """One step on all active multipliers; undone where it misses the constraints by more."""
        active = [k for k, group in enumerate(self._groups) if self._nu[k] != 0 or group.low == group.high]
        found = self._found()
        inside = (found > self._lower) & (found < self._upper)
        rows = np.zeros((len(active), len(found)))
        for row, k in enumerate(active):
            rows[row, self._groups[k].members] = 1.0
        off = np.array([self._wanted(k) for k in active]) - rows @ found
        step = np.linalg.lstsq(rows @ (rows * (found * inside)).T, off, rcond=1e-12)[0]
        before, held = self.missed(), (self._nu.copy(), self._log.copy())
        for scale in (1.0, 0.5, 0.1):
            for move, k in zip(np.clip(scale * step, -5, 5), active, strict=True):
                self._set(k, self._groups[k].members, float(self._nu[k] + move))
            if all(self._sign_holds(k, held[0][k]) for k in active) and self.missed() < before:
                return
            self._nu, self._log = held[0].copy(), held[1].copy()

    def _sign_holds(self, k: int, before: float) -> bool:
        group = self._groups[k]
        return group.low == group.high or self._nu[k] * before >= 0

    def _wanted(self, k: int) -> float:
        group = self._groups[k]
        return group.low if group.low == group.high or self._nu[k] > 0 else group.high

    def missed(self) -> float:
        found = self._found()
        sums = np.array([found[group.members].sum() for group in self._groups])
        below = [group.low - total for group, total in zip(self._groups, sums, strict=True)]
        above = [total - group.high for group, total in zip(self._groups, sums, strict=True)]
        # a multiplier that isn't 0 holds its constraint with equality
        slack = [abs(sums[k] - self._wanted(k)) for k in range(len(sums)) if self._nu[k] != 0]
        return float(max(0.0, *below, *above, *slack))

    def gap(self) -> float:
        """Objective minus Lagrangian at the multipliers, which is the dual's value: sum of nu (sum of p - bound)."""
        found = self._found()
        shift = np.zeros(len(self._nu))
        shift[-1] = 1.0  # the derivative of p log p
        return float(
            sum(
                (self._nu[k] + shift[k]) * (found[group.members].sum() - self._wanted(k))
                for k, group in enumerate(self._groups)
            )
        )

    def shares(self) -> Floats:
        out = np.zeros(self._size)
        out[self._some] = self._found()
        return out


def _known(places: Ints) -> Ints:
    found: Ints = places[places >= 0]
    return found


def _level(weights: Floats, lower: Floats, upper: Floats, total: float) -> float:
    """The factor for which the clipped weights sum to `total`: water-filling, exact.

    Between two of the 2 n factors at which a weight meets a bound, the sum is linear.
    """
    total = min(max(total, float(lower.sum())), float(upper.sum()))
    points = np.concatenate((lower / weights, upper / weights))
    slopes = np.concatenate((weights, -weights))
    order = np.argsort(points, kind="stable")
    points, slopes = points[order], np.cumsum(slopes[order])
    finite = np.isfinite(points)
    points, slopes = points[finite], slopes[finite]
    sums = lower.sum() + np.concatenate(([0.0], np.cumsum(slopes[:-1] * np.diff(points))))
    at = int(np.clip(np.searchsorted(sums, total, "right") - 1, 0, len(points) - 1))
    # cumulated sums round: what is left is found from those that lie between their bounds
    factor = float(points[at]) + (max(0.0, total - float(sums[at])) / float(slopes[at]) if slopes[at] > 0 else 0.0)
    for _ in range(3):
        found = np.clip(factor * weights, lower, upper)
        inside = (found > lower) & (found < upper)
        slope = float(weights[inside].sum())
        if slope <= 0:
            break
        factor += (total - float(found.sum())) / slope
    return max(factor, np.finfo(np.float64).tiny)


def contradiction(target: Floats, lower: Floats, upper: Floats, groups: Sequence[Group]) -> list[str]:
    """Names of constraints that can't be met together, none of them superfluous; empty where all can.

    The bounds of single shares are one constraint, named "".
    """
    upper = np.where(target > 0, upper, 0.0)
    if _feasible(lower, upper, groups):
        return []
    needed = list(groups)
    for group in groups:
        fewer = [other for other in needed if other is not group]
        if not _feasible(lower, upper, fewer):
            needed = fewer
    names = [group.name for group in needed]
    unbounded = np.where(target > 0, 1.0, 0.0)
    return names if not _feasible(np.zeros(len(lower)), unbounded, needed) else [*names, ""]


def _feasible(lower: Floats, upper: Floats, groups: Sequence[Group]) -> bool:
    if (lower > upper).any():
        return False
    if not groups:
        return bool(lower.sum() <= 1 + EXACT and upper.sum() >= 1 - EXACT)
    rows = np.zeros((len(groups), len(lower)))
    for row, group in enumerate(groups):
        rows[row, group.members] = 1.0
    low, high = (np.array([getattr(group, name) for group in groups]) for name in ("low", "high"))
    found = linprog(
        np.zeros(len(lower)),
        A_ub=np.vstack((rows, -rows)),
        b_ub=np.concatenate((high, -low)) + EXACT,
        A_eq=np.ones((1, len(lower))),
        b_eq=[1.0],
        bounds=np.column_stack((lower, np.minimum(upper, 1.0))),
        method="highs",
    )
    return bool(found.status == 0)
