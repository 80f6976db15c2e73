"""One walk over each text that counts everything the quality measures need."""

import unicodedata
from functools import cache

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.unicode import (
    BREAK,
    BROKEN,
    BULLET,
    CLASS_SHIFT,
    CLOSING,
    CONTROL,
    EMOJI,
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
    rows,
    scripts,
    unicode_table,
    wide,
)
from glotmill.schemas.kernels.compiled import kernel

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
    EMOJIS,
    TOKEN_WEIGHT,
    LETTER_TOKEN_WEIGHT,
    HASHES,
    ELLIPSES,
    BRACES,
    BREAKS,
    UPPER_LINES,
    NUMERIC_LINES,
    REPEATED_LINES,
) = range(31)
COLUMNS = 31
LETTERS_UNIT, DIGITS, CLUSTER = 0, 1, 2  # kinds of units

ENDS = 4
_DECOMPOSED = 0x2FA20  # no code point from here on decomposes
PRIME = np.uint64(0x9E3779B97F4A7C15)
MARK_PRIME = np.uint64(0xC2B2AE3D27D4EB4F)
COMBINES = np.uint64(1 << 32)  # flags a mark among `parts`
COMBINING = np.uint32(1 << CLASS_SHIFT)  # bits of a code point from here on: it has a combining class
WORD = 12  # weight of one word; a character of a script without spaces weighs a fraction of it
SHORT_LINE_WORDS = 5

# Characters (marks left out) of an average word, where no space shows its ends: rounded from segmented corpora, so
# that `words` of one page and its translations are near one another.
_CHARS_PER_WORD = {
    "Hani": 1.5, "Bopo": 3, "Hira": 3, "Kana": 4, "Yiii": 1.5, "Thai": 4, "Laoo": 4, "Khmr": 4, "Mymr": 4, "Java": 4,
    "Bali": 4, "Lana": 4, "Talu": 4, "Tale": 4, "Cham": 4, "Tavt": 4,
}  # fmt: skip
_COMMON_LETTERS = {"Kana": "ー\uff70", "Hani": "〆\u303c"}
_HALF_WIDTH_MARKS = "\uff9e\uff9f"
_JOINERS = "\u2018\u05f3\u05f4"  # Uzbek writes its letter o' with any apostrophe; Hebrew abbreviates with the others
_SAME_JOINERS = {0x27: "\u2018\u2019\u02bc\u05f3", 0x2D: "\u2010\u2011", 0: "\u00ad\u2060"}
_IOTA_BELOW = 0x345
# Marks that end a sentence only after letters of one script.
_TERMINAL_AFTER = {";": ("Grek",), ":": ("Armn", "Ethi"), "|": ("Deva", "Beng", "Guru", "Orya")}


@cache
def word_weights() -> Bits:
    """By script, twelfths of a word that one letter stands for; 0 where spaces part the words."""
    return np.array([round(WORD / _CHARS_PER_WORD[s]) if s in _CHARS_PER_WORD else 0 for s in scripts()], np.uint32)


@cache
def cut_table() -> Bits:
    """`unicode_table`, but for letters that Unicode gives to no script though one script alone writes them, voicing
    marks of half width, which it calls letters, and signs that stand within words of some languages (UAX #29)."""
    table = unicode_table().copy()
    for script, letters in _COMMON_LETTERS.items():
        for letter in letters:
            table[ord(letter)] |= scripts().index(script) << SCRIPT_SHIFT  # that of common letters is 0
    for mark in _HALF_WIDTH_MARKS:
        table[ord(mark)] = (table[ord(mark)] & ~np.uint32(KIND)) | MARK
    for joiner in _JOINERS:
        table[ord(joiner)] |= JOINER
    table.flags.writeable = False
    return table


@cache
def foldings() -> tuple[npt.NDArray[np.int32], Counts]:
    """How letters are hashed, so that a text, its decomposed form and its capitals have the same units.

    By code point, what it folds to (Unicode's full case folding) where that is one code point that does not decompose
    (NFD), else -1 - k: its parts, folded, plus one, from place k of the second array, ended by 0; those with a
    combining class are flagged. Of joiners, the apostrophe or hyphen that they are a form of; 0 for invisible ones that
    say nothing. Marks are hashed whatever their order, since decomposing what NFC composed need not give the canonical
    one. Unicode never changes decompositions.
    """
    folded = {int(code, 16): [int(part, 16) for part in to.split()] for code, to in rows("casefold.tsv")}
    del folded[_IOTA_BELOW]  # it stays a mark: as a letter it would have to come after marks that follow it
    codes = np.arange(_DECOMPOSED, dtype=np.int32)
    parts: list[int] = []
    for code in [*range(0x41, 0xD800), *range(0xF900, _DECOMPOSED)]:
        form = [to for c in unicodedata.normalize("NFD", chr(code)) for to in folded.get(ord(c), [ord(c)])]
        if len(form) == 1:
            codes[code] = form[0]
            continue
        codes[code] = -1 - len(parts)
        parts += [to + 1 + (int(COMBINES) if unicodedata.combining(chr(to)) else 0) for to in form] + [0]
    for to, joiners in _SAME_JOINERS.items():
        codes[[ord(joiner) for joiner in joiners]] = to
    codes.flags.writeable = False
    return codes, np.array(parts, np.int64)


@cache
def terminal_after() -> Bits:
    """By ASCII code and script of the last letter, 1 where the mark ends a sentence."""
    table = np.zeros((128, len(scripts())), np.uint32)
    for mark, after in _TERMINAL_AFTER.items():
        table[ord(mark), [scripts().index(script) for script in after]] = 1
    return table


@kernel
def scan_texts(  # type: ignore[no-untyped-def]
    data,
    offsets,
    table,
    weights,
    terminal_after,
    folding,
    parts,
    starts,
    ends,
    unit_chars,
    unit_hashes,
    unit_kinds,
    unit_weights,
    line_starts,
    line_ends,
    line_chars,
    line_hashes,
    line_units,
    bounds,
    rows,
    scripts,
):
    """Fill all arrays after `parts`; `bounds` is int64 (4, n + 1), of which the first two rows are filled here."""
    for d in range(len(offsets) - 1):
        bounds[0, d + 1], bounds[1, d + 1] = _scan(
            data,
            offsets[d],
            offsets[d + 1],
            table,
            weights,
            terminal_after,
            folding,
            parts,
            bounds[0, d],
            bounds[1, d],
            starts,
            ends,
            unit_chars,
            unit_hashes,
            unit_kinds,
            unit_weights,
            line_starts,
            line_ends,
            line_chars,
            line_hashes,
            line_units,
            rows[d],
            scripts[d],
        )
        _count_repeats(bounds[1, d], line_hashes, line_chars, rows[d])


@kernel
def _scan(  # type: ignore[no-untyped-def]
    data,
    start,
    end,
    table,
    weights,
    terminal_after,
    folding,
    parts,
    first_unit,
    first_line,
    starts,
    ends,
    unit_chars,
    unit_hashes,
    unit_kinds,
    unit_weights,
    line_starts,
    line_ends,
    line_chars,
    line_hashes,
    line_units,
    row,
    scripts,
):
    """Cut and count one document; the places of the next unit and line.

    No array is made or reassigned here: numba would count its references at every character.
    """
    kinds = np.zeros(16, np.int64)
    i = np.int64(start)
    u = first_unit
    k = first_line
    weight = np.int64(0)
    longest = broken = 0
    word = joined = 0  # characters of the open unit; joiners that may yet belong to it
    own = np.int64(0)  # the open unit's weight
    word_end = i
    is_number = False
    h = with_joiner = np.uint64(0)
    lines = terminals = bullets = ellipses = shorts = menus = 0
    line = gap = 0  # characters of the current line; 1 after white space within it
    line_weight = 0  # weight when the line began
    lh = np.uint64(0)
    last = i
    is_bullet = False
    tail = 0  # what the line's last mark was: dots, and ENDS where it ends a sentence
    letter = np.uint32(0)
    tokens = letter_tokens = token_weight = 0  # token_weight: weight when the token began
    has_letter = is_clusters = in_token = False
    hashes_seen = ellipses_seen = braces = breaks = run = 0  # run: dots in a row
    upper_lines = numeric_lines = 0
    line_unit = u  # the line's first unit
    uppers_before = lowers_before = letters_before = numbers_before = 0  # when the line began
    code = np.int64(0)
    while i <= end:
        before = code
        code = np.int64(10)  # the end of the text ends unit and line
        at = i
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
            part = np.int64(weights[(bits >> SCRIPT_SHIFT) & 255]) if kind == LETTER else 0
            folded = np.int64(folding[code]) if code < len(folding) else code
            if word > 0 and (kind == MARK or (part == 0 and own == WORD)):
                word += 1 + joined
                h = with_joiner if joined else h
                if folded >= 0 and bits >= COMBINING:
                    mark = np.uint64(folded + 1) * MARK_PRIME
                    h += (mark ^ mark >> np.uint64(32)) * PRIME  # mixed, as sums of code points are often equal
                elif folded >= 0:
                    h = ((h ^ h >> np.uint64(29)) + np.uint64(folded + 1)) * PRIME
                is_number &= kind >= MARK
                word_end = i
            elif kind != MARK:
                if word > 0:
                    ends[u] = word_end
                    unit_chars[u] = word
                    unit_hashes[u] = h
                    unit_kinds[u] = CLUSTER if own < WORD else DIGITS if is_number else LETTERS_UNIT
                    unit_weights[u] = own
                    u += 1
                    longest = max(longest, word) if own == WORD else longest
                own = part if part > 0 else WORD
                weight += own
                is_clusters |= part > 0
                starts[u] = at
                word = 1
                h = np.uint64(folded + 1) * PRIME if folded >= 0 else np.uint64(0)
                is_number = kind == NUMBER
                word_end = i
            if folded < 0:  # a letter that decomposes: a hash of its letter and its marks, however it is written
                place = -1 - folded
                while parts[place] > 0:
                    part_code = np.uint64(parts[place])
                    if part_code & COMBINES:
                        mark = (part_code ^ COMBINES) * MARK_PRIME
                        h += (mark ^ mark >> np.uint64(32)) * PRIME
                    else:
                        h = ((h ^ h >> np.uint64(29)) + part_code) * PRIME
                    place += 1
            joined = 0
            if kind <= LETTER:
                letter = bits
                has_letter = True
                scripts[(bits >> SCRIPT_SHIFT) & 255] += 1
            tail = 0
            in_token = True
        else:
            if word > 0:
                if bits & JOINER and joined == 0:  # of a cluster, only marks may follow it: Khmer has such
                    joined = 1
                    with_joiner = h
                    if folding[code] > 0:
                        with_joiner = ((h ^ h >> np.uint64(29)) + np.uint64(folding[code] + 1)) * PRIME
                else:
                    ends[u] = word_end
                    unit_chars[u] = word
                    unit_hashes[u] = h
                    unit_kinds[u] = CLUSTER if own < WORD else DIGITS if is_number else LETTERS_UNIT
                    unit_weights[u] = own
                    u += 1
                    longest = max(longest, word) if own == WORD else longest
                    word = joined = 0
            if kind == SPACE:
                if in_token:
                    token = weight - token_weight if is_clusters else WORD
                    tokens += token
                    letter_tokens += token if has_letter else 0
                    in_token = has_letter = is_clusters = False
                token_weight = weight
                run = 0
                if bits & BREAK:
                    breaks += not (code == 10 and before == 13)
                if line > 0:
                    gap = 1
                    if bits & BREAK:
                        line_ends[k] = last
                        line_hashes[k] = lh
                        line_chars[k] = line
                        line_units[k] = line_unit
                        k += 1
                        lines += 1
                        terminals += tail >= ENDS
                        bullets += is_bullet
                        ellipses += tail & (ENDS - 1) >= 3
                        if weight - line_weight < SHORT_LINE_WORDS * WORD:
                            shorts += 1
                            menus += line if tail < ENDS else 0
                        upper = kinds[UPPER] - uppers_before
                        upper_lines += 2 * upper > upper + kinds[LOWER] - lowers_before
                        other = kinds[LETTER] - letters_before
                        numeric_lines += (
                            kinds[NUMBER] > numbers_before and upper + other + kinds[LOWER] == lowers_before
                        )
                        line = gap = tail = 0
                        line_weight = weight
                        lh = np.uint64(0)
                        is_bullet = False
                continue
            in_token = True
            hashes_seen += code == 35
            braces += code == 123
            run = (run + 1 if before == 46 else 1) if code == 46 else 0
            if run == 3 or code == 0x2026:
                ellipses_seen += 1
                run = 0
            if line == 0:
                is_bullet = bits & BULLET != 0
            if bits & TERMINAL:
                dots = 3 if code == 0x2026 else min(3, (tail & (ENDS - 1)) + 1) if code == 46 else 0
                tail = ENDS | dots
            elif bits & CLOSING == 0:
                is_end = code < 128 and terminal_after[code, (letter >> SCRIPT_SHIFT) & 255] > 0
                tail = ENDS if is_end else 0
        if line == 0:
            line_starts[k] = at
            line_unit = u
            uppers_before, lowers_before = kinds[UPPER] - (kind == UPPER), kinds[LOWER] - (kind == LOWER)
            letters_before, numbers_before = kinds[LETTER] - (kind == LETTER), kinds[NUMBER] - (kind == NUMBER)
        if gap:
            lh = (lh + np.uint64(33)) * PRIME
            line += 1
            gap = 0
        lh = (lh + np.uint64(code + 1)) * PRIME
        line += 1
        last = i
    kinds[SPACE] -= 1  # the end of the text is no character
    breaks -= before != 13  # nor a line break; `before` is the last character
    chars = kinds.sum()

    row[CHARS] = chars
    row[VISIBLE] = chars - kinds[SPACE]
    row[LETTERS] = kinds[UPPER] + kinds[LOWER] + kinds[LETTER] + kinds[MARK]
    row[CASED] = kinds[UPPER] + kinds[LOWER]
    row[UPPERS] = kinds[UPPER]
    row[NUMBERS] = kinds[NUMBER]
    row[SYMBOLS] = kinds[PUNCTUATION] + kinds[SYMBOL] + kinds[EMOJI]
    row[EMOJIS] = kinds[EMOJI]
    row[TOKEN_WEIGHT] = tokens
    row[LETTER_TOKEN_WEIGHT] = letter_tokens
    row[HASHES] = hashes_seen
    row[ELLIPSES] = ellipses_seen
    row[BRACES] = braces
    row[BREAKS] = breaks
    row[UPPER_LINES] = upper_lines
    row[NUMERIC_LINES] = numeric_lines
    row[BROKENS] = min(chars, broken + kinds[BROKEN] + kinds[CONTROL])
    row[UNITS] = u - first_unit
    row[WORD_WEIGHT] = weight
    row[WORD_CHARS] = row[LETTERS] + kinds[NUMBER]
    row[LONGEST_WORD] = longest
    row[LINES] = lines
    row[TERMINAL_LINES] = terminals
    row[BULLET_LINES] = bullets
    row[ELLIPSIS_LINES] = ellipses
    row[SHORT_LINES] = shorts
    row[MENU_LINE_CHARS] = menus
    return u, k


@kernel
def _count_repeats(first_line, line_hashes, line_chars, row):  # type: ignore[no-untyped-def]
    """Fill the counts of repeated lines: an open-addressed table of the first one of each kind."""
    lines = row[LINES]
    size = 4
    while size < 2 * lines:
        size *= 2
    first = np.full(size, -1, np.int64)
    copies = np.zeros(lines, np.int64)  # characters of all copies of a line, at its first one
    mask = np.uint64(size - 1)
    for k in range(first_line, first_line + lines):
        row[LINE_CHARS] += line_chars[k]
        at = (line_hashes[k] ^ (line_hashes[k] >> np.uint64(32))) & mask
        while first[at] >= 0 and line_hashes[first[at]] != line_hashes[k]:
            at = (at + np.uint64(1)) & mask
        if first[at] < 0:
            first[at] = k
            copies[k - first_line] = line_chars[k]
        else:
            row[REPEATED_LINES] += 1
            row[REPEATED_LINE_CHARS] += line_chars[k]
            copies[first[at] - first_line] += line_chars[k]
            row[TOP_LINE_CHARS] = max(row[TOP_LINE_CHARS], copies[first[at] - first_line])
