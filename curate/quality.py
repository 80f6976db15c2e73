"""What can be counted in a text, as numbers that rules compare with limits."""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from glotmill.curate.kernels import scan
from glotmill.curate.kernels.phrases import phrase_lines
from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.kernels.scripts import foreign_letters
from glotmill.curate.kernels.unicode import rows
from glotmill.curate.kernels.urls import url_chars
from glotmill.curate.measure import Columns, measure

Floats = npt.NDArray[np.float64]

_SHARES = {
    "letter_share": (scan.LETTERS, scan.VISIBLE),
    "digit_share": (scan.NUMBERS, scan.VISIBLE),
    "symbol_share": (scan.SYMBOLS, scan.VISIBLE),
    "uppercase_share": (scan.UPPERS, scan.CASED),
    "broken_char_share": (scan.BROKENS, scan.CHARS),
    "terminal_line_share": (scan.TERMINAL_LINES, scan.LINES),
    "short_line_share": (scan.SHORT_LINES, scan.LINES),
    "menu_line_share": (scan.MENU_LINE_CHARS, scan.LINE_CHARS),
    "bullet_line_share": (scan.BULLET_LINES, scan.LINES),
    "ellipsis_line_share": (scan.ELLIPSIS_LINES, scan.LINES),
    "repeated_line_share": (scan.REPEATED_LINE_CHARS, scan.LINE_CHARS),
    "top_line_share": (scan.TOP_LINE_CHARS, scan.LINE_CHARS),
    "alpha_word_share": (scan.LETTER_TOKEN_WEIGHT, scan.TOKEN_WEIGHT),
    "emoji_share": (scan.EMOJIS, scan.VISIBLE),
    "uppercase_line_share": (scan.UPPER_LINES, scan.LINES),
    "numeric_line_share": (scan.NUMERIC_LINES, scan.LINES),
}
_COUNTS = {
    "chars": scan.CHARS,
    "units": scan.UNITS,
    "lines": scan.LINES,
    "longest_word_chars": scan.LONGEST_WORD,
    "curly_brackets": scan.BRACES,
}
_PER_WORD = {"hash_ratio": scan.HASHES, "ellipsis_ratio": scan.ELLIPSES}
_PHRASES = ("boilerplate_line_share", "javascript_line_share", "lorem_ipsum")


@measure(
    reads=["text"],
    adds={
        "bytes": pa.int64(),
        **{name: pa.int64() for name in _COUNTS},
        "words": pa.int64(),
        "mean_word_chars": pa.float64(),
        **{name: pa.float64() for name in _SHARES},
        "sentences": pa.int64(),
        "paragraphs": pa.int64(),
        "mean_line_chars": pa.float64(),
        **{name: pa.float64() for name in _PER_WORD},
        "breaks_per_word": pa.float64(),
        "mixed_script_share": pa.float64(),
        "url_share": pa.float64(),
        "boilerplate_line_share": pa.float64(),
        "javascript_line_share": pa.float64(),
        "lorem_ipsum": pa.int64(),
    },
)
def quality(batch: pa.RecordBatch) -> Columns:
    """Lengths and shares of each text, in one pass over it. No share is NaN: it is 0 where its whole is empty.

    White space is Unicode's and that of str.split. A letter is category L, a mark M, a number N: vowel signs and tone
    marks count as part of words in every script. A line is what str.splitlines cuts, without its outer white space
    and with inner white space counted as one character; blank lines don't count.

    Args:
        batch: n rows with `text: string`, no nulls.

    Adds:
        bytes: UTF-8 bytes.
        chars: Unicode code points.
        units: Words, plus, in scripts that put no space between words (Han, kana, Thai, Lao, Khmer, Burmese, ...),
            letters without their marks.
        lines: Lines that aren't blank.
        longest_word_chars: Code points of the longest word; unspaced scripts don't count.
        words: Words; where no space parts them, letters divided by the script's usual letters per word, rounded up.
            An estimate there, so that one limit means about as much text in every language.
        mean_word_chars: (letters + marks + numbers) / words before rounding.
        letter_share: (letters + marks) / code points that aren't white space. Rae et al. 2021 (Gopher), table A1,
            counts words with a letter; this needs no segmenter.
        digit_share: Numbers / code points that aren't white space.
        symbol_share: (punctuation + symbols) / code points that aren't white space.
        uppercase_share: Upper and title case / letters with case.
        broken_char_share: U+FFFD, control characters, private use, and pairs left by reading UTF-8 as Latin-1
            (as in "Ã©") / code points.
        terminal_line_share: Lines that end a sentence (Unicode Sentence_Terminal, ellipsis, shad, the Greek ";" and
            the Armenian ":"), closing quotes and brackets after it ignored / lines. C4 (Raffel et al. 2020) and
            FineWeb's line_punct_ratio.
        short_line_share: Lines of fewer than five words / lines. After FineWeb's short_line_ratio, which counts 30 code
            points: half a sentence in English, three in Chinese.
        menu_line_share: Code points in lines of fewer than five words that end no sentence / code points in lines.
        bullet_line_share: Lines that begin with a bullet, "-" or "*" / lines. Gopher.
        ellipsis_line_share: Lines that end in an ellipsis / lines. Gopher.
        repeated_line_share: Code points in lines that occurred earlier in the text / code points in lines. Gopher.
        top_line_share: Code points in all copies of the line that, repeated, takes most / code points in lines.
        alpha_word_share: Tokens between white space that hold a letter / tokens, each as many words as it holds in
            scripts without spaces. Gopher.
        emoji_share: Code points shown as pictures (Unicode Emoji_Presentation) / code points that aren't white space.
        uppercase_line_share: Lines most of whose letters with case are upper case / lines. DCLM (Li et al. 2024).
        numeric_line_share: Lines with numbers and without a letter / lines. DCLM.
        curly_brackets: Opening ones. C4 drops a page that has one.
        sentences: As `pieces` cuts them.
        paragraphs: Runs of lines that blank lines part.
        mean_line_chars: Code points of lines / lines.
        hash_ratio: "#" / words, at most 1. Gopher.
        ellipsis_ratio: "..." and "…" / words, at most 1. Gopher.
        breaks_per_word: Line breaks / words, at least one word assumed. FineWeb's new_line_ratio.
        mixed_script_share: Letters of other scripts than the one that has most / letters; Han, kana, Bopomofo and
            Hangul count as one.
        url_share: Code points in web addresses / code points that aren't white space.
        boilerplate_line_share: Lines with a phrase of curate/data/boilerplate.tsv, such as "privacy policy", in some
            language / lines. C4's policy lines.
        javascript_line_share: Lines with the word "JavaScript" / lines. C4.
        lorem_ipsum: Lines with "lorem ipsum". C4.
    """
    cut = pieces(batch["text"])
    counts = cut.counts
    words = np.maximum(1.0, counts[:, scan.WORD_WEIGHT] / scan.WORD)
    phrases = dict(zip(_PHRASES, phrase_lines(cut, (boilerplate(), ("javascript",), ("lorem ipsum",))).T, strict=True))
    lines = counts[:, scan.LINES]
    return {
        "bytes": pc.binary_length(batch["text"]).cast(pa.int64()),
        **{name: pa.array(counts[:, column]) for name, column in _COUNTS.items()},
        "words": pa.array(-(-counts[:, scan.WORD_WEIGHT] // scan.WORD)),
        "mean_word_chars": pa.array(scan.WORD * ratio(counts[:, scan.WORD_CHARS], counts[:, scan.WORD_WEIGHT])),
        **{name: pa.array(ratio(counts[:, part], counts[:, whole])) for name, (part, whole) in _SHARES.items()},
        "sentences": pa.array(np.diff(cut.sentence_bounds)),
        "paragraphs": pa.array(np.diff(cut.paragraph_bounds)),
        "mean_line_chars": pa.array(ratio(counts[:, scan.LINE_CHARS], lines)),
        **{name: pa.array(np.minimum(1.0, counts[:, column] / words)) for name, column in _PER_WORD.items()},
        "breaks_per_word": pa.array(counts[:, scan.BREAKS] / words),
        "mixed_script_share": pa.array(ratio(*foreign_letters(cut.letters))),
        "url_share": pa.array(ratio(url_chars(batch["text"]), counts[:, scan.VISIBLE])),
        "boilerplate_line_share": pa.array(ratio(phrases["boilerplate_line_share"], lines)),
        "javascript_line_share": pa.array(ratio(phrases["javascript_line_share"], lines)),
        "lorem_ipsum": pa.array(phrases["lorem_ipsum"]),
    }


@cache
def boilerplate() -> tuple[str, ...]:
    """The phrases of curate/data/boilerplate.tsv."""
    return tuple(phrase for _, phrase in rows("boilerplate.tsv"))


def ratio(part: npt.NDArray[Any], whole: npt.NDArray[Any]) -> Floats:
    """part / whole; 0 where the whole is 0."""
    found: Floats = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return found
