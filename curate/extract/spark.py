"""WARC archives as a Spark data source: `register(spark)`, then `spark.read.format("warc").load("crawl/*.warc.gz")`.

Options:
    content      "text" (default): the page's main content in column `text`. "body": bytes as served, chunks and content
                 coding undone, in column `body`.
    types        record types that are read, by default "response,conversion,resource".
    media_types  media types that are given, by default "text/html,application/xhtml+xml,text/plain".
    extractor    "resiliparse" (default) or "trafilatura".
    max_record_bytes, timeout_seconds, split_bytes   numbers, as in a recipe's `extract`.

What could not be read is a row with `reason` and `error`, its `text` and `body` null.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from glotmill.curate.extract.files import find, units
from glotmill.curate.extract.intake import Fields, Intake, printable_name
from glotmill.curate.extract.pages import Pages
from glotmill.curate.extract.split import Split, opened
from glotmill.curate.extract.warc import DOCUMENT_TYPES, TEXT_TYPES, read_warc
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.reasons import Quarantined
from glotmill.schemas.recipe import Extract, Source

_STATED = ("record", "url", "date", "title", "media_type", "charset", "language_hint")
SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in _STATED),
        pa.field("charset_guessed", pa.bool_()),
        pa.field("text", pa.string()),
        pa.field("body", pa.binary()),
        pa.field("reason", pa.string()),
        pa.field("error", pa.string()),
    ]
)
_DDL = {pa.string(): "string", pa.bool_(): "boolean", pa.binary(): "binary"}
_SOURCE = "warc"


def register(spark: SparkSession) -> None:
    """Make the format "warc" known to a session."""
    spark.dataSource.register(WarcDataSource)


class WarcDataSource(DataSource):
    """The format "warc"."""

    @classmethod
    def name(cls) -> str:
        return "warc"

    def schema(self) -> str:
        return ", ".join(f"{column.name} {_DDL[column.type]}" for column in SCHEMA)

    def reader(self, schema: StructType) -> DataSourceReader:
        return WarcReader(_settings(dict(self.options)))


class Stretch(InputPartition):
    """A file or part of one: what a task reads."""

    def __init__(self, root: str, split: Split) -> None:
        super().__init__(None)
        self.root, self.split = root, split


@dataclass(frozen=True, slots=True)
class _Settings:
    path: str
    content: str
    types: tuple[str, ...]
    media_types: frozenset[str]
    extract: Extract


class WarcReader(DataSourceReader):
    """One task a file, several for a large one that can be split."""

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    def partitions(self) -> list[InputPartition]:
        settings = self._settings
        source = Source(name=_SOURCE, path=settings.path, format="warc")
        found = find(source, Path.cwd())
        split_bytes = settings.extract.unit_bytes
        splits = [Split(*split) for unit in units(source, found, split_bytes) for split in unit.payload["splits"]]
        return [Stretch(str(found.root), split) for split in splits]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Stretch)
        settings, split = self._settings, partition.split
        intake = Intake(Source(name=_SOURCE, path="."))
        bodies = settings.content == "body"
        pages = Bodies(settings.extract) if bodies else Pages(settings.extract)
        with opened(Path(partition.root), split, printable_name(split.name)) as file:
            if file.size == 0:
                intake.begin()
                intake.quarantine(f"{file.name}@0", Quarantined.EMPTY_FILE, "the file holds 0 bytes")
            else:
                for _ in read_warc(file, intake, pages, types=settings.types):
                    if intake.is_full():
                        yield _rows(intake.cut(), pages, settings.media_types)
        yield _rows(intake.cut(), pages, settings.media_types)
        yield _refused(intake.quarantined())


@dataclass(frozen=True, slots=True)
class Bodies(Pages):
    """Keeps bodies as they are instead of extracting their text."""

    held: list[bytes] = field(default_factory=list)

    def take(
        self,
        record: str,
        body: bytes,
        fields: Fields,
        intake: Intake,
        *,
        charset: str | None = None,
        default: str | None = None,
    ) -> None:
        if not self.fits(record, body, intake):
            return
        self.held.append(body)
        stated = Fields(url=fields.url, date=fields.date, media_type=fields.media_type, charset=charset or default)
        intake.keep(record, "", stated)


def _rows(batch: pa.RecordBatch, pages: Pages, media_types: frozenset[str]) -> pa.RecordBatch:
    columns = {name: batch[name] for name in (*_STATED, "charset_guessed", "text")}
    if isinstance(pages, Bodies):
        columns["body"] = pa.array(pages.held, pa.binary())
        columns["text"] = pa.nulls(batch.num_rows, pa.string())
        pages.held.clear()
    rows = _batch(columns, batch.num_rows)
    return rows.filter(pa.array([kind in media_types for kind in batch["media_type"].to_pylist()], pa.bool_()))


def _refused(batch: pa.RecordBatch) -> pa.RecordBatch:
    return _batch({name: batch[name] for name in ("record", "reason", "error")}, batch.num_rows)


def _batch(columns: dict[str, pa.Array], rows: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([columns.get(f.name, pa.nulls(rows, f.type)) for f in SCHEMA], schema=SCHEMA)


def _settings(options: dict[str, str]) -> _Settings:
    """Raises RecipeError for an option that doesn't exist or has no such value."""
    known = {
        "path",
        "content",
        "types",
        "media_types",
        "extractor",
        "max_record_bytes",
        "timeout_seconds",
        "split_bytes",
    }
    options = {name.lower(): value for name, value in options.items()}
    for name in options:
        if name not in known:
            raise RecipeError(f"the warc format has no option {name!r}; it has: {', '.join(sorted(known))}")
    if not options.get("path"):
        raise RecipeError("the warc format needs a path: spark.read.format('warc').load('crawl/*.warc.gz')")
    content = options.get("content", "text")
    if content not in ("text", "body"):
        raise RecipeError(f"content is {content!r}; set it to 'text' or 'body'")
    numbers: dict[str, Any] = {"extractor": options.get("extractor", "resiliparse")}
    for option, key, kind in (
        ("max_record_bytes", "max_record_bytes", int),
        ("timeout_seconds", "timeout_seconds", float),
        ("split_bytes", "unit_bytes", int),
    ):
        if option in options:
            numbers[key] = _number(option, options[option], kind)
    try:
        extract = Extract(**numbers)
    except ValueError as error:
        raise RecipeError(f"an option of the warc format is out of range: {error}. Correct it") from None
    return _Settings(
        options["path"],
        content,
        _listed(options.get("types")) or DOCUMENT_TYPES,
        frozenset(_listed(options.get("media_types")) or TEXT_TYPES),
        extract,
    )


def _number(option: str, value: str, kind: type) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise RecipeError(f"option {option!r} is {value!r}; write a number") from None


def _listed(value: str | None) -> tuple[str, ...]:
    return tuple(item.strip().lower() for item in value.split(",") if item.strip()) if value else ()
