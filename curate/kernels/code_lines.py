"""Lines of source code and of tables, by how they begin and end and by the marks in them."""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.buffers import Bytes, Offsets, utf8
from glotmill.schemas.kernels.compiled import kernel

Counts = npt.NDArray[np.int64]

LINES, CODE, TABLE = range(3)
_ENOUGH = 2  # points that make a line code
_MARK, _DIGIT, _TAB, _LINE_END = 1, 2, 4, 8  # classes of bytes
_PROSE = 6  # words that make an indented line prose
_ALONE = "begin break continue do done else end endif esac fi pass return then try ;;".split()
# A space after them is part of it: prose that begins so is outweighed by its words.
_BEGIN = (
    "#include ", "#define ", "#if", "#endif", "import ", "from ", "def ", "function ", "local ", "return ", "class ",
    "public ", "private ", "static ", "const ", "var ", "let ", "if (", "if [", "for (", "while (", "elif ", "else {",
    "else if", "fn ", "func ", "package ", "using ", "namespace ", "struct ", "module ", "require ", "use ", "my ",
    "echo ", "export ", "set ", "puts ", "unset ", "proc ", "end ", "impl ", "pub ", "(def", "(set", "(let", "(if",
)  # fmt: skip


def code_lines(texts: Any, *, most: int = 1 << 31) -> Counts:
    """int64 (n, 3): lines that aren't blank, those that look like source code, and those that are rows of a table.

    A line ends at LF, or CR LF. It is code by points, 2 or more: marks that prose in no script uses, such as `);` or
    `{` at its end, `</`, `=>`, `==`, `->`, `::` or a call `name(` give 2 or 1 each; eight words of prose take one away.
    Addresses count for nothing. After a line of code, one point is enough, and a comment or a short indented line needs
    none. It is a row of a table with at least 2 tabs or pipes between cells, or where most of its 3 or more words are
    numbers. Only the first `most` bytes of a text are read.
    """
    data, offsets = utf8(texts)
    found: Counts = _count(data, offsets, _classes(), *_keywords(), most)
    return found


def mark_shares(texts: Any) -> npt.NDArray[np.float64]:
    """(n,): share of marks such as ; { ( = < _ in the first 2 KB, which is over 0.02 in code: a quick look at it."""
    shares: npt.NDArray[np.float64] = _marks(*utf8(texts), _is_mark())
    return shares


@cache
def _is_mark() -> npt.NDArray[np.uint8]:
    marks = np.zeros(256, np.uint8)
    marks[list(b";{}(=<_$")] = 1
    return marks


@kernel
def _marks(data: Bytes, offsets: Offsets, is_mark: Bytes) -> npt.NDArray[np.float64]:
    out = np.zeros(len(offsets) - 1, np.float64)
    for d in range(len(offsets) - 1):
        end = min(offsets[d + 1], offsets[d] + 2048)
        found = 0
        for i in range(offsets[d], end):
            found += is_mark[data[i]]
        out[d] = found / max(1, end - offsets[d])
    return out


@cache
def _classes() -> npt.NDArray[np.uint8]:
    """By byte, what it may tell of a line. A full stop within a name is worth one point at the most, and left out."""
    classes = np.zeros(256, np.uint8)
    classes[list(b"=$([_:&|)>/")] = _MARK
    classes[list(b"0123456789")] = _DIGIT
    classes[9], classes[10] = _TAB, _LINE_END
    return classes


@cache
def _keywords() -> tuple[Bytes, Offsets, int]:
    """UTF-8 of words that are a line of code alone, then of those that begin one; their bounds; how many come first."""
    names = [name.encode() for name in (*_ALONE, *_BEGIN)]
    return np.frombuffer(b"".join(names), np.uint8), np.cumsum([0, *map(len, names)]).astype(np.int32), len(_ALONE)


@kernel
def _count(data, offsets, classes, words, bounds, alone, most):  # type: ignore[no-untyped-def]
    out = np.zeros((len(offsets) - 1, 3), np.int64)
    for d in range(len(offsets) - 1):
        start = np.int64(offsets[d])
        end = min(np.int64(offsets[d + 1]), start + most)
        in_code = False
        while start < end:
            stop = start
            has_marks = False
            digits = tabs = bars = 0
            while stop < end:
                of = classes[data[stop]]
                if of:
                    if of & _LINE_END:
                        break
                    if of == _MARK and not has_marks:
                        has_marks = _is_telling(data[stop], data[stop - 1] if stop > start else np.uint8(0))
                    digits += of == _DIGIT
                    tabs += of == _TAB
                    bars += data[stop] == 124
                stop += 1
            low, high = start, stop
            while low < high and data[low] <= 32:
                low += 1
            while high > low and data[high - 1] <= 32:
                high -= 1
            if high > low:
                out[d, LINES] += 1
                may_be_row = digits >= 2 or tabs >= 2 or bars >= 2
                if may_be_row and _is_row(data, low, high):
                    out[d, TABLE] += 1
                    in_code = False
                else:
                    points = _keyword(data, low, high, words, bounds, alone) if data[low] < 128 else 0
                    points += _ends(data, low, high) + _begins(data, low, high)
                    prose = 0
                    if in_code or points > 0 or has_marks:  # else no more than a point could come
                        more, prose = _points(data, low, high)
                        points += more
                    if points < _ENOUGH and in_code:
                        is_short = low - start >= 2 and prose < _PROSE
                        is_dashes = data[low] == 45 and high - low > 1 and data[low + 1] == 45
                        points = _ENOUGH if is_short or is_dashes or data[low] in (35, 37, 42, 59) else points + 1
                    in_code = points >= _ENOUGH
                    out[d, CODE] += in_code
            start = stop + 1
    return out


@kernel
def _is_telling(byte, before):  # type: ignore[no-untyped-def]
    """Whether `_points` may give a point for a mark, the full stop aside."""
    if byte == 61 or byte == 36:
        return True
    if byte == 40 or byte == 91 or byte == 95:
        return _is_name(before)
    return byte == before or (byte == 62 and before == 45) or (byte == 47 and before == 60)


@kernel
def _is_row(data, low, high):  # type: ignore[no-untyped-def]
    bars = tabs = words = numbers = 0
    i = low
    while i < high:
        if data[i] == 9:
            tabs += 1
        elif data[i] == 124:
            bars += 1
            if i + 1 < high and data[i + 1] == 124:  # || is an operator
                return False
        if data[i] > 32 and (i == low or data[i - 1] <= 32):
            words += 1
            digits = others = 0
            j = i
            while j < high and data[j] > 32:
                if data[j] >= 48 and data[j] <= 57:
                    digits += 1
                elif data[j] >= 128 or ((data[j] | 32) >= 97 and (data[j] | 32) <= 122):
                    others += 1
                j += 1
            numbers += digits > 0 and others == 0
        i += 1
    return tabs >= 2 or bars >= 2 or (words >= 3 and 3 * numbers >= 2 * words)


@kernel
def _is_name(byte):  # type: ignore[no-untyped-def]
    """Whether an ASCII letter, digit or underscore."""
    return ((byte | 32) >= 97 and (byte | 32) <= 122) or (byte >= 48 and byte <= 57) or byte == 95


@kernel
def _keyword(data, low, high, words, bounds, alone):  # type: ignore[no-untyped-def]
    """2 points for a keyword that is the line, 1 for one that begins it."""
    if data[low] >= 128:
        return 0
    for k in range(len(bounds) - 1):
        size = bounds[k + 1] - bounds[k]
        if size > high - low or (k < alone and size != high - low) or words[bounds[k]] != data[low]:
            continue
        j = 1
        while j < size and words[bounds[k] + j] == data[low + j]:
            j += 1
        if j == size:
            return 2 if k < alone else 1
    return 0


@kernel
def _is_address(data, start, end):  # type: ignore[no-untyped-def]
    """Whether the word data[start:end] is a URL, a host or a mail address."""
    dots = 0
    for i in range(start, end):
        if data[i] == 58 and i + 2 < end and data[i + 1] == 47 and data[i + 2] == 47:
            return True
        if data[i] == 64 and i > start and _is_name(data[i - 1]):
            return True
        dots += data[i] == 46
    return dots >= 2 and data[start] == 119 and data[start + 1] == 119


@kernel
def _ends(data, low, high):  # type: ignore[no-untyped-def]
    """Points of a line's last bytes. Greek asks with a semicolon, so one after a letter beyond ASCII is no code."""
    last = data[high - 1]
    before = data[high - 2] if high - low > 1 else np.uint8(0)
    if last == 123 or last == 40 or (last == 125 and before != 125) or (last == 58 and before == 41):
        return 2
    if last == 59:
        return 2 if before in (40, 41, 93, 125, 34, 39) else 1 if _is_name(before) else 0
    return 1 if last == 92 or last == 91 or (last == 44 and before in (41, 93, 125, 34, 39)) else 0


@kernel
def _begins(data, low, high):  # type: ignore[no-untyped-def]
    """Points of a line's first bytes: comment marks, prompts, closing brackets, tags."""
    first = data[low]
    second = data[low + 1] if high - low > 1 else np.uint8(0)
    if first in (125, 41, 93) and high - low <= 3:
        return 2
    if (first == 47 and second in (47, 42)) or (first == 35 and second == 33) or (first == 59 and second == 59):
        return 2
    if first == 60 and (second in (47, 33, 63) or _is_name(second)):
        return 2 if data[high - 1] == 62 else 1
    if first == 36 and (_is_name(second) or second == 32 or second == 123):
        return 1
    return 0


@kernel
def _points(data, low, high):  # type: ignore[no-untyped-def]
    """Points of the marks within a line, and its words of prose."""
    points = 0
    words = opened = dots = underscores = 0
    letters = wide = 0
    i = low
    while i < high:
        if i == low or data[i - 1] <= 32:
            j = i
            while j < high and data[j] > 32:
                j += 1
            if _is_address(data, i, j):
                i = j
                continue
        a = data[i]
        b = data[i + 1] if i + 1 < high else np.uint8(0)
        after_name = i > low and _is_name(data[i - 1])
        letters += (a | 32) >= 97 and (a | 32) <= 122
        wide += a >= 192
        opened += a == 40
        if (a == 60 and b == 47) or (a == 38 and b == 38) or (a == 124 and b == 124) or (a == 58 and b == 58):
            points += 2
            i += 1
        elif (a == 61 and b in (61, 62)) or (b == 61 and a in (33, 60, 62, 43, 45, 42, 124, 38, 58, 47)):
            points += 2
            i += 1
        elif a == 41 and b == 41 and opened >= 2:
            points += 2  # emoticons have no opening brackets
            opened = -9
        elif a == 45 and b == 62:
            points += 1
        elif a == 40 and after_name:
            # A call; prose puts a space there, but for a plural (s) and notes.
            points += 2 if b == 41 else 1 if b in (34, 39, 38, 36, 40) or (_is_name(b) and b != 115) else 0
        elif a == 91 and after_name and (b in (34, 39, 58) or (_is_name(b) and not (b >= 48 and b <= 57))):
            points += 1
        elif a == 95 and after_name and _is_name(b) and underscores < 2:
            points += 1
            underscores += 1
        elif a == 61 and i > low:
            points += 1
        elif a == 46 and i > low + 1 and after_name and _is_name(data[i - 2]) and b >= 97 and b <= 122 and dots < 1:
            points += 1
            dots += 1
        elif a == 36 and (b == 123 or ((b | 32) >= 97 and (b | 32) <= 122)):
            points += 1
        if a == 32 and i > low and (_is_name(data[i - 1]) or data[i - 1] in (44, 46) or data[i - 1] >= 128):
            words += _is_name(b) or b >= 128
        i += 1
    # A line of letters beyond ASCII is prose but for its marks.
    points -= words // 8 + (wide // 20 if 2 * wide > letters else 0)
    return points, words
