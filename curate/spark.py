"""Measures and rules over a Spark DataFrame."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from glotmill.curate.measure import Measure, chain
from glotmill.curate.rules import DOMAIN, EVERYWHERE, SMALLEST_LIMIT, Comparison, Rule, RuleSet, scope_kind
from glotmill.schemas.errors import SchemaError

_REASON = "struct<reason:string,signal:string,comparison:string,value:double,limit:double,scope:string>"


def apply(df: DataFrame, measures: Sequence[Measure]) -> DataFrame:
    """`df` with the columns of every measure, each row as a plain batch would have it. One pass in Python workers, no
    shuffle; every column of `df` travels, so select what is needed first.

    Raises:
        SchemaError: a measure reads a column that neither `df` has nor an earlier measure adds.
    """
    known = list(df.columns)
    for measure in measures:
        if missing := [name for name in measure.reads if name not in known]:
            raise SchemaError(
                f"measure {measure.name!r} reads {missing[0]!r}; the table has: {', '.join(known)}. "
                "Add the step that writes it"
            )
        known += measure.adds.names
    added = [field for measure in measures for field in from_arrow_schema(measure.adds).fields]
    return df.mapInArrow(partial(_each, measures=tuple(measures)), StructType([*df.schema.fields, *added]))


def _each(batches: Iterable[pa.RecordBatch], *, measures: tuple[Measure, ...]) -> Iterator[pa.RecordBatch]:
    return map(chain(measures), batches)


def judge(df: DataFrame, rules: RuleSet) -> DataFrame:
    """`df` with keep, reason, reasons, margin and margin_rule, equal to `judgement.judge_batch` bit for bit.

    JVM expressions alone: no Python worker, no shuffle, nothing travels.

    Raises:
        SchemaError: `df` lacks a column of `rules.reads`. A null or NaN signal fails the job when it runs.
    """
    if missing := [name for name in rules.reads if name not in df.columns]:
        raise SchemaError(
            f"a rule reads {missing[0]!r}; the table has: {', '.join(df.columns)}. Add the measure that writes it"
        )
    judged = [_judged(reason, place, scopes) for place, (reason, scopes) in enumerate(rules.rules.items())]
    empty = F.array().cast(f"array<struct<order:int,broken:boolean,margin:double,rule:{_REASON}>>")
    found = df.withColumn("_judged", F.array_compact(F.array(*judged)) if judged else empty)
    broken = F.filter("_judged", lambda item: item["broken"])
    found = found.withColumn("reasons", F.transform(broken, lambda item: item["rule"]))
    keep = F.size("reasons") == 0
    margins = F.transform("_judged", lambda item: F.struct(item["margin"], item["order"], item["rule"]["reason"]))
    nearest = F.when(keep, F.array_min(margins))
    return found.select(
        *df.columns,
        keep.alias("keep"),
        F.get("reasons", F.lit(0))["reason"].alias("reason"),
        F.col("reasons"),
        nearest["margin"].alias("margin"),
        nearest["reason"].alias("margin_rule"),
    )


def counterfactuals(judged: DataFrame) -> DataFrame:
    """What each rule removes, and what it alone removes.

    Args:
        judged: What `judge` gives, with `language`.

    Returns:
        language, reason, and three counts of documents: breaks (the rule holds), first (it is the one that the books
        count) and only (no other rule holds, so that without it they were kept). Of each language one row has null for
        a reason and its documents as `breaks`.

    Cost: one shuffle of counts, a row for each language and reason.
    """
    documents = judged.groupBy("language").agg(F.count("*").alias("breaks"))
    documents = documents.select("language", F.lit(None).cast("string").alias("reason"), "breaks", *_zeros())
    broken = judged.select("language", F.col("reason").alias("counted"), F.size("reasons").alias("count"), "reasons")
    each = broken.select("language", "counted", "count", F.explode("reasons.reason").alias("reason"))
    found = each.groupBy("language", "reason").agg(
        F.count("*").alias("breaks"),
        F.count_if(F.col("reason") == F.col("counted")).alias("first"),
        F.count_if(F.col("count") == 1).alias("only"),
    )
    return documents.unionByName(found)


def _zeros() -> list[Column]:
    return [F.lit(0).cast("long").alias(name) for name in ("first", "only")]


def _judged(reason: str, place: int, scopes: Mapping[str, Rule | None]) -> Column:
    """One reason's struct of order, broken, margin and rule for a row; null where no rule applies to it."""
    rules = [rule for rule in scopes.values() if rule is not None]
    arms = sorted({(rule.signal, rule.comparison) for rule in rules})
    which = _index(scopes, {rule: index for index, rule in enumerate(rules)})
    # As text, since each literal made from Python costs a call to the JVM, and a reason may have thousands.
    limit = F.get(F.expr(f"array({', '.join(f'{rule.limit!r}D' for rule in rules)})"), which)
    scope = F.get(F.expr(f"array({', '.join(_quoted(rule.scope) for rule in rules)})"), which)
    of = ", ".join(str(arms.index((rule.signal, rule.comparison))) for rule in rules)
    arm = F.get(F.expr(f"array({of})"), which)
    result = F.lit(None)
    for place_of_arm, (signal, comparison) in enumerate(arms):
        value = _value(signal)
        verdict = F.struct(
            F.lit(place).alias("order"),
            _holds(value, comparison, limit).alias("broken"),
            (F.abs(value - limit) / F.greatest(F.abs(limit), F.lit(SMALLEST_LIMIT))).alias("margin"),
            F.struct(
                F.lit(reason).alias("reason"),
                F.lit(signal).alias("signal"),
                F.lit(comparison).alias("comparison"),
                value.alias("value"),
                limit.alias("limit"),
                scope.alias("scope"),
            ).alias("rule"),
        )
        result = F.when(arm == place_of_arm, verdict).otherwise(result)
    return result


def _index(scopes: Mapping[str, Rule | None], places: Mapping[Rule, int]) -> Column:
    """Which of the rules is a row's: by its domain, else its language, its script, or every one's; -1 for none."""
    named: dict[str, dict[str, int]] = {"domain": {}, "language": {}, "script": {}}
    for scope, rule in scopes.items():
        if scope != EVERYWHERE:
            named[scope_kind(scope)][scope.removeprefix(DOMAIN)] = -1 if rule is None else places[rule]
    general = scopes.get(EVERYWHERE)
    choices = [_look_up(column, table) for column, table in named.items() if table]
    return F.coalesce(*choices, F.lit(-1 if general is None else places[general]))


def _look_up(column: str, table: Mapping[str, int]) -> Column:
    pairs = ", ".join(f"{_quoted(name)}, {place}" for name, place in table.items())
    return F.try_element_at(F.expr(f"map({pairs})"), F.col(column))


def _quoted(text: str) -> str:
    """A string of Spark SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _value(signal: str) -> Column:
    """The signal as float64; a null or NaN one stops the job, because it was never measured."""
    value = F.col(signal).cast("double")
    message = f"signal {signal!r} holds null or NaN: a rule can't judge what was not measured; measure again"
    return F.when(value.isNull() | F.isnan(value), F.raise_error(F.lit(message)).cast("double")).otherwise(value)


def _holds(value: Column, comparison: Comparison, limit: Column) -> Column:
    match comparison:
        case "<":
            return value < limit
        case "<=":
            return value <= limit
        case ">":
            return value > limit
        case ">=":
            return value >= limit
        case "==":
            return value == limit
        case "!=":
            return value != limit
