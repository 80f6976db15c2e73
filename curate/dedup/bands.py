"""How a signature is cut into bands, and how likely that finds a pair."""

from functools import cache

from glotmill.schemas.errors import RecipeError

MISS_WEIGHT = 0.95  # a missed pair is never found again; a pair found in vain costs a comparison


@cache
def best_bands(similarity: float, permutations: int) -> tuple[int, int]:
    """Bands and rows for the similarity that is asked: datasketch's optimiser, which weighs the integral of the pairs
    found below `similarity` (1 - MISS_WEIGHT) against that of the pairs missed above it (MISS_WEIGHT).
    """
    from datasketch.lsh import _optimal_param  # what MinHashLSH itself calls; it takes long to import

    bands, rows = _optimal_param(similarity, permutations, 1 - MISS_WEIGHT, MISS_WEIGHT)
    return int(bands), int(rows)


def chosen_bands(similarity: float, permutations: int, bands: int | None, rows: int | None) -> tuple[int, int]:
    """Bands and rows as given, or the best ones; one given alone gets the most of the other that fits.

    Raises:
        RecipeError: bands * rows exceeds the permutations.
    """
    if bands is None and rows is None:
        return best_bands(similarity, permutations)
    bands = bands or permutations // (rows or 1)
    rows = rows or permutations // bands
    if rows == 0 or bands == 0 or bands * rows > permutations:
        raise RecipeError(
            f"dedup: {bands} bands of {rows} rows need {max(1, bands) * max(1, rows)} permutations, there are "
            f"{permutations}: lower dedup.bands or dedup.rows, or raise dedup.permutations"
        )
    return bands, rows


def found_probability(similarity: float, bands: int, rows: int) -> float:
    """P(a pair of this Jaccard similarity s shares a band) = 1 - (1 - s^rows)^bands (Leskovec, Rajaraman and Ullman,
    "Mining of Massive Datasets", 3.4.2).
    """
    return float(1.0 - (1.0 - similarity**rows) ** bands)


def standard_error(similarity: float, permutations: int) -> float:
    """Of a similarity estimated from a signature: sqrt(s (1 - s) / permutations) (Broder 1997)."""
    return float((similarity * (1.0 - similarity) / permutations) ** 0.5)
