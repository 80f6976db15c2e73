"""The mix on Spark: counts and cuts from the document index, and the order of the documents in the shards."""

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from glotmill.curate.mix.aim import Aim
from glotmill.curate.mix.plan import Cell, Plan, Share, nearest_cut, planned
from glotmill.schemas.ids import PICK

_BINS = 12  # bits of the pick key that the first pass looks at: 4096 sums a cell
_SIGN = -(1 << 63)


def order_key(seed: int, epoch: Column | int, id: str = "id") -> Column:
    """schemas.ids.order_key in the JVM, as the signed number with the same 64 bits."""
    parts = [F.lit(str(seed)), F.lit(epoch).cast("string"), F.col(id)]
    return F.xxhash64(F.concat_ws("\0", *parts))


def pick_key(seed: int) -> Column:
    """The order in which documents are picked, as a signed number that compares as the unsigned key does."""
    return order_key(seed, PICK).bitwiseXOR(F.lit(_SIGN))


def plan_mix(index: DataFrame, *, aimed: Callable[[Mapping[str, int]], Aim], max_epochs: float, seed: int) -> Plan:
    """The plan of a mix, exact to a document.

    Args:
        index: cell, id, tokens: one row a document of the token store.
        aimed: Given the tokens of each cell, how many of them are wanted.

    Cost: two aggregations of (cell, bin, tokens), 4096 rows a cell reach the driver, then the documents of one bin a
    cell. No shuffle of documents.
    """
    index = index.select("cell", "tokens", order_key(seed, PICK).alias("key"))
    binned = index.withColumn("bin", F.shiftrightunsigned("key", 64 - _BINS))
    sums = binned.groupBy("cell", "bin").agg(F.sum("tokens").alias("tokens"), F.count("*").alias("documents")).toArrow()
    cells = _cells(sums)
    wanted = aimed({name: cell.tokens for name, cell in cells.items()})
    plan = planned(cells, wanted, max_epochs=max_epochs, seed=seed)
    short = {name: share for name, share in plan.cells.items() if share.asked > share.planned}
    edges = {name: _edge(sums, name, share) for name, share in short.items()}
    rows = _documents_in(binned, {name: edge[0] for name, edge in edges.items()})
    for name, share in short.items():
        _cut(share, rows.filter(pa.compute.equal(rows["cell"], name)), *edges[name])
    return plan


def _cells(sums: pa.Table) -> dict[str, Cell]:
    totals = sums.group_by("cell").aggregate([("documents", "sum"), ("tokens", "sum")]).to_pylist()
    return {row["cell"]: Cell(row["documents_sum"], row["tokens_sum"]) for row in totals}


def _edge(sums: pa.Table, cell: str, share: Share) -> tuple[int, int, int]:
    """The bin in which the wanted tokens are reached, and the documents and tokens of the bins before it."""
    mine = sums.filter(pa.compute.equal(sums["cell"], cell)).sort_by("bin")
    reached = np.cumsum(mine["tokens"].to_numpy())
    place = min(int(np.searchsorted(reached, share.asked - share.planned)), len(reached) - 1)
    return (
        mine["bin"][place].as_py(),
        int(mine["documents"].to_numpy()[:place].sum()),
        int(reached[place - 1]) if place else 0,
    )


def _documents_in(binned: DataFrame, bins: Mapping[str, int]) -> pa.Table:
    if not bins:
        return pa.table({"cell": pa.array([], pa.string())})
    places = F.create_map(*(F.lit(part) for pair in bins.items() for part in pair))
    return binned.where(places[F.col("cell")] == F.col("bin")).select("cell", "key", "tokens").toArrow()


def _cut(share: Share, rows: pa.Table, edge: int, documents: int, tokens: int) -> None:
    keys = rows["key"].to_numpy().astype(np.int64).view(np.uint64)
    cut, taken, more = nearest_cut(keys, rows["tokens"].to_numpy(), share.asked - share.planned - tokens)
    if not cut and documents:  # nothing of the edge bin: the cut is just below it
        cut = f"{(edge << (64 - _BINS)) - 1:016x}"
    share.cut = cut
    share.picked = documents + taken
    share.planned += tokens + more


def placed(index: DataFrame, plan: Plan, *, shards: int) -> DataFrame:
    """Every use of every document that the plan takes, with its place in the training order.

    Args:
        index: cell, id, tokens and any other column: one row a document.
        shards: Number of shards; the order is cut into as many equal stretches.

    Adds:
        epoch: From 0.
        key: Place in [0, 1): each epoch of a cell fills its own stretch, so that every cell is spread evenly over the
            whole order; in a cell of several epochs a document stays in its half of each, shuffled anew each time, so
            that two uses lie between a half and one and a half epochs apart.
        shard: In [0, shards).

    Cost: no shuffle.
    """
    whole, cut, epochs, fraction = (
        _by_cell({name: value(share) for name, share in plan.cells.items()}, kind)
        for kind, value in (
            ("int", lambda s: s.whole),
            ("bigint", lambda s: _signed(s.cut)),
            ("double", lambda s: s.epochs),
            ("double", lambda s: s.epochs - s.whole),
        )
    )
    picked = pick_key(plan.seed) <= cut
    uses = whole + F.coalesce(picked, F.lit(False)).cast("int")
    used = index.where(uses > 0).withColumn("epoch", F.explode(F.sequence(F.lit(0), uses - 1)))
    unit = F.shiftrightunsigned(order_key(plan.seed, F.col("epoch")), 11).cast("double") / float(1 << 53)
    last = F.when(F.col("epoch") < whole, F.lit(1.0)).otherwise(fraction)
    # The half of an epoch that a document is in stays its own: two uses are half an epoch apart at least. The first
    # half is of those that are picked first, so what a last, partial epoch picks lies in its own half there, too.
    late = (epochs > 1) & (pick_key(plan.seed) >= 0)
    begin = F.when(late, F.lit(0.5)).otherwise(F.lit(0.0))
    end = F.when(late | (epochs <= 1), last).otherwise(F.least(last, F.lit(0.5)))
    key = F.least((F.col("epoch") + begin + unit * (end - begin)) / epochs, F.lit(1.0 - 2**-53))
    return used.withColumn("key", key).withColumn("shard", F.floor(F.col("key") * shards).cast("int"))


def _by_cell(values: Mapping[str, int | float | None], kind: str) -> Column:
    if not values:
        return F.lit(None).cast(kind)
    parts = (part for name, value in sorted(values.items()) for part in (F.lit(name), F.lit(value).cast(kind)))
    return F.create_map(*parts)[F.col("cell")]


def _signed(cut: str) -> int | None:
    """A cut as the signed number that compares as the unsigned one does."""
    return int(cut, 16) + _SIGN if cut else None
