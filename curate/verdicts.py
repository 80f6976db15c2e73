"""Writing the tables that Spark plans compute: one file a unit, rows sorted by id."""

import pyarrow as pa
import pyarrow.compute as pc

from glotmill.schemas.atomic import Transaction
from glotmill.schemas.document import DEDUP, VERDICT
from glotmill.schemas.parquet import write_table
from glotmill.schemas.units import Books, Outcome, Unit


def write_verdicts(unit: Unit, files: Transaction, rows: pa.Table) -> Outcome:
    """The judgement's rows of one unit, in any order, to verdicts/; how often each rule was broken, to the receipt."""
    outcome = _write(unit, files, rows, "verdicts", VERDICT, "reason", "")
    return Outcome(outcome.books, outcome.digests, facts=_broken(rows["reasons"].combine_chunks()))


def _broken(reasons: pa.ListArray) -> dict[str, dict[str, int]]:
    """By reason, the documents that break its rule, and those that break no other: what the rule alone removes."""
    alone = reasons.filter(pc.equal(pc.list_value_length(reasons), 1))
    return {"broken": _counts(reasons), "only": _counts(alone)}


def _counts(reasons: pa.ListArray) -> dict[str, int]:
    names = pc.struct_field(reasons.flatten(), "reason")
    return dict(sorted((c["values"], c["counts"]) for c in pc.value_counts(names).to_pylist()))


def write_dedup(unit: Unit, files: Transaction, rows: pa.Table) -> Outcome:
    """The deduplication's rows of one unit, in any order, to dedup/."""
    return _write(unit, files, rows, "dedup", DEDUP, "kind", "_duplicate")


def _write(
    unit: Unit, files: Transaction, rows: pa.Table, folder: str, schema: pa.Schema, why: str, suffix: str
) -> Outcome:
    table = rows.select(schema.names).sort_by("id").cast(schema).combine_chunks()
    count, digest = write_table(files.path(f"{folder}/{unit.key}.parquet"), [table], schema)
    gone = table.filter(pc.invert(table["keep"]))
    reasons = {f"{c['values']}{suffix}": c["counts"] for c in pc.value_counts(gone[why]).to_pylist()}
    books = Books(records=count, kept=count - gone.num_rows, dropped=dict(sorted(reasons.items())))
    return Outcome(books, {folder: digest})
