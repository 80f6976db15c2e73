"""Lines that a recipe cuts out are in no token, and in documents/ all the same."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from glotmill.jobs import pipeline, quality, sampling
from glotmill.jobs.reporting import Reporter
from glotmill.jobs.run import ALL
from glotmill.jobs.state import State
from glotmill.jobs.verify import verify
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.indexed import IndexedTokens
from glotmill.schemas.recipe import Recipe
from glotmill.schemas.recipe_file import from_mapping, with_sets
from glotmill.tokenize.tokenizer import load

# By language: a menu, prose, and a line that asks for JavaScript.
PAGES = {
    "ita": (
        "Menu",
        "La biblioteca del paese apre ogni mattina alle nove e resta aperta per tutti i lettori.",
        "Attiva",
    ),
    "ell": ("Μενού", "Η βιβλιοθήκη του χωριού ανοίγει κάθε πρωί στις εννέα για όλους τους αναγνώστες.", "Ενεργοποίησε"),
    "arb": ("القائمة", "تفتح مكتبة القرية أبوابها كل صباح في الساعة التاسعة لجميع القراء والزوار.", "فعّل"),
    "hin": ("मेनू", "गाँव का पुस्तकालय हर सुबह नौ बजे सभी पाठकों के लिए खुलता है और शाम तक खुला रहता है।", "सक्षम करें"),
    "tha": ("เมนู", "ห้องสมุดของหมู่บ้านเปิดทุกเช้าเวลาเก้าโมงและเปิดจนถึงเย็นสำหรับผู้อ่านทุกคน", "เปิดใช้"),
    "jpn": ("目次", "村の図書館は毎朝九時に開き、すべての読者のために夕方まで開いています。", "有効に"),
}
BREAKS = ("\n", "\r\n", "\u2028")
RULES = {"javascript": "line_javascript > 0", "menu": "line_words < 2.5"}
ONLY_MENU = "Menu\r\nLogin\nEnable JavaScript please"


def page(language: str, number: int) -> tuple[str, str]:
    """A page, and what the rules leave of it."""
    menu, prose, enable = PAGES[language]
    end = BREAKS[number % len(BREAKS)]
    prose = "".join(f"{prose} {number * 7 + k}. {end}{end}" for k in range(4))
    return f"{menu}{end}{prose}  {enable} JavaScript!  {end}{menu}", prose


# The pages say nearly the same four times over, which the default rules would drop.
REPEATS = dict.fromkeys(
    ("repetitive", "top_2_gram", "top_3_gram", "top_4_gram", "duplicate_5_gram", "duplicate_10_gram")
)


def recipe(*sets: str) -> Recipe:
    told: dict[str, Any] = {
        "name": "lines",
        "sources": [{"name": "pages", "path": "*.jsonl", "columns": {"id": "id"}}],
        "language": {"model": "lid176"},
        "quality": {"rules": {"short": "words < 5", **REPEATS}},
        "shards": {"vocabulary": 600, "shard_tokens": 3000},
    }
    return with_sets(from_mapping(told, where="test"), sets)


SETS = [f"quality.lines.{reason}={rule}" for reason, rule in RULES.items()]


@pytest.fixture(scope="module")
def texts() -> dict[str, tuple[str, str]]:
    """By id, whole text and what stays."""
    found = {f"{language}-{n}": page(language, n) for language in PAGES for n in range(8)}
    whole, prose = found["ita-0"]
    found["twin"] = (whole.replace("Menu", "Indice"), prose)
    found["nothing"] = (ONLY_MENU, "")
    return found


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, texts: dict[str, tuple[str, str]]) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    rows = [json.dumps({"id": id, "text": whole}, ensure_ascii=False) for id, (whole, _) in texts.items()]
    (folder / "pages.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def run(spark: SparkSession, base: Path, out: Path, *sets: str) -> dict[str, int]:
    """Units that each step did."""
    state = State(recipe(*sets), base, out, None)
    done = pipeline.run(state, ALL, spark=lambda: spark, reporter=Reporter(quiet=True))
    return {line.step: line.units - line.done_before for line in done if line.units != line.done_before}


@pytest.fixture(scope="module")
def out(spark: SparkSession, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("lines") / "out"
    run(spark, base, out, *SETS)
    return out


def rows(out: Path, name: str) -> dict[str, dict[str, Any]]:
    found = (row for path in sorted((out / name).glob("*.parquet")) for row in pq.read_table(path).to_pylist())
    return {row["source_id"]: row for row in found}


def decoded(out: Path) -> dict[str, str]:
    """By source_id, what the tokens of the shards say."""
    tokenizer, of = load(out / "shards" / "tokenizer"), {row["id"]: id for id, row in rows(out, "kept").items()}
    found = {}
    for path in sorted((out / "shards" / "provenance").glob("*.parquet")):
        stored = IndexedTokens(out / "shards" / path.name.partition(".")[0])
        for row in pq.read_table(path).to_pylist():
            found[of[row["id"]]] = tokenizer.decode(stored[row["sequence"]][:-1])
    return found


def test_tokens_are_those_of_the_lines_that_stay(out: Path, texts: dict[str, tuple[str, str]]) -> None:
    found = decoded(out)
    assert len(found) == len(texts) - 2  # a twin, and a page of which nothing stays
    assert found == {id: texts[id][1] for id in found}
    assert verify(out, sample=1.0, say=lambda _: None) == []


def test_nothing_is_lost(out: Path, texts: dict[str, tuple[str, str]]) -> None:
    documents = rows(out, "documents")
    assert {id: row["text"] for id, row in documents.items()} == {id: whole for id, (whole, _) in texts.items()}
    signals = rows(out, "signals")
    for id, row in rows(out, "kept").items():
        assert row["cuts"] == signals[id]["cuts"]
        assert row["bytes"] == len(texts[id][1].encode())
        data = texts[id][0].encode()
        gone = [(cut["reason"], data[cut["start"] : cut["end"]].decode()) for cut in row["cuts"]]
        menu, _, enable = PAGES[id[:3]]
        assert [(reason, text.strip()) for reason, text in gone] == [
            ("menu", menu),
            ("javascript", f"{enable} JavaScript!"),
            ("menu", menu),
        ]


def test_documents_are_judged_by_the_lines_that_stay(out: Path) -> None:
    dropped = {id: (row["reason"], row["excerpt"]) for id, row in rows(out, "dropped").items()}
    assert dropped.keys() == {"nothing", "twin"} or dropped.keys() == {"nothing", "ita-0"}
    assert dropped.pop("nothing") == ("empty", "")
    reason, excerpt = dropped.popitem()[1]
    assert reason == "exact_duplicate" and excerpt.startswith("La biblioteca")


def test_a_tokenizer_learns_from_the_lines_that_stay(
    spark: SparkSession, base: Path, out: Path, texts: dict[str, tuple[str, str]]
) -> None:
    state = State(recipe(*SETS), base, out, None)
    found = sampling.training_texts(spark, state, budget_bytes=1 << 20, seed=0).to_pylist()
    assert sorted(found) == sorted(texts[id][1] for id in rows(out, "kept"))


def test_the_report_counts_lines_and_characters_by_reason(out: Path) -> None:
    page = re.sub(r"<[^>]*>", " ", (out / "report.html").read_text(encoding="utf-8"))
    table = page.partition("Lines cut out by reason")[2]
    assert re.search(r"menu\s+line_words &lt; 2.5\s+100\s", table)  # 2 of each page, and of the page of nothing else
    assert re.search(r"javascript\s+line_javascript &gt; 0\s+50\s", table)


def test_other_line_rules_redo_what_they_change(spark: SparkSession, base: Path, out: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(out, tmp_path / "out")
    assert run(spark, base, mine, *SETS) == {}
    again = run(spark, base, mine, SETS[0])
    assert "extract" not in again
    assert again.keys() >= {"measure", "judge", "dedup", "cut", "tokenizer", "tokenize", "mix", "shard", "report"}
    assert verify(mine, sample=1.0, say=lambda _: None) == []
    for id, text in decoded(mine).items():
        assert "JavaScript" not in text and (id == "twin" or text.startswith(PAGES[id[:3]][0]))


def test_a_wrong_line_rule_is_an_error_before_any_work(spark: SparkSession, base: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="did you mean 'line_words'"):
        run(spark, base, tmp_path / "out", "quality.lines.menu=line_wrds < 2")
    assert not (tmp_path / "out" / "documents").exists()


def test_the_quality_job_heeds_line_rules(
    spark: SparkSession, base: Path, tmp_path: Path, texts: dict[str, tuple[str, str]]
) -> None:
    asked = (
        "language.model=lid176",
        "quality.rules.short=words < 5",
        *(f"quality.rules.{name}=null" for name in REPEATS),
        *SETS,
    )
    sets = [part for text in asked for part in ("--set", text)]
    given = ["--input", str(base / "pages.jsonl"), "--output", str(tmp_path / "out"), "--id-column", "id", "--quiet"]
    assert quality.main([*given, *sets]) == 0
    kept = rows(tmp_path / "out", "kept")
    assert kept["ita-1"]["bytes"] == len(texts["ita-1"][1].encode()) and len(kept["ita-1"]["cuts"]) == 3
    assert rows(tmp_path / "out", "dropped")["nothing"]["reason"] == "empty"
