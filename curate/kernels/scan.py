"""One walk over each text that counts everything the quality measures need."""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.buffers import Bytes, Offsets, utf8
from glotmill.curate.kernels.compiled import kernel
from glotmill.curate.kernels.unicode import (
    BREAK,
    BROKEN,
    BULLET,
    CLOSING,
    CONTROL,
    JOINER,
    KIND,
    LETTER,
    LOWER,
    MARK,
    NUMBER,
    PUNCTUATION,
    SCRIPT_SHIFT,
    SPACE,
    SYMBOL,
    TERMINAL,
    UPPER,
    Bits,
    scripts,
    unicode_table,
    wide,
)

Counts = npt.NDArray[np.int64]

# What `counts` counts, in its columns' order.
(
    CHARS,
    VISIBLE,
    LETTERS,
    CASED,
    UPPERS,
    NUMBERS,
    SYMBOLS,
    BROKENS,
    UNITS,
    WORD_WEIGHT,
    WORD_CHARS,
    LONGEST_WORD,
    LINES,
    LINE_CHARS,
    REPEATED_LINE_CHARS,
    TOP_LINE_CHARS,
    TERMINAL_LINES,
    BULLET_LINES,
    ELLIPSIS_LINES,
    SHORT_LINES,
    MENU_LINE_CHARS,
) = range(21)
_COLUMNS = 21

ENDS = 4
PRIME = np.uint64(0x9E3779B97F4A7C15)
WORD = 12  # weight of one word; a character of a script without spaces weighs a fraction of it
SHORT_LINE_WORDS = 5

# Characters (marks left out) of an average word, where no space shows its ends: rounded from segmented corpora, so
# that `words` of one page and its translations are near one another.
_CHARS_PER_WORD = {
    "Hani": 1.5, "Bopo": 3, "Hira": 3, "Kana": 4, "Yiii": 1.5, "Thai": 4, "Laoo": 4, "Khmr": 4, "Mymr": 4, "Java": 4,
    "Bali": 4, "Lana": 4, "Talu": 4, "Tale": 4, "Cham": 4, "Tavt": 4,
}  # fmt: skip
# Marks that end a sentence only after letters of one script.
_TERMINAL_AFTER = {";": ("Grek",), ":": ("Armn", "Ethi"), "|": ("Deva", "Beng", "Guru", "Orya")}


def counts(texts: Any) -> Counts:
    """int64 (n, 21): a row a text, a column for each name above.

    A word is a run of letters, marks and numbers, with apostrophes and hyphens inside it; in scripts without spaces
    every letter is a unit and a fraction of a word. Lines are cut as by str.splitlines; blank ones don't count, and
    white space within a line counts as one character.
    """
    data, offsets = utf8(texts)
    found: Counts = _counts(data, offsets, unicode_table(), _weights(), _terminal_after())
    return found


@cache
def _weights() -> Bits:
    """By script, twelfths of a word that one letter stands for; 0 where spaces part the words."""
    return np.array([round(WORD / _CHARS_PER_WORD[s]) if s in _CHARS_PER_WORD else 0 for s in scripts()], np.uint32)


@cache
def _terminal_after() -> Bits:
    """By ASCII code and script of the last letter, 1 where the mark ends a sentence."""
    table = np.zeros((128, len(scripts())), np.uint32)
    for mark, after in _TERMINAL_AFTER.items():
        table[ord(mark), [scripts().index(script) for script in after]] = 1
    return table


@kernel
def _counts(data: Bytes, offsets: Offsets, table: Bits, weights: Bits, terminal_after: Bits) -> Counts:
    out = np.zeros((len(offsets) - 1, _COLUMNS), np.int64)
    hashes = np.empty(256, np.uint64)
    lengths = np.empty(256, np.int64)
    for d in range(len(offsets) - 1):
        most = _most_lines(data, offsets[d], offsets[d + 1])
        if most > len(hashes):
            hashes = np.empty(2 * most, np.uint64)
            lengths = np.empty(2 * most, np.int64)
        _count(data, offsets[d], offsets[d + 1], table, weights, terminal_after, hashes, lengths, out[d])
        _count_repeats(hashes, lengths, out[d])
    return out


@kernel
def _most_lines(data, start, end):  # type: ignore[no-untyped-def]
    """No fewer lines than there are: every byte that may begin a line break counts."""
    most = 1
    for i in range(start, end):
        most += (data[i] <= 0x1E) | (data[i] == 0xC2) | (data[i] == 0xE2)
    return most


@kernel
def _count(data, start, end, table, weights, terminal_after, hashes, lengths, row):  # type: ignore[no-untyped-def]
    """Count one document into `row`, and leave its lines' hashes and lengths.

    No array is made or reassigned here: numba would count its references at every character.
    """
    kinds = np.zeros(16, np.int64)
    i = np.int64(start)
    units = weight = longest = broken = 0
    word = joined = 0  # characters of the current word; joiners that may yet belong to it
    lines = terminals = bullets = ellipses = shorts = menus = 0
    line = gap = 0  # characters of the current line; 1 after white space within it
    line_weight = 0  # weight when the line began
    h = np.uint64(0)
    is_bullet = False
    tail = 0  # what the line's last mark was: dots, and ENDS where it ends a sentence
    letter = np.uint32(0)
    code = np.int64(0)
    while i <= end:
        before = code
        code = np.int64(10)  # the end of the text ends word and line
        if i < end:
            code = np.int64(data[i])
            if code >= 0x80:
                b = np.int64(data[i + 1]) if i + 1 < end else 0
                c = np.int64(data[i + 2]) if i + 2 < end else 0
                code, step = wide(code, b, c, np.int64(data[i + 3]) if i + 3 < end else 0)
                i += step - 1
                if code <= 0xBF and (before == 0xC3 or before == 0xC2 or before == 0xD0 or before == 0xD1):
                    broken += 2 if code > 0x9F else 1  # UTF-8 read as Latin-1; C1 itself is counted as a kind
        i += 1
        bits = table[code]
        kind = bits & KIND
        kinds[kind] += 1

        if kind >= UPPER and kind <= NUMBER:
            if kind == LETTER and weights[(bits >> SCRIPT_SHIFT) & 255] > 0:
                units += 1
                weight += weights[(bits >> SCRIPT_SHIFT) & 255]
                if word > 0:
                    units += 1
                    weight += WORD
                    longest = max(longest, word)
                    word = 0
            elif word > 0:
                word += 1 + joined
            elif kind != MARK:
                word = 1
            joined = 0
            if kind <= LETTER:
                letter = bits
            tail = 0
        else:
            if word > 0:
                if bits & JOINER and joined == 0:
                    joined = 1
                else:
                    units += 1
                    weight += WORD
                    longest = max(longest, word)
                    word = joined = 0
            if kind == SPACE:
                if line > 0:
                    gap = 1
                    if bits & BREAK:
                        hashes[lines] = h
                        lengths[lines] = line
                        lines += 1
                        terminals += tail >= ENDS
                        bullets += is_bullet
                        ellipses += tail & (ENDS - 1) >= 3
                        if weight - line_weight < SHORT_LINE_WORDS * WORD:
                            shorts += 1
                            menus += line if tail < ENDS else 0
                        line = gap = tail = 0
                        line_weight = weight
                        h = np.uint64(0)
                        is_bullet = False
                continue
            if line == 0:
                is_bullet = bits & BULLET != 0
            if bits & TERMINAL:
                dots = 3 if code == 0x2026 else min(3, (tail & (ENDS - 1)) + 1) if code == 46 else 0
                tail = ENDS | dots
            elif bits & CLOSING == 0:
                ends = code < 128 and terminal_after[code, (letter >> SCRIPT_SHIFT) & 255] > 0
                tail = ENDS if ends else 0
        if gap:
            h = (h + np.uint64(33)) * PRIME
            line += 1
            gap = 0
        h = (h + np.uint64(code + 1)) * PRIME
        line += 1
    kinds[SPACE] -= 1  # the end of the text is no character
    chars = kinds.sum()

    row[CHARS] = chars
    row[VISIBLE] = chars - kinds[SPACE]
    row[LETTERS] = kinds[UPPER] + kinds[LOWER] + kinds[LETTER] + kinds[MARK]
    row[CASED] = kinds[UPPER] + kinds[LOWER]
    row[UPPERS] = kinds[UPPER]
    row[NUMBERS] = kinds[NUMBER]
    row[SYMBOLS] = kinds[PUNCTUATION] + kinds[SYMBOL]
    row[BROKENS] = min(chars, broken + kinds[BROKEN] + kinds[CONTROL])
    row[UNITS] = units
    row[WORD_WEIGHT] = weight
    row[WORD_CHARS] = row[LETTERS] + kinds[NUMBER]
    row[LONGEST_WORD] = longest
    row[LINES] = lines
    row[TERMINAL_LINES] = terminals
    row[BULLET_LINES] = bullets
    row[ELLIPSIS_LINES] = ellipses
    row[SHORT_LINES] = shorts
    row[MENU_LINE_CHARS] = menus


@kernel
def _count_repeats(hashes, lengths, row):  # type: ignore[no-untyped-def]
    """Fill the counts of repeated lines: an open-addressed table of the first line of each kind."""
    lines = row[LINES]
    size = 4
    while size < 2 * lines:
        size *= 2
    first = np.full(size, -1, np.int64)
    copies = np.zeros(lines, np.int64)  # characters of all copies of a line, at its first one
    mask = np.uint64(size - 1)
    for k in range(lines):
        row[LINE_CHARS] += lengths[k]
        at = (hashes[k] ^ (hashes[k] >> np.uint64(32))) & mask
        while first[at] >= 0 and hashes[first[at]] != hashes[k]:
            at = (at + np.uint64(1)) & mask
        if first[at] < 0:
            first[at] = k
            copies[k] = lengths[k]
        else:
            row[REPEATED_LINE_CHARS] += lengths[k]
            copies[first[at]] += lengths[k]
            row[TOP_LINE_CHARS] = max(row[TOP_LINE_CHARS], copies[first[at]])
