"""A source: the shards of one or more manifests, one after the other, as a line of tokens."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glotmill.schemas.errors import RecipeError, ShardError
from glotmill.schemas.ids import fingerprint
from glotmill.schemas.manifest import Manifest, ShardEntry
from glotmill.train.reading.shard import REMEDY, Shard
from glotmill.train.reading.stored import REMOTE, Local, Remote, StoreOptions, joined


@dataclass(frozen=True, slots=True)
class Source:
    """What to read.

    Args:
        name: Its cursor is found by this name when a run goes on.
        manifests: Paths of manifest.json, of a disk or s3://bucket/key.
        weight: Share of the tokens, relative to the other sources'; 0 parks it.
        split: Which of the manifests' shards.
    """

    name: str
    manifests: Sequence[str | Path]
    weight: float = 1.0
    split: str = "train"


class Opened:
    """A source whose files are there, with the sizes that its manifests say.

    Args:
        name: Of the source.
        shards: In the order of the manifests; those without tokens are left out.
        starts: int64 [shards + 1], first token of each shard in the line of the source's tokens, their number at last.
        digests: Of each manifest's data: path -> digest of what it says of tokenizer, policies and files.
        policy: What all sources of a blend must agree in.
    """

    def __init__(self, source: Source, stores: "Stores") -> None:
        if not source.manifests:
            raise RecipeError(f"source {source.name} names no manifest; give it one, or leave the source out")
        self.name = source.name
        self.digests: dict[str, str] = {}
        self.policy: dict[str, Any] = {}
        shards: list[Shard] = []
        for path in map(str, source.manifests):
            manifest = _manifest(path, stores.of(path))
            self._agree(manifest, path)
            entries = [e for e in manifest.shards if getattr(e, "split", "train") == source.split]
            self.digests[path] = _digest(manifest, entries)
            shards += _shards(path, manifest, entries, stores.of(path))
        self.shards = tuple(shard for shard in shards if shard.tokens)
        self.starts = np.concatenate(([0], np.cumsum([s.tokens for s in self.shards], dtype=np.int64))).astype(np.int64)
        if not self.tokens:
            raise ShardError(
                f"source {source.name}: {', '.join(self.digests)} hold no token of split {source.split}; leave the "
                "source out, or look into the run that made them"
            )

    @property
    def tokens(self) -> int:
        return int(self.starts[-1])

    def located(self, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> NDArray[np.int64]:
        """Ranges of the line as ranges of shards.

        Returns:
            int64 [pieces, 4]: number of the range, shard, first token in the shard, tokens. Ranges stay in their order.
        """
        first = np.searchsorted(self.starts, starts, "right") - 1
        last = np.searchsorted(self.starts, stops, "left") - 1
        spans = last - first + 1
        number = np.repeat(np.arange(len(starts)), spans)
        shard = first[number] + np.arange(len(number)) - np.repeat(np.cumsum(spans) - spans, spans)
        begin = np.maximum(starts[number], self.starts[shard])
        end = np.minimum(stops[number], self.starts[shard + 1])
        return np.column_stack((number, shard, begin - self.starts[shard], end - begin))

    def _agree(self, manifest: Manifest, path: str) -> None:
        said = policy(manifest, path)
        if self.policy:
            agree(self.policy, said)
        else:
            self.policy = said


class Stores:
    """The local disk and the remote store, one of each for all sources."""

    def __init__(self, options: StoreOptions) -> None:
        self.local, self.remote = Local(), Remote(options)

    def of(self, path: str) -> Local | Remote:
        return self.remote if path.startswith(REMOTE) else self.local


def policy(manifest: Manifest, path: str) -> dict[str, Any]:
    """What shards must agree in to be read together; `manifest` names the file."""
    return {
        "manifest": path,
        "tokenizer": f"{manifest.tokenizer.name} ({manifest.tokenizer.fingerprint})",
        "dtype": manifest.dtype,
        "append_eos": manifest.append_eos,
        "prepend_bos": manifest.prepend_bos,
        "bos_id": manifest.tokenizer.bos_id,
        "eos_id": manifest.tokenizer.eos_id,
    }


def agree(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Raises ShardError where two manifests can't be read together."""
    for what in one:
        if what != "manifest" and one[what] != other[what]:
            raise ShardError(
                f"{one['manifest']} has {what} {one[what]} and {other['manifest']} has {other[what]}; shards of one "
                "blend must agree: make one of them anew with the other's tokenizer and policies, or leave it out"
            )


def _manifest(path: str, store: Local | Remote) -> Manifest:
    if isinstance(store, Local):
        return Manifest.load(Path(path))
    try:
        return Manifest.of_json(store.whole(path), path)
    except FileNotFoundError:
        raise ShardError(f"{path} does not exist; look at the bucket and the key") from None


def _digest(manifest: Manifest, entries: Sequence[ShardEntry]) -> str:
    """Of the data, not of the manifest's bytes: the same files under a newer manifest are the same data."""
    said = policy(manifest, "")
    return fingerprint([said, [_files_digest(entry) for entry in entries]])


def _files_digest(entry: ShardEntry) -> str:
    loss = getattr(entry, "loss", None)
    return fingerprint([entry.bin.xxh3_128, entry.idx.xxh3_128, entry.tokens, loss and loss.xxh3_128])


def _shards(path: str, manifest: Manifest, entries: Sequence[ShardEntry], store: Local | Remote) -> list[Shard]:
    folder = path.rpartition("/")[0] or "."
    prefixes = [joined(folder, entry.bin.path.removesuffix(".bin")) for entry in entries]
    names = [f"{prefix}{end}" for prefix in prefixes for end in (".bin", ".idx", ".loss.bin")]
    sizes = store.sizes(names) if names else []
    itemsize = np.dtype(manifest.dtype).itemsize
    found = []
    for at, (prefix, entry) in enumerate(zip(prefixes, entries, strict=True)):
        binary, index, loss = sizes[3 * at : 3 * at + 3]
        _same(f"{prefix}.bin", binary, entry.bin.bytes, path)
        _same(f"{prefix}.idx", index, entry.idx.bytes, path)
        if loss is not None or getattr(entry, "loss", None) is not None:
            _same(f"{prefix}.loss.bin", loss, entry.tokens, path)
        digest = _files_digest(entry)
        found.append(Shard(prefix, entry.tokens, entry.documents, itemsize, loss is not None, digest, store))
    return found


def _same(path: str, found: int | None, told: int, manifest: str) -> None:
    if found is None:
        raise ShardError(f"{path} does not exist and {manifest} lists it; {REMEDY}")
    if found != told:
        raise ShardError(f"{path} has {found} bytes and {manifest} says {told}; {REMEDY}")


def opened(sources: Iterable[Source], options: StoreOptions) -> dict[str, Opened]:
    """Open all sources of a blend.

    Raises:
        ShardError: a file is absent or has another size than its manifest says, or sources don't fit together.
        RecipeError: two sources have one name.
    """
    stores, found = Stores(options), dict[str, Opened]()
    for source in sources:
        if source.name in found:
            raise RecipeError(f"two sources are called {source.name}; cursors are kept by name: rename one")
        found[source.name] = Opened(source, stores)
    every = list(found.values())
    for other in every[1:]:
        agree(every[0].policy, other.policy)
    return found
