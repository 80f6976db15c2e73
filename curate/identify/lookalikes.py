"""Languages that models take for one another, and what tells them apart: curate/data/lookalikes.tsv.

Within a group the models' reliabilities decide, and where the table has marks, such as words that one of two languages
spells otherwise, how often they occur does too.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from glotmill.curate.identify.reliability import rows

_WHOLE = "whole"
_LIKELIER = 3.0  # times, for each mark that a text has more of than of another language's
_MARKS = 6  # more of them say no more
_FLOOR = 0.002  # of a group's score, for a member that no model named

Scores = dict[str, float]


@dataclass(frozen=True, slots=True)
class Group:
    """One group.

    Args:
        members: Labels that a text may be given.
        wholes: Labels that stand for any member, such as Serbo-Croatian.
        marks: RE2 patterns, by member.
    """

    members: tuple[str, ...]
    wholes: tuple[str, ...]
    marks: Mapping[str, str]


@cache
def groups() -> Mapping[str, Group]:
    """The group of each label that is in one."""
    listed: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows("lookalikes.tsv"):
        listed[row["group"]].append(row)
    found: dict[str, Group] = {}
    for members in listed.values():
        group = Group(
            tuple(row["language"] for row in members if not row["counted_as"]),
            tuple(row["language"] for row in members if row["counted_as"] == _WHOLE),
            {row["language"]: row["marks"] for row in members if row["marks"]},
        )
        found |= dict.fromkeys((row["language"] for row in members), group)
    return found


@cache
def counted_as() -> Mapping[str, str]:
    """Labels that models know only under another one: Dari, which is Persian to them."""
    return {row["language"]: row["counted_as"] for row in rows("lookalikes.tsv") if "_" in row["counted_as"]}


def first(scores: Scores) -> str:
    """The best label; of equals, the first by name."""
    return max(sorted(scores), key=scores.__getitem__)


def marked(label: str) -> bool:
    """Whether marks tell this label from others."""
    group = groups().get(label)
    return group is not None and bool(group.marks)


def told_apart(texts: Any, scores: list[Scores]) -> list[Scores]:
    """The scores of texts whose best label is `marked`, shared out anew within its group, whose sum stays.

    Args:
        texts: string array of n texts.
        scores: of each text, by label, not empty.
    """
    found = list(scores)
    of = [groups()[first(each)] for each in scores]
    for group in {id(group): group for group in of}.values():
        places = [i for i, own in enumerate(of) if own is group]
        taken = texts.take(pa.array(places))
        counts = {label: pc.count_substring_regex(taken, mark).to_pylist() for label, mark in group.marks.items()}
        for k, i in enumerate(places):
            found[i] = _shared(scores[i], group, {label: column[k] for label, column in counts.items()})
    return found


def _shared(scores: Scores, group: Group, counts: Mapping[str, int]) -> Scores:
    best = first(scores)
    members = [label for label in group.members if label[4:] == best[4:]]
    if len(members) < 2:
        return scores
    whole = sum(scores.get(label, 0.0) for label in group.wholes) / len(members)
    top = min(1.0, sum(scores.get(label, 0.0) for label in (*members, *group.wholes)))
    most = max(counts.get(label, 0) for label in members)
    weights = {
        label: (max(scores.get(label, 0.0), _FLOOR * top) + whole)
        * _LIKELIER ** -min(_MARKS, most - counts.get(label, 0))
        for label in members
    }
    scale = top / sum(weights.values())
    rest = {label: score for label, score in scores.items() if label not in members and label not in group.wholes}
    return rest | {label: weight * scale for label, weight in weights.items()}
