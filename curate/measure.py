"""A measure is a function from a batch to new columns. It never removes or changes a row."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import pyarrow as pa

from glotmill.schemas.errors import RecipeError, SchemaError

Columns = dict[str, pa.Array]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measuring function, the columns it reads, the columns it adds, and the parameters it was given."""

    run: Callable[..., Columns]
    reads: tuple[str, ...]
    adds: pa.Schema
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.run.__name__

    def bind(self, **params: Any) -> "Measure":
        """The same measure with parameters fixed.

        Raises:
            RecipeError: a parameter does not exist, or a required one is missing.
        """
        known = [p for p in inspect.signature(self.run).parameters if p != "batch"]
        for name in params:
            if name not in known:
                raise RecipeError(
                    f"measure {self.name!r} has no parameter {name!r}; it has: {', '.join(known) or 'none'}"
                )
        return Measure(self.run, self.reads, self.adds, params)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Append this measure's columns to `batch`; same rows, same order.

        Raises:
            SchemaError: `batch` lacks a column in `reads`, or the function broke its own declaration.
        """
        for name in self.reads:
            if name not in batch.schema.names:
                raise SchemaError(
                    f"measure {self.name!r} reads {name!r}; the table has: {', '.join(batch.schema.names)}. "
                    "Add the step that writes it"
                )
        columns = self.run(batch, **self.params)
        if list(columns) != self.adds.names:
            raise SchemaError(f"measure {self.name!r} declares {self.adds.names} and returned {list(columns)}")
        for column in self.adds:
            if column.name in batch.schema.names:
                raise SchemaError(
                    f"measure {self.name!r} adds {column.name!r}, which the table already has: "
                    "drop that column, or measure once"
                )
            batch = batch.append_column(column, columns[column.name].cast(column.type))
        return batch


def measure(*, reads: list[str], adds: dict[str, pa.DataType]) -> Callable[[Callable[..., Columns]], Measure]:
    """Declare what a measuring function reads and adds."""

    def declare(run: Callable[..., Columns]) -> Measure:
        return Measure(run, tuple(reads), pa.schema(adds))

    return declare


def chain(measures: Iterable[Measure]) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """One function that applies `measures` in order; a later one may read what an earlier one added."""
    steps = tuple(measures)

    def apply(batch: pa.RecordBatch) -> pa.RecordBatch:
        return reduce(lambda table, step: step(table), steps, batch)

    return apply
