"""Rules over a plain batch: what `spark.judge` says, without Spark."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from glotmill.curate.comparisons import HOLDS
from glotmill.curate.rules import SMALLEST_LIMIT, Rule, RuleSet
from glotmill.schemas.document import REASON, VERDICT
from glotmill.schemas.errors import SchemaError

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

VERDICT_COLUMNS = ("keep", "reason", "reasons", "margin", "margin_rule")


def judge_batch(batch: pa.RecordBatch, rules: RuleSet) -> pa.RecordBatch:
    """The verdict columns of n rows, in their order: keep, reason, reasons, margin, margin_rule.

    The margin of a rule that a document does not break is |value - limit| / max(|limit|, 1e-9): 0.1 says that the
    value is a tenth of the limit away from it. A kept document's margin is its smallest one, `margin_rule` the reason
    that it belongs to (the first, of equals); both are null for a dropped document, and where no rule applies. Values
    are compared as float64.

    Raises:
        SchemaError: a column of `rules.reads` is missing, or a signal is null or NaN.
    """
    values = {name: _signal(batch, name) for name in rules.signals}
    reasons = rules.reasons
    shape = (batch.num_rows, len(reasons))
    broken, distance = np.zeros(shape, np.bool_), np.full(shape, np.inf)
    applied: list[tuple[npt.NDArray[np.int64], int, Rule]] = []
    for members, at, rule in _applications(batch, rules):
        value = values[rule.signal][members]
        holds = HOLDS[rule.comparison](value, rule.limit)
        broken[members, at] = holds
        distance[members, at] = np.where(
            holds, np.inf, np.abs(value - rule.limit) / max(abs(rule.limit), SMALLEST_LIMIT)
        )
        applied.append((members, at, rule))
    keep = ~broken.any(axis=1)
    names = pa.array(reasons, pa.string())
    nearest = distance.argmin(axis=1) if reasons else np.zeros(batch.num_rows, np.int64)
    margin = distance.min(axis=1, initial=np.inf)
    has_margin = keep & np.isfinite(margin)
    columns = [
        pa.array(keep),
        names.take(pa.array(broken.argmax(axis=1) if reasons else nearest, mask=keep)),
        _reasons(broken, applied, values),
        pa.array(margin, mask=~has_margin),
        names.take(pa.array(nearest, mask=~has_margin)),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema([VERDICT.field(name) for name in VERDICT_COLUMNS]))


def _signal(batch: pa.RecordBatch, name: str) -> Floats:
    column = _column(batch, name)
    values: Floats = pc.cast(pc.fill_null(column, 0), pa.float64()).to_numpy(zero_copy_only=False)
    if column.null_count or np.isnan(values).any():
        raise SchemaError(f"signal {name!r} holds null or NaN: a rule can't judge what was not measured; measure again")
    return values


def _column(batch: pa.RecordBatch, name: str) -> Any:
    if name not in batch.schema.names:
        raise SchemaError(
            f"a rule reads {name!r}; the table has: {', '.join(batch.schema.names)}. Add the measure that writes it"
        )
    return batch[name]


def _applications(batch: pa.RecordBatch, rules: RuleSet) -> list[tuple[npt.NDArray[np.int64], int, Rule]]:
    """(rows, place of the reason, rule) for every rule that applies to some rows."""
    keys = [_column(batch, key).to_pylist() for key in rules.keys]
    groups: dict[tuple[str | None, ...], list[int]] = {}
    for row, key in enumerate(zip(*keys, strict=True) if keys else [()] * batch.num_rows):
        groups.setdefault(key, []).append(row)
    return [
        (np.array(members), at, rule)
        for key, members in groups.items()
        for at, rule in enumerate(rules.resolve(**dict(zip(rules.keys, key, strict=True))).values())
        if rule is not None
    ]


def _reasons(
    broken: Bools, applied: list[tuple[npt.NDArray[np.int64], int, Rule]], values: dict[str, Floats]
) -> pa.Array:
    """Each row's broken rules in the order of reasons."""
    found: list[list[dict[str, Any]]] = [[] for _ in range(len(broken))]
    for members, at, rule in sorted(applied, key=lambda item: item[1]):
        for row in members[broken[members, at]].tolist():
            found[row].append(
                {
                    "reason": rule.reason,
                    "signal": rule.signal,
                    "comparison": rule.comparison,
                    "value": float(values[rule.signal][row]),
                    "limit": rule.limit,
                    "scope": rule.scope,
                }
            )
    return pa.array(found, pa.list_(REASON))
