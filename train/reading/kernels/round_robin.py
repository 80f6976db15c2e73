"""Smooth weighted round robin in integers: exact, no random numbers."""

from glotmill.schemas.kernels.compiled import kernel


@kernel
def choose(weights, credits, out):  # type: ignore[no-untyped-def]
    """Choose len(out) sources. Every turn each source earns its weight; the richest one is taken and pays the total.

    So credits / total = samples due - samples taken, for each source, after every turn.

    Args:
        weights: int64 [sources], zero for those that are never taken.
        credits: int64 [sources], changed in place.
        out: int32 [samples], filled. Ties go to the lowest source.
    """
    total = weights.sum()
    for i in range(len(out)):
        best = -1
        for s in range(len(weights)):
            if weights[s] > 0:
                credits[s] += weights[s]
                if best < 0 or credits[s] > credits[best]:
                    best = s
        credits[best] -= total
        out[i] = best
