"""The signals of datatrove 0.10.0's Gopher, C4 and FineWeb filters, in its own semantics, for `semantics: datatrove`.

Given the same words and sentences, the rules of curate/data/datatrove_*.yaml over these signals drop what datatrove's
filters with their defaults drop, for the same reason. `benchmarks/parity.py` checks it, document by document.

Our own signals (`quality`, `repetition`) mean something else by the same names: here runs of words overlap and count
twice, a single occurrence is a most frequent one, and shares can exceed 1.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from glotmill.curate.kernels import datatrove as counted
from glotmill.curate.kernels.buffers import strings, utf8
from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.measure import Columns, measure
from glotmill.curate.quality import ratio
from glotmill.schemas.errors import SchemaError

WORDS, LINE_SENTENCES = "given_words", "line_sentences"

_GRAMS = {
    (f"dt_top_{n}_gram_share" if n <= counted.LONGEST_TOP else f"dt_dup_{n}_gram_share"): counted.GRAMS + n - 2
    for n in range(2, counted.LONGEST + 1)
}


@measure(
    reads=["text"],
    adds={
        "dt_dup_paragraph_share": pa.float64(),
        "dt_dup_paragraph_char_share": pa.float64(),
        "dt_dup_line_share": pa.float64(),
        "dt_dup_line_char_share": pa.float64(),
        **{name: pa.float64() for name in _GRAMS},
        "dt_words": pa.int64(),
        "dt_mean_word_chars": pa.float64(),
        "dt_hash_ratio": pa.float64(),
        "dt_ellipsis_ratio": pa.float64(),
        "dt_bullet_line_share": pa.float64(),
        "dt_ellipsis_line_share": pa.float64(),
        "dt_alpha_word_share": pa.float64(),
        "dt_stop_words": pa.int64(),
        "dt_c4_lorem_ipsum": pa.int64(),
        "dt_c4_curly_bracket": pa.int64(),
        "dt_c4_lines_kept": pa.int64(),
        "dt_c4_sentences": pa.int64(),
        "dt_fw_lines": pa.int64(),
        "dt_fw_line_punct_share": pa.float64(),
        "dt_fw_short_line_share": pa.float64(),
        "dt_fw_dup_char_share": pa.float64(),
        "dt_fw_breaks_per_word": pa.float64(),
    },
)
def datatrove(batch: pa.RecordBatch, *, terminal_lines: bool = True) -> Columns:
    """What datatrove's filters compare with their limits. Nothing is NaN: a ratio is 0 where its whole is 0.

    A word is what the column `given_words` says, as datatrove's tokenizer for the language would give it: without white
    space at its ends, punctuation in words of its own. Without that column, words are the units of our own cut, and
    between them each code point that is no white space. White space, lines (str.splitlines), letters (str.isalpha)
    and lower case are Python's.

    Args:
        batch: n rows with `text: string`; may have `words: list<string>`, and `line_sentences: list<int32>`, the
            sentences of each line of str.splitlines after citation marks are taken out of it, else our own cut's of the
            line as it is. No nulls.
        terminal_lines: Whether the C4 filter drops lines that end no sentence. FineWeb was made without.

    Adds:
        dt_dup_paragraph_share: Paragraphs (of the text without white space at its ends; two line feeds or more part
            them) that occurred earlier in the text / paragraphs. Gopher repetition.
        dt_dup_paragraph_char_share: Code points in those / code points.
        dt_dup_line_share: Lines (runs of line feeds part them; one at an end of the text has an empty line behind it)
            that occurred earlier / lines. Gopher repetition.
        dt_dup_line_char_share: Code points in those / code points.
        dt_top_2_gram_share, dt_top_3_gram_share, dt_top_4_gram_share: Code points of the most frequent run of so many
            words, spaces between them counted, times its occurrences, overlapping or not / code points. One occurrence
            is enough; of equally frequent runs, the first. Can exceed 1. Gopher repetition.
        dt_dup_5_gram_share, dt_dup_6_gram_share, dt_dup_7_gram_share, dt_dup_8_gram_share, dt_dup_9_gram_share,
            dt_dup_10_gram_share: Code points of runs of so many words that a walk from the left has met before, each
            jumped over / code points. Runs are equal if their words are without what parts them. Gopher repetition.
        dt_words: Words with a code point that is no symbol: no control character, mark that ends a sentence, ASCII or
            other frequent punctuation. Gopher quality.
        dt_mean_word_chars: Code points of those words / those words. Gopher quality.
        dt_hash_ratio: "#" / all words. Gopher quality.
        dt_ellipsis_ratio: "..." and "…" / all words. Gopher quality.
        dt_bullet_line_share: Lines, blank ones included, that begin with "•" or "-" after white space / lines. Gopher
            quality.
        dt_ellipsis_line_share: Lines that end in "..." or "…" before white space / lines. Gopher quality.
        dt_alpha_word_share: Words with a letter (category L) / all words. Gopher quality.
        dt_stop_words: How many of the, be, to, of, and, that, have, with are among the words; case counts. Gopher
            quality.
        dt_c4_lorem_ipsum: 1 where the C4 line filter meets "lorem ipsum" before a "{", else 0. It drops a line without
            three words, or with one of over 1,000 code points, or that does not end in . ? ! " or ', or ends in "...",
            before it looks for either; and one with "javascript" before it looks for "{".
        dt_c4_curly_bracket: 1 where it meets "{" before "lorem ipsum", else 0.
        dt_c4_lines_kept: Lines that it keeps, up to where it meets one of those.
        dt_c4_sentences: Their sentences. C4.
        dt_fw_lines: Lines, parted by line feeds, that aren't blank. FineWeb.
        dt_fw_line_punct_share: Those whose last code point ends a sentence; white space, quotes and carriage returns
            after it count against it / those lines. FineWeb.
        dt_fw_short_line_share: Those of at most 30 code points / those lines. FineWeb.
        dt_fw_dup_char_share: Code points in those that occurred earlier / code points that are no line feed. FineWeb.
        dt_fw_breaks_per_word: Line feeds / all words. FineWeb.

    Raises:
        SchemaError: `given_words` or `line_sentences` is of another type, has a null, or has another number of lines
        than
            the text.
    """
    data, offsets = utf8(batch["text"])
    line_bounds, line_sentences = _line_sentences(batch)
    texts = counted.text_counts(data, offsets, line_bounds, line_sentences, terminal_lines=terminal_lines)
    if LINE_SENTENCES in batch.schema.names:
        _check_lines(texts[:, counted.LINES], np.diff(line_bounds))
    words = counted.word_counts(*_word_buffers(words_column(batch)))
    return {**_repetition(texts, words), **_quality(texts, words), **_c4(texts), **_fineweb(texts, words)}


def _repetition(texts: counted.Counts, words: counted.Counts) -> Columns:
    chars = texts[:, counted.CHARS]
    return {
        "dt_dup_paragraph_share": pa.array(ratio(texts[:, counted.DUP_PARAGRAPHS], texts[:, counted.PARAGRAPHS])),
        "dt_dup_paragraph_char_share": pa.array(ratio(texts[:, counted.DUP_PARAGRAPH_CHARS], chars)),
        "dt_dup_line_share": pa.array(ratio(texts[:, counted.DUP_LINES], texts[:, counted.RUN_LINES])),
        "dt_dup_line_char_share": pa.array(ratio(texts[:, counted.DUP_LINE_CHARS], chars)),
        **{name: pa.array(ratio(words[:, column], chars)) for name, column in _GRAMS.items()},
    }


def _quality(texts: counted.Counts, words: counted.Counts) -> Columns:
    every, lines = words[:, counted.WORDS], texts[:, counted.LINES]
    solid = words[:, counted.SOLID_WORDS]
    return {
        "dt_words": pa.array(solid),
        "dt_mean_word_chars": pa.array(ratio(words[:, counted.SOLID_CHARS], solid)),
        "dt_hash_ratio": pa.array(ratio(texts[:, counted.HASHES], every)),
        "dt_ellipsis_ratio": pa.array(ratio(texts[:, counted.ELLIPSES], every)),
        "dt_bullet_line_share": pa.array(ratio(texts[:, counted.BULLET_LINES], lines)),
        "dt_ellipsis_line_share": pa.array(ratio(texts[:, counted.ELLIPSIS_LINES], lines)),
        "dt_alpha_word_share": pa.array(ratio(words[:, counted.ALPHA_WORDS], every)),
        "dt_stop_words": pa.array(words[:, counted.STOP_WORDS]),
    }


def _c4(texts: counted.Counts) -> Columns:
    stop = texts[:, counted.C4_STOP]
    return {
        "dt_c4_lorem_ipsum": pa.array((stop == counted.LOREM_IPSUM).astype(np.int64)),
        "dt_c4_curly_bracket": pa.array((stop == counted.CURLY_BRACKET).astype(np.int64)),
        "dt_c4_lines_kept": pa.array(texts[:, counted.C4_LINES]),
        "dt_c4_sentences": pa.array(texts[:, counted.C4_SENTENCES]),
    }


def _fineweb(texts: counted.Counts, words: counted.Counts) -> Columns:
    lines = texts[:, counted.FULL_LINES]
    on_lines = texts[:, counted.CHARS] - texts[:, counted.BREAKS]
    return {
        "dt_fw_lines": pa.array(lines),
        "dt_fw_line_punct_share": pa.array(ratio(texts[:, counted.TERMINAL_LINES], lines)),
        "dt_fw_short_line_share": pa.array(ratio(texts[:, counted.SHORT_LINES], lines)),
        "dt_fw_dup_char_share": pa.array(ratio(texts[:, counted.DUP_FULL_LINE_CHARS], on_lines)),
        "dt_fw_breaks_per_word": pa.array(ratio(texts[:, counted.BREAKS], words[:, counted.WORDS])),
    }


def words_column(batch: pa.RecordBatch) -> Any:
    """list<string> (n,): the batch's own words, else those of our cut.

    Raises:
        SchemaError: the batch's words are of another type, or hold a null.
    """
    if WORDS in batch.schema.names:
        return _checked(batch[WORDS], WORDS, pa.list_(pa.string()))
    data, offsets, bounds = counted.unit_words(pieces(batch["text"]))
    return pa.ListArray.from_arrays(pa.array(bounds), strings(data, offsets))


def _word_buffers(words: Any) -> tuple[Any, Any, Any]:
    data, offsets = utf8(words.values, name=WORDS)
    return data, offsets, words.offsets.to_numpy()


def _line_sentences(batch: pa.RecordBatch) -> tuple[counted.Counts, counted.Counts]:
    if LINE_SENTENCES not in batch.schema.names:
        return counted.unit_sentences(pieces(batch["text"]))
    column = _checked(batch[LINE_SENTENCES], LINE_SENTENCES, pa.list_(pa.int32()))
    return column.offsets.to_numpy().astype(np.int64), column.values.to_numpy().astype(np.int64)


def _checked(column: Any, name: str, wanted: Any) -> Any:
    nulls = column.null_count + (column.flatten().null_count if pa.types.is_list(column.type) else 0)
    if column.type != wanted or nulls:
        raise SchemaError(
            f"column {name!r} must be {wanted} without nulls, found {column.type} with {nulls} nulls: cast it, or drop "
            "it, and our own cut counts"
        )
    return column


def _check_lines(lines: counted.Counts, given: counted.Counts) -> None:
    wrong = np.flatnonzero(lines != given)
    if len(wrong):
        row = int(wrong[0])
        raise SchemaError(
            f"column {LINE_SENTENCES!r} has {given[row]} lines in row {row}, and its text {lines[row]}: "
            "give one number for each line of str.splitlines"
        )
