"""What a run has consumed: some whole numbers of each source, and the digests of the data."""

from dataclasses import dataclass, field, replace
from typing import Any

from glotmill.schemas.errors import ShardError
from glotmill.train.reading.sequences import Cursor

VERSION = 1


@dataclass(frozen=True, slots=True)
class Place:
    """A source's part of the state.

    Args:
        cursor: Where it is.
        credit: Of the round robin (kernels/round_robin.py).
        weight: Whole weight that earned the credit.
        tokens: Taken since the begin of the run: places in samples, without padding where nothing is packed.
        since: Taken since the weights changed last.
        leapt: Tokens that a change of the sequence length leapt over.
    """

    cursor: Cursor = field(default_factory=Cursor)
    credit: int = 0
    weight: int = 0
    tokens: int = 0
    since: int = 0
    leapt: int = 0


@dataclass(frozen=True, slots=True)
class State:
    """Of the global order: the same on every rank.

    Args:
        samples, tokens: Consumed since the begin of the run, by all ranks.
        length: Of the last sequences; 0 before the first.
        phase: Of the last sequences, for the record: what comes next depends on samples and tokens.
        places: By source; those that the reader doesn't know any more stay parked.
    """

    samples: int = 0
    tokens: int = 0
    length: int = 0
    phase: int = 0
    places: dict[str, Place] = field(default_factory=dict)

    def with_places(self, places: dict[str, Place], **changed: int) -> "State":
        return replace(self, places={**self.places, **places}, **changed)

    def to_dict(self) -> dict[str, Any]:
        """Whole numbers, for JSON or a checkpoint."""
        return {
            "samples": self.samples,
            "tokens": self.tokens,
            "length": self.length,
            "phase": self.phase,
            "sources": {name: _numbers(place) for name, place in self.places.items()},
        }

    @classmethod
    def from_dict(cls, said: dict[str, Any]) -> "State":
        places = {name: _place(numbers) for name, numbers in said["sources"].items()}
        return cls(said["samples"], said["tokens"], said["length"], said["phase"], places)


def _numbers(place: Place) -> list[int]:
    return [*place.cursor, place.credit, place.weight, place.tokens, place.since, place.leapt]


def _place(numbers: list[int]) -> Place:
    return Place(Cursor(*numbers[:3]), *numbers[3:])


def check_unchanged(saved: dict[str, list[str]], now: dict[str, dict[str, str]]) -> None:
    """Raises ShardError where a source isn't the data that a state was saved with.

    Args:
        saved: Source -> digests of its manifests, in order.
        now: Source -> path of each manifest -> digest; sources that only one side knows aren't compared.
    """
    for name in saved.keys() & now.keys():
        paths, digests = list(now[name]), list(now[name].values())
        if len(saved[name]) != len(digests):
            raise ShardError(
                f"source {name} had {len(saved[name])} manifests when the state was saved and has {len(digests)} "
                f"({', '.join(paths)}); give new data a source of its own"
            )
        for path, before, digest in zip(paths, saved[name], digests, strict=True):
            if before != digest:
                raise ShardError(
                    f"{path} (source {name}) tells of other data than the state was saved with: {before} became "
                    f"{digest}; bring the old shards back, or give the new ones a source of another name"
                )
