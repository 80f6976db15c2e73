"""The cut: lines, paragraphs, sentences and units of each text, found once and used by all that follows."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels import scan
from glotmill.curate.kernels.buffers import Bytes, Offsets, utf8
from glotmill.curate.kernels.scan import CLUSTER
from glotmill.curate.kernels.unicode import (
    CLOSING,
    KIND,
    SCRIPT_SHIFT,
    SPACE,
    TERMINAL,
    scripts,
    wide,
)
from glotmill.schemas.kernels.compiled import kernel

Ints = npt.NDArray[np.int64]

# Scripts without a mark that ends a sentence: white space parts sentences or clauses there.
SPACE_ENDS = ("Thai", "Laoo")
_REPEATS = (0xE46, 0xEC6)  # their signs for a word said twice stand between spaces


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of n texts, as flat arrays.

    A unit is a word or number, or, in scripts that put no space between words, a letter with its marks. Sentences,
    lines and paragraphs are runs of units: sentence s of all has the units sentence_unit[s] to sentence_unit[s + 1].

    Args:
        data, offsets: The input's buffers.
        counts: int64 (n, scan.COLUMNS), what `scan` counts.
        letters: int64 (n, scripts), letters of each script.
        unit_bounds: int64 (n + 1), the units of text d are unit_bounds[d] to unit_bounds[d + 1]; as are the others.
        unit_start, unit_end: int32, bytes of `data`.
        unit_chars: int32, code points.
        unit_hash: uint64, of the code points after case folding; equal for a word's composed and decomposed forms,
            its capitals, and any of the apostrophes and hyphens that look alike.
        unit_kind: uint8: scan.LETTERS_UNIT, DIGITS (no letter in it) or CLUSTER (unspaced).
        unit_weight: uint8, twelfths of a word: 12 for a word, less for a cluster.
        line_start, line_end: int32, bytes, without outer white space. Blank lines are left out.
        line_hash: uint64, white space runs folded.
        line_chars: int32, code points, white space runs counted once.
        line_unit: int64 (lines + 1), the first unit of each line.
        paragraph_line: int64 (paragraphs + 1), the first line of each paragraph; blank lines part them.
        sentence_unit: int64 (sentences + 1).
    """

    data: Bytes
    offsets: Offsets
    counts: Ints
    letters: Ints
    unit_bounds: Ints
    unit_start: npt.NDArray[np.int32]
    unit_end: npt.NDArray[np.int32]
    unit_chars: npt.NDArray[np.int32]
    unit_hash: npt.NDArray[np.uint64]
    unit_kind: npt.NDArray[np.uint8]
    unit_weight: npt.NDArray[np.uint8]
    line_bounds: Ints
    line_start: npt.NDArray[np.int32]
    line_end: npt.NDArray[np.int32]
    line_hash: npt.NDArray[np.uint64]
    line_chars: npt.NDArray[np.int32]
    line_unit: Ints
    paragraph_bounds: Ints
    paragraph_line: Ints
    sentence_bounds: Ints
    sentence_unit: Ints


_last: tuple[tuple[int, ...], Any, Pieces] | None = None


def pieces(texts: Any) -> Pieces:
    """Cut n texts. Measures that look at one batch one after another share one cut.

    Lines are str.splitlines's. A sentence ends at a mark that ends one (Unicode Sentence_Terminal and what else
    `terminal_line_share` counts) with the closing quotes and brackets after it, where white space, the end or, after a
    full-width mark, anything follows; at the end of its line; and in Thai and Lao at white space, but for that around
    the sign that repeats a word.

    Args:
        texts: string array, no nulls.

    Raises:
        SchemaError: `texts` is something else.
    """
    global _last
    data, offsets = utf8(texts)
    key = (len(texts), texts.offset, *(buffer.address for buffer in texts.buffers() if buffer is not None))
    last = _last  # another thread may put its own
    if last is not None and last[0] == key:
        return last[2]
    found = _pieces(data, offsets)
    _last = (key, texts, found)  # holding the texts keeps their addresses theirs
    return found


def _pieces(data: Bytes, offsets: Offsets) -> Pieces:
    n = len(offsets) - 1
    size = int(offsets[-1]) - int(offsets[0])
    most = size // 2 + n + 1  # the letters of unspaced scripts take three bytes, and something parts all other units
    starts, ends, chars, line_starts, line_ends, line_chars = (np.empty(most, np.int32) for _ in range(6))
    hashes, line_hashes = (np.empty(most, np.uint64) for _ in range(2))
    kinds, weights = (np.empty(most, np.uint8) for _ in range(2))
    line_unit = np.empty(most + 1, np.int64)
    bounds = np.zeros((4, n + 1), np.int64)
    rows = np.zeros((n, scan.COLUMNS), np.int64)
    letters = np.zeros((n, len(scripts())), np.int64)
    table = scan.cut_table()
    scan.scan_texts(
        data, offsets, table, scan.word_weights(), scan.terminal_after(), *scan.foldings(), starts, ends, chars, hashes,
        kinds, weights, line_starts, line_ends, line_chars, line_hashes, line_unit, bounds, rows, letters,
    )  # fmt: skip
    units, lines = int(bounds[0, n]), int(bounds[1, n])
    line_unit[lines] = units
    paragraph_line = np.empty(lines + 1, np.int64)
    sentence_unit = np.empty(units + 1, np.int64)
    _group(
        data, table, scan.terminal_after(), space_ends(), starts, ends, kinds, line_starts, line_ends, line_unit,
        bounds, paragraph_line, sentence_unit,
    )  # fmt: skip
    return Pieces(
        data=data,
        offsets=offsets,
        counts=rows,
        letters=letters,
        unit_bounds=bounds[0],
        unit_start=starts[:units],
        unit_end=ends[:units],
        unit_chars=chars[:units],
        unit_hash=hashes[:units],
        unit_kind=kinds[:units],
        unit_weight=weights[:units],
        line_bounds=bounds[1],
        line_start=line_starts[:lines],
        line_end=line_ends[:lines],
        line_hash=line_hashes[:lines],
        line_chars=line_chars[:lines],
        line_unit=line_unit[: lines + 1],
        paragraph_bounds=bounds[2],
        paragraph_line=paragraph_line[: bounds[2, n] + 1],
        sentence_bounds=bounds[3],
        sentence_unit=sentence_unit[: bounds[3, n] + 1],
    )


@cache
def space_ends() -> npt.NDArray[np.bool_]:
    """By script, whether white space ends a sentence."""
    return np.isin(np.array(scripts()), SPACE_ENDS)


@kernel
def _group(  # type: ignore[no-untyped-def]
    data,
    table,
    terminal_after,
    space_ends,
    starts,
    ends,
    kinds,
    line_start,
    line_end,
    line_unit,
    bounds,
    paragraph_line,
    sentence_unit,
):
    """Group lines to paragraphs and units to sentences, by what stands between them."""
    p = np.int64(0)
    s = np.int64(0)
    for d in range(bounds.shape[1] - 1):
        for k in range(bounds[1, d], bounds[1, d + 1]):
            if k == bounds[1, d] or breaks(data, line_end[k - 1], line_start[k]) > 1:
                paragraph_line[p] = k
                p += 1
            for u in range(line_unit[k], line_unit[k + 1]):
                if u > line_unit[k]:
                    gap = starts[u] - ends[u - 1]
                    is_cluster = kinds[u] == CLUSTER
                    if gap == 0 or (gap == 1 and (not is_cluster or data[ends[u - 1]] > 32)):
                        continue  # a call counts the references of its arrays
                    if not _ends(
                        data, table, terminal_after, space_ends, starts[u - 1], ends[u - 1], starts[u], is_cluster
                    ):
                        continue
                sentence_unit[s] = u
                s += 1
        bounds[2, d + 1] = p
        bounds[3, d + 1] = s
    paragraph_line[p] = bounds[1, -1]
    sentence_unit[s] = bounds[0, -1]


@kernel
def breaks(data, start, end):  # type: ignore[no-untyped-def]
    """Line breaks in white space: CR LF is one."""
    found = 0
    i = np.int64(start)
    while i < end:
        a = data[i]
        found += (a >= 10 and a <= 13 and not (a == 10 and i > start and data[i - 1] == 13)) or (a >= 28 and a <= 30)
        found += a == 0x85 and i > start and data[i - 1] == 0xC2
        found += (a == 0xA8 or a == 0xA9) and i > start + 1 and data[i - 1] == 0x80 and data[i - 2] == 0xE2
        i += 1
    return found


@kernel
def _ends(data, table, terminal_after, space_ends, before, start, end, is_cluster):  # type: ignore[no-untyped-def]
    """Whether a sentence ends in data[start:end], which stands between the unit at `before` and the next one."""
    ended = spaced = full_width = False
    script = np.int64(-1)
    i = np.int64(start)
    while i < end:
        code = np.int64(data[i])
        if code >= 0x80:
            b = np.int64(data[i + 1]) if i + 1 < end else 0
            c = np.int64(data[i + 2]) if i + 2 < end else 0
            code, step = wide(code, b, c, np.int64(data[i + 3]) if i + 3 < end else 0)
            i += step - 1
        i += 1
        bits = table[code]
        if bits & np.uint32(KIND) == SPACE:
            spaced = True
            if ended:
                return True
            continue
        if bits & np.uint32(TERMINAL):
            ended = True
            full_width |= code >= 0x3000
            continue
        if script < 0 and code < 128:
            first = np.int64(data[before])
            if first >= 0x80:
                first, _ = wide(first, np.int64(data[before + 1]), np.int64(data[min(before + 2, start)]), 0)
            script = np.int64((table[first] >> np.uint32(SCRIPT_SHIFT)) & np.uint32(255))
        if code < 128 and terminal_after[code, script]:
            ended = True
        elif bits & np.uint32(CLOSING) == 0:
            if full_width:
                return True
            ended = False
    if spaced and is_cluster and not (ended and full_width):
        first, _ = wide(np.int64(data[before]), np.int64(data[before + 1]), np.int64(data[before + 2]), 0)
        then, _ = wide(np.int64(data[end]), np.int64(data[end + 1]), np.int64(data[end + 2]), 0)
        if first in _REPEATS or then in _REPEATS:
            return False
        return space_ends[(table[first] >> np.uint32(SCRIPT_SHIFT)) & np.uint32(255)]
    return ended and full_width
