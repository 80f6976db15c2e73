"""datatrove's pipeline blocks as its users chain them, without its readers and writers. English, its default."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("DATATROVE_COLORIZE_LOGS", "0")

from contestant import Facts, Work, main
from datatrove.data import Document
from loguru import logger

logger.remove()  # one line for each block would be timed, too
MODEL = Path(__file__).parents[2] / "curate" / "data" / "lid.176.ftz"


def documents(texts: list[str]) -> Iterator[Document]:
    return (Document(text=text, id=str(number)) for number, text in enumerate(texts))


def filters() -> list[Any]:
    from datatrove.pipeline.filters import (
        C4QualityFilter,
        FineWebQualityFilter,
        GopherQualityFilter,
        GopherRepetitionFilter,
    )

    return [GopherRepetitionFilter(), GopherQualityFilter(), C4QualityFilter(), FineWebQualityFilter()]


def chained(blocks: list[Any], texts: list[str]) -> int:
    """How many documents come out: one that a block drops isn't seen by those after it."""
    stream: Iterable[Document] = documents(texts)
    for block in blocks:
        stream = block.run(stream, 0, 1)
    return sum(1 for _ in stream)


def metrics(work: Path) -> Work:
    blocks = filters()
    return lambda texts: {"kept": chained(blocks, texts)}


def metrics_each(work: Path) -> Work:
    """Every filter on every document, none spared by an earlier one: all numbers, as ours."""
    blocks = filters()
    return lambda texts: {"kept_by_each": [chained([block], texts) for block in blocks]}


def signatures(work: Path) -> Work:
    """MinHash of word 5-grams, 14 bands of 8: 112 permutations. Written to disk: the block has no other output."""
    from datatrove.pipeline.dedup.minhash import MinhashDedupSignature

    block = MinhashDedupSignature(output_folder=str(work))

    def run(texts: list[str]) -> Facts:
        block.run(documents(texts), 0, 1)
        return {}

    return run


def metrics_signatures(work: Path) -> Work:
    """The filters, then signatures of all documents, not only of those kept."""
    first, second = metrics(work), signatures(work)
    return lambda texts: {**first(texts), **second(texts)}


def lid(work: Path) -> Work:
    """Its language filter with lid.176.ftz from a file; it downloads the full model otherwise."""
    from datatrove.pipeline.filters import LanguageFilter
    from datatrove.utils.lid import FT176LID
    from fasttext.FastText import _FastText

    class Local(FT176LID):
        @property
        def model(self) -> Any:
            if self._model is None:
                self._model = _FastText(str(MODEL))
            return self._model

    block = LanguageFilter(label_only=True)
    block.model = Local(None)
    return lambda texts: {"kept": chained([block], texts)}


if __name__ == "__main__":
    main(
        "datatrove",
        {
            "metrics": metrics,
            "metrics-each": metrics_each,
            "signatures": signatures,
            "metrics+signatures": metrics_signatures,
            "lid": lid,
        },
    )
