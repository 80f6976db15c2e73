"""The same news in many languages: the default preset drops no more of it in one than in another."""

import io
import json
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard

from glotmill.curate.judgement import judge_batch
from glotmill.curate.measure import chain
from glotmill.curate.rules import ruleset
from glotmill.curate.signals import MEASURES
from glotmill.schemas.recipe import Language, Quality

LANGUAGES = (
    "eng-US fin hun tur kor jpn zho-CN zho-TW tha khm mya lao hin ben tam mal amh kat hye heb ara ell rus vie dzo bod "
    "mri zul swa yor ibo kin"
).split()


@pytest.fixture(scope="module")
def news(shared_data: Path) -> dict[str, list[str]]:
    """By language, the documents of odd number: no limit was fitted to them."""
    found: dict[str, list[str]] = defaultdict(list)
    numbers: dict[str, int] = {}
    with zstandard.open(shared_data / "parallel" / "ntrex_dev.jsonl.zst", "rb") as file:
        for line in io.TextIOWrapper(file, "utf-8"):
            row = json.loads(line)
            if numbers.setdefault(row["document"], len(numbers)) % 2:
                found[row["lang"]].append("\n".join(row["sentences"]))
    return found


def dropped(texts: list[str]) -> float:
    batch = chain(MEASURES)(pa.RecordBatch.from_pydict({"text": texts}))
    batch = batch.append_column("domain", pa.array(["web"] * len(texts)))
    keep: list[bool] = judge_batch(batch, ruleset(Quality(), Language()))["keep"].to_pylist()
    return keep.count(False) / len(keep)


def test_the_share_dropped_differs_by_five_points_at_the_most(news: dict[str, list[str]]) -> None:
    present = [name for name in LANGUAGES if name in news]
    assert len(present) >= 25
    shares = {name: dropped(news[name]) for name in present}
    assert max(shares.values()) - min(shares.values()) <= 0.05, shares
