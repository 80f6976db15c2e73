"""A tokenizer: text to ids and back. Two libraries behind one interface, and text stays text.

`</s>` written in a document is five characters, never the end of it: no library may read control tokens in text, add
tokens of its own, truncate or pad. BOS and EOS are put by the token store alone.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from glotmill.schemas.errors import RecipeError
from glotmill.schemas.manifest import Kind

BATCH_BYTES = 4 << 20  # UTF-8 bytes encoded in one call; what bounds the library's own objects

# What a lossy tokenizer would change: spaces at the edges and in a row, controls, sequences with a composed or a
# compatibility form, a byte order mark, characters of no vocabulary. Without U+2581, see sentence_piece.py.
PROBE = (
    "  a  b \t\r\n\n\0\x7f\u00a0\u3000e\u0301\u00e9\ufb01\u2460\uff71\u212b\u1e9b\u0323\u2028\ufeff"
    "\U00010348\U0010ffff </s>  "
)


class Encoded(NamedTuple):
    """Ids of n texts, one after the other.

    Args:
        ids: int32 [offsets[-1]].
        offsets: int64 [n + 1]; text i has ids[offsets[i]:offsets[i + 1]].
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]


class Tokenizer(Protocol):
    """What the store, the shards and the checks ask of a tokenizer."""

    @property
    def kind(self) -> Kind: ...

    @property
    def name(self) -> str:
        """For people: the file's or folder's name."""

    @property
    def files(self) -> dict[str, Path]:
        """What makes it: copied into one folder under these names, the files load to the same tokenizer."""

    @property
    def fingerprint(self) -> str:
        """32 hex digits made from the content of its files."""

    @property
    def vocabulary_size(self) -> int:
        """One more than the largest id, added tokens included."""

    @property
    def bos_id(self) -> int | None: ...

    @property
    def eos_id(self) -> int | None: ...

    @property
    def specials(self) -> tuple[str, ...]:
        """Its control tokens, for messages."""

    def encode_batch(self, texts: pa.StringArray) -> Encoded:
        """Ids of every text, without BOS and EOS; no text may be null."""

    def decode(self, ids: NDArray[np.integer]) -> str:
        """The text of `ids`; control tokens give their name or nothing, as the library has it."""


def load(path: Path) -> Tokenizer:
    """The tokenizer in a sentencepiece model, a tokenizer.json, or a folder that holds one of them.

    Raises:
        RecipeError: there is none, or the library can't read it.
    """
    from glotmill.tokenize.hugging_face import HuggingFace
    from glotmill.tokenize.sentence_piece import SentencePiece

    file = _vocabulary_file(path)
    return HuggingFace(file) if file.suffix == ".json" else SentencePiece(file)


def _vocabulary_file(path: Path) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise RecipeError(
            f"shards.tokenizer: {path} does not exist; name a sentencepiece .model, a tokenizer.json "
            "or the folder of one"
        )
    found = [file for file in [path / "tokenizer.json", *sorted(path.glob("*.model"))] if file.is_file()]
    if not found:
        names = ", ".join(sorted(file.name for file in path.iterdir())[:10]) or "nothing"
        raise RecipeError(
            f"shards.tokenizer: {path} holds {names}, and neither tokenizer.json nor a sentencepiece .model; "
            "name the folder that holds one"
        )
    return found[0]


def check_policy(tokenizer: Tokenizer, *, append_eos: bool, prepend_bos: bool) -> None:
    """Raise RecipeError unless `tokenizer` has the control tokens that the recipe wants around a document."""
    for wanted, option, token, value in (
        (append_eos, "append_eos", "EOS", tokenizer.eos_id),
        (prepend_bos, "prepend_bos", "BOS", tokenizer.bos_id),
    ):
        if wanted and value is None:
            raise RecipeError(
                f"shards.{option} is true and {tokenizer.name} names no {token} token; its special tokens are: "
                f"{', '.join(tokenizer.specials[:20]) or 'none'}. Put a tokenizer_config.json with "
                f'"{token.lower()}_token" beside it, or set shards.{option} to false'
            )


def is_lossless(tokenizer: Tokenizer) -> bool:
    """Whether decoding gives the text back: tried on a text that every known normalisation changes."""
    return tokenizer.decode(tokenizer.encode_batch(pa.array([PROBE])).ids) == PROBE


def slices(texts: pa.StringArray) -> Iterator[pa.StringArray]:
    """`texts` in pieces of about BATCH_BYTES, one text at least."""
    ends = np.cumsum([0, *pc.binary_length(texts).to_numpy()])
    first = 0
    while first < len(texts):
        last = int(np.searchsorted(ends, ends[first] + BATCH_BYTES, "right")) - 1
        last = min(max(last, first + 1), len(texts))
        yield texts[first:last]
        first = last


def joined(parts: list[NDArray[np.int32]]) -> Encoded:
    """One array of the ids of each text."""
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return Encoded(np.concatenate(parts) if parts else np.empty(0, np.int32), offsets)
