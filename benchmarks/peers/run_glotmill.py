"""Our measures over record batches of 512 documents, as a run of a recipe takes them, made from Python strings."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from contestant import Facts, Work, main

from glotmill.curate.dedup.exact import text_hash
from glotmill.curate.dedup.signature import minhash
from glotmill.curate.form import form
from glotmill.curate.language import language
from glotmill.curate.lines import line_cuts
from glotmill.curate.measure import Measure, chain
from glotmill.curate.quality import quality
from glotmill.curate.repetition import repetition
from glotmill.curate.signals import OF_TEXT

_ROWS = 512  # as curate/measure_unit.py


def measuring(*measures: Measure) -> Callable[[Path], Work]:
    """A batch is made anew in each pass, so that a cut remembered from the last pass serves none. Without `language`
    among the measures, all texts count as English, which has the stop words that are looked up most often.
    """
    measured = chain(measures)

    def run(texts: list[str]) -> Facts:
        for at in range(0, len(texts), _ROWS):
            rows = pa.array(texts[at : at + _ROWS], pa.string())
            given = (
                {}
                if any("language" in one.adds.names for one in measures)
                else {"language": pa.repeat("eng_Latn", len(rows))}
            )
            measured(pa.record_batch({"text": rows, **given}))
        return {"columns": sum(len(one.adds) for one in measures)}

    return lambda work: run


TASKS = {
    "metrics": measuring(line_cuts, *OF_TEXT),
    "signatures": measuring(minhash()),
    "metrics+signatures": measuring(line_cuts, *OF_TEXT, minhash()),
    "lid-combined": measuring(language),
    "lid-lid176": measuring(language.bind(model="lid176")),
    "language": measuring(language),
    "quality": measuring(quality),
    "repetition": measuring(repetition),
    "text_hash": measuring(text_hash),
    "form": measuring(form),
    "all": measuring(line_cuts, language, *OF_TEXT, text_hash, minhash()),
}

if __name__ == "__main__":
    main("glotmill", TASKS)
