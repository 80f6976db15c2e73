"""The folder of an index: index.json says what it holds; what it doesn't name is nothing yet, or nothing any more.

    DIR/index.json                                     format, parameters, generations
    DIR/generations/<folder>/signatures/<unit>.parquet entries: who they are, their text's hash, their signature
    DIR/generations/<folder>/bands/band=NN/NNNN.parquet key, entry: which entries have a band's key, sorted by key
    DIR/lock, DIR/in_use                               held by who writes index.json, and by who reads what it names

A generation is what one output folder added. Its files are never changed: they are written into a new folder, then
index.json is replaced, which names that folder instead of an older one.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from glotmill.schemas.atomic import TEMPORARY, write_atomic
from glotmill.schemas.errors import InputError
from glotmill.schemas.ids import fingerprint

FORMAT = 1
INDEX, GENERATIONS, LOCK, IN_USE = "index.json", "generations", "lock", "in_use"


@dataclass(frozen=True, slots=True)
class Generation:
    """What one output folder added.

    Args:
        name: For people: the recipe's name and the beginning of `run`.
        run: Identity of the output folder.
        content: Digest of the results it was made from.
        against: Name and digest of each generation that it was compared with.
        folder: Below DIR/generations.
        entries: Documents.
        files: Names of its files of signatures, without suffix; an entry is a file's place here and a row.
        chunks: Files that each band is cut into, by key; a power of two.
        removed: Documents that were taken out since.
    """

    name: str
    run: str
    content: str
    against: tuple[tuple[str, str], ...]
    folder: str
    entries: int
    files: tuple[str, ...]
    chunks: int
    removed: int = 0

    @property
    def digest(self) -> str:
        """Of what it holds: other runs' results depend on it."""
        return fingerprint([self.content, self.folder if self.removed else ""])


@dataclass(frozen=True, slots=True)
class Index:
    """What index.json says.

    Args:
        folder: DIR.
        parameters: What makes entries comparable; see parameters.py. None before the first generation.
    """

    folder: Path
    parameters: Mapping[str, Any] | None = None
    generations: tuple[Generation, ...] = ()

    def of(self, run: str) -> Generation | None:
        """What an output folder added."""
        return next((found for found in self.generations if found.run == run), None)

    def others(self, run: str) -> tuple[Generation, ...]:
        return tuple(found for found in self.generations if found.run != run)

    def known(self, wanted: Iterable[tuple[str, str]]) -> tuple[Generation, ...] | None:
        """The generations with some names and digests; None if one of them is gone or another by now."""
        here = {(found.name, found.digest): found for found in self.generations}
        found = [here.get(pair) for pair in wanted]
        return None if None in found else tuple(one for one in found if one is not None)

    def path(self, generation: Generation) -> Path:
        return path_of(self.folder, generation)


def path_of(folder: Path, generation: Generation) -> Path:
    """The folder of a generation's files."""
    return folder / GENERATIONS / generation.folder


def pairs(generations: Iterable[Generation]) -> tuple[tuple[str, str], ...]:
    """Name and digest of each, as `Generation.against` holds them."""
    return tuple(sorted((found.name, found.digest) for found in generations))


def read_index(folder: Path) -> Index:
    """What DIR/index.json says; an index without parameters where there is nothing yet.

    Raises:
        InputError: It is damaged, of another format, or the folder holds other things.
    """
    path = folder / INDEX
    try:
        told = json.loads(path.read_bytes())
        format = told["format"]
        if format != FORMAT:
            raise InputError(
                f"{path} has format {format}, and this version of glotmill reads format {FORMAT}: use the version that "
                "wrote it, or begin another index in an empty folder"
            )
        made = [
            {**of, "files": tuple(of["files"]), "against": tuple((name, digest) for name, digest in of["against"])}
            for of in told["generations"]
        ]
        return Index(folder, told["parameters"], tuple(Generation(**of) for of in made))
    except (FileNotFoundError, NotADirectoryError):
        _check_free(folder)
        return Index(folder)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is no index, or it is damaged ({error}): restore it from a copy") from None


def _check_free(folder: Path) -> None:
    """A first run may have been killed before it wrote index.json; anything else is somebody's folder."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder} is a file, and an index is a folder: name another one")
    ours = {GENERATIONS, LOCK, IN_USE}
    others = [path.name for path in folder.iterdir() if path.name not in ours and not path.name.endswith(TEMPORARY)]
    if others:
        raise InputError(f"{folder} holds {min(others)!r} and no {INDEX}: name the folder of an index, or an empty one")


def write_index(index: Index) -> None:
    """Replace index.json, in one act; call it with `locks.changing` held."""
    told = {
        "format": FORMAT,
        "parameters": index.parameters,
        "generations": [asdict(generation) for generation in index.generations],
    }
    write_atomic(index.folder / INDEX, json.dumps(told, ensure_ascii=False, indent=1).encode())


def with_generation(index: Index, made: Generation, parameters: Mapping[str, Any]) -> Index:
    """The index with a generation in the place of its output folder's last one, or behind all others."""
    replaced = [made if found.run == made.run else found for found in index.generations]
    generations = tuple(replaced) if index.of(made.run) else (*replaced, made)
    return replace(index, parameters=parameters, generations=generations)
