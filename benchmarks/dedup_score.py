"""What a deduplication found and what it got wrong, against all similar pairs of a corpus."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

Pair = tuple[str, str, float]  # ids of two documents, and their Jaccard similarity
EDGES = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
WANTED = 0.8  # from here on pairs should be found
SIMILAR = 0.7  # below it a removal is wrong


@dataclass(frozen=True, slots=True)
class Found:
    """Of how many pairs at least one document was removed."""

    found: int
    pairs: int

    @property
    def share(self) -> float:
        return self.found / self.pairs if self.pairs else float("nan")

    def __str__(self) -> str:
        return f"{self.share:.4f}" if self.pairs else "-"


@dataclass(frozen=True, slots=True)
class Score:
    """How a tool did.

    Args:
        bins: By bin of similarity, see `bin_names`.
        wanted: Of all pairs at WANTED or above.
        removed: Documents.
        alone: Removed documents without any kept document at SIMILAR or above.
        wrong_twins: Removed documents whose named twin is less similar than SIMILAR, or wasn't kept; None where no
            twins are named.
    """

    bins: dict[str, Found]
    wanted: Found
    removed: int
    alone: int
    wrong_twins: int | None

    @property
    def wrong(self) -> int:
        """By the named twin where there is one."""
        return self.alone if self.wrong_twins is None else self.wrong_twins

    @property
    def wrong_share(self) -> float:
        return self.wrong / self.removed if self.removed else 0.0


def bin_names(edges: Sequence[float] = EDGES) -> list[str]:
    """The last bin holds its upper edge, the others don't."""
    return [f"{low:.2f}-{high:.2f}" for low, high in zip(edges[:-1], edges[1:], strict=True)]


def bin_of(similarity: float, edges: Sequence[float] = EDGES) -> str | None:
    """The bin's name; None outside of all."""
    if similarity == edges[-1]:
        return bin_names(edges)[-1]
    for low, high, name in zip(edges[:-1], edges[1:], bin_names(edges), strict=True):
        if low <= similarity < high:
            return name
    return None


def recall(
    pairs: Iterable[Pair], kept: Collection[str], edges: Sequence[float] = EDGES
) -> tuple[dict[str, Found], Found]:
    """By bin, and of all pairs at WANTED or above. A pair is found when at least one of the two isn't kept."""
    counts = {name: [0, 0] for name in bin_names(edges)}
    wanted = [0, 0]
    for a, b, similarity in pairs:
        found = not (a in kept and b in kept)
        name = bin_of(similarity, edges)
        for count in ([counts[name]] if name else []) + ([wanted] if similarity >= WANTED else []):
            count[0] += found
            count[1] += 1
    return {name: Found(*count) for name, count in counts.items()}, Found(*wanted)


def score(
    pairs: Sequence[Pair],
    documents: Collection[str],
    kept: Collection[str],
    twins: Mapping[str, tuple[str, float]] | None = None,
) -> Score:
    """Judge a tool.

    Args:
        pairs: All pairs of the corpus at SIMILAR or above.
        documents: Ids of all.
        kept: Ids of those that the tool kept.
        twins: By removed document its named twin.
    """
    near: dict[str, set[str]] = defaultdict(set)
    for a, b, similarity in pairs:
        if similarity >= SIMILAR:
            near[a].add(b)
            near[b].add(a)
    removed = [name for name in documents if name not in kept]
    bins, wanted = recall(pairs, kept)
    return Score(
        bins,
        wanted,
        removed=len(removed),
        alone=sum(not any(other in kept for other in near[name]) for name in removed),
        wrong_twins=None
        if twins is None
        else sum(not ((twin := twins[name][0]) in near[name] and twin in kept) for name in removed),
    )


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [list(header), ["---"] * len(header), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def score_row(name: str, one: Score) -> list[str]:
    """Cells under `SCORE_HEADER`."""
    return [
        name,
        *(str(found) for found in one.bins.values()),
        str(one.wanted),
        f"{one.removed:,}",
        "" if one.wrong_twins is None else f"{one.wrong_twins:,}",
        f"{one.alone:,}",
        f"{one.wrong_share:.2%}",
    ]


SCORE_HEADER = ("tool", *bin_names(), ">= 0.8", "removed", "twin below .7", "no kept twin at .7", "wrong share")
