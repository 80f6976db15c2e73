"""Our measures over record batches of 512 documents, as a run of a recipe takes them, made from Python strings."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
from contestant import Facts, Work, main

from glotmill.curate.dedup.exact import text_hash
from glotmill.curate.language import language
from glotmill.curate.measure import Measure, chain
from glotmill.curate.quality import quality

_ROWS = 512


def measuring(measures: Iterable[Measure]) -> Work:
    """A batch is made anew in each pass, so that nothing remembered of the last one serves it."""
    steps = tuple(measures)
    measured = chain(steps)
    signals = sum(len(step.adds) for step in steps)

    def run(texts: list[str]) -> Facts:
        for at in range(0, len(texts), _ROWS):
            measured(pa.record_batch({"text": pa.array(texts[at : at + _ROWS], pa.string())}))
        return {"signals": signals}

    return run


def metrics(work: Path) -> Work:
    return measuring([quality])


def signatures(work: Path) -> Work:
    from glotmill.curate.dedup.signature import signature

    return measuring([signature])


def metrics_signatures(work: Path) -> Work:
    from glotmill.curate.dedup.signature import signature

    return measuring([quality, signature])


TASKS = {
    "metrics": metrics,
    "signatures": signatures,
    "metrics+signatures": metrics_signatures,
    "text_hash": lambda work: measuring([text_hash]),
    "lid": lambda work: measuring([language]),
    "lid-combined": lambda work: measuring([language.bind(model="combined")]),
    "lid-lid176": lambda work: measuring([language.bind(model="lid176")]),
    "lid-cld2": lambda work: measuring([language.bind(model="cld2")]),
}

if __name__ == "__main__":
    main("glotmill", TASKS)
