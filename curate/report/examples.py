"""A few rows of the run's tables, to look at: always the same ones, and few files opened however large the run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from glotmill.curate.dedup import summary
from glotmill.curate.dedup.summary import Summary, with_excerpts
from glotmill.schemas.ledger import Ledger, Receipt

DROPPED_EACH, QUARANTINED_EACH = 3, 5
_UNITS = 8  # files opened for a reason, at the most
_ROWS = 65_536  # rows in memory

Row = dict[str, Any]


@dataclass(slots=True)
class Examples:
    """Rows by reason. Dropped ones are DROPPED's, with `broken`: the rules they broke, as REASON, first one first."""

    dropped: dict[str, list[Row]]
    quarantined: dict[str, list[Row]]
    duplicates: Summary


def gather(ledger: Ledger) -> Examples:
    """Read examples from the tables that the receipts name."""
    out = ledger.out
    cut, extract, dedup = (ledger.receipts(step) for step in ("cut", "extract", "dedup"))
    return Examples(
        _by_reason(cut, lambda r: r.books.dropped, lambda unit, reason: _dropped(out, unit, reason), DROPPED_EACH),
        _by_reason(
            extract,
            lambda r: r.books.quarantined,
            lambda unit, reason: _quarantined(out, unit, reason),
            QUARANTINED_EACH,
        ),
        with_excerpts(summary.gather(dedup), dedup, out),
    )


def _by_reason(
    receipts: Mapping[str, Receipt],
    reasons: Callable[[Receipt], Mapping[str, int]],
    read: Callable[[str, str], list[Row]],
    most: int,
) -> dict[str, list[Row]]:
    """By reason, the first rows of the first units that have it: unit keys come from content, so these stay."""
    found: dict[str, list[Row]] = {}
    for reason in sorted({reason for receipt in receipts.values() for reason in reasons(receipt)}):
        units = [key for key, receipt in receipts.items() if reasons(receipt).get(reason)]
        rows = [row for unit in units[:_UNITS] for row in read(unit, reason)]
        found[reason] = rows[:most] if not rows or "id" not in rows[0] else sorted(rows, key=lambda r: r["id"])[:most]
    return found


def _dropped(out: Path, unit: str, reason: str) -> list[Row]:
    rows = _first(out / "dropped" / f"{unit}.parquet", "reason", reason, DROPPED_EACH)
    judged = [row["id"] for row in rows if row["step"] == "judge"]
    broken = dict(_broken(out / "verdicts" / f"{unit}.parquet", judged)) if judged else {}
    return [row | {"broken": broken.get(row["id"], [])} for row in rows]


def _broken(path: Path, ids: Sequence[str]) -> Iterator[tuple[str, list[Row]]]:
    rows = pq.read_table(path, columns=["id", "reasons"], filters=[("id", "in", list(ids))])
    for row in rows.to_pylist():
        yield row["id"], row["reasons"]


def _quarantined(out: Path, unit: str, reason: str) -> list[Row]:
    return _first(out / "quarantine" / f"{unit}.parquet", "reason", reason, QUARANTINED_EACH)


def _first(path: Path, column: str, value: str, most: int) -> list[Row]:
    """The first `most` rows where `column` is `value`, in the order of the file."""
    rows: list[Row] = []
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(_ROWS):
            rows += batch.filter(pc.equal(batch[column], value))[: most - len(rows)].to_pylist()
            if len(rows) >= most:
                break
    return rows
