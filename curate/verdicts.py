"""Writing the verdicts that a Spark plan computes: one file a unit, rows sorted by id."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

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


def keep_all(unit: Unit, files: Transaction, *, out: Path) -> tuple[Outcome, tuple[()]]:
    """The verdicts on one unit's documents where there is no rule: what `write_verdicts` would write."""
    ids = pq.read_table(out / "signals" / f"{unit.key}.parquet", columns=["id", "source_id"])
    n = ids.num_rows
    nothing = {name: pa.nulls(n, VERDICT.field(name).type) for name in ("reason", "margin", "margin_rule")}
    columns = nothing | {
        "keep": pa.array(np.ones(n, np.bool_)),
        "reasons": pa.array([[]] * n, VERDICT.field("reasons").type),
    }
    rows = pa.table(columns | {name: ids[name] for name in ids.column_names})
    return write_verdicts(unit, files, rows), ()
