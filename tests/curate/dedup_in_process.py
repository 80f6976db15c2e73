"""All stages of deduplication one after another in one process: what Spark does, without Spark."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from glotmill.curate.blocks.packed import Kinds
from glotmill.curate.dedup import stages
from glotmill.curate.dedup.exact import text_hash
from glotmill.curate.dedup.index.files import KEYS, Known, band_blocks, band_names, write_band, write_entries
from glotmill.curate.dedup.index.format import Generation, Index, pairs, read_index, with_generation, write_index
from glotmill.curate.dedup.index.parameters import parameters
from glotmill.curate.dedup.options import Options, options, shingling
from glotmill.curate.dedup.signature import minhash
from glotmill.curate.dedup.stages import Parts
from glotmill.curate.dedup.write import write_dedup
from glotmill.curate.measure import chain
from glotmill.schemas.atomic import transaction
from glotmill.schemas.document import EDITS
from glotmill.schemas.recipe import Dedup
from glotmill.schemas.units import Unit

SOURCES = ("law", "web")


def rows(texts: Iterable[str], **same: Any) -> list[dict[str, Any]]:
    """Documents of some texts."""
    usual = {"source": "web", "language": "eng_Latn", "url": None, "date": None, "margin": 0.0}
    return [{"id": f"{i:032x}", "text": text, **usual, **same} for i, text in enumerate(texts)]


def write_files(out: Path, documents: list[dict[str, Any]], dedup: Dedup, files: int) -> tuple[str, ...]:
    """documents/, signals/ and verdicts/ of a run, in so many files."""
    measures = chain([text_hash, minhash(shingling=shingling(dedup), permutations=dedup.permutations, seed=dedup.seed)])
    for folder in ("documents", "signals", "verdicts"):
        (out / folder).mkdir(parents=True)
    keys = []
    for number in range(files):
        mine = documents[number::files]
        texts = pa.array([row["text"] for row in mine], pa.string())
        batch = measures(pa.RecordBatch.from_pydict({"text": texts}))
        known = {name: pa.array([row[name] for row in mine], pa.string()) for name in ("id", "source", "language")}
        signals = {
            **known,
            "source_id": pa.nulls(len(mine), pa.string()),
            "chars": pa.array([len(row["text"]) for row in mine], pa.int64()),
            "cuts": pa.array([[]] * len(mine), EDITS),
            **{name: batch[name] for name in ("text_hash", "minhash", "shingles")},
        }
        about = {name: pa.array([row[name] for row in mine], pa.string()) for name in ("url", "date")}
        margin = pa.array([row["margin"] for row in mine], pa.float64())
        verdicts = {"id": known["id"], "keep": pa.array([True] * len(mine), pa.bool_()), "margin": margin}
        key = f"f{number}"
        pq.write_table(pa.table({"id": known["id"], "text": texts, **about}), out / "documents" / f"{key}.parquet")
        pq.write_table(pa.table(signals), out / "signals" / f"{key}.parquet")
        pq.write_table(pa.table(verdicts), out / "verdicts" / f"{key}.parquet")
        keys.append(key)
    return tuple(keys)


def shuffled(blocks: Iterable[pa.RecordBatch], *kinds: str) -> list[tuple[int, Kinds]]:
    """What a shuffle makes of blocks: each part with its records."""
    placed: dict[int, Kinds] = defaultdict(Kinds)
    for block in blocks:
        for part, kind, data in zip(block["part"].to_pylist(), block["kind"].to_pylist(), block["data"], strict=True):
            if kind in kinds:
                placed[part].add(kind, data.as_buffer())
    return sorted(placed.items())


def found(
    out: Path,
    documents: list[dict[str, Any]],
    *,
    files: int = 2,
    parts: int = 2,
    index: tuple[Index, tuple[Generation, ...]] | None = None,
    **asked: Any,
) -> dict[int, dict[str, Any]]:
    """The dedup table, by the document's number.

    Args:
        index: An index, and those of its generations that count.
    """
    dedup = Dedup(**asked)
    names = write_files(out, documents, dedup, files)
    told = options(dedup, SOURCES, signals=("words",))
    known = Known(index[0].folder, index[1], len(names)) if index else None
    compare(out, names, told, parts, known)
    table = pq.read_table([out / "dedup" / f"{name}.parquet" for name in names]).to_pylist()
    return {int(row["id"], 16): row for row in table}


def compare(out: Path, names: tuple[str, ...], told: Options, parts: int, known: Known | None = None) -> None:
    """All stages, from signals/ and verdicts/ to dedup/."""
    sizes = Parts(parts, parts, parts, parts)
    signed = [b for file in enumerate(names) for b in stages.sign(file, out=out, options=told, parts=sizes)]
    same = [
        b
        for part in shuffled(signed, stages.DOC)
        for b in stages.same(*part, options=told, parts=sizes, indexed=known is not None)
    ]
    fates = list(same)
    if told.fuzzy or known:
        buckets = [b for part in shuffled(same, stages.BAND) for b in stages.buckets(*part, options=told, known=known)]
        edges = Kinds()
        for _, kinds in shuffled([*same, *buckets], stages.EDGE):
            for batch in kinds._batches[stages.EDGE]:
                edges._batches.setdefault(stages.EDGE, []).append(batch)
        nodes = list(stages.assigned(0, edges)) if edges._batches else []
        full = [
            b
            for part in shuffled(nodes, stages.NODE)
            for b in stages.fetch(*part, files=names, out=out, options=told, parts=sizes, known=known)
        ]
        fates += [b for part in shuffled(full, stages.FULL) for b in stages.decide(*part, options=told, parts=sizes)]
    stars = [
        b
        for part in shuffled(fates, stages.MEMBER, stages.FATE)
        for b in stages.resolve(*part, options=told, parts=sizes)
    ]
    ended = [b for part in shuffled(stars, stages.STAR) for b in stages.size(*part, files=len(names))]
    told_files = dict(shuffled(ended, stages.FATE, stages.LEADER, stages.COUNTS))
    for number, name in enumerate(names):
        kinds = told_files.get(number, Kinds())
        with transaction(out, "t") as files_of:
            write_dedup(Unit("dedup", name, name), files_of, number, kinds, out=out, options=told, index=known)
            files_of.commit()


def added(folder: Path, out: Path, run: str, *, chunks: int = 2, **asked: Any) -> Index:
    """The index in `folder` with what a run kept as its newest generation."""
    told = options(Dedup(**asked), SOURCES, signals=("words",))
    names = tuple(sorted(path.stem for path in (out / "signals").glob("*.parquet")))
    index = read_index(folder)
    made = Generation(run, run, "content", pairs(index.others(run)), run, 0, names, chunks)
    entries = 0
    with transaction(index.path(made), "t") as files:
        for name in names:
            entries += write_entries(Unit("index", name, name), files, out=out, options=told)[0].books.kept
        files.commit()
    blocks = [
        b for file in enumerate(names) for b in band_blocks(file, folder=index.path(made), options=told, chunks=chunks)
    ]
    by_part = dict(shuffled(blocks, KEYS))
    with transaction(index.path(made), "t") as files:
        for part, name in enumerate(band_names(told, chunks)):
            write_band(Unit("index", name, name), files, part, by_part.get(part, Kinds()), chunks=chunks)
        files.commit()
    write_index(with_generation(index, replace(made, entries=entries), parameters(told)))
    return read_index(folder)
