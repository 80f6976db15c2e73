"""Hugging Face tokenizers (tokenizer.json) behind the tokenizer's interface, by the `tokenizers` package alone."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import xxhash
from numpy.typing import NDArray
from tokenizers import Tokenizer as Library

from glotmill.schemas.errors import RecipeError
from glotmill.schemas.manifest import Kind
from glotmill.tokenize.tokenizer import Encoded, joined, slices

CONFIGS = ("tokenizer_config.json", "special_tokens_map.json")  # the first that names a token decides
# Where no file says it: names that mean the end of a document wherever they occur, in this order.
EOS_NAMES = (
    "</s>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
    "<eos>",
    "<|eos|>",
    "<EOS>",
    "<EOS_TOKEN>",
    "<|eot_id|>",
)
BOS_NAMES = (
    "<s>",
    "<|begin_of_text|>",
    "<|begin\u2581of\u2581sentence|>",
    "<\uff5cbegin\u2581of\u2581sentence\uff5c>",
    "<bos>",
    "<|bos|>",
    "<|startoftext|>",
    "<BOS_TOKEN>",
)


class HuggingFace:
    """A tokenizer.json, and the files beside it that say which token is BOS and which EOS.

    Special tokens written in a text are text (`encode_special_tokens`); added tokens that the file does not call
    special, such as runs of spaces, are part of the vocabulary and are matched. Truncation, padding and the
    post-processor of the file are off.

    Raises:
        RecipeError: the library can't read `path`, or a token is named that the vocabulary lacks.
    """

    kind: Kind = "huggingface"

    def __init__(self, path: Path) -> None:
        # A task has one core; the library would start a thread a core, and warn after a fork. Read at every call.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        content = path.read_bytes()
        try:
            self._library = Library.from_buffer(content)
        except Exception as error:  # the library raises bare Exception
            raise RecipeError(
                f"shards.tokenizer: the tokenizers library can't read {path} ({error}); name a tokenizer.json that it "
                "saved, or a sentencepiece .model"
            ) from error
        self._library.no_truncation()
        self._library.no_padding()
        self._library.encode_special_tokens = True
        self.name = path.parent.name if path.name == "tokenizer.json" else path.name
        configs = [path.parent / name for name in CONFIGS if (path.parent / name).is_file()]
        self.files = {"tokenizer.json": path, **{config.name: config for config in configs}}
        self.vocabulary_size = max(self._library.get_vocab(with_added_tokens=True).values(), default=-1) + 1
        added = self._library.get_added_tokens_decoder()
        self.specials = tuple(token.content for _, token in sorted(added.items()) if token.special)
        self.bos_id = self._resolved("bos_token", configs, BOS_NAMES)
        self.eos_id = self._resolved("eos_token", configs, EOS_NAMES)
        self.fingerprint = xxhash.xxh3_128_hexdigest(content + f"\0{self.bos_id}\0{self.eos_id}".encode())

    def encode_batch(self, texts: pa.StringArray) -> Encoded:
        parts: list[NDArray[np.int32]] = []
        for part in slices(texts):
            encodings = self._library.encode_batch_fast(part.to_pylist(), add_special_tokens=False)
            parts += [np.array(encoding.ids, np.int32) for encoding in encodings]
        return joined(parts)

    def decode(self, ids: NDArray[np.integer]) -> str:
        return self._library.decode(ids.tolist(), skip_special_tokens=False)

    def _resolved(self, role: str, configs: list[Path], names: tuple[str, ...]) -> int | None:
        """The id of a control token: named by a file, or known by its name."""
        for config in configs:
            stated = _json(config)
            if role in stated:
                value = stated[role]
                name = value.get("content") if isinstance(value, dict) else value
                return None if name is None else self._proven(name, config)
        known = next((name for name in names if name in self.specials), None)
        return None if known is None else self._proven(known, self.files["tokenizer.json"])

    def _proven(self, name: str, stated_in: Path) -> int:
        """The id of token `name`, once the tokenizer has shown that it is one token."""
        id = self._library.token_to_id(name)
        if id is None:
            raise RecipeError(
                f"{stated_in} names the token {name!r}, which the tokenizer lacks; its special tokens are: "
                f"{', '.join(self.specials[:20]) or 'none'}. Correct the name in that file"
            )
        self._library.encode_special_tokens = False
        try:
            found = self._library.encode(name, add_special_tokens=False).ids
        finally:
            self._library.encode_special_tokens = True
        if found != [id]:
            raise RecipeError(
                f"{stated_in} names the token {name!r} with id {id}, and the tokenizer encodes it as {found}; "
                "add it as a special token of tokenizer.json, or correct the name"
            )
        self._library.add_special_tokens([name])  # keeps its id; written in a text it is text from now on
        return int(id)


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RecipeError(f"{path} is no JSON ({error}); correct it, or remove it") from error
    if not isinstance(value, dict):
        raise RecipeError(f"{path} holds no JSON object; correct it, or remove it")
    return value
