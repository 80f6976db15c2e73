"""Which code makes a result: the sources a module reaches, so that a change elsewhere redoes nothing."""

import ast
from collections.abc import Iterable
from functools import cache
from importlib import import_module, metadata, resources
from importlib.util import find_spec

import xxhash

PACKAGE = "glotmill"


@cache
def code_version(modules: tuple[str, ...], distributions: tuple[str, ...] = (), data: tuple[str, ...] = ()) -> str:
    """32 hex digits that change when a result may.

    Args:
        modules: Where the work starts; every glotmill module they import, directly or not, counts.
        distributions: Installed packages whose version decides the result, such as an extractor.
        data: Package data files, as "glotmill.curate:data/model.bin".
    """
    state = xxhash.xxh3_128()
    for name, source in sorted(_reached(modules).items()):
        state.update(f"{name}\0{source}\0".encode())
    for distribution in sorted(distributions):
        state.update(f"{distribution}=={metadata.version(distribution)}\0".encode())
    for item in sorted(data):
        package, _, path = item.partition(":")
        state.update(item.encode() + resources.files(import_module(package)).joinpath(path).read_bytes())
    return state.hexdigest()


def _reached(modules: Iterable[str]) -> dict[str, str]:
    """Source by name of every glotmill module that `modules` import, themselves included."""
    found: dict[str, str] = {}
    todo = list(modules)
    while todo:
        name = todo.pop()
        if name in found or (source := _source(name)) is None:
            continue
        found[name] = source
        todo.extend(_imports(source))
    return found


def _source(name: str) -> str | None:
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:  # `from glotmill.a import b`, where b is no module
        return None
    loader = spec.loader if spec else None
    return loader.get_source(name) if loader is not None and hasattr(loader, "get_source") else None


def _imports(source: str) -> Iterable[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith(f"{PACKAGE}."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield node.module or PACKAGE
