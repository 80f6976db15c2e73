"""Documents of files that a user names on the command line, read as a run reads its sources."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from glotmill.curate.extract import files
from glotmill.curate.extract.unit import read_unit
from glotmill.schemas.errors import InputError
from glotmill.schemas.recipe import Columns, Extract, Source

_NAME = "reference"


@dataclass(slots=True)
class Reference:
    """Texts in whatever format a source may have.

    Args:
        paths: Files, folders or globs.
        text, language: The columns or keys that hold the text and, if any, its language.
        refused: Records that were quarantined: where each lies and what is wrong with it.
    """

    paths: Sequence[str]
    text: str = "text"
    language: str | None = None
    refused: list[tuple[str, str]] = field(default_factory=list)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """`id`, `text` and `language_hint` (a label such as ita_Latn, or null) of each document.

        Raises:
            InputError: a file is absent or can't be read, or there is no document in any.
        """
        source = Source(
            name=_NAME,
            path=tuple(str(Path(path).absolute()) for path in self.paths),
            columns=Columns(text=self.text, language=self.language),
        )
        self.refused = []  # anew each time: a calibration reads twice
        extract, found = Extract(), files.find(source, Path.cwd())
        documents = 0
        for unit in files.units(source, found, extract.unit_bytes):
            reading = read_unit(unit, roots={_NAME: str(found.root)}, extract=extract)
            for batch in reading.batches():
                documents += batch.num_rows
                yield batch.select(["id", "text", "language_hint"])
            bad = reading.quarantine()
            self.refused += zip(bad["record"].to_pylist(), bad["error"].to_pylist(), strict=True)
        if not documents:
            why = "; ".join(f"{record}: {error}" for record, error in self.refused[:3])
            raise InputError(f"no document in {', '.join(self.paths)}: {why or 'name files that hold text'}")
