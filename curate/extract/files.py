"""Which files a source names, and how they are cut into units of work."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import xxhash

from glotmill.curate.extract.intake import printable_name
from glotmill.curate.extract.members import GZIP, codec_of
from glotmill.curate.extract.parquet import check_columns, row_groups
from glotmill.curate.extract.split import Split
from glotmill.schemas.errors import InputError
from glotmill.schemas.ids import canonical_json
from glotmill.schemas.recipe import Source
from glotmill.schemas.units import Unit

_MAX_FILES = 4096  # of a unit
_COMPRESSED = {".gz", ".zst", ".bz2", ".lz4", ".zstd"}
_WARC = {".warc", ".arc", ".wet", ".wat", ".wacz"}
_JSONL = {".jsonl", ".ndjson", ".json"}
_HTML = {".html", ".htm", ".xhtml"}
_TEXT = {".txt", ".text", ".md", ".markdown", ".rst", ".adoc", ".org", ".tex"} | {
    f".{suffix}"
    for suffix in (
        "py pyi ipynb c h cc cpp cxx hh hpp hxx cs java kt kts scala go rs rb php pl pm lua js mjs cjs ts tsx jsx vue "
        "swift m mm r jl hs ml mli fs clj cljs ex exs erl elm dart zig nim d pas f f90 f95 for ada adb ads asm s sql "
        "bash zsh fish ps1 bat cmd cmake mk css scss less xml yaml yml toml ini cfg proto thrift graphql tf v sv vhd "
        "vhdl lisp el scm rkt groovy gradle tcl cu cuh cl glsl hlsl sol sh"
    ).split()
}
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file. `name` is its path below the root, with slashes."""

    path: Path
    name: str
    size: int
    mtime_ns: int
    format: str


@dataclass(frozen=True, slots=True)
class Found:
    """The files of a source, sorted by name, and the folder that their names are relative to."""

    root: Path
    files: tuple[InputFile, ...]


def find(source: Source, base: Path) -> Found:
    """The files that `source.path` names, relative to `base`.

    Raises:
        InputError: nothing is there, something can't be read or told, or a Parquet file lacks a mapped column.
    """
    patterns = [source.path] if isinstance(source.path, str) else list(source.path)
    if not patterns:
        raise InputError(f"source {source.name!r} names no path; give it a file, a folder or a glob")
    matched: dict[Path, Path] = {}
    roots = []
    for pattern in patterns:
        root, paths = _matches(source, pattern, base)
        roots.append(root)
        matched.update(dict.fromkeys(paths, root))
    root = Path(os.path.commonpath([str(r) for r in roots]))
    files = sorted((_input(source, path, root) for path in matched), key=lambda file: os.fsencode(file.name))
    _check_names(source, files)
    for file in files:
        if file.format == "parquet":
            check_columns(file.path, source.columns)
    return Found(root, tuple(files))


def _matches(source: Source, pattern: str, base: Path) -> tuple[Path, list[Path]]:
    """The folder that one pattern's names are relative to, and the files it matches."""
    whole = Path(os.path.abspath(base / os.path.expanduser(pattern)))
    if whole.is_dir():
        paths = _below(whole)
        if not paths:
            raise InputError(
                f"source {source.name!r}: folder {whole} holds no files; put some in, or correct path: {pattern!r}"
            )
        return whole, [path for path in paths if _is_meant(source, path)]
    if whole.exists():
        return whole.parent, [whole]
    if not _GLOB.search(pattern):
        if whole.parent.is_dir() and not os.access(whole.parent, os.X_OK):
            raise InputError(
                f"source {source.name!r}: {whole.parent} may not be entered; allow it, or correct path: {pattern!r}"
            )
        raise InputError(f"source {source.name!r}: {whole} does not exist; correct path: {pattern!r}")
    fixed = list(_until_glob(whole.parts))
    root = Path(*fixed)
    if not root.is_dir():
        raise InputError(f"source {source.name!r}: folder {root} does not exist; correct path: {pattern!r}")
    paths = _globbed(root, "/".join(whole.parts[len(fixed) :]))
    if not paths:
        raise InputError(f"source {source.name!r}: {pattern!r} matches no file below {root}; correct path")
    return root, paths


def _until_glob(parts: Sequence[str]) -> Iterable[str]:
    for part in parts:
        if _GLOB.search(part):
            return
        yield part


def _globbed(root: Path, pattern: str) -> list[Path]:
    """Files that match; a folder that matches gives the files below it."""
    paths: list[Path] = []
    for path in root.glob(pattern):
        if any(part.startswith(".") for part in path.relative_to(root).parts):
            continue
        paths.extend(_below(path) if path.is_dir() else [path])
    return paths


def _below(folder: Path) -> list[Path]:
    """Every file below a folder but hidden ones and those that Spark ignores: names that start with . or _."""
    if not os.access(folder, os.R_OK | os.X_OK):
        raise InputError(f"folder {folder} may not be read; allow it (chmod u+rx), or name the files you mean")
    paths: list[Path] = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: os.fsencode(entry.name)):
            if entry.name.startswith((".", "_")):
                continue
            path = Path(entry.path)
            if entry.is_dir():
                paths.extend(_below(path) if not entry.is_symlink() or not _is_loop(path) else [])
            else:
                paths.append(path)
    return paths


def _is_loop(path: Path) -> bool:
    return os.path.realpath(path) in {str(parent) for parent in Path(os.path.realpath(path.parent)).parents} | {
        os.path.realpath(path.parent)
    }


def _is_meant(source: Source, path: Path) -> bool:
    return not path.name.startswith((".", "_"))


def _input(source: Source, path: Path, root: Path) -> InputFile:
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"source {source.name!r}: {path}: {error.strerror}; repair or remove it") from None
    if not os.access(path, os.R_OK):
        raise InputError(
            f"source {source.name!r}: {path} may not be read; allow it (chmod u+r), or leave it out of path"
        )
    name = path.relative_to(root).as_posix()
    format = source.format if source.format != "auto" else format_of(path.name)
    return InputFile(path, name, found.st_size, found.st_mtime_ns, format or "")


def format_of(name: str) -> str | None:
    """What a file holds, by its name; None when the name doesn't tell.

    >>> format_of("a.warc.gz"), format_of("b.JSONL.zst"), format_of("c.rs"), format_of("d.png")
    ('warc', 'jsonl', 'text', None)
    """
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    known = (("warc", _WARC), ("jsonl", _JSONL), ("parquet", {".parquet"}), ("html", _HTML), ("text", _TEXT))
    return next((format for format, names in known if last in names), None)


def _check_names(source: Source, files: list[InputFile]) -> None:
    unknown = [file.name for file in files if not file.format]
    if unknown:
        some = ", ".join(map(repr, map(printable_name, unknown[:5])))
        raise InputError(
            f"source {source.name!r}: {len(unknown)} of {len(files)} files are of a kind that their names don't tell, "
            f"such as {some}. Set format: of this source, or name the files you mean with a glob"
        )
    seen: dict[str, InputFile] = {}
    for file in files:
        name = printable_name(file.name)
        if name in seen:
            raise InputError(
                f"source {source.name!r}: {seen[name].path} and {file.path} are both called {name!r}; rename one"
            )
        seen[name] = file


def units(source: Source, found: Found, unit_bytes: int) -> list[Unit]:
    """Units of about `unit_bytes`: large files are split where their format allows, small ones grouped.

    A group ends where a hash of the name says so, so that a file more or less changes its own group only.
    """
    made: list[Unit] = []
    group: list[Split] = []
    size = 0
    for file in found.files:
        splits = _splits(file, unit_bytes)
        if len(splits) > 1 or file.size >= unit_bytes:
            made.extend(_unit(source, [split]) for split in splits)
            continue
        group.extend(splits)
        size += file.size
        if size >= 2 * unit_bytes or len(group) >= _MAX_FILES or _is_last(file, unit_bytes):
            made.append(_unit(source, group))
            group, size = [], 0
    return made + ([_unit(source, group)] if group else [])


def _is_last(file: InputFile, unit_bytes: int) -> bool:
    """True for about one in as many files of this size as fill a unit."""
    share = max((file.size + 1) / unit_bytes, 1 / _MAX_FILES * 2)
    return xxhash.xxh3_64_intdigest(os.fsencode(file.name)) < share * 2**64


def _unit(source: Source, splits: list[Split]) -> Unit:
    rows = [list(split) for split in splits]
    key = xxhash.xxh3_64_hexdigest(canonical_json([source.name, rows]))
    names = [printable_name(split.name) for split in (splits[0], splits[-1])]
    label = names[0] if len(splits) == 1 else f"{names[0]} … {names[1]} ({len(splits)} files)"
    payload = {"source": source.model_dump(mode="json", exclude={"path"}), "splits": rows}
    return Unit("extract", key, label, payload)


def _splits(file: InputFile, unit_bytes: int) -> list[Split]:
    if file.format == "parquet":
        return [Split(file.name, "parquet", start, end) for start, end in _row_ranges(file, unit_bytes)]
    pieces = max(1, round(file.size / unit_bytes)) if _can_split(file) else 1
    cuts = [*range(0, pieces * unit_bytes, unit_bytes), max(file.size, 1)]
    return [Split(file.name, file.format, start, end) for start, end in zip(cuts, cuts[1:], strict=False)]


def _row_ranges(file: InputFile, unit_bytes: int) -> list[tuple[int, int]]:
    ranges, start, size = [], 0, 0
    groups = row_groups(file.path)
    for group, length in enumerate(groups):
        size += length
        if size >= unit_bytes:
            ranges.append((start, group + 1))
            start, size = group + 1, 0
    if start < len(groups) or not ranges:
        ranges.append((start, max(len(groups), 1)))
    return ranges


def _can_split(file: InputFile) -> bool:
    if file.format not in ("warc", "jsonl") or file.size == 0:
        return False
    try:
        with file.path.open("rb") as opened:
            codec = codec_of(opened.read(64))
    except OSError as error:
        raise InputError(f"{file.path}: {error.strerror}; check that it exists and may be read") from None
    return codec is None or (codec is GZIP and file.format == "warc")
