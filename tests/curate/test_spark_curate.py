import random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from glotmill.curate.dedup.exact import text_hash
from glotmill.curate.judgement import VERDICT_COLUMNS, judge_batch
from glotmill.curate.language import language
from glotmill.curate.measure import chain
from glotmill.curate.quality import quality
from glotmill.curate.rules import RuleSet, ruleset
from glotmill.curate.signals import SIGNALS
from glotmill.curate.spark import apply, counterfactuals, judge
from glotmill.schemas.errors import SchemaError
from glotmill.schemas.recipe import Quality

TEXTS = [
    "",
    " \n ",
    "Nel mezzo del cammin di nostra vita\nmi ritrovai per una selva oscura.",
    "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอนหรือวรรณยุกต์",
    "我们去年买的书很贵。\n我们去年买的书很贵。",
    "mojibake: cafÃ© \ufffd",
    "12 34 56 | 78 || 90",
]
MEASURES = (language, quality, text_hash)


def rows(batch: pa.RecordBatch | pa.Table) -> list[dict[str, Any]]:
    return sorted(batch.to_pylist(), key=lambda row: str(row["id"]))


def test_workers_measure_what_a_plain_batch_measures(spark: SparkSession) -> None:
    texts = [f"{text}\n{text}" if index % 2 else text for index, text in enumerate(TEXTS * 10)]
    batch = pa.RecordBatch.from_pydict({"id": [f"{i:03}" for i in range(len(texts))], "text": texts})
    df = spark.createDataFrame(pa.Table.from_batches([batch])).repartition(3)
    assert rows(apply(df, MEASURES).toArrow()) == rows(chain(MEASURES)(batch))


def test_a_missing_column_is_named_before_anything_runs(spark: SparkSession) -> None:
    df = spark.range(1)
    with pytest.raises(SchemaError, match="'text'"):
        apply(df, MEASURES)
    with pytest.raises(SchemaError, match="'broken_char_share'|'digit_share'|'domain'"):
        judge(df, ruleset(Quality()))


def random_signals(count: int, seed: int) -> pa.Table:
    """Values on, just beside and far from the limits of `RULES`."""
    draw = random.Random(seed)
    values = [0.0, 0.1, 0.2, 0.3, 0.30000000000000004, 0.5, 1.0, 20.0, 50.0, 1e-12]
    columns: dict[str, list[Any]] = {name: [draw.choice(values) for _ in range(count)] for name in SIGNALS}
    columns["words"] = [draw.choice([0, 1, 19, 20, 21, 49, 50, 51]) for _ in range(count)]
    columns["domain"] = [draw.choice(["web", "code"]) for _ in range(count)]
    places = [draw.choice(["ita_Latn", "tha_Thai", "nod_Thai", "zho_Hans", "zxx_Zzzz"]) for _ in range(count)]
    columns |= {"language": places, "script": [place[-4:] for place in places]}
    columns["id"] = [f"{i:05}" for i in range(count)]
    table = pa.Table.from_pydict(columns)
    return table.set_column(
        table.schema.get_field_index("language_score"),
        "language_score",
        table["language_score"].cast(pa.float32()),
    )


RULES = {
    "preset": ruleset(Quality()),
    "none": RuleSet(),
    "everything": ruleset(
        Quality(
            rules={
                "short": "words <= 20",
                "odd": "lines != 0",
                "exact": "letter_share == 0.3",
                "sure": "language_score >= 0.3",
                "tha": {"short": "units < 0.3", "odd": None},
                "Thai": {"short": "letter_share < 0.5"},
                "domain:code": {"exact": "digit_share > 0", "sure": None},
                "lao": {"rare": "words > 1"},
            }
        )
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_the_jvm_judges_bit_for_bit_as_a_plain_batch(spark: SparkSession, name: str) -> None:
    table = random_signals(400, seed=7)
    rules = RULES[name]
    batch = table.combine_chunks().to_batches()[0]
    plain = pa.Table.from_batches([judge_batch(batch, rules)]).append_column("id", batch["id"])
    judged = judge(spark.createDataFrame(table).repartition(3), rules).select("id", *VERDICT_COLUMNS).toArrow()
    assert rows(judged) == rows(plain)


def test_a_signal_that_was_not_measured_stops_the_job(spark: SparkSession) -> None:
    df = spark.sql("select cast(null as double) letter_share")
    rules = ruleset(Quality(preset="none", rules={"not_text": "letter_share < 0.5"}))
    with pytest.raises(PySparkException, match="was not measured"):
        judge(df, rules).collect()


def test_counterfactuals_count_what_each_rule_removes_and_what_it_alone_removes(spark: SparkSession) -> None:
    table, rules = random_signals(300, seed=9), RULES["everything"]
    batch = table.combine_chunks().to_batches()[0]
    expected: dict[tuple[str, str | None], list[int]] = {}
    for name, verdict in zip(batch["language"].to_pylist(), judge_batch(batch, rules).to_pylist(), strict=True):
        expected.setdefault((name, None), [0, 0, 0])[0] += 1
        broken = [rule["reason"] for rule in verdict["reasons"]]
        for reason in broken:
            counts = expected.setdefault((name, reason), [0, 0, 0])
            counts[0] += 1
            counts[1] += reason == verdict["reason"]
            counts[2] += len(broken) == 1
    found = counterfactuals(judge(spark.createDataFrame(table).repartition(3), rules)).toArrow().to_pylist()
    assert {(row["language"], row["reason"]): [row["breaks"], row["first"], row["only"]] for row in found} == expected
    assert any(counts[2] for counts in expected.values())
