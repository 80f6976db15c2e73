"""Inference of fastText classifiers with hierarchical softmax: bags of words and their character n-grams.

Source: Bojanowski et al. 2017 and Joulin et al. 2016, as fastText 0.9.2 computes it. The library reads 5 MB/s on one
core, for it makes a string of every n-gram and looks it up in a map; here a hash rolls over the bytes.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.buffers import Bytes, Offsets
from glotmill.curate.kernels.compiled import kernel

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


_NEGLIGIBLE = np.float32(-7)  # logarithm of a probability that is taken for 0


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
    rows = np.empty(1, np.int32)
    for d in range(len(firsts) - 1):
        for w in range(firsts[d], firsts[d + 1]):
            start, end = offsets[w], offsets[w + 1]
            most = (end - start + 2) * (longest + 1) + 1
            if most > len(rows):
                rows = np.empty(2 * most, np.int32)
            count = _line_rows(
                lines, start, end, row_of_ngram, kept, word_slots, word_bytes, word_offsets, shortest, longest, rows
            )
            if end_row >= 0:
                rows[count] = end_row
                count += 1
            if count == 0:
                continue
            _mean(vectors, rows, count, hidden)
            _descend(hidden, outputs, left, right, scores)
            for label in range(labels):
                if scores[label] > _NEGLIGIBLE:
                    out[d, label] += np.exp(scores[label]) / np.float32(firsts[d + 1] - firsts[d])
    return out


@kernel
def _mean(vectors, rows, count, hidden):  # type: ignore[no-untyped-def]
    hidden[:] = 0
    for r in range(count):
        for k in range(len(hidden)):
            hidden[k] += vectors[rows[r], k]
    for k in range(len(hidden)):
        hidden[k] /= np.float32(count)


@kernel
def _descend(hidden, outputs, left, right, scores):  # type: ignore[no-untyped-def]
    """Log probability of every node: the root's is 0, and an inner node shares its own among two children."""
    labels = len(outputs) + 1
    scores[2 * labels - 2] = 0
    for node in range(labels - 2, -1, -1):
        x = np.float32(0)
        for k in range(len(hidden)):
            x += outputs[node, k] * hidden[k]
        f = 1 / (1 + np.exp(-x))
        own = scores[labels + node]
        scores[left[node]] = own + np.log(1 - f + np.float32(1e-5))
        scores[right[node]] = own + np.log(f + np.float32(1e-5))


@kernel
def _line_rows(  # type: ignore[no-untyped-def]
    lines, start, end, row_of_ngram, kept, word_slots, word_bytes, word_offsets, shortest, longest, rows
):
    """Write the rows of a line's words and n-grams; their number.

    One function, because numba counts the references of each array at each call: twice the time.
    """
    buckets = np.uint32(len(row_of_ngram))
    mask = np.int64(len(word_slots) - 1)
    count = 0
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
        for left in range(first - 1, i + 1):  # first - 1 stands for "<" before the word, i for ">" after it
            if left >= first and left < i and lines[left] & 0xC0 == 0x80:
                continue
            h = np.uint32(2166136261)
            j = left
            n = 1
            while j <= i and n <= longest:
                byte = 60 if j < first else 62 if j >= i else lines[j]
                h = np.uint32((h ^ np.uint32(np.int8(byte))) * np.uint32(16777619))
                j += 1
                while j < i and j >= first and lines[j] & 0xC0 == 0x80:
                    h = np.uint32((h ^ np.uint32(np.int8(lines[j]))) * np.uint32(16777619))
                    j += 1
                if n >= shortest and not (n == 1 and (left < first or j > i)):
                    bucket = h % buckets
                    if kept[bucket >> 3] >> (bucket & 7) & 1:
                        rows[count] = row_of_ngram[bucket]
                        count += 1
                n += 1
    return count
