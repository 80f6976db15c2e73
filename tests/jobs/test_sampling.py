"""Text to train a tokenizer on: fair to small languages, the same however it is computed."""

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from glotmill.jobs.sampling import training_texts
from glotmill.jobs.state import State
from glotmill.schemas.recipe_file import load

RECIPE = Path(__file__).parents[2] / "recipes" / "quickstart.yaml"


def texts(spark: SparkSession, out: Path, budget: int, seed: int = 1, tasks: int | None = None) -> list[str]:
    state = State(load(RECIPE), RECIPE.parent, out, tasks)
    found: list[str] = training_texts(spark, state, budget_bytes=budget, seed=seed).to_pylist()
    return found


def languages(out: Path) -> dict[str, str]:
    """By text, the language of every kept document."""
    documents = {row["id"]: row["text"] for row in rows(out, "documents")}
    return {documents[row["id"]]: row["language"] for row in rows(out, "kept")}


def rows(out: Path, table: str) -> list[dict[str, str]]:
    return [row for path in sorted((out / table).glob("*.parquet")) for row in pq.read_table(path).to_pylist()]


def test_a_large_budget_takes_every_kept_document(spark: SparkSession, demo_out: Path) -> None:
    assert Counter(texts(spark, demo_out, 1 << 30)) == Counter(languages(demo_out).keys())


@pytest.mark.parametrize("budget", [60_000, 150_000])
def test_every_language_gives_about_the_same_bytes(spark: SparkSession, demo_out: Path, budget: int) -> None:
    of = languages(demo_out)
    chosen = texts(spark, demo_out, budget)
    sizes = Counter[str]()
    for text in chosen:
        sizes[of[text]] += len(text.encode())
    assert set(sizes) == set(of.values())  # no language is left out
    longest = max(len(text.encode()) for text in of)
    assert max(sizes.values()) <= budget / len(sizes) * 2 + longest


def test_the_choice_depends_on_the_seed_and_on_nothing_else(spark: SparkSession, demo_out: Path) -> None:
    one = texts(spark, demo_out, 60_000)
    assert texts(spark, demo_out, 60_000, tasks=1) == one
    assert texts(spark, demo_out, 60_000, seed=2) != one
