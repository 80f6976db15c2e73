"""What the parameters of a deduplication mean, in numbers, before anything is run."""

from statistics import NormalDist

from glotmill.curate.dedup.bands import chosen_bands, found_probability, standard_error
from glotmill.curate.dedup.options import MARGIN
from glotmill.schemas.recipe import Dedup

_SIMILARITIES = (0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
_UNITS = {
    "auto": "{words} words, or {chars} code points where the script has no spaces",
    "words": "{words} words",
    "chars": "{chars} code points",
}


def explanation(dedup: Dedup) -> str:
    """For people: bands and rows, the probability that a pair of some similarity is found, and that it is removed."""
    bands, rows = chosen_bands(dedup.similarity, dedup.permutations, dedup.bands, dedup.rows)
    margin = MARGIN * standard_error(dedup.similarity, dedup.permutations)
    unit = _UNITS[dedup.shingles].format(words=dedup.shingle_words, chars=dedup.shingle_chars)
    lines = [
        f"shingles: {unit}; numbers {'are all alike' if dedup.digits == 'mask' else 'count'}",
        f"signature: {dedup.permutations} permutations, {4 * dedup.permutations} bytes, "
        f"{bands} bands of {rows} rows{'' if dedup.bands or dedup.rows else ', the best for the similarity'}",
        f"documents of fewer than {dedup.min_shingles} shingles: compared by their normalised text alone",
        _verification(dedup, margin),
        "",
        f"P(found) = 1 - (1 - s^{rows})^{bands}: a pair of Jaccard similarity s shares a band at least once.",
        "P(removed): it is found, and measured at or above the similarity asked.",
        "",
        f"{'s':>6} {'P(found)':>10} {'P(removed)':>12}",
    ]
    for s in sorted({*_SIMILARITIES, dedup.similarity}):
        found = found_probability(s, bands, rows)
        told = f"{s:>6.2f} {found:>10.4f} {found * _accepted(s, dedup, margin):>12.4f}"
        lines.append(told + ("  <- similarity" if s == dedup.similarity else ""))
    return "\n".join(lines)


def _verification(dedup: Dedup, margin: float) -> str:
    if dedup.verify == "none":
        return "verification: none; whoever shares a band with a kept document goes"
    if dedup.verify == "exact":
        return f"verification: shingles are compared; a removed document shares {dedup.similarity:g} with its twin"
    return (
        f"verification: signatures estimate s with a standard error of {margin / MARGIN:.3f}; within {margin:.3f} of "
        f"{dedup.similarity:g} shingles are compared"
    )


def _accepted(s: float, dedup: Dedup, margin: float) -> float:
    """P(a found pair is measured at or above the similarity), with the normal distribution for the estimate."""
    if dedup.verify == "none":
        return 1.0
    if dedup.verify == "exact":
        return float(s >= dedup.similarity)
    estimate = NormalDist(s, max(standard_error(s, dedup.permutations), 1e-9))
    below, above = estimate.cdf(dedup.similarity - margin), 1 - estimate.cdf(dedup.similarity + margin)
    return above + (1 - below - above) * (s >= dedup.similarity)
