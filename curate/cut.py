"""The last word on each document: kept or dropped, from what the judgement and the deduplication said of it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from glotmill.schemas.atomic import Transaction
from glotmill.schemas.document import DROPPED, EXCERPT_CHARS, KEPT
from glotmill.schemas.edits import apply_edits
from glotmill.schemas.errors import SchemaError
from glotmill.schemas.parquet import write_table
from glotmill.schemas.reasons import Related
from glotmill.schemas.units import Books, Outcome, Unit

_FROM_DOCUMENTS = ["id", "source_id", "source", "domain", "record", "url", "text"]


def cut_unit(unit: Unit, files: Transaction, *, out: Path, repeats: bool = False) -> tuple[Outcome, tuple[()]]:
    """Part the documents of a unit into kept/ and dropped/; texts stay in documents/, whoever was dropped.

    Reads documents, signals, verdicts and dedup of the same unit, and its repeats where there are any. Both outputs are
    sorted by id, so that they don't depend on how the input was read.

    Args:
        repeats: Repeated pieces are cut out of the kept documents; one of which nothing is left is dropped.

    Raises:
        SchemaError: A document has no verdict, or a document that the judgement kept is unknown to dedup.
    """
    fates = _fates(unit, out)
    cuts = pq.read_table(out / "signals" / f"{unit.key}.parquet", columns=["id", "cuts"]).combine_chunks()
    if repeats:
        fates, cuts = _with_repeats(fates, cuts, unit, out)
    books = Books()
    kept, dropped = [], []
    source = pq.ParquetFile(out / "documents" / f"{unit.key}.parquet", memory_map=True)
    for batch in source.iter_batches(batch_size=4096, columns=_FROM_DOCUMENTS):
        documents = _with(pa.Table.from_batches([batch]), fates, unit)
        documents = _with(documents, cuts, unit)
        stays = pc.fill_null(documents["keep"], False)
        kept.append(documents.filter(stays).select(KEPT.names))
        gone = documents.filter(pc.invert(stays))
        judged = apply_edits(gone["text"].combine_chunks(), gone["cuts"].combine_chunks())
        excerpt = pc.utf8_slice_codeunits(judged, 0, EXCERPT_CHARS)
        dropped.append(gone.append_column("excerpt", excerpt).select(DROPPED.names))
    digests = {}
    reasons: dict[str, dict[str, int]] = {}
    for name, schema, tables in (("kept", KEPT, kept), ("dropped", DROPPED, dropped)):
        table = pa.concat_tables(tables).sort_by("id").combine_chunks() if tables else schema.empty_table()
        rows, digests[name] = write_table(files.path(f"{name}/{unit.key}.parquet"), [table], schema)
        books.records += rows
        if name == "kept":
            books.kept = rows
        else:
            reasons = _by_language(table)
            for counts in reasons.values():
                books.add(Books(dropped=counts))
    return Outcome(books, digests, facts={"dropped": reasons}), ()


def _by_language(dropped: pa.Table) -> dict[str, dict[str, int]]:
    """How often each reason dropped a document of each language."""
    counts = dropped.group_by(["language", "reason"]).aggregate([([], "count_all")])
    found: dict[str, dict[str, int]] = {}
    for row in counts.sort_by([("language", "ascending"), ("reason", "ascending")]).to_pylist():
        found.setdefault(row["language"], {})[row["reason"]] = row["count_all"]
    return found


def _fates(unit: Unit, out: Path) -> pa.Table:
    """id, language, bytes, keep, step, reason, twin, similarity of every document of a unit, sorted by id."""

    def table(folder: str, columns: list[str]) -> pa.Table:
        return pq.read_table(out / folder / f"{unit.key}.parquet", columns=columns)

    signals = table("signals", ["id", "language", "bytes"])
    judged = table("verdicts", ["id", "keep", "reason"]).rename_columns(["id", "judged_keep", "judged_reason"])
    dedup = table("dedup", ["id", "keep", "kind", "twin", "similarity"])
    fates = signals.join(judged, "id", join_type="inner").join(dedup, "id")
    if fates.num_rows != signals.num_rows:
        missing = signals.num_rows - fates.num_rows
        raise SchemaError(f"{missing} documents of {unit.label} have no verdict: delete OUT/verdicts and run again")
    if pc.any(pc.and_(fates["judged_keep"], pc.is_null(fates["keep"]))).as_py():
        raise SchemaError(f"dedup doesn't know every kept document of {unit.label}: delete OUT/dedup and run again")
    repeats = pc.binary_join_element_wise(fates["kind"], pa.scalar("duplicate"), "_")
    by_judge = pc.invert(fates["judged_keep"])
    return pa.table(
        {
            "id": fates["id"],
            "language": fates["language"],
            "bytes": fates["bytes"],
            "keep": pc.and_(fates["judged_keep"], pc.fill_null(fates["keep"], True)),
            "step": pc.if_else(by_judge, "judge", "dedup"),
            "reason": pc.if_else(by_judge, fates["judged_reason"], repeats),
            "twin": fates["twin"],
            "similarity": fates["similarity"],
        }
    )


def _with_repeats(fates: pa.Table, cuts: pa.Table, unit: Unit, out: Path) -> tuple[pa.Table, pa.Table]:
    """`fates` and `cuts`, with what is cut out of kept documents because others have it, too.

    A document that this empties is dropped; its excerpt shows the text before.
    """
    repeats = pq.read_table(out / "repeats" / f"{unit.key}.parquet").combine_chunks()
    if repeats.num_rows != pc.sum(fates["keep"]).as_py():
        raise SchemaError(f"repeats/ and dedup/ differ for {unit.label}: delete OUT/repeats and run again")
    at = pc.index_in(fates["id"], value_set=repeats["id"].combine_chunks())
    empty = pc.fill_null(repeats["empty"].take(at), False)
    changed = {
        "bytes": pc.if_else(empty, fates["bytes"], pc.coalesce(repeats["bytes"].take(at), fates["bytes"])),
        "keep": pc.and_(fates["keep"], pc.invert(empty)),
        "reason": pc.if_else(empty, str(Related.REPEATED_TEXT), fates["reason"]),
    }
    for name, column in changed.items():
        fates = fates.set_column(fates.schema.get_field_index(name), name, column)
    stays = repeats.filter(pc.invert(repeats["empty"])).select(["id", "cuts"])
    others = cuts.filter(pc.invert(pc.is_in(cuts["id"], value_set=stays["id"].combine_chunks())))
    return fates, pa.concat_tables([stays.cast(others.schema), others]).combine_chunks()


def _with(documents: pa.Table, table: pa.Table, unit: Unit) -> pa.Table:
    """`documents` with the columns of `table`, found by id; joins of Arrow know no lists."""
    places = pc.index_in(documents["id"], value_set=table["id"].combine_chunks())
    if places.null_count:
        raise SchemaError(
            f"{places.null_count} documents of {unit.label} have no signals: delete OUT/signals and run again"
        )
    for name in table.schema.names[1:]:
        documents = documents.append_column(name, table[name].take(places))
    return documents
