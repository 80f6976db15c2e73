"""How far each language model is believed, by what it says: data that benchmarks/lid_reliability.py derives.

A model's weight for a label is its smoothed precision when it says that label, each statement counted by the model's
own confidence. Precision is of a language among many that are equally frequent, which web text is not.
"""

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

EVERY = "*"  # the row of languages that have none


class Reliability(NamedTuple):
    """Of one label.

    Args:
        lid176: Precision of lid.176 when it says this label.
        cld2: Of CLD2 where it says that it is sure.
        cld2_unsure: Of CLD2 where it isn't.
        trusted_from: lid.176's probability from which on it was right so often that CLD2 isn't asked; over 1, never.
    """

    lid176: float
    cld2: float
    cld2_unsure: float
    trusted_from: float


@cache
def reliabilities() -> Mapping[str, Reliability]:
    """By our code, such as ita_Latn; EVERY for what it lacks."""
    return {
        row["language"]: Reliability(*(float(row[name]) for name in Reliability._fields))
        for row in rows("language_reliability.tsv")
    }


def reliability(code: str) -> Reliability:
    """Of one label."""
    found = reliabilities()
    return found.get(code) or found[EVERY]


@cache
def thresholds() -> dict[str, float]:
    """By our code, the `language_score` of model `combined` under which a label is uncertain; "*" for all others.

    The median less the standard deviation of the scores of correct texts, clipped to [0.3, 0.9].
    Source: Penedo et al. 2025 (FineWeb2), section 3.2; derived by benchmarks/lid_reliability.py.
    """
    return {row["language"]: float(row["score"]) for row in rows("language_thresholds.tsv")}


def rows(name: str) -> list[dict[str, str]]:
    """A table of curate/data, without its comments."""
    text = resources.files("glotmill.curate").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader((line for line in text.splitlines() if not line.startswith("#")), delimiter="\t"))
