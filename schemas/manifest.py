"""shards/manifest.json: what the shards are, so that none can be silently wrong."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from glotmill.schemas.errors import ShardError
from glotmill.schemas.ids import canonical_json

MANIFEST = "manifest.json"

Kind = Literal["sentencepiece", "huggingface"]


class _Part(BaseModel):
    """Unknown keys are errors: a reader that doesn't know a key can't honour it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TokenizerEntry(_Part):
    """Which tokenizer made the tokens."""

    name: str
    kind: Kind
    path: str = Field(description="folder of the copied tokenizer, relative to the manifest")
    fingerprint: str
    vocabulary_size: int = Field(gt=0, description="one more than the largest id, added tokens included")
    bos_id: int | None
    eos_id: int | None


class FileEntry(_Part):
    """One file beside the manifest."""

    path: str = Field(description="relative to the manifest")
    bytes: int
    xxh3_128: str


class ShardEntry(_Part):
    """One shard: three files."""

    name: str
    documents: int = Field(description="rows of the .idx; a document used twice counts twice")
    tokens: int
    bin: FileEntry
    idx: FileEntry
    provenance: FileEntry

    def files(self) -> tuple[FileEntry, FileEntry, FileEntry]:
        return self.bin, self.idx, self.provenance


class Totals(_Part):
    shards: int
    documents: int
    tokens: int


class Manifest(_Part):
    """The shards of one run. Holds no time and no path outside its folder: equal runs give equal bytes."""

    format: Literal["glotmill-shards"] = "glotmill-shards"
    version: Literal[1] = 1
    recipe: str
    recipe_fingerprint: str
    glotmill_version: str
    seed: int
    tokenizer: TokenizerEntry
    dtype: str = Field(pattern="^(uint16|int32)$")
    append_eos: bool
    prepend_bos: bool
    shards: tuple[ShardEntry, ...] = Field(strict=False)
    totals: Totals
    tokens_by_cell: dict[str, int]
    tokens_by_language: dict[str, int]
    tokens_by_domain: dict[str, int]
    tokens_by_source: dict[str, int]
    data_path: str = Field(description="for Megatron's --data-path, run in the manifest's folder: weight prefix ...")

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read and check a manifest.

        Raises:
            ShardError: it is absent, no JSON, of another format or version, or its sums don't add up.
        """
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise ShardError(f"{path} does not exist; run the recipe again: shard writes it last") from None
        return cls.of_json(content, path)

    @classmethod
    def of_json(cls, content: bytes, path: Path | str) -> Self:
        """Check the content of a manifest; `path` is for messages.

        Raises:
            ShardError: as `load`, but for its absence.
        """
        try:
            manifest = cls.model_validate_json(content)
        except ValidationError as error:
            problems = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'whole file'}: {e['msg']}" for e in error.errors())
            raise ShardError(f"{path}: {problems}; delete it and run the recipe again") from error
        for problem in manifest.contradictions():
            raise ShardError(f"{path}: {problem}; delete it and run the recipe again")
        return manifest

    def to_json(self) -> bytes:
        """Sorted keys, so that equal manifests are equal bytes."""
        return canonical_json(self.model_dump()) + b"\n"

    def contradictions(self) -> Iterable[str]:
        """Sums that do not add up."""
        tokens = sum(shard.tokens for shard in self.shards)
        documents = sum(shard.documents for shard in self.shards)
        if self.totals != Totals(shards=len(self.shards), documents=documents, tokens=tokens):
            yield f"totals are {self.totals} and the shards add up to {documents} documents and {tokens} tokens"
        for name in ("cell", "language", "domain", "source"):
            counted = sum(getattr(self, f"tokens_by_{name}").values())
            if counted != tokens:
                yield f"tokens_by_{name} adds up to {counted} and the shards to {tokens}"


def data_path(shards: Iterable[ShardEntry]) -> str:
    """Megatron's `--data-path`: weight and prefix of every shard that holds tokens, weights by tokens.

    >>> data_path([])
    ''
    """
    return " ".join(f"{shard.tokens} {shard.bin.path.removesuffix('.bin')}" for shard in shards if shard.tokens)
