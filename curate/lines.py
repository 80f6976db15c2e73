"""Line rules: which lines of a text are cut out, and the text that stays."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from glotmill.curate.comparisons import HOLDS
from glotmill.curate.kernels import lines as kernels
from glotmill.curate.kernels import scan
from glotmill.curate.kernels.phrases import lines_with
from glotmill.curate.kernels.pieces import Pieces, pieces
from glotmill.curate.measure import Columns, measure
from glotmill.curate.quality import boilerplate, ratio
from glotmill.schemas.document import EDITS
from glotmill.schemas.edits import apply_edits, left_out

if TYPE_CHECKING:  # rules knows all signals, those of this module among them
    from glotmill.curate.rules import Rule

Values = npt.NDArray[np.float64]

_PHRASES: Mapping[str, Callable[[], tuple[str, ...]]] = {
    "line_javascript": lambda: ("javascript",),
    "line_boilerplate": boilerplate,
    "line_lorem_ipsum": lambda: ("lorem ipsum",),
}
_SHARES = {
    "line_letter_share": (kernels.LETTERS, kernels.VISIBLE),
    "line_digit_share": (kernels.NUMBERS, kernels.VISIBLE),
    "line_uppercase_share": (kernels.UPPERS, kernels.CASED),
}
_COUNTS = {"line_ends_sentence": kernels.ENDS, "line_curly_brackets": kernels.BRACES}
LINE_SIGNALS = (
    "line_words",
    "line_chars",
    "line_longest_word_chars",
    *_SHARES,
    *_COUNTS,
    *_PHRASES,
    "line_repeated",
)


def line_signals(cut: Pieces, names: Sequence[str]) -> dict[str, Values]:
    """Those of LINE_SIGNALS that are named, each float64 (lines,), for the lines of all texts that aren't blank.

    line_words: Words; where no space parts them, letters divided by the script's usual letters per word, unrounded.
    line_chars: Code points without outer white space, white space within counted once.
    line_longest_word_chars: Code points of the longest word; unspaced scripts don't count.
    line_letter_share, line_digit_share: Letters and marks, or numbers / code points that aren't white space.
    line_uppercase_share: Upper and title case / letters with case; 0 without such letters.
    line_ends_sentence: 1 where the line counts for `terminal_line_share`, and in Thai and Lao, where no mark ends a
        sentence; else 0.
    line_curly_brackets: Opening ones.
    line_javascript, line_boilerplate, line_lorem_ipsum: 1 where the line holds the word "JavaScript", a phrase of
        curate/data/boilerplate.tsv, "lorem ipsum"; else 0.
    line_repeated: 1 where an earlier line of the text has the same characters, white space folded; else 0.

    What no name asks for is not computed.
    """
    found: dict[str, Values] = {"line_chars": cut.line_chars.astype(np.float64)}
    if {"line_words", "line_longest_word_chars"} & set(names):
        words, longest = kernels.line_words(cut)
        found |= {"line_words": words, "line_longest_word_chars": longest.astype(np.float64)}
    if {*_SHARES, *_COUNTS} & set(names):
        counts = kernels.line_counts(cut)
        found |= {name: ratio(counts[:, part], counts[:, whole]) for name, (part, whole) in _SHARES.items()}
        found |= {name: counts[:, column].astype(np.float64) for name, column in _COUNTS.items()}
    if asked := [name for name in _PHRASES if name in names]:
        holds = lines_with(cut, [_PHRASES[name]() for name in asked])
        found |= {name: holds[:, place].astype(np.float64) for place, name in enumerate(asked)}
    if "line_repeated" in names:
        found["line_repeated"] = kernels.repeated_lines(cut).astype(np.float64)
    return {name: found[name] for name in names}


def cuts(texts: pa.StringArray, rules: "Sequence[Rule]") -> pa.ListArray:
    """Of each of n texts, the spans (EDITS) of the lines for which a rule holds; the first such rule is the reason.

    A line is what str.splitlines cuts, with its line break and the white space around it. Blank lines are none: they
    stay, since they part paragraphs. Neighbouring lines with one reason are one span.

    Args:
        texts: no nulls.
        rules: over LINE_SIGNALS, in their order.
    """
    return _cuts(texts, rules)[0]


def _cuts(texts: pa.StringArray, rules: "Sequence[Rule]") -> tuple[pa.ListArray, npt.NDArray[np.int64]]:
    """The spans, and how many lines of each text they take."""
    if not rules:
        empty = pa.ListArray.from_arrays(np.zeros(len(texts) + 1, np.int32), pa.array([], EDITS.value_type), type=EDITS)
        return empty, np.zeros(len(texts), np.int64)
    cut = pieces(texts)
    values = line_signals(cut, sorted({rule.signal for rule in rules}))
    why = np.full(len(cut.line_start), kernels.KEPT, np.int16)
    for number, rule in reversed(list(enumerate(rules))):
        why[HOLDS[rule.comparison](values[rule.signal], rule.limit)] = number
    bounds, starts, ends, numbers = kernels.spans(cut, why)
    reasons = pa.array([rule.reason for rule in rules], pa.string()).take(pa.array(numbers))
    spans = pa.StructArray.from_arrays([pa.array(starts), pa.array(ends), reasons], fields=list(EDITS.value_type))
    found = pa.ListArray.from_arrays(pa.array(bounds), spans, type=EDITS)
    return found, _sums((why != kernels.KEPT).astype(np.int64), cut.line_bounds)


@measure(reads=["text"], adds={"cuts": EDITS, "cut_lines": pa.int64(), "cut_char_share": pa.float64()})
def line_cuts(batch: pa.RecordBatch, *, rules: "Sequence[Rule]" = ()) -> Columns:
    """What a recipe's line rules cut out of each text. All other signals are those of the text that stays.

    Args:
        batch: n rows with `text: string`, no nulls.
        rules: Line rules in their order; see `cuts`.

    Adds:
        cuts: Byte spans into the text and their reasons.
        cut_lines: Lines that are cut out; blank lines don't count.
        cut_char_share: Code points that are cut out / code points.
    """
    texts = batch["text"]
    found, lines = _cuts(texts, rules)
    chars = _sums(pc.utf8_length(left_out(texts, found)).to_numpy().astype(np.int64), found.offsets.to_numpy())
    return {
        "cuts": found,
        "cut_lines": pa.array(lines),
        "cut_char_share": pa.array(ratio(chars, pc.utf8_length(texts).to_numpy().astype(np.int64))),
    }


def without_cuts(batch: pa.RecordBatch) -> pa.RecordBatch:
    """`batch`, whose `text` lacks what its column `cuts` leaves out."""
    place = batch.schema.get_field_index("text")
    return batch.set_column(place, batch.schema.field(place), apply_edits(batch["text"], batch["cuts"]))


def count_cuts(texts: pa.StringArray, found: pa.ListArray) -> dict[str, dict[str, int]]:
    """By reason, the `lines` and code points (`chars`) that are cut out of n texts."""
    gone = left_out(texts, found)
    if not len(gone):
        return {}
    lines = pieces(gone).counts[:, scan.LINES]
    table = pa.table({"reason": found.flatten().field("reason"), "lines": lines, "chars": pc.utf8_length(gone)})
    sums = table.group_by("reason").aggregate([("lines", "sum"), ("chars", "sum")]).sort_by("reason")
    return {row["reason"]: {"lines": row["lines_sum"], "chars": row["chars_sum"]} for row in sums.to_pylist()}


def _sums(values: npt.NDArray[np.int64], bounds: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Of each text, the sum over its lines or spans."""
    sums: npt.NDArray[np.int64] = np.concatenate(([0], np.cumsum(values)))[bounds]
    return np.diff(sums)
