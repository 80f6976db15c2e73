"""What datatrove 0.10.0's Gopher, C4 and FineWeb filters count, over the bytes of texts and of their words.

Every quantity keeps datatrove's meaning, also where a stricter one exists: see the docstring of `curate/datatrove.py`.
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.buffers import Bytes, Offsets
from glotmill.curate.kernels.pieces import Pieces
from glotmill.curate.kernels.unicode import CODE_POINTS, rows, wide
from glotmill.schemas.kernels.compiled import kernel

Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.uint8]

# What is known of a code point, one bit each: white space of str.split; an end of a sentence for the FineWeb filter;
# a code point that makes a word more than a symbol; str.isalpha; \d of a regular expression.
SPACE, TERMINAL, SOLID, ALPHA, DIGIT = (1 << bit for bit in range(5))

# Columns of `text_counts`.
(
    CHARS,
    BREAKS,
    HASHES,
    ELLIPSES,
    PARAGRAPHS,
    DUP_PARAGRAPHS,
    DUP_PARAGRAPH_CHARS,
    RUN_LINES,  # parted by runs of line feeds, the empty one before a first and after a last line feed included
    DUP_LINES,
    DUP_LINE_CHARS,
    LINES,  # str.splitlines
    BULLET_LINES,
    ELLIPSIS_LINES,
    FULL_LINES,  # parted by line feeds, with something beside white space
    TERMINAL_LINES,
    SHORT_LINES,
    DUP_FULL_LINE_CHARS,
    C4_LINES,
    C4_SENTENCES,
    C4_STOP,
) = range(20)
TEXT_COLUMNS = 20
# Values of C4_STOP: what the line filter met first that drops the document.
NOTHING, LOREM_IPSUM, CURLY_BRACKET = range(3)

# Columns of `word_counts`; then the code points that n-grams take, n from 2 to 10.
WORDS, SOLID_WORDS, SOLID_CHARS, ALPHA_WORDS, STOP_WORDS, GRAMS = range(6)
LONGEST, LONGEST_TOP = 10, 4
WORD_COLUMNS = GRAMS + LONGEST - 1

SHORT_LINE_CHARS = 30
LONG_WORD_CHARS = 1000
LINE_WORDS = 3

_STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")
# Beside Unicode's Sentence_Terminal: Khmer marks, and two of Kawi, which came with a later Unicode.
_TERMINALS = (*range(0x17D4, 0x17D7), 0x17D9, 0x17DA, 0x11F43, 0x11F44)
# Beside the terminals, ASCII punctuation and control characters; the full-width one is among them, too.
_SYMBOLS = "«»´–—’“”„…∶━►、〈〉《》「」【】％（），１：；～"
_CONTROLS = (*range(9), 11, 12, *range(13, 32), *range(127, 160))
_PHRASES = (
    ("lorem ipsum",),
    ("javascript",),
    ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies"),
)
_LOREM, _SCRIPT, _POLICY = 1, 2, 4  # bits of what a line holds, in the order of _PHRASES
_CITATIONS = ("[edit]", "[citation needed]")

_BASE = np.uint64(0xD6E8FEB86659FD93)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_OPEN, _CLOSE, _BRACE, _FULL_STOP = ord("["), ord("]"), ord("{"), ord(".")


@cache
def flags() -> Flags:
    """The bits of every code point, uint8 (0x110000,). Categories are those of Unicode 14.0, as in Python 3.11."""
    lines = rows("unicode.tsv")
    starts = np.array([int(line[0], 16) for line in lines] + [CODE_POINTS])
    values = [
        (SPACE if "W" in line[4] else 0)
        | (TERMINAL if "T" in line[4] else 0)
        | (ALPHA if line[1][0] == "L" else 0)
        | (DIGIT if line[1] == "Nd" else 0)
        for line in lines
    ]
    table = np.repeat(np.array(values, np.uint8), np.diff(starts))
    table[0x1C:0x20] |= SPACE  # Python's, not Unicode's
    table[list(_TERMINALS)] |= TERMINAL
    solid = table & TERMINAL == 0
    ascii_symbols = [c for c in range(33, 127) if not chr(c).isalnum()]
    solid[[*_CONTROLS, *ascii_symbols, *map(ord, _SYMBOLS)]] = False
    table[solid] |= SOLID
    table.flags.writeable = False
    return table


@cache
def _stop_words() -> npt.NDArray[np.int64]:
    """Each stop word's bytes as one number; none has more than four."""
    return np.array([int.from_bytes(word.encode(), "little") for word in _STOP_WORDS], np.int64)


@cache
def _strings(words: tuple[str, ...]) -> tuple[Bytes, Counts]:
    return (
        np.frombuffer("".join(words).encode(), np.uint8).copy(),
        np.cumsum([0, *map(len, words)]).astype(np.int64),
    )


@cache
def _phrases() -> tuple[Bytes, Counts, Counts, npt.NDArray[np.bool_]]:
    """Bytes, bounds, the bit of each phrase's group, and by byte whether a phrase begins with it."""
    data, bounds = _strings(tuple(phrase for group in _PHRASES for phrase in group))
    bits = np.array([1 << at for at, group in enumerate(_PHRASES) for _ in group], np.int64)
    begins = np.zeros(256, np.bool_)
    begins[data[bounds[:-1]]] = True
    return data, bounds, bits, begins


def text_counts(
    data: Bytes, offsets: Offsets, line_bounds: Counts, line_sentences: Counts, *, terminal_lines: bool = True
) -> Counts:
    """int64 (n, TEXT_COLUMNS): what is counted in n texts without words.

    Args:
        data, offsets: The texts' buffers.
        line_bounds, line_sentences: Line k of text d has line_sentences[line_bounds[d] + k] sentences. A line that is
            missing there counts as one sentence.
        terminal_lines: Whether the C4 filter drops lines that end no sentence.
    """
    out = np.zeros((len(offsets) - 1, TEXT_COLUMNS), np.int64)
    _text_counts(
        data, offsets, flags(), line_bounds, line_sentences, terminal_lines, *_strings(_CITATIONS), *_phrases(), out
    )
    return out


@kernel
def _text_counts(  # type: ignore[no-untyped-def]
    data,
    offsets,
    flags,
    line_bounds,
    line_sentences,
    terminal_lines,
    marks,
    mark_bounds,
    phrases,
    phrase_bounds,
    phrase_bits,
    begins,
    out,
):
    most = np.int64(0)
    lines = np.int64(0)
    for d in range(len(offsets) - 1):
        _symbols(data, offsets[d], offsets[d + 1], out[d])
        most = max(most, np.int64(offsets[d + 1] - offsets[d]))
        lines = max(lines, out[d, BREAKS] + 1)
    size = np.int64(4)
    while size < 2 * lines:
        size *= 2
    hashes = np.empty(size, np.uint64)
    starts = np.empty(size, np.int64)
    sizes = np.empty(size, np.int64)
    line = np.empty(most + 1, np.uint8)
    for d in range(len(offsets) - 1):
        start, end = np.int64(offsets[d]), np.int64(offsets[d + 1])
        _line_feed_lines(data, start, end, flags, hashes, starts, sizes, out[d])
        _paragraphs(data, start, end, flags, hashes, starts, sizes, out[d])
        i = start
        while i < end:
            stop, after = _line_end(data, i, end)
            first = _first_visible(data, i, stop, flags)
            last = _last_visible(data, first, stop, flags)
            _mark_line(data, first, last, out[d])
            if out[d, C4_STOP] == NOTHING:
                length, words, longest = _clean(data, first, last, flags, marks, mark_bounds, line)
                kept = longest <= LONG_WORD_CHARS and words >= LINE_WORDS
                kept = kept and (not terminal_lines or _ends_c4(line, length))
                if kept:
                    held = _held(line, length, phrases, phrase_bounds, phrase_bits, begins)
                    if held & _LOREM:
                        out[d, C4_STOP] = LOREM_IPSUM
                    elif held & _SCRIPT == 0:
                        if _has(line, length, _BRACE):
                            out[d, C4_STOP] = CURLY_BRACKET
                        elif held & _POLICY == 0:
                            at = line_bounds[d] + out[d, LINES]
                            out[d, C4_LINES] += 1
                            out[d, C4_SENTENCES] += line_sentences[at] if at < line_bounds[d + 1] else 1
            out[d, LINES] += 1
            i = after


@kernel
def _symbols(data, start, end, row):  # type: ignore[no-untyped-def]
    """Code points, line feeds, "#", and "..." (counted as str.count does) with "…"."""
    chars = breaks = hashes = ellipses = dots = np.int64(0)
    for i in range(start, end):
        a = data[i]
        chars += a & 0xC0 != 0x80
        breaks += a == 10
        hashes += a == 35
        if a == _FULL_STOP:
            dots += 1
            if dots == 3:
                ellipses += 1
                dots = 0
        else:
            dots = 0
            ellipses += a == 0xA6 and i > start + 1 and data[i - 1] == 0x80 and data[i - 2] == 0xE2
    row[CHARS] = chars
    row[BREAKS] = breaks
    row[HASHES] = hashes
    row[ELLIPSES] = ellipses


@kernel
def _line_feed_lines(data, start, end, flags, hashes, starts, sizes, row):  # type: ignore[no-untyped-def]
    """Lines parted by line feeds, as the repetition filter takes them (runs of line feeds part) and as FineWeb does."""
    mask = _clear(row[BREAKS] + 1, sizes)
    a = start
    while a <= end:
        b = a
        while b < end and data[b] != 10:
            b += 1
        if b > a or a == start or b == end:
            seen = _seen(data, a, b, hashes, starts, sizes, mask)
            chars = _chars(data, a, b)
            row[RUN_LINES] += 1
            row[DUP_LINES] += seen
            row[DUP_LINE_CHARS] += chars * seen
            if _first_visible(data, a, b, flags) < b:
                row[FULL_LINES] += 1
                row[TERMINAL_LINES] += flags[_last_code(data, a, b)] & TERMINAL != 0
                row[SHORT_LINES] += chars <= SHORT_LINE_CHARS
                row[DUP_FULL_LINE_CHARS] += chars * seen
        a = b + 1


@kernel
def _paragraphs(data, start, end, flags, hashes, starts, sizes, row):  # type: ignore[no-untyped-def]
    """Parted by two line feeds or more, white space at the text's ends left out."""
    mask = _clear(row[BREAKS] + 1, sizes)
    a = _first_visible(data, start, end, flags)
    end = _last_visible(data, a, end, flags)
    while True:
        b = a
        while b < end and not (data[b] == 10 and data[b + 1] == 10):  # the last byte is no line feed
            b += 1
        seen = _seen(data, a, b, hashes, starts, sizes, mask)
        row[PARAGRAPHS] += 1
        row[DUP_PARAGRAPHS] += seen
        if seen:
            row[DUP_PARAGRAPH_CHARS] += _chars(data, a, b)
        if b == end:
            break
        while data[b] == 10:
            b += 1
        a = b


@kernel
def _clear(count, sizes):  # type: ignore[no-untyped-def]
    """Make a table for `count` strings of the first slots; the mask of its places."""
    size = np.int64(4)
    while size < 2 * count:
        size *= 2
    sizes[:size] = -1
    return size - 1


@kernel
def _seen(data, a, b, hashes, starts, sizes, mask):  # type: ignore[no-untyped-def]
    """Whether data[a:b] is in the table; it is afterwards."""
    h = np.uint64(b - a)
    for i in range(a, b):
        h = (h ^ np.uint64(data[i])) * _BASE
    at = np.int64((h ^ h >> np.uint64(32)) * _MIX >> np.uint64(32)) & mask
    while sizes[at] >= 0:
        if hashes[at] == h and sizes[at] == b - a and _equal(data, starts[at], a, b - a):
            return True
        at = (at + 1) & mask
    hashes[at] = h
    starts[at] = a
    sizes[at] = b - a
    return False


@kernel
def _equal(data, a, b, size):  # type: ignore[no-untyped-def]
    for i in range(size):
        if data[a + i] != data[b + i]:
            return False
    return True


@kernel
def _chars(data, a, b):  # type: ignore[no-untyped-def]
    """Code points: bytes that continue none."""
    found = np.int64(0)
    for i in range(a, b):
        found += data[i] & 0xC0 != 0x80
    return found


@kernel
def _code(data, i, end):  # type: ignore[no-untyped-def]
    """The code point at i, and its bytes."""
    a = np.int64(data[i])
    if a < 0x80:
        return a, 1
    b = np.int64(data[i + 1]) if i + 1 < end else 0
    c = np.int64(data[i + 2]) if i + 2 < end else 0
    return wide(a, b, c, np.int64(data[i + 3]) if i + 3 < end else 0)


@kernel
def _last_code(data, start, end):  # type: ignore[no-untyped-def]
    i = end - 1
    while i > start and data[i] & 0xC0 == 0x80:
        i -= 1
    code, _ = _code(data, i, end)
    return code


@kernel
def _first_visible(data, start, end, flags):  # type: ignore[no-untyped-def]
    i = start
    while i < end:
        code, step = _code(data, i, end)
        if flags[code] & SPACE == 0:
            return i
        i += step
    return end


@kernel
def _last_visible(data, start, end, flags):  # type: ignore[no-untyped-def]
    """Where white space at the end begins."""
    while end > start:
        i = end - 1
        while i > start and data[i] & 0xC0 == 0x80:
            i -= 1
        code, _ = _code(data, i, end)
        if flags[code] & SPACE == 0:
            break
        end = i
    return end


@kernel
def _line_end(data, i, end):  # type: ignore[no-untyped-def]
    """Where the line that begins at i ends, and where the next one begins, as str.splitlines has it."""
    start = i
    while i < end:
        a = data[i]
        if a < 0x20:
            if a == 13 and i + 1 < end and data[i + 1] == 10:
                return i, i + 2
            if (a >= 10 and a <= 13) or (a >= 28 and a <= 30):
                return i, i + 1
        elif a == 0x85:
            if i > start and data[i - 1] == 0xC2:
                return i - 1, i + 1
        elif a == 0xA8 or a == 0xA9:
            if i > start + 1 and data[i - 1] == 0x80 and data[i - 2] == 0xE2:
                return i - 2, i + 1
        i += 1
    return end, end


@kernel
def _mark_line(data, first, last, row):  # type: ignore[no-untyped-def]
    """Count the line data[first:last], white space at its ends left out, if bulleted, and if it ends in an ellipsis."""
    if first == last:
        return
    bullet = data[first] == 45  # "-"
    if last - first >= 3:
        a, b, c = data[first], data[first + 1], data[first + 2]
        bullet |= a == 0xE2 and b == 0x80 and c == 0xA2  # "•"
        a, b, c = data[last - 3], data[last - 2], data[last - 1]
        row[ELLIPSIS_LINES] += (a == _FULL_STOP and b == _FULL_STOP and c == _FULL_STOP) or (
            a == 0xE2 and b == 0x80 and c == 0xA6
        )
    row[BULLET_LINES] += bullet


@kernel
def _clean(data, first, last, flags, marks, mark_bounds, line):  # type: ignore[no-untyped-def]
    """Copy a line in lower case, citation marks left out.

    Lower case is that of ASCII, and of U+212A, whose lower case is "k"; no other letter's is ASCII.

    Returns:
        Bytes of the copy; words of the original, parted by white space; code points of its longest word.
    """
    size = words = chars = longest = np.int64(0)
    i = first
    copied = first  # what stands before is copied or left out
    while i < last:
        code = np.int64(data[i])
        step = np.int64(1)
        if code >= 0x80:
            b = np.int64(data[i + 1]) if i + 1 < last else 0
            c = np.int64(data[i + 2]) if i + 2 < last else 0
            code, step = wide(code, b, c, np.int64(data[i + 3]) if i + 3 < last else 0)
        if flags[code] & SPACE:
            chars = np.int64(0)
        else:
            words += chars == 0
            chars += 1
            longest = max(longest, chars)
        if code == _OPEN and i >= copied:
            copied = max(copied, _citation_end(data, i, last, flags, marks, mark_bounds))
        if i >= copied:
            if code == 0x212A:
                line[size] = 107
                size += 1
            elif code < 0x80:
                line[size] = code + 32 if code >= 65 and code <= 90 else code
                size += 1
            else:
                for k in range(step):
                    line[size + k] = data[i + k]
                size += step
            copied = i + step
        i += step
    return size, words, longest


@kernel
def _citation_end(data, start, end, flags, marks, mark_bounds):  # type: ignore[no-untyped-def]
    """Where the citation mark ends that begins at `start`, a "["; `start` if none does. Digits may be none."""
    i = start + 1
    while i < end:
        code, step = _code(data, i, end)
        if flags[code] & DIGIT == 0:
            if code == _CLOSE:
                return i + 1
            break
        i += step
    for m in range(len(mark_bounds) - 1):
        size = mark_bounds[m + 1] - mark_bounds[m]
        k = np.int64(0)
        while k < size and start + k < end and data[start + k] == marks[mark_bounds[m] + k]:
            k += 1
        if k == size:
            return start + size
    return start


@kernel
def _ends_c4(line, size):  # type: ignore[no-untyped-def]
    """Whether a line ends as C4 wants it: in . ? ! " or ', and not in "..."."""
    if size == 0:
        return False
    a = line[size - 1]
    if a == _FULL_STOP:
        return size < 3 or line[size - 2] != _FULL_STOP or line[size - 3] != _FULL_STOP
    return a == 63 or a == 33 or a == 34 or a == 39


@kernel
def _held(line, size, phrases, bounds, bits, begins):  # type: ignore[no-untyped-def]
    """The bits of the phrases that a line holds."""
    found = np.int64(0)
    for i in range(size):
        if not begins[line[i]]:
            continue
        for p in range(len(bits)):
            length = bounds[p + 1] - bounds[p]
            if i + length > size:
                continue
            k = np.int64(0)
            while k < length and line[i + k] == phrases[bounds[p] + k]:
                k += 1
            if k == length:
                found |= bits[p]
    return found


@kernel
def _has(line, size, byte):  # type: ignore[no-untyped-def]
    for i in range(size):
        if line[i] == byte:
            return True
    return False


def word_counts(data: Bytes, offsets: Offsets, bounds: Offsets) -> Counts:
    """int64 (n, WORD_COLUMNS): what is counted in the words of n texts.

    Args:
        data, offsets: The words' buffers, one text after another.
        bounds: int32 (n + 1); the words of text d are bounds[d] to bounds[d + 1].
    """
    out = np.zeros((len(bounds) - 1, WORD_COLUMNS), np.int64)
    _word_counts(data, offsets, bounds, flags(), _stop_words(), out)
    return out


@kernel
def _word_counts(data, offsets, bounds, flags, stop_words, out):  # type: ignore[no-untyped-def]
    words = np.int64(1)
    size = np.int64(0)
    longest = np.int64(0)  # bytes of the longest n-gram
    for d in range(len(bounds) - 1):
        first, last = np.int64(bounds[d]), np.int64(bounds[d + 1])
        words = max(words, last - first)
        size = max(size, np.int64(offsets[last] - offsets[first]) + last - first)
        for w in range(first, last):
            longest = max(longest, np.int64(offsets[min(w + LONGEST, last)] - offsets[w]) + LONGEST)
    powers = np.empty(longest + 1, np.uint64)
    powers[0] = np.uint64(1)
    for i in range(1, longest + 1):
        powers[i] = powers[i - 1] * _BASE
    slots = np.int64(4)
    while slots < 2 * words:
        slots *= 2
    table = np.empty(slots, np.int32)  # one more than the place of the first of equal n-grams; 0 is empty
    hashes = np.empty(slots, np.uint64)
    counts = np.empty(slots, np.int32)
    chars = np.zeros(words + 1, np.int64)  # code points of the words before
    spaced = np.empty(size + 1, np.uint8)  # the words with a space after each
    starts = np.zeros(words + 1, np.int64)  # where each begins there
    before = np.zeros(words + 1, np.uint64)  # hash of `spaced` up to there
    behind = np.zeros(words + 1, np.uint64)  # up to the word's end
    plain = np.zeros(words + 1, np.uint64)  # hash of the words before, without spaces
    for d in range(len(bounds) - 1):
        first = np.int64(bounds[d])
        count = np.int64(bounds[d + 1]) - first
        _lay_out(data, offsets, first, count, flags, stop_words, chars, spaced, starts, before, behind, plain, out[d])
        for n in range(2, LONGEST + 1):
            if count < n:
                break
            mask = np.int64(4)
            while mask < 2 * count:
                mask *= 2
            table[:mask] = 0
            mask -= 1
            if n <= LONGEST_TOP:
                found = _top(count, n, spaced, starts, before, behind, chars, powers, table, hashes, counts, mask)
            else:
                found = _repeated(count, n, data, offsets, first, plain, chars, powers, table, hashes, mask)
            out[d, GRAMS + n - 2] = found


@kernel
def _lay_out(  # type: ignore[no-untyped-def]
    data, offsets, first, count, flags, stop_words, chars, spaced, starts, before, behind, plain, row
):
    """Count the words of one text, and write them one behind another with the hashes of what stands before each."""
    at = np.int64(0)
    h = np.uint64(0)
    g = np.uint64(0)
    stops = np.int64(0)
    for w in range(count):
        start, end = np.int64(offsets[first + w]), np.int64(offsets[first + w + 1])
        starts[w] = at
        before[w] = h
        plain[w] = g
        of_word = np.int64(0)
        seen = np.uint8(0)
        i = start
        while i < end:
            code = np.int64(data[i])
            step = np.int64(1)
            if code >= 0x80:
                b = np.int64(data[i + 1]) if i + 1 < end else 0
                c = np.int64(data[i + 2]) if i + 2 < end else 0
                code, step = wide(code, b, c, np.int64(data[i + 3]) if i + 3 < end else 0)
            seen |= flags[code]
            of_word += 1
            for k in range(i, i + step):
                a = data[k]
                spaced[at] = a
                at += 1
                h = h * _BASE + np.uint64(a)
                g = g * _BASE + np.uint64(a)
            i += step
        behind[w] = h
        h = h * _BASE + np.uint64(32)
        spaced[at] = 32
        at += 1
        chars[w + 1] = chars[w] + of_word
        if seen & SOLID:
            row[SOLID_WORDS] += 1
            row[SOLID_CHARS] += of_word
        row[ALPHA_WORDS] += seen & ALPHA != 0
        if end - start >= 2 and end - start <= 4:
            packed = np.int64(0)
            for k in range(end - start):
                packed |= np.int64(data[start + k]) << (8 * k)
            for s in range(len(stop_words)):
                if packed == stop_words[s]:
                    stops |= 1 << s
    starts[count] = at
    plain[count] = g
    row[WORDS] = count
    for s in range(len(stop_words)):
        row[STOP_WORDS] += stops >> s & 1


@kernel
def _top(  # type: ignore[no-untyped-def]
    count, n, spaced, starts, before, behind, chars, powers, table, hashes, counts, mask
):
    """Code points of the most frequent n-gram, a space between its words, times its count; the first of equals."""
    best = np.int64(0)
    best_at = np.int64(0)
    for w in range(count - n + 1):
        length = starts[w + n] - 1 - starts[w]
        h = behind[w + n - 1] - before[w] * powers[length]
        at = np.int64((h ^ h >> np.uint64(32)) * _MIX >> np.uint64(32)) & mask
        while table[at] > 0:
            if hashes[at] == h:
                other = np.int64(table[at]) - 1
                if starts[other + n] - 1 - starts[other] == length and _equal(spaced, starts[other], starts[w], length):
                    break
            at = (at + 1) & mask
        if table[at] == 0:
            table[at] = w + 1
            hashes[at] = h
            counts[at] = 0
        counts[at] += 1
        place = np.int64(table[at]) - 1
        if counts[at] > best or (counts[at] == best and place < best_at):
            best = np.int64(counts[at])
            best_at = place
    return best * (chars[best_at + n] - chars[best_at] + n - 1)


@kernel
def _repeated(  # type: ignore[no-untyped-def]
    count, n, data, offsets, first, plain, chars, powers, table, hashes, mask
):
    """Code points of the n-grams that are met again; each such is jumped over, and is not looked into."""
    found = np.int64(0)
    w = np.int64(0)
    while w <= count - n:
        start = np.int64(offsets[first + w])
        length = np.int64(offsets[first + w + n]) - start
        h = plain[w + n] - plain[w] * powers[length]
        at = np.int64((h ^ h >> np.uint64(32)) * _MIX >> np.uint64(32)) & mask
        while table[at] > 0:
            if hashes[at] == h:
                other = first + np.int64(table[at]) - 1
                if np.int64(offsets[other + n]) - offsets[other] == length and _equal(
                    data, np.int64(offsets[other]), start, length
                ):
                    break
            at = (at + 1) & mask
        if table[at] == 0:
            table[at] = w + 1
            hashes[at] = h
            w += 1
        else:
            found += chars[w + n] - chars[w]
            w += n
    return found


def unit_words(cut: Pieces) -> tuple[Bytes, Offsets, Offsets]:
    """The words of our own cut: each unit, and between units each code point that is no white space.

    Returns:
        Their bytes and offsets, and int32 (n + 1) bounds of the words of each text.
    """
    size = int(cut.offsets[-1]) - int(cut.offsets[0])
    data, offsets = np.empty(size, np.uint8), np.zeros(size + 1, np.int32)
    bounds = np.zeros(len(cut.offsets), np.int32)
    _unit_words(cut.data, cut.offsets, cut.unit_bounds, cut.unit_start, cut.unit_end, _spaces(), data, offsets, bounds)
    words = int(bounds[-1])
    return data[: offsets[words]], offsets[: words + 1], bounds


@cache
def _spaces() -> Flags:
    """White space of `flags`, and the tsheg, which parts Tibetan syllables."""
    table = (flags() & SPACE).astype(np.uint8)
    table[[0x0F0B, 0x0F0C]] = SPACE
    return table


@kernel
def _unit_words(  # type: ignore[no-untyped-def]
    texts, text_offsets, unit_bounds, unit_start, unit_end, spaces, data, offsets, bounds
):
    words = np.int64(0)
    at = np.int64(0)
    for d in range(len(text_offsets) - 1):
        i = np.int64(text_offsets[d])
        end = np.int64(text_offsets[d + 1])
        u = unit_bounds[d]
        while i < end:
            if u < unit_bounds[d + 1] and i >= unit_start[u]:
                stop = np.int64(unit_end[u])
                u += 1
            else:
                code, step = _code(texts, i, end)
                if spaces[code]:
                    i += step
                    continue
                stop = i + step
            while i < stop:
                data[at] = texts[i]
                at += 1
                i += 1
            words += 1
            offsets[words] = at
        bounds[d + 1] = words


def unit_sentences(cut: Pieces) -> tuple[Counts, Counts]:
    """Sentences of each line by our own cut: bounds (n + 1) and counts, as `text_counts` takes them.

    A line without a unit counts as one sentence.
    """
    starts: Any = cut.unit_start[cut.sentence_unit[:-1]]
    bounds = np.zeros(len(cut.offsets), np.int64)
    size = int(cut.offsets[-1]) - int(cut.offsets[0])
    counts = np.empty(size, np.int64)
    _unit_sentences(cut.data, cut.offsets, starts, cut.sentence_bounds, bounds, counts)
    return bounds, counts[: bounds[-1]]


@kernel
def _unit_sentences(data, offsets, starts, sentence_bounds, bounds, counts):  # type: ignore[no-untyped-def]
    lines = np.int64(0)
    for d in range(len(offsets) - 1):
        i, end = np.int64(offsets[d]), np.int64(offsets[d + 1])
        s = sentence_bounds[d]
        while i < end:
            stop, i = _line_end(data, i, end)
            found = np.int64(0)
            while s < sentence_bounds[d + 1] and starts[s] < stop:
                found += 1
                s += 1
            counts[lines] = max(found, 1)
            lines += 1
        bounds[d + 1] = lines
