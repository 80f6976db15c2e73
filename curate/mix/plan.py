"""How many tokens each cell gives, and by which hash its documents are picked: arithmetic on counts alone."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.mix.aim import Aim

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cell:
    """What the token store holds of one language x domain."""

    documents: int
    tokens: int


@dataclass(slots=True)
class Share:
    """What the mix takes of a cell.

    Args:
        documents: Available.
        available: Tokens, all documents once.
        asked: Tokens wanted.
        whole: Times every document is used.
        cut: Documents whose pick key (16 hex digits, unsigned) is at most this are used once more; "" for none.
        picked: Number of those documents.
        planned: Tokens that `whole` and `cut` give, exactly.
        target: Share of all tokens that is asked for, before caps.
    """

    documents: int
    available: int
    asked: int
    whole: int = 0
    cut: str = ""
    picked: int = 0
    planned: int = 0
    target: float = 0.0

    @property
    def uses(self) -> int:
        """Documents in the shards, counted once for each use."""
        return self.whole * self.documents + self.picked

    @property
    def used(self) -> int:
        """Documents used at least once."""
        return self.documents if self.whole else self.picked

    @property
    def epochs(self) -> float:
        return self.planned / self.available if self.available else 0.0


@dataclass(slots=True)
class Plan:
    """mix.json: deterministic, small, and independent of how the documents lie on disk."""

    seed: int
    budget: int | None
    max_epochs: float
    cells: dict[str, Share] = field(default_factory=dict)
    nearness: dict[str, Any] = field(default_factory=dict)  # see Aim.to_json

    @property
    def planned(self) -> int:
        return sum(share.planned for share in self.cells.values())

    @property
    def uses(self) -> int:
        return sum(share.uses for share in self.cells.values())

    def to_json(self) -> dict[str, Any]:
        planned = self.planned
        cells = {name: _told(share, planned) for name, share in sorted(self.cells.items())}
        return {
            "format": "glotmill-mix",
            "version": 2,
            "seed": self.seed,
            "budget": self.budget,
            "max_epochs": self.max_epochs,
            "available": sum(share.available for share in self.cells.values()),
            "planned": planned,
            "nearness": self.nearness,
            "cells": cells,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Plan":
        names = ("documents", "available", "asked", "whole", "cut", "picked", "planned", "target")
        cells = {name: Share(**{key: cell[key] for key in names}) for name, cell in data["cells"].items()}
        return cls(data["seed"], data["budget"], data["max_epochs"], cells, data["nearness"])


def _told(share: Share, planned: int) -> dict[str, Any]:
    delivered = round(share.planned / max(planned, 1), 9)
    return asdict(share) | {"epochs": round(share.epochs, 6), "share": delivered}


def planned(cells: Mapping[str, Cell], aimed: Aim, *, max_epochs: float, seed: int) -> Plan:
    """The plan that takes what was aimed at, but for the last epoch's cuts: those need the documents."""
    shares = {
        name: Share(cell.documents, cell.tokens, aimed.tokens[name], target=round(aimed.target.get(name, 0.0), 9))
        for name, cell in sorted(cells.items())
    }
    for share in shares.values():
        share.whole = share.asked // share.available if share.available else 0
        share.planned = share.whole * share.available
    return Plan(seed, aimed.budget, max_epochs, shares, aimed.to_json())


def nearest_cut(keys: U64, tokens: I64, wanted: int) -> tuple[str, int, int]:
    """Take documents in the order of their pick keys until their tokens come nearest to `wanted`.

    Args:
        keys: n pick keys, any order.
        tokens: n token counts.
        wanted: Tokens to reach; more than all is all.

    Returns:
        The last key taken as 16 hex digits ("" when none is), the documents and the tokens taken. A larger
        `wanted` never takes fewer documents.
    """
    order = np.argsort(keys, kind="stable")
    reached = np.concatenate([np.zeros(1, np.int64), np.cumsum(tokens[order])])
    above = int(np.searchsorted(reached, wanted))
    taken = min(above, len(order))
    if 0 < taken and wanted - reached[taken - 1] < reached[taken] - wanted:
        taken -= 1
    return (f"{int(keys[order[taken - 1]]):016x}" if taken else "", taken, int(reached[taken]))
