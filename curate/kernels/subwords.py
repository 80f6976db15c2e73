"""Inference of fastText classifiers with hierarchical softmax: bags of words and their character n-grams.

Source: Bojanowski et al. 2017 and Joulin et al. 2016, as fastText 0.9.2 computes it. The library reads 5 MB/s on one
core, for it makes a string of every n-gram and looks it up in a map; here a hash rolls over the bytes, and a word that
comes again isn't cut again.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.buffers import Bytes, Offsets
from glotmill.schemas.kernels.compiled import kernel

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


_NEGLIGIBLE = np.float32(-7)  # logarithm of a probability that is taken for 0
_HOPELESS = np.float32(-7.1)  # of a node's, below which its labels' are negligible; a child's may be 1e-5 more
_SEEN = 1 << 13  # words remembered; their sums fit a core's cache


class Network(NamedTuple):
    """A model as arrays.

    Args:
        vectors: (rows, dim), the words' and then the n-grams'.
        row_of_ngram: (buckets,), the row of an n-gram by its hash.
        kept: A bit for each bucket, lowest first, 0 where the n-gram was pruned: seven of eight are, and the bits fit
            a core's cache.
        word_slots: Open-addressed table of word rows by hash, -1 where free; its length is a power of two.
        word_bytes: The words' UTF-8, one after the other.
        word_offsets: Where each begins in it, and the end.
        outputs: (labels - 1, dim), one row an inner node.
        left: (labels - 1,), children of inner node i; a node below `labels` is a label, others are inner.
        right: As `left`.
        shortest: Characters of the shortest n-gram, "<" and ">" around a word included.
        longest: Of the longest.
        end_row: Row of the word that ends every line, -1 for none.
    """

    vectors: Floats
    row_of_ngram: Ints
    kept: Bytes
    word_slots: Ints
    word_bytes: Bytes
    word_offsets: Offsets
    outputs: Floats
    left: Ints
    right: Ints
    shortest: int
    longest: int
    end_row: int


def probabilities(lines: Bytes, offsets: Offsets, firsts: npt.NDArray[np.int64], network: Network) -> Floats:
    """(n, labels): mean over the lines `firsts[i]` to before `firsts[i + 1]` of the probability of each label.

    Lines hold no white space but spaces. Probabilities are fastText's to about 1e-5, clipped to [0, 1].
    """
    found: Floats = np.clip(_probabilities(lines, offsets, firsts, *network), 0, 1)
    return found


@kernel
def hash_bytes(data, start, end):  # type: ignore[no-untyped-def]
    """FNV-1a, 32 bits, with each byte sign-extended, as fastText does."""
    h = np.uint32(2166136261)
    for i in range(start, end):
        h = np.uint32((h ^ np.uint32(np.int8(data[i]))) * np.uint32(16777619))
    return h


@kernel
def likeliest(values, size):  # type: ignore[no-untyped-def]
    """(n, size): the columns of the greatest values of each row, greatest first, ties by place."""
    out = np.zeros((len(values), size), np.int64)
    for row in range(len(values)):
        found = 0
        for column in range(values.shape[1]):
            value = values[row, column]
            if found == size and value <= values[row, out[row, size - 1]]:
                continue
            place = found if found < size else size - 1
            while place > 0 and value > values[row, out[row, place - 1]]:
                out[row, place] = out[row, place - 1]
                place -= 1
            out[row, place] = column
            found = min(found + 1, size)
    return out


@kernel
def _probabilities(  # type: ignore[no-untyped-def]
    lines,
    offsets,
    firsts,
    vectors,
    row_of_ngram,
    kept,
    word_slots,
    word_bytes,
    word_offsets,
    outputs,
    left,
    right,
    shortest,
    longest,
    end_row,
):
    labels = len(outputs) + 1
    out = np.zeros((len(firsts) - 1, labels), np.float32)
    hidden = np.zeros(vectors.shape[1], np.float32)
    scores = np.zeros(2 * labels - 1, np.float32)
    seen = np.zeros((_SEEN, 3), np.int32)  # where a word was met: its start, its end, how many rows it has
    sums = np.zeros((_SEEN, vectors.shape[1]), np.float32)
    for d in range(len(firsts) - 1):
        for w in range(firsts[d], firsts[d + 1]):
            start, end = offsets[w], offsets[w + 1]
            count = _sum_line(
                lines,
                start,
                end,
                vectors,
                row_of_ngram,
                kept,
                word_slots,
                word_bytes,
                word_offsets,
                shortest,
                longest,
                seen,
                sums,
                hidden,
            )
            if end_row >= 0:
                for k in range(len(hidden)):
                    hidden[k] += vectors[end_row, k]
                count += 1
            if count == 0:
                continue
            for k in range(len(hidden)):
                hidden[k] /= np.float32(count)
            _descend(hidden, outputs, left, right, scores)
            for label in range(labels):
                if scores[label] > _NEGLIGIBLE:
                    out[d, label] += np.exp(scores[label]) / np.float32(firsts[d + 1] - firsts[d])
    return out


@kernel
def _descend(hidden, outputs, left, right, scores):  # type: ignore[no-untyped-def]
    """Log probability of every node: the root's is 0, and an inner node shares its own among two children."""
    labels = len(outputs) + 1
    scores[2 * labels - 2] = 0
    for node in range(labels - 2, -1, -1):
        own = scores[labels + node]
        if own < _HOPELESS:  # nine of ten nodes
            scores[left[node]] = scores[right[node]] = own
            continue
        x = np.float32(0)
        for k in range(len(hidden)):
            x += outputs[node, k] * hidden[k]
        f = 1 / (1 + np.exp(-x))
        scores[left[node]] = own + np.log(1 - f + np.float32(1e-5))
        scores[right[node]] = own + np.log(f + np.float32(1e-5))


@kernel
def _sum_line(  # type: ignore[no-untyped-def]
    lines,
    start,
    end,
    vectors,
    row_of_ngram,
    kept,
    word_slots,
    word_bytes,
    word_offsets,
    shortest,
    longest,
    seen,
    sums,
    hidden,
):
    """Add up the rows of a line's words and n-grams in `hidden`; their number.

    A word's rows are added up first, then the words, so that a word met before in the batch, by its bytes, is one
    addition, and the result the same to the last bit whatever was met. One function, because numba counts the
    references of each array at each call: twice the time.
    """
    buckets = np.uint64(len(row_of_ngram))
    inverse = np.uint64(2**32) // buckets
    mask = np.int64(len(word_slots) - 1)
    word = np.empty(end - start + 2, np.uint8)  # here: LLVM then knows that what is written isn't what is read
    rows = np.empty((end - start + 2) * longest + 1, np.int32)
    dim = len(hidden)
    hidden[:] = 0
    total = 0
    i = np.int64(start)
    while i < end:
        if lines[i] == 32:
            i += 1
            continue
        first = i
        h = np.uint32(2166136261)
        while i < end and lines[i] != 32:
            h = np.uint32((h ^ np.uint32(np.int8(lines[i]))) * np.uint32(16777619))
            i += 1
        cell = np.int64((h ^ h >> np.uint32(16)) & np.uint32(_SEEN - 1))
        known = np.int64(seen[cell, 0])
        same = seen[cell, 1] - known == i - first
        k = 0
        while same and k < i - first:
            same = lines[known + k] == lines[first + k]
            k += 1
        if not same:
            count = 0
            at = np.int64(h) & mask
            while word_slots[at] >= 0:
                row = word_slots[at]
                low = word_offsets[row]
                size = word_offsets[row + 1] - low
                same = size == i - first
                k = 0
                while same and k < size:
                    same = word_bytes[low + k] == lines[first + k]
                    k += 1
                if same:
                    rows[count] = row
                    count += 1
                    break
                at = (at + 1) & mask
            words = count
            size = i - first + 2
            word[0], word[size - 1] = 60, 62
            for k in range(size - 2):
                word[k + 1] = lines[first + k]
            for left in range(size):
                if word[left] & 0xC0 == 0x80:
                    continue
                h = np.uint32(2166136261)
                j = left
                for n in range(1, longest + 1):
                    h = np.uint32((h ^ np.uint32(np.int8(word[j]))) * np.uint32(16777619))
                    j += 1
                    while j < size and word[j] & 0xC0 == 0x80:
                        h = np.uint32((h ^ np.uint32(np.int8(word[j]))) * np.uint32(16777619))
                        j += 1
                    if n >= shortest and not (n == 1 and (left == 0 or j == size)):
                        # h % buckets: the quotient is right or one too small, as inverse is 2^32 / buckets, floored
                        bucket = np.uint64(h) - (np.uint64(h) * inverse >> np.uint64(32)) * buckets
                        bucket = bucket - buckets if bucket >= buckets else bucket
                        rows[count] = bucket
                        # no branch on a bit that a core can't predict
                        count += kept[bucket >> np.uint64(3)] >> (bucket & np.uint64(7)) & np.uint64(1)
                    if j == size:
                        break
            for r in range(words, count):
                rows[r] = row_of_ngram[rows[r]]
            seen[cell, 0], seen[cell, 1], seen[cell, 2] = first, i, count
            for k in range(dim):
                sums[cell, k] = 0
            for r in range(count):
                for k in range(dim):
                    sums[cell, k] += vectors[rows[r], k]
        for k in range(dim):
            hidden[k] += sums[cell, k]
        total += seen[cell, 2]
    return total
