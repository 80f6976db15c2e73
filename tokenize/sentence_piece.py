"""sentencepiece models behind the tokenizer's interface."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sentencepiece import SentencePieceProcessor

from glotmill.schemas.atomic import file_digest
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.manifest import Kind
from glotmill.tokenize.tokenizer import Encoded, is_lossless, joined, slices

# sentencepiece writes a space as U+2581 inside its pieces, so a U+2581 of the text comes back as a space.
SPACE_SYMBOL = "\u2581"


class SentencePiece:
    """A sentencepiece model.

    Control pieces written in a text are text: the library never matches them. User-defined pieces are matched, and
    nothing can turn that off. A model that changes no other text (as the ones we train) is kept from changing U+2581
    too: it is encoded as its three byte pieces, which decode to it with the plain library.

    Raises:
        RecipeError: `path` is no sentencepiece model.
    """

    kind: Kind = "sentencepiece"

    def __init__(self, path: Path) -> None:
        self._model = _read(path)
        self.vocabulary_size = int(self._model.get_piece_size())
        self.name = path.name
        self.files = {"tokenizer.model": path}
        self.fingerprint = file_digest(path)
        self.bos_id = _defined(self._model.bos_id())
        self.eos_id = _defined(self._model.eos_id())
        pieces = map(int, range(self.vocabulary_size))
        self.specials = tuple(self._model.id_to_piece(i) for i in pieces if self._model.is_control(i))
        self._space_symbol: NDArray[np.int32] | None = None
        self._space_symbol = self._space_symbol_bytes()

    def encode_batch(self, texts: pa.StringArray) -> Encoded:
        parts: list[NDArray[np.int32]] = []
        for part in slices(texts):
            encoded = self._encode(part.to_pylist())
            if self._space_symbol is not None:
                for row in np.flatnonzero(pc.match_substring(part, SPACE_SYMBOL)):
                    encoded[row] = self._with_space_symbols(part[row].as_py())
            parts += encoded
        return joined(parts)

    def decode(self, ids: NDArray[np.integer]) -> str:
        return str(self._model.decode(ids.tolist()))

    def _encode(self, texts: list[str]) -> list[NDArray[np.int32]]:
        # one thread: Spark already runs a task a core
        encoded: list[NDArray[np.int32]] = self._model.encode(texts, return_type="numpy", num_threads=1)
        return encoded

    def _with_space_symbols(self, text: str) -> NDArray[np.int32]:
        assert self._space_symbol is not None
        first, *others = self._encode(text.split(SPACE_SYMBOL))
        return np.concatenate([first, *(ids for other in others for ids in (self._space_symbol, other))])

    def _space_symbol_bytes(self) -> NDArray[np.int32] | None:
        ids = [self._model.piece_to_id(f"<0x{byte:02X}>") for byte in SPACE_SYMBOL.encode()]
        if not all(map(self._model.is_byte, ids)) or not is_lossless(self):
            return None
        # a model that puts a space before every text would put one after every U+2581
        joins = self.decode(np.concatenate(self._encode(["a", "b"]))) == "ab"
        return np.array(ids, np.int32) if joins else None


def _read(path: Path) -> SentencePieceProcessor:
    content = path.read_bytes()
    try:
        if content:  # the library takes nothing for a model without pieces
            return SentencePieceProcessor(model_proto=content)
        problem = "it is empty"
    except (RuntimeError, TypeError) as error:
        problem = str(error)
    raise RecipeError(
        f"shards.tokenizer: {path} is no sentencepiece model ({problem}); name a .model file, or the tokenizer.json "
        "of a Hugging Face tokenizer"
    )


def _defined(piece: int) -> int | None:
    return int(piece) if piece >= 0 else None
