"""Writing the verdicts that a Spark plan computes: one file a unit, rows sorted by id."""

import pyarrow as pa
import pyarrow.compute as pc

from glotmill.schemas.atomic import Transaction
from glotmill.schemas.document import VERDICT
from glotmill.schemas.parquet import write_table
from glotmill.schemas.units import Books, Outcome, Unit


def write_verdicts(unit: Unit, files: Transaction, rows: pa.Table) -> Outcome:
    """The judgement's rows of one unit, in any order, to verdicts/; how often each rule was broken, to the receipt."""
    table = rows.select(VERDICT.names).sort_by("id").cast(VERDICT).combine_chunks()
    count, digest = write_table(files.path(f"verdicts/{unit.key}.parquet"), [table], VERDICT)
    gone = table.filter(pc.invert(table["keep"]))
    reasons = {c["values"]: c["counts"] for c in pc.value_counts(gone["reason"]).to_pylist()}
    books = Books(records=count, kept=count - gone.num_rows, dropped=dict(sorted(reasons.items())))
    return Outcome(books, {"verdicts": digest}, facts=_broken(table["reasons"].combine_chunks()))


def _broken(reasons: pa.ListArray) -> dict[str, dict[str, int]]:
    """By reason, the documents that break its rule, and those that break no other: what the rule alone removes."""
    alone = reasons.filter(pc.equal(pc.list_value_length(reasons), 1))
    return {"broken": _counts(reasons), "only": _counts(alone)}


def _counts(reasons: pa.ListArray) -> dict[str, int]:
    names = pc.struct_field(reasons.flatten(), "reason")
    return dict(sorted((c["values"], c["counts"]) for c in pc.value_counts(names).to_pylist()))
