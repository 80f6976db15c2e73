"""NeMo Curator's heuristic filters on one batch, in process, without Ray: Gopher's, its repetition rules, and C4's.

As in its own pipelines, a filter sees what the ones before it left. Its thresholds and English words are the defaults.
"""

import os
from pathlib import Path

os.environ.setdefault("LOGURU_LEVEL", "WARNING")

import pandas as pd
from contestant import Facts, Work, main
from nemo_curator.stages.text.filters import ScoreFilter
from nemo_curator.stages.text.filters import heuristic as rules
from nemo_curator.stages.text.filters.heuristic import repetition
from nemo_curator.tasks import DocumentBatch

TOP = {2: 0.2, 3: 0.18, 4: 0.16}
DUPLICATE = {5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.10}


def metrics(work: Path) -> Work:
    filters = [
        repetition.RepeatedLinesFilter(),
        repetition.RepeatedParagraphsFilter(),
        repetition.RepeatedLinesByCharFilter(),
        repetition.RepeatedParagraphsByCharFilter(),
        *(repetition.RepeatingTopNGramsFilter(n=n, max_repeating_ngram_ratio=limit) for n, limit in TOP.items()),
        *(
            repetition.RepeatingDuplicateNGramsFilter(n=n, max_repeating_duplicate_ngram_ratio=limit)
            for n, limit in DUPLICATE.items()
        ),
        rules.WordCountFilter(50, 100_000),
        rules.MeanWordLengthFilter(3, 10),
        rules.SymbolsToWordsFilter(0.1),
        rules.BulletsFilter(0.9),
        rules.EllipsisFilter(0.3),
        rules.WordsWithoutAlphabetsFilter(0.8),
        rules.CommonEnglishWordsFilter(2),
        rules.NonAlphaNumericFilter(),
        rules.NumbersFilter(),
        rules.UrlsFilter(),
        rules.WhiteSpaceFilter(),
        rules.ParenthesesFilter(),
        rules.LongWordFilter(),
        rules.BoilerPlateStringFilter(),
        rules.PunctuationFilter(),
    ]
    stages = [ScoreFilter(one) for one in filters]

    def run(texts: list[str]) -> Facts:
        batch = DocumentBatch(dataset_name="sample", data=pd.DataFrame({"text": texts}))
        for stage in stages:
            batch = stage.process(batch)
            if batch is None:
                return {"kept": 0}
        return {"kept": len(batch.data)}

    return run


if __name__ == "__main__":
    main("nemo-curator", {"metrics": metrics})
