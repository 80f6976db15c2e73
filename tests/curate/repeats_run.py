"""The search for repeats without Spark: its stages over files in a folder, records handed from part to part."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from glotmill.curate.blocks.packed import BLOCK, Kinds, by_part
from glotmill.curate.dedup.repeats import unit
from glotmill.curate.dedup.repeats.documents import Asked
from glotmill.curate.dedup.repeats.substrings import OWNER, ROW, SHARED, WINDOW
from glotmill.schemas.atomic import transaction
from glotmill.schemas.document import EDITS
from glotmill.schemas.edits import apply_edits
from glotmill.schemas.ids import document_id
from glotmill.schemas.units import Outcome, Unit


@dataclass(frozen=True)
class Doc:
    text: str
    id: str
    source: str = "web"
    url: str | None = None
    cuts: tuple[tuple[int, int, str], ...] = ()
    keep: bool = True


def docs(*texts: str, **of_all: Any) -> list[Doc]:
    """With ids in their order."""
    return [Doc(text, f"{number:032x}", **of_all) for number, text in enumerate(texts)]


def write_files(folder: Path, files: Sequence[Sequence[Doc]]) -> tuple[str, ...]:
    """documents/, signals/ and dedup/; the keys of the files."""
    names = [f"f{number:02}" for number in range(len(files))]
    for name, documents in zip(names, files, strict=True):
        columns = {
            field: [getattr(doc, field) for doc in documents] for field in ("id", "source", "text", "url", "keep")
        }
        cuts = [[{"start": a, "end": b, "reason": why} for a, b, why in doc.cuts] for doc in documents]
        text = {"type": pa.string()}
        for table, rows in {
            "documents": {name: pa.array(columns[name], **text) for name in ("id", "source", "text", "url")},
            "signals": {"id": pa.array(columns["id"], **text), "cuts": pa.array(cuts, EDITS)},
            "dedup": {"id": pa.array(columns["id"], **text), "keep": pa.array(columns["keep"], pa.bool_())},
        }.items():
            (folder / table).mkdir(parents=True, exist_ok=True)
            pq.write_table(
                pa.table(rows).sort_by("id") if table == "dedup" else pa.table(rows), folder / table / f"{name}.parquet"
            )
    return tuple(names)


def stage(
    blocks: Iterable[pa.RecordBatch], work: Callable[[int, Kinds], Iterator[pa.RecordBatch]], seed: int
) -> list[Any]:
    """`exchange` without Spark."""
    return [made for part, kinds in grouped(blocks, seed) for made in work(part, kinds)]


def grouped(blocks: Iterable[pa.RecordBatch], seed: int) -> Iterator[tuple[int, Kinds]]:
    rows = [row for batch in blocks for row in batch.to_pylist()]
    Random(seed).shuffle(rows)
    rows.sort(key=lambda row: row["part"])
    return by_part([pa.RecordBatch.from_pylist(rows, schema=BLOCK)])


def of_kind(blocks: Iterable[pa.RecordBatch], *kinds: str) -> list[pa.RecordBatch]:
    return [batch for batch in blocks if batch["kind"][0].as_py() in kinds]


def run(folder: Path, files: Sequence[Sequence[Doc]], asked: Asked, *, parts: int = 3, seed: int = 0) -> dict[str, Any]:
    """id: row of REPEATS, with `text`, the document's text without its cuts."""
    rows, _ = run_all(folder, files, asked, parts=parts, seed=seed)
    return rows


def run_all(
    folder: Path, files: Sequence[Sequence[Doc]], asked: Asked, *, parts: int = 3, seed: int = 0
) -> tuple[dict[str, Any], list[Outcome]]:
    names = write_files(folder, files)
    first = [block for file in enumerate(names) for block in unit.read(file, out=folder, asked=asked, parts=parts)]
    told = stage(first, partial(unit.compare, asked=asked), seed)
    last = of_kind(told, "last")
    if asked.substrings is not None:
        reread = partial(unit.reread, files=names, out=folder, asked=asked, parts=parts)
        windows = stage(of_kind(told, SHARED, ROW), reread, seed)
        last += of_kind(windows, "run") + stage(of_kind(windows, WINDOW, OWNER), unit.locate, seed)
    kinds = dict(grouped(last, seed))
    found, outcomes = {}, []
    for number, name in enumerate(names):
        with transaction(folder, "t") as transacted:
            work = Unit("repeats", name, name)
            outcomes.append(
                unit.write_repeats(work, transacted, number, kinds.get(number, Kinds()), out=folder, asked=asked)
            )
            transacted.commit()
        table = pq.read_table(folder / "repeats" / f"{name}.parquet")
        texts = {doc.id: doc.text for doc in files[number]}
        left = apply_edits(
            pa.array([texts[id] for id in table["id"].to_pylist()], pa.string()), table["cuts"].combine_chunks()
        )
        for row, text in zip(table.to_pylist(), left.to_pylist(), strict=True):
            found[row["id"]] = row | {"text": text}
    return found, outcomes


def some_id(name: str) -> str:
    return document_id("web", name)
