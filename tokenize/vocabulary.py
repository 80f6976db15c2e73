"""A vocabulary trained on the run's own documents: sentencepiece BPE that gives every text back, in every script.

No normalisation, no space of its own, and bytes for the characters it lacks: decode(encode(text)) == text for any
Unicode text. (U+2581 needs the care of sentence_piece.py: the library alone turns it into a space.)
"""

import io
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from sentencepiece import SentencePieceTrainer

from glotmill.schemas.errors import InputError, RecipeError

SAMPLE_BYTES = 64 << 20  # of text, all languages together
EXCERPT_BYTES = 64 << 10  # of a text: no single document weighs more in the sample
SPECIALS = 4  # unknown, BOS, EOS, padding
BYTES = 256
SMALLEST = 512  # pieces: room for the bytes and as many others
BYTES_A_PIECE = 64  # of training text: more pieces than that would be seen too seldom to be learnt
COVERAGE = 0.9999  # of the characters of the sample, as pieces of their own; the library's default is .9995
_LINE_CHARS = 4096  # the library skips longer lines, and counts positions in a word in 16 bits
_RESERVED = [0, 0x2581, 0x2585]  # NUL; the library's own signs for a space and for a character out of coverage
_BREAK = 10  # line feed


def train(texts: Iterable[pa.StringArray], *, vocabulary: int) -> bytes:
    """A sentencepiece model file of at most `vocabulary` pieces, ids 0 to 3 being unknown, BOS, EOS and padding.

    Args:
        texts: EXCERPT_BYTES of each are read. Equal texts in equal order give an equal model, whatever the machine
            and its cores. All of them are held in memory, at 4 bytes a character: SAMPLE_BYTES are enough.
        vocabulary: Fewer where the text is small: a piece for BYTES_A_PIECE bytes, and what merges the text holds.

    Raises:
        InputError: there is no text.
        RecipeError: the vocabulary has no room for bytes and characters.
    """
    if vocabulary < SMALLEST:
        raise RecipeError(
            f"shards.vocabulary is {vocabulary}, of which bytes and specials need {SPECIALS + BYTES}; "
            f"set it to {SMALLEST} or more"
        )
    text = _excerpts(texts)
    size = max(SMALLEST, min(vocabulary, len(text.encode()) // BYTES_A_PIECE))
    lines = _lines(text, characters=(size - SPECIALS - BYTES) // 2)
    if not lines:
        raise InputError(
            "there is no text to train a vocabulary on; give documents, or set shards.tokenizer to a finished tokenizer"
        )
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type="bpe",
        vocab_size=size,
        hard_vocab_limit=False,  # text that has fewer merges gives a smaller model
        character_coverage=1.0,  # _lines left out the rare ones: the library accepts no less than .98
        byte_fallback=True,
        split_digits=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        add_dummy_prefix=False,
        allow_whitespace_only_pieces=True,
        max_sentence_length=4 * _LINE_CHARS,  # in bytes
        input_sentence_size=0,  # all of them, not a sample
        shuffle_input_sentence=False,
        num_threads=1,  # the number is written into the model
        unk_id=0,
        bos_id=1,
        eos_id=2,
        pad_id=3,
        minloglevel=2,
    )
    return model.getvalue()


def _excerpts(texts: Iterable[pa.StringArray]) -> str:
    return "\n".join(_beginning(text) for array in texts for text in array.to_pylist())


def _beginning(text: str) -> str:
    return text[:EXCERPT_BYTES].encode()[:EXCERPT_BYTES].decode(errors="ignore")


def _lines(text: str, *, characters: int) -> list[str]:
    """`text` cut at line feeds, and at all but its most frequent characters.

    Those are the ones that make up COVERAGE of the text, at most `characters` of them; the others, line feeds too, will
    be bytes, so that no piece can hold them.
    """
    points = np.frombuffer(text.encode("utf-32-le"), "<u4").copy()
    counts = np.bincount(points, minlength=0x110000)
    counts[[_BREAK, *_RESERVED]] = 0
    by_count = np.argsort(-counts, kind="stable")  # ties: the smaller code point
    covered = np.cumsum(counts[by_count])
    enough = int(np.searchsorted(covered, COVERAGE * covered[-1])) + 1
    known = np.zeros(0x110000, np.bool_)
    known[by_count[: min(enough, characters)]] = True
    known &= counts > 0
    points[~known[points]] = _BREAK
    lines = points.tobytes().decode("utf-32-le").split("\n")
    return [line[at : at + _LINE_CHARS] for line in lines for at in range(0, len(line), _LINE_CHARS)]
