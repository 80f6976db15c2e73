"""A few rows of the run's tables, to look at: always the same ones, and few files opened however large the run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from glotmill.schemas.document import EXCERPT_CHARS
from glotmill.schemas.edits import apply_edits
from glotmill.schemas.ledger import Ledger, Receipt

DROPPED_EACH, QUARANTINED_EACH, CLUSTERS = 3, 5, 10
_UNITS = 8  # files opened for a reason, at the most
_ROWS = 65_536  # rows in memory

Row = dict[str, Any]


@dataclass(slots=True)
class Clusters:
    """Exact duplicates: groups of documents with one text.

    Args:
        count: Groups of two or more.
        largest: Of the largest ones: id, cluster_size, source, record, url, excerpt of the document that was kept.
    """

    count: int
    largest: list[Row]


@dataclass(slots=True)
class Examples:
    """Rows by reason. Dropped ones are DROPPED's, with `broken`: the rules they broke, as REASON, first one first."""

    dropped: dict[str, list[Row]]
    quarantined: dict[str, list[Row]]
    clusters: Clusters


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
        _clusters(out, dedup),
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


def _clusters(out: Path, receipts: Mapping[str, Receipt]) -> Clusters:
    """Counts over two small columns, and the texts of the few largest. Reads units that booked a duplicate, or whose
    documents have a copy in another unit: where no row group has a cluster, its statistics say so and it is skipped."""
    count, best = 0, []
    if not any(receipt.books.dropped for receipt in receipts.values()):
        return Clusters(0, [])
    for unit in receipts:
        with pq.ParquetFile(out / "dedup" / f"{unit}.parquet") as file:
            for group in range(file.num_row_groups):
                leaders = _leaders(file, group)
                count += len(leaders)
                best += [(-size, id, unit) for id, size in leaders]
                best = sorted(best)[:CLUSTERS]
    return Clusters(count, [_kept_text(out, unit, id) | {"id": id, "cluster_size": -size} for size, id, unit in best])


def _leaders(file: pq.ParquetFile, group: int) -> list[tuple[str, int]]:
    """Of one row group, the kept documents that others repeat, with the size of their cluster."""
    place = file.schema_arrow.get_field_index("cluster_size")
    statistics = file.metadata.row_group(group).column(place).statistics
    if statistics is not None and statistics.has_min_max and statistics.max <= 1:
        return []
    rows = file.read_row_group(group, columns=["id", "keep", "cluster_size"])
    rows = rows.filter(pc.and_(rows["keep"], pc.greater(rows["cluster_size"], 1)))
    return list(zip(rows["id"].to_pylist(), rows["cluster_size"].to_pylist(), strict=True))


def _kept_text(out: Path, unit: str, id: str) -> Row:
    """Where the document lies, and its beginning: only the row group that holds it is read with its texts."""
    columns = ["source", "record", "url", "text"]
    with pq.ParquetFile(out / "documents" / f"{unit}.parquet") as file:
        for group in range(file.num_row_groups):
            ids = file.read_row_group(group, columns=["id"])["id"]
            place = pc.index(ids, pa.scalar(id)).as_py()
            if place >= 0:
                found = file.read_row_group(group, columns=columns).slice(place, 1)
                row: Row = found.to_pylist()[0]
                measured = _measured(out, unit, id)
                if not measured.num_rows:
                    return row | {"text": row["text"][:EXCERPT_CHARS], "language": None}
                text = apply_edits(found["text"].combine_chunks(), measured["cuts"].combine_chunks())[0].as_py()
                return row | {"text": text[:EXCERPT_CHARS], "language": measured["language"][0].as_py()}
    return dict.fromkeys([*columns, "language"])


def _measured(out: Path, unit: str, id: str) -> pa.Table:
    path = out / "signals" / f"{unit}.parquet"
    return pq.read_table(path, columns=["id", "language", "cuts"], filters=[("id", "==", id)])
