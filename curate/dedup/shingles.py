"""What a text is compared by: its shingles."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from glotmill.curate.kernels.normal import normal_forms
from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.kernels.shingles import Bounds, Hashes, char_shingles, unspaced_shares, word_shingles

UNSPACED_SHARE = 0.3  # of a text's letters: from here on it is compared by code points


@dataclass(frozen=True, slots=True)
class Shingling:
    """How texts are cut into shingles. Signatures of different shinglings don't compare.

    Args:
        unit: words, chars (code points), or auto: chars for a text of which UNSPACED_SHARE of the words' letters
            belong to scripts without spaces, words for all others.
        words: Words in a shingle.
        chars: Code points in a shingle.
        mask_digits: All numbers are alike.
    """

    unit: Literal["auto", "words", "chars"] = "auto"
    words: int = 5
    chars: int = 8
    mask_digits: bool = False


def shingles(texts: Any, how: Shingling) -> tuple[Hashes, Bounds]:
    """The 64-bit hashes of n texts' shingles, in their order, and n + 1 bounds; no text without letters has any.

    Words are what `pieces` cuts: case and Unicode form don't count, nor does punctuation; marks and digits do. Code
    points are those of the text in NFC, case-folded, white space folded, with its punctuation. A text shorter than a
    shingle is one.

    Args:
        texts: string array, no nulls.
    """
    if how.unit == "chars":
        return _of_chars(texts, how)
    cut = pieces(texts)
    found, bounds = word_shingles(cut, words=how.words, mask_digits=how.mask_digits)
    if how.unit == "words":
        return found, bounds
    others = np.flatnonzero(unspaced_shares(cut) >= UNSPACED_SHARE)
    if not len(others):
        return found, bounds
    return _replaced(found, bounds, others, *_of_chars(texts.take(others), how))


def _of_chars(texts: Any, how: Shingling) -> tuple[Hashes, Bounds]:
    return char_shingles(*normal_forms(texts), chars=how.chars, mask_digits=how.mask_digits)


def _replaced(found: Hashes, bounds: Bounds, rows: Any, others: Hashes, other_bounds: Bounds) -> tuple[Hashes, Bounds]:
    """`found` with other hashes in some rows."""
    sizes = np.diff(bounds)
    sizes[rows] = np.diff(other_bounds)
    is_other = np.zeros(len(sizes), np.bool_)
    is_other[rows] = True
    new = np.concatenate(([0], np.cumsum(sizes)))
    out = np.empty(new[-1], np.uint64)
    from_others = np.repeat(is_other, sizes)
    out[from_others] = others
    out[~from_others] = found[~np.repeat(is_other, np.diff(bounds))]
    return out, new
