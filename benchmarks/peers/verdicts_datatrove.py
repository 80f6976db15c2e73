"""python verdicts_datatrove.py DOCUMENTS.jsonl OUT.jsonl, in datatrove's own environment: what its filters say.

DOCUMENTS has lines of {id, language, text}, the language as datatrove names it, or "made" for made text, whose words
stand between white space and whose sentences end in marks. A line of OUT is {id, words,
line_sentences, verdicts}: the words that the filters saw; the sentences of each line of str.splitlines after citation
marks are taken out of it; and for each filter, with its defaults, the reason for which it drops the document, null if
it keeps it, or {"error": ...} if it failed.
"""

import importlib.metadata  # noqa: F401  datatrove uses it without importing it
import json
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

os.environ.setdefault("DATATROVE_COLORIZE_LOGS", "0")

from datatrove.data import Document
from datatrove.pipeline.filters import (
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
    c4_filters,
)
from datatrove.utils.text import split_into_sentences, split_into_words
from datatrove.utils.word_tokenizers import WordTokenizer


class MadeText(WordTokenizer):  # type: ignore[misc]
    def word_tokenize(self, text: str) -> list[str]:
        return text.split()

    def sent_tokenize(self, text: str) -> list[str]:
        return [text[start:end] for start, end in self.span_tokenize(text)]

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        return [found.span() for found in re.finditer("[^.!?]+[.!?]*", text)]


MADE = MadeText()


@cache
def filters(language: str | WordTokenizer) -> dict[str, Any]:
    return {
        "gopher_repetition": GopherRepetitionFilter(language=language),
        "gopher_quality": GopherQualityFilter(language=language),
        "c4": C4QualityFilter(language=language),
        "c4_any_line_end": C4QualityFilter(language=language, filter_no_terminal_punct=False),
        "fineweb": FineWebQualityFilter(language=language),
    }


def verdict(block: Any, text: str, name: str) -> Any:
    try:
        found = block.filter(Document(text=text, id=name))
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return found[1] if isinstance(found, tuple) else None if found else "dropped"


def judged(document: dict[str, str]) -> dict[str, Any]:
    text, named = document["text"], document["language"]
    language = MADE if named == "made" else named
    known: dict[str, list[str]] = {}

    def sentences(line: str, language: Any) -> list[str]:
        """datatrove's, once for each line: two filters and we ask for the same ones."""
        if line not in known:
            known[line] = split_into_sentences(line, language)
        return known[line]

    c4_filters.split_into_sentences = sentences
    return {
        "id": document["id"],
        "words": split_into_words(text, language),
        "line_sentences": [count(line, language, sentences) for line in text.splitlines()],
        "verdicts": {name: verdict(block, text, document["id"]) for name, block in filters(language).items()},
    }


def count(line: str, language: Any, sentences: Callable[[str, Any], list[str]]) -> int:
    """0 where datatrove's splitter fails: a filter that asks for that line fails, too."""
    try:
        return len(sentences(c4_filters.CITATION_REGEX.sub("", line.strip()), language))
    except Exception:
        return 0


def main() -> None:
    with open(sys.argv[1], encoding="utf-8", newline="\n") as lines, open(sys.argv[2], "w", encoding="utf-8") as out:
        for line in lines:
            out.write(json.dumps(judged(json.loads(line)), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
