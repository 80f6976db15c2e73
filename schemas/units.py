"""A unit is the smallest piece of a step that can be done, checked and redone alone."""

from dataclasses import dataclass, field
from typing import Any

from glotmill.schemas.errors import BooksError


@dataclass(slots=True)
class Books:
    """What became of the records of a unit. They balance when `records` equals the sum of the other four.

    Args:
        records: Records that went in; documents for steps after extraction.
        kept: Records that came out.
        dropped: By reason of a rule.
        skipped: By reason: records that were never meant to be documents (requests, revisits, images).
        quarantined: By reason: records that could not be read.
    """

    records: int = 0
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    quarantined: dict[str, int] = field(default_factory=dict)

    def add(self, other: "Books") -> None:
        self.records += other.records
        self.kept += other.kept
        for mine, theirs in (
            (self.dropped, other.dropped),
            (self.skipped, other.skipped),
            (self.quarantined, other.quarantined),
        ):
            for reason, count in theirs.items():
                mine[reason] = mine.get(reason, 0) + count

    def check(self, what: str) -> None:
        """Raise BooksError unless every record is accounted for."""
        out = self.kept + sum(map(sum, (self.dropped.values(), self.skipped.values(), self.quarantined.values())))
        if out != self.records:
            raise BooksError(f"{what}: {self.records} records went in and {out} came out; its output is not to be used")


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of work.

    Args:
        step: The step's name.
        key: Names the unit's output files; made from what the unit is, never from its position.
        label: For people: an input's name, a cell, a shard's number.
        payload: JSON values that the step's function needs to do this unit.
        upstream: Digests of what the unit reads from earlier steps, in a fixed order.
    """

    step: str
    key: str
    label: str
    payload: dict[str, Any] = field(default_factory=dict)
    upstream: tuple[str, ...] = ()


@dataclass(slots=True)
class Outcome:
    """What doing a unit gave, beside its files.

    Args:
        books: Balanced counts.
        digests: By table or file kind, what later steps depend on: a digest of content, equal for equal results.
        bytes_in: Bytes read, for the rate that is shown: text bytes where the step reads text.
        facts: JSON values that the driver needs (tokens per cell, sizes), small.
    """

    books: Books = field(default_factory=Books)
    digests: dict[str, str] = field(default_factory=dict)
    bytes_in: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
