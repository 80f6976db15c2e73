"""Data-Juicer's text filters in process: those nearest to Gopher and C4 that need no model and no word list."""

from pathlib import Path

from contestant import Facts, Work, main
from data_juicer.ops import load_ops
from data_juicer.utils.constant import Fields

FILTERS = [
    {"alphanumeric_filter": {"tokenization": False, "min_ratio": 0.25}},
    {"average_line_length_filter": {"min_len": 10}},
    {"character_repetition_filter": {"rep_len": 10, "max_ratio": 0.5}},
    {"maximum_line_length_filter": {"min_len": 10}},
    {"special_characters_filter": {"min_ratio": 0.0, "max_ratio": 0.25}},
    {"text_length_filter": {"min_len": 200, "max_len": 1_000_000}},
    {"words_num_filter": {"lang": "en", "tokenization": False, "min_num": 50, "max_num": 100_000}},
    {"word_repetition_filter": {"lang": "en", "tokenization": False, "rep_len": 10, "max_ratio": 0.5}},
]
_ROWS = 1000  # its own default of a batch


def metrics(work: Path) -> Work:
    """Statistics of every filter for every document, then the verdicts."""
    filters = load_ops(FILTERS)

    def run(texts: list[str]) -> Facts:
        kept = 0
        for at in range(0, len(texts), _ROWS):
            part = texts[at : at + _ROWS]
            samples = {"text": part, Fields.stats: [{} for _ in part]}
            for one in filters:
                samples = one.compute_stats_batched(samples)
            kept += sum(map(all, zip(*(one.process_batched(samples) for one in filters), strict=True)))
        return {"kept": kept}

    return run


if __name__ == "__main__":
    main("py-data-juicer", {"metrics": metrics})
