"""What a deduplication was asked to do, resolved: all that its workers need."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from glotmill.curate.dedup.bands import chosen_bands, standard_error
from glotmill.curate.dedup.shingles import Shingling
from glotmill.curate.kernels import leaders
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.recipe import Dedup

MARGIN = 3.0  # standard errors: a signature outside of it is wrong about once in a thousand
BUCKET = 512  # kept documents of a bucket that later ones are compared with
VERIFY = {
    "none": leaders.NOTHING_VERIFIED,
    "signature": leaders.BY_SIGNATURE,
    "exact": leaders.BY_SHINGLES,
}
_BY_SIGNAL = re.compile(r"([a-z][a-z0-9_]*) (asc|desc)")
_KEEP = {
    "longest": ("chars", -1.0),
    "shortest": ("chars", 1.0),
    "quality": ("margin", -1.0),
    "newest": ("date", -1.0),
    "oldest": ("date", 1.0),
    "source_priority": ("source", 1.0),
}


@dataclass(frozen=True, slots=True)
class Options:
    """Of one run.

    Args:
        fuzzy: Compare signatures; else normal texts, bytes or addresses alone.
        keep: (column, sign) by which documents of a cluster are ordered: the smallest sign * column stays.
        sources: Names of the recipe's sources, most trusted first.
        reference: Those whose documents are never removed.
        scope: Columns that two documents must share to be compared.
        compare_all: Documents are compared with each other, not with reference documents and index alone.
        margin: Half width of the band around `similarity` in which shingles decide.
    """

    fuzzy: bool
    exact: str
    similarity: float
    shingling: Shingling
    permutations: int
    seed: int
    bands: int
    rows: int
    min_shingles: int
    verify: int
    margin: float
    keep: tuple[tuple[str, float], ...]
    sources: tuple[str, ...]
    reference: frozenset[str]
    scope: tuple[str, ...]
    compare_all: bool

    @property
    def needs_sets(self) -> bool:
        return self.fuzzy and self.verify != leaders.NOTHING_VERIFIED


def options(dedup: Dedup, sources: Sequence[str], *, signals: Sequence[str] = ()) -> Options:
    """A recipe's section, resolved.

    Args:
        sources: Names of the recipe's sources, in their order.
        signals: Names of the signals that documents are measured for.

    Raises:
        RecipeError: what the section asks for can't be.
    """
    if unknown := sorted(set(dedup.reference) - set(sources)):
        raise RecipeError(f"dedup.reference: there is no source {unknown[0]!r}; there are: {', '.join(sources)}")
    fuzzy = dedup.mode == "fuzzy"
    bands, rows = chosen_bands(dedup.similarity, dedup.permutations, dedup.bands, dedup.rows) if fuzzy else (0, 0)
    scope = {"all": (), "language": ("language",), "source": ("source",)}[dedup.scope]
    return Options(
        fuzzy=fuzzy,
        exact=dedup.exact,
        similarity=dedup.similarity,
        shingling=shingling(dedup),
        permutations=dedup.permutations,
        seed=dedup.seed,
        bands=bands,
        rows=rows,
        min_shingles=dedup.min_shingles,
        verify=VERIFY[dedup.verify],
        margin=MARGIN * standard_error(dedup.similarity, dedup.permutations),
        keep=criteria(dedup.keep, signals),
        sources=tuple(sources),
        reference=frozenset(dedup.reference),
        scope=scope,
        compare_all=dedup.compare != "index",
    )


def shingling(dedup: Dedup) -> Shingling:
    """How the section has texts cut."""
    return Shingling(dedup.shingles, dedup.shingle_words, dedup.shingle_chars, dedup.digits == "mask")


def criteria(names: Sequence[str], signals: Sequence[str] | None = None) -> tuple[tuple[str, float], ...]:
    """Columns and signs of `dedup.keep`.

    Raises:
        RecipeError: a name is neither a criterion nor one of `signals`.
    """
    return tuple(_criterion(name, signals) for name in names)


def _criterion(name: str, signals: Sequence[str] | None) -> tuple[str, float]:
    if name in _KEEP:
        return _KEEP[name]
    match = _BY_SIGNAL.fullmatch(name)
    if match is None or (signals is not None and match[1] not in signals):
        raise RecipeError(
            f"dedup.keep: {name!r} is no criterion; there are: {', '.join(_KEEP)}, and 'SIGNAL desc' or 'SIGNAL asc' "
            f"with a signal such as {', '.join((signals or ['words'])[:3])}"
        )
    return match[1], -1.0 if match[2] == "desc" else 1.0
