"""Texts that someone judged good or bad, read from files and laid down as lines, so that they needn't fit in memory."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from glotmill.curate.extract.files import format_of
from glotmill.curate.extract.jsonl import BadRecordError, at, parsed
from glotmill.curate.extract.lines import Line, blocks, lines
from glotmill.curate.extract.parquet import column_type, is_text
from glotmill.curate.language import language
from glotmill.curate.trained.classifier import MAX_CHARS, UNITS, as_lines
from glotmill.schemas.errors import InputError
from glotmill.schemas.languages import parse_language

_LINE_BYTES = 64 << 20  # of one JSON line
_BATCH_CHARS = 8 << 20
_BOM = b"\xef\xbb\xbf"
_NO_TEXT = (bool, int, float, list, dict)
_REMEDY = "correct the row, or take it out"

Record = tuple[int, dict[str, Any]]  # row, counted from 1, and its fields


@dataclass(frozen=True, slots=True)
class LabelledTexts:
    """n texts as lines in one file, in the order in which they were read.

    Args:
        path: Bytes of line i are offsets[i] to offsets[i + 1]; no separators.
        offsets: int64 (n + 1).
        hashes: uint64 (n), of the line and the seed.
        is_positive: bool (n).
        languages: Names such as tha_Thai, n of them.
        empty: Texts without a visible character, which were left out.
    """

    path: Path
    offsets: npt.NDArray[np.int64]
    hashes: npt.NDArray[np.uint64]
    is_positive: npt.NDArray[np.bool_]
    languages: npt.NDArray[np.str_]
    empty: int


def read_labelled(
    positive: Sequence[Path],
    negative: Sequence[Path],
    to: Path,
    *,
    text_column: str,
    language_column: str | None,
    seed: int,
) -> LabelledTexts:
    """Read both sets and write their lines, as `as_lines` makes them, to the new file `to`.

    Args:
        positive, negative: JSONL (plain, gzip, zstd, bzip2, lz4) and Parquet files, or folders of them.
        text_column: Key or column of the text; a dot descends.
        language_column: Of its language, as any name of it; where it is null or absent, and where this is None, the
            language is identified.

    Raises:
        InputError: a file can't be read, a row lacks its text or names no language, one file is on both sides, or a
            side is empty; it names file, row and remedy.
    """
    sides = ((_files(positive, "positive"), True), (_files(negative, "negative"), False))
    both = {os.path.realpath(path) for path in sides[0][0]} & {os.path.realpath(path) for path in sides[1][0]}
    if both:
        raise InputError(f"{min(both)} is given as positive and as negative; take it out of one of them")
    rows = _Rows()
    has_language = False
    with to.open("wb") as out:
        for paths, is_positive in sides:
            before = len(rows.hashes)
            for texts, told in _batches(paths, text_column, language_column):
                has_language |= any(told)
                rows.add(texts, told, is_positive, out, seed)
            if len(rows.hashes) == before:
                side = "positive" if is_positive else "negative"
                names = ", ".join(map(str, paths))
                raise InputError(f"the {side} set holds no text: {names}; give files with texts to --{side}")
    if language_column not in (None, "language") and not has_language:
        raise InputError(f"no row has a language in {language_column!r}; correct --language-column, or leave it out")
    return LabelledTexts(
        to,
        np.array(rows.ends, np.int64),
        np.array(rows.hashes, np.uint64),
        np.array(rows.positives, np.bool_),
        np.array(rows.languages, np.str_),
        rows.empty,
    )


class _Rows:
    """What is kept of each text in memory, while its line goes to a file."""

    def __init__(self) -> None:
        self.ends = [0]
        self.hashes: list[int] = []
        self.positives: list[bool] = []
        self.languages: list[str] = []
        self.empty = 0

    def add(self, texts: Any, told: list[str | None], is_positive: bool, out: BinaryIO, seed: int) -> None:
        found = as_lines(texts, normalisation=UNITS, max_chars=MAX_CHARS).cast(pa.binary()).to_pylist()
        for line, name in zip(found, _languages(texts, told), strict=True):
            if not line:
                self.empty += 1
                continue
            out.write(line)
            self.ends.append(self.ends[-1] + len(line))
            self.hashes.append(xxhash.xxh3_64_intdigest(line, seed))
            self.positives.append(is_positive)
            self.languages.append(name)


def _files(given: Sequence[Path], side: str) -> list[Path]:
    """The files that are meant: those given, and the JSONL and Parquet files below the folders given, by name.

    Raises:
        InputError: one is absent, or of a kind that isn't read; a folder holds none.
    """
    found: list[Path] = []
    for path in given:
        if path.is_dir():
            below = [f for f in sorted(path.rglob("*")) if f.is_file() and not f.name.startswith((".", "_"))]
            meant = [file for file in below if format_of(file.name) in ("jsonl", "parquet")]
            if not meant:
                raise InputError(f"--{side}: folder {path} holds no JSONL or Parquet files; put some in, or correct it")
            found += meant
        elif not path.exists():
            raise InputError(f"--{side}: {path} does not exist; correct the path")
        elif format_of(path.name) not in ("jsonl", "parquet"):
            raise InputError(
                f"--{side}: {path} is neither JSONL nor Parquet by its name; give .jsonl, .jsonl.gz, .jsonl.zst or "
                ".parquet"
            )
        else:
            found.append(path)
    if not found:
        raise InputError(f"--{side} names no file; give at least one")
    return found


def _batches(
    paths: Sequence[Path], text_column: str, language_column: str | None
) -> Iterator[tuple[Any, list[str | None]]]:
    """String arrays and the languages that are told of them, of about `_BATCH_CHARS` read characters."""
    texts: list[str] = []
    told: list[str | None] = []
    size = 0
    for path in paths:
        for row, record in _records(path, text_column, language_column):
            text = _text(path, row, record, text_column)
            texts.append(text)
            told.append(_told(path, row, record, language_column) if language_column else None)
            size += len(text)
            if size >= _BATCH_CHARS:
                yield pa.array(texts, pa.string()), told
                texts, told, size = [], [], 0
    if texts:
        yield pa.array(texts, pa.string()), told


def _records(path: Path, text_column: str, language_column: str | None) -> Iterator[Record]:
    try:
        if format_of(path.name) == "parquet":
            yield from _parquet_records(path, text_column, language_column)
        else:
            yield from _jsonl_records(path)
    except (OSError, pa.ArrowException) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{path} can't be read ({reason}): repair it, or leave it out") from error


def _jsonl_records(path: Path) -> Iterator[Record]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        row = 0
        for item in lines(blocks(descriptor, os.pread(descriptor, 64, 0), 0), 0, limit=_LINE_BYTES):
            row += 1
            if not isinstance(item, Line) or not item.whole:
                problem = f": {item.error}, at byte {item.offset}" if not isinstance(item, Line) else ""
                raise InputError(f"{path} is damaged in row {row}{problem}; repair it, or leave it out")
            data = item.data.removeprefix(_BOM)
            if not data.strip():
                continue
            if item.size > _LINE_BYTES:
                raise InputError(
                    f"{path}, row {row}: a line of {item.size} bytes, and {_LINE_BYTES} is the most; cut it"
                )
            try:
                value = parsed(data)
            except BadRecordError as bad:
                raise InputError(f"{path}, row {row} is no JSON ({bad}); {_REMEDY}") from None
            if not isinstance(value, dict):
                raise InputError(f"{path}, row {row} is {type(value).__name__}, and an object is wanted; {_REMEDY}")
            yield row, value
    finally:
        os.close(descriptor)


def _parquet_records(path: Path, text_column: str, language_column: str | None) -> Iterator[Record]:
    with pq.ParquetFile(path) as file:
        schema = file.schema_arrow
        kind = column_type(schema, text_column)
        if kind is None:
            raise InputError(_no_column(str(path), text_column, schema.names))
        if not is_text(kind):
            raise InputError(f"{path}: column {text_column!r} is {kind}, and text is wanted; set --text-column")
        wanted = [name for name in (text_column, language_column) if name and column_type(schema, name) is not None]
        row = 0
        for batch in file.iter_batches(batch_size=512, columns=wanted):
            for value in batch.to_pylist():
                row += 1
                yield row, value


def _no_column(where: str, column: str, names: Sequence[str]) -> str:
    near = get_close_matches(column, names, 1)
    hint = f"did you mean --text-column {near[0]}?" if near else "set --text-column to the one that holds the text"
    return f"{where} has no {column!r}; it has {', '.join(map(repr, names[:10])) or 'nothing'}: {hint}"


def _text(path: Path, row: int, record: dict[str, Any], column: str) -> str:
    text = at(record, column)
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if text is None or isinstance(text, _NO_TEXT):
        found = "null" if text is None else type(text).__name__
        raise InputError(f"{path}, row {row}: {column!r} is {found}, and text is wanted; {_REMEDY}")
    if not isinstance(text, str):  # the marker of `at`
        raise InputError(_no_column(f"{path}, row {row}", column, list(record)))
    if not text.isascii():
        return text.encode("utf-8", "replace").decode()  # a lone surrogate, which JSON can write, is no character
    return text


def _told(path: Path, row: int, record: dict[str, Any], column: str) -> str | None:
    name = at(record, column)
    if not isinstance(name, str) or not name.strip():
        return None
    try:
        return parse_language(name)
    except ValueError as error:
        raise InputError(f"{path}, row {row}: {column!r} is no language: {error}; or leave it empty") from None


def _languages(texts: Any, told: list[str | None]) -> list[str]:
    """What was told, and where nothing was, what the default model says."""
    open_places = [index for index, name in enumerate(told) if name is None]
    if open_places:
        batch = pa.RecordBatch.from_arrays([texts.take(pa.array(open_places))], ["text"])
        for index, name in zip(open_places, language(batch)["language"].to_pylist(), strict=True):
            told[index] = name
    return [name for name in told if name is not None]
