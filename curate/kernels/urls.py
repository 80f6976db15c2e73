"""Web addresses in running text."""

from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.buffers import utf8
from glotmill.curate.kernels.scan import cut_table, word_weights
from glotmill.curate.kernels.unicode import KIND, LETTER, PUNCTUATION, SCRIPT_SHIFT, SPACE, wide
from glotmill.schemas.kernels.compiled import kernel

_COLON, _SLASH, _DOT, _W = 58, 47, 46, 119


def url_chars(texts: Any) -> npt.NDArray[np.int64]:
    """int64 (n,): code points of web addresses.

    One begins with a scheme before "://", or with "www." where no letter or digit of ASCII stands before it. It goes as
    far as no white space follows, none of <>" and backtick (RFC 3986, appendix C), no other mark than ASCII's, and no
    letter of a script that puts no space between words, nor Hangul, whose particles follow without one.
    """
    found: npt.NDArray[np.int64] = _url_chars(*utf8(texts), cut_table(), word_weights())
    return found


@kernel
def _url_chars(data, offsets, table, weights):  # type: ignore[no-untyped-def]
    out = np.zeros(len(offsets) - 1, np.int64)
    for d in range(len(offsets) - 1):
        start, end = np.int64(offsets[d]), np.int64(offsets[d + 1])
        i = start
        reached = start  # the end of the last address
        while i < end:
            a = data[i]
            first = i
            if a == _COLON and i + 2 < end and data[i + 1] == _SLASH and data[i + 2] == _SLASH:
                while first > reached and _in_scheme(data[first - 1]):
                    first -= 1
            elif a == _DOT and i >= reached + 3 and data[i - 1] | 32 == _W and data[i - 2] | 32 == _W:
                if data[i - 3] | 32 == _W and (i == reached + 3 or not _in_scheme(data[i - 4])):
                    first = i - 3
            if first == i:
                i += 1
                continue
            out[d] += i - first
            while i < end:
                code = np.int64(data[i])
                step = 1
                if code >= 0x80:
                    b = np.int64(data[i + 1]) if i + 1 < end else 0
                    c = np.int64(data[i + 2]) if i + 2 < end else 0
                    code, step = wide(code, b, c, np.int64(data[i + 3]) if i + 3 < end else 0)
                    bits = table[code]
                    kind = bits & KIND
                    if kind == SPACE or kind == PUNCTUATION or (code >= 0xAC00 and code <= 0xD7A3):
                        break
                    if kind == LETTER and weights[(bits >> SCRIPT_SHIFT) & 255] > 0:
                        break
                elif code <= 32 or code == 34 or code == 60 or code == 62 or code == 96:
                    break
                out[d] += 1
                i += step
            reached = i
    return out


@kernel
def _in_scheme(a):  # type: ignore[no-untyped-def]
    """Whether a byte may be part of a scheme's name: ASCII's letters and digits, "+", "-" and "."."""
    return (a >= 48 and a <= 57) or ((a | 32) >= 97 and (a | 32) <= 122) or a == 43 or a == 45 or a == 46
