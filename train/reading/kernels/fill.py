"""A batch filled from pieces of token files that lie in memory, mapped or fetched."""

from typing import Any

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from glotmill.schemas.kernels.compiled import kernel

# Columns of `pieces`.
ROW, AT, TOKENS, ADDRESS, ITEMSIZE, FIRST_BYTE, POINTERS, SEQUENCES, LOSS = range(9)
COLUMNS = 9


def _pointer_to(kind: Any) -> Any:
    @intrinsic
    def pointer(typing, address):  # type: ignore[no-untyped-def]
        def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), code

    return pointer


_bytes_at, _uint16_at, _int32_at = _pointer_to(types.uint8), _pointer_to(types.uint16), _pointer_to(types.int32)


@kernel
def _int64(halves, i):  # type: ignore[no-untyped-def]
    """Number i of an int64 array that is aligned to 2 bytes only, as the pointers of an .idx are."""
    low = np.uint64(halves[4 * i]) | (np.uint64(halves[4 * i + 1]) << np.uint64(16))
    high = np.uint64(halves[4 * i + 2]) | (np.uint64(halves[4 * i + 3]) << np.uint64(16))
    return np.int64(low | (high << np.uint64(32)))


@kernel
def first_at_or_after(address, count, byte):  # type: ignore[no-untyped-def]
    """Of `count` rising int64 at `address`, the first that is >= `byte`, by its number; count where none is."""
    halves = carray(_uint16_at(address), (4 * count,))
    low, high = np.int64(0), np.int64(count)
    while low < high:
        middle = (low + high) >> 1
        if _int64(halves, middle) < byte:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def fill(pieces, packed, across, pad, buffer, mask, positions, bounds, rows):  # type: ignore[no-untyped-def]
    """Fill a batch; returns how many of `bounds` are used.

    Args:
        pieces: int64 [pieces, COLUMNS], sorted by ROW and AT; the pieces of a row follow one another from 0 on.
            Each says where TOKENS tokens of ITEMSIZE bytes lie (ADDRESS), at which byte of their file they begin
            (FIRST_BYTE), where SEQUENCES rising int64 lie that say at which bytes documents begin (POINTERS), and
            where their stored loss mask lies (LOSS; 0: none).
        packed: Every piece begins a document; SEQUENCES isn't looked at.
        across: Learn a document's first token from the document before.
        pad: Token that stands after the last piece of a row.
        buffer: int32 [n, L + 1]; row[:-1] are the tokens, row[1:] the labels.
        mask: uint8 [n, L], of labels.
        positions: int32 [n, L].
        bounds: int32 [n * L + 1], cu_seqlens of the batch as one row of n * L tokens.
        rows: int32 [n + 1]; the segments of row b are bounds[rows[b]] to bounds[rows[b + 1]].
    """
    n, length = mask.shape
    k, used = 0, 0
    for b in range(n):
        rows[b] = used
        first = used
        bounds[used] = b * length
        used += 1
        mask[b, :] = 1
        filled, last = 0, 0
        while k < len(pieces) and pieces[k, ROW] == b:
            at, count, address = pieces[k, AT], pieces[k, TOKENS], pieces[k, ADDRESS]
            if pieces[k, ITEMSIZE] == 2:
                short = carray(_uint16_at(address), (count,))
                for i in range(count):
                    buffer[b, at + i] = short[i]
            else:
                long = carray(_int32_at(address), (count,))
                for i in range(count):
                    buffer[b, at + i] = long[i]
            if pieces[k, LOSS] != 0:
                loss = carray(_bytes_at(pieces[k, LOSS]), (count,))
                for i in range(1 if at == 0 else 0, count):
                    mask[b, at + i - 1] = loss[i]
            if packed:
                if at > 0:
                    mask[b, at - 1] &= across
                    bounds[used] = b * length + at
                    used += 1
            else:
                size, start = pieces[k, ITEMSIZE], pieces[k, FIRST_BYTE]
                total = pieces[k, SEQUENCES]
                halves = carray(_uint16_at(pieces[k, POINTERS]), (4 * total,))
                s = first_at_or_after(pieces[k, POINTERS], total, start)
                while s < total:
                    here = at + (_int64(halves, s) - start) // size
                    if here >= at + count:
                        break
                    if here > last:  # the row's own begin is no boundary, and empty documents repeat theirs
                        last = here
                        mask[b, here - 1] &= across
                        if here < length:
                            bounds[used] = b * length + here
                            used += 1
                    s += 1
            filled = at + count
            k += 1
        if filled <= length:
            buffer[b, filled:] = pad
            mask[b, max(filled - 1, 0) :] = 0
            if 0 < filled < length:
                bounds[used] = b * length + filled
                used += 1
        for s in range(first, used):
            begin = bounds[s] - b * length
            end = bounds[s + 1] - b * length if s + 1 < used else length
            for i in range(end - begin):
                positions[b, begin + i] = i
    rows[n] = used
    bounds[used] = n * length
    return used + 1
