"""Texts as one line each, as classifiers that cut at spaces read them."""

from typing import Any

import numpy as np

from glotmill.curate.kernels.buffers import Bytes, Offsets, strings, utf8
from glotmill.curate.kernels.normal import normal_forms
from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.kernels.unicode import BREAK, CONTROL, KIND, SPACE, Bits, unicode_table, wide
from glotmill.schemas.kernels.compiled import kernel


def one_line(texts: Any, *, chars: int) -> Any:
    """The first `chars` code points of n texts, each line break (str.splitlines's) a space; nothing else is changed.

    A CR LF is two spaces. Bytes that are no UTF-8 are kept, and count as a code point each.
    """
    return strings(*_one_line(*utf8(texts), unicode_table(), chars))


def spaced(texts: Any) -> Any:
    """`normal_form` of n texts (NFC, case folded), with a space between units, as `pieces` cuts them.

    What stands between two units without white space, such as a comma or "://", is a word of its own. So every script
    is words parted by spaces: letters with their marks where the script has no spaces. Control characters are left
    out; no space begins or ends a line.
    """
    data, bounds = normal_forms(texts)
    cut = pieces(strings(data, bounds.astype(np.int32)))
    room = int(bounds[-1]) + 2 * len(cut.unit_start) + len(texts) + 1
    table = unicode_table()
    return strings(*_spaced(cut.data, cut.offsets, table, cut.unit_bounds, cut.unit_start, cut.unit_end, room))


@kernel
def _one_line(data: Bytes, offsets: Offsets, table: Bits, chars: int):  # type: ignore[no-untyped-def]
    out = np.empty(np.int64(offsets[-1]) - offsets[0], np.uint8)
    bounds = np.zeros(len(offsets), np.int32)
    at = np.int64(0)
    for d in range(len(offsets) - 1):
        i = np.int64(offsets[d])
        end = np.int64(offsets[d + 1])
        left = np.int64(chars)
        while i < end and left > 0:
            left -= 1
            code = np.int64(data[i])
            if code < 0x80:
                out[at] = 32 if table[code] & np.uint32(BREAK) else code
                at += 1
                i += 1
                continue
            b = np.int64(data[i + 1]) if i + 1 < end else 0
            c = np.int64(data[i + 2]) if i + 2 < end else 0
            code, step = wide(code, b, c, np.int64(data[i + 3]) if i + 3 < end else 0)
            if table[code] & np.uint32(BREAK):
                out[at] = 32
                at += 1
            else:
                for k in range(step):
                    out[at + k] = data[i + k]
                at += step
            i += step
        bounds[d + 1] = at
    return out[:at], bounds


@kernel
def _spaced(data, offsets, table, unit_bounds, starts, ends, room):  # type: ignore[no-untyped-def]
    out = np.empty(room, np.uint8)
    bounds = np.zeros(len(offsets), np.int32)
    at = np.int64(0)
    for d in range(len(offsets) - 1):
        begin = at
        i = np.int64(offsets[d])
        for u in range(unit_bounds[d], unit_bounds[d + 1]):
            at = _between(data, i, starts[u], table, out, begin, at)
            if at > begin:
                out[at] = 32
                at += 1
            for k in range(starts[u], ends[u]):
                out[at] = data[k]
                at += 1
            i = np.int64(ends[u])
        at = _between(data, i, offsets[d + 1], table, out, begin, at)
        bounds[d + 1] = at
    return out[:at], bounds


@kernel
def _between(data, start, end, table, out, begin, at):  # type: ignore[no-untyped-def]
    """Write the runs of visible characters of data[start:end], each after a space unless it begins the line."""
    gap = at > begin
    i = np.int64(start)
    while i < end:
        code = np.int64(data[i])
        step = np.int64(1)
        if code >= 0x80:
            b = np.int64(data[i + 1]) if i + 1 < end else 0
            c = np.int64(data[i + 2]) if i + 2 < end else 0
            code, step = wide(code, b, c, np.int64(data[i + 3]) if i + 3 < end else 0)
        kind = table[code] & np.uint32(KIND)
        if kind == SPACE or kind == CONTROL:
            gap = at > begin
        else:
            if gap:
                out[at] = 32
                at += 1
                gap = False
            for k in range(step):
                out[at] = data[i + k]
                at += 1
        i += step
    return at
