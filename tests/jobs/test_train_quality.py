import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.rules import ruleset
from glotmill.curate.signals import SIGNALS
from glotmill.curate.trained.classifier import HQ, classifier
from glotmill.curate.trained.held_out import figures
from glotmill.curate.trained.train_quality import Settings, train
from glotmill.jobs.train_quality import main
from glotmill.schemas.errors import InputError
from glotmill.schemas.recipe import Quality

LANGUAGES = ("eng", "rus", "arb", "hin", "tha", "zho-CN", "jpn", "khm", "kor", "ell", "tam", "vie")
Rows = list[dict[str, Any]]


def jsonl(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def made(count: int, *, seed: int, good: bool, language: str = "eng", words: str = "abcdefgh") -> Rows:
    """Texts of made-up words; good ones are in alphabetical order."""
    choice = random.Random(seed)
    rows: Rows = []
    for _ in range(count):
        text = [choice.choice(words) * choice.randint(1, 3) for _ in range(20)]
        rows.append({"text": " ".join(sorted(text) if good else text), "language": language})
    return rows


@pytest.fixture
def sets(tmp_path: Path) -> tuple[Path, Path]:
    return (
        jsonl(tmp_path / "good.jsonl", made(300, seed=1, good=True)),
        jsonl(tmp_path / "bad.jsonl", made(300, seed=2, good=False)),
    )


def run(good: Path, bad: Path, out: Path, *more: str) -> int:
    return main(["--positive", str(good), "--negative", str(bad), "--output", str(out), *more])


def news(shared: Path) -> tuple[Rows, Rows]:
    """Good: three sentences of news. Bad: the words of three others, punctuation and all, shuffled, in short lines."""
    choice = random.Random(1)
    good: Rows = []
    bad: Rows = []
    with zstandard.open(shared / "parallel" / "ntrex_dev.jsonl.zst", "rb") as file:
        for line in io.TextIOWrapper(file, encoding="utf-8"):
            row = json.loads(line)
            if row["lang"] not in LANGUAGES:
                continue
            texts = ["\n".join(row["sentences"][i : i + 3]) for i in range(0, len(row["sentences"]), 3)]
            good += [{"text": text, "lang": row["lang"]} for text in texts[::2]]
            bad += [{"text": _shuffled(text, choice), "lang": row["lang"]} for text in texts[1::2]]
    return good, bad


def _shuffled(text: str, choice: random.Random) -> str:
    cut = pieces(pa.array([text]))
    words, joint = text.split(), " "
    if np.count_nonzero(cut.unit_kind == 2) > len(cut.unit_kind) / 2:  # unspaced: runs of one to four letters
        data, places = text.encode(), cut.unit_start.tolist()
        cuts = [0]
        while cuts[-1] < len(data):
            step = choice.randint(1, 4)
            cuts.append(next(iter([p for p in places if p > cuts[-1]][step - 1 :]), len(data)))
        words, joint = [data[a:b].decode().strip() for a, b in zip(cuts, cuts[1:], strict=False)], ""
    choice.shuffle(words)
    return "\n".join(joint.join(words[i : i + 5]) for i in range(0, len(words), 5))


def test_it_learns_real_text_from_its_own_words_shuffled_in_every_script(shared_data: Path, tmp_path: Path) -> None:
    good, bad = news(shared_data)
    settings = Settings(name="news", held_out=0.25, epochs=10)
    result = train(
        [jsonl(tmp_path / "good.jsonl", good)],
        [jsonl(tmp_path / "bad.jsonl", bad)],
        tmp_path / "out",
        settings,
        language_column="lang",
    )
    assert len(result.languages) == len(LANGUAGES)
    for name, found in result.languages.items():
        assert found.is_judged and found.figures is not None
        middle = found.figures.middle
        print(f"{name} held out {found.figures.positives} F1 {middle.f1:.3f} AUC {found.figures.auc:.3f}")
        assert middle.f1 > 0.7 and found.figures.auc > 0.8, name
    assert result.all.figures is not None and result.all.figures.middle.f1 > 0.85


def test_two_trainings_give_the_same_files(sets: tuple[Path, Path], tmp_path: Path) -> None:
    options = ("--seed", "7", "--epochs", "2")
    out = [tmp_path / "a" / "out", tmp_path / "b" / "out"]
    for folder in out:
        dirt = [np.full(1 << 20, np.nan) for _ in range(20)]  # what the next training may find in its memory
        del dirt
        assert run(*sets, folder, *options) == 0
    assert sorted(path.name for path in out[0].iterdir()) == ["model.bin", "model.bin.json", "report.md"]
    for name in ("model.bin", "model.bin.json"):
        assert (out[0] / name).read_bytes() == (out[1] / name).read_bytes()
    assert run(*sets, out[1], "--seed", "8", "--epochs", "2") == 0
    assert (out[0] / "model.bin").read_bytes() != (out[1] / "model.bin").read_bytes()


def test_the_order_of_files_and_rows_does_not_matter(sets: tuple[Path, Path], tmp_path: Path) -> None:
    good, bad = (jsonl(path.with_name(f"back-{path.name}"), _rows(path)[::-1]) for path in sets)
    assert run(*sets, tmp_path / "a") == run(good, bad, tmp_path / "b") == 0
    assert (tmp_path / "a" / "model.bin").read_bytes() == (tmp_path / "b" / "model.bin").read_bytes()


def _rows(path: Path) -> Rows:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_was_trained_is_a_signal_with_the_scores_it_was_judged_by(
    sets: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*sets, tmp_path / "out", "--name", "order") == 0
    printed = capsys.readouterr().out
    side = json.loads((tmp_path / "out" / "model.bin.json").read_text())
    measure = classifier("order", str(tmp_path / "out" / "model.bin"), side["labels"][0])
    fresh = pa.RecordBatch.from_pylist([*made(50, seed=3, good=True), *made(50, seed=4, good=False)])
    scores = measure(fresh)["order_score"].to_numpy()
    found = figures(scores, np.arange(100) < 50, precision=0.9)
    assert found.auc > 0.95 and side["languages"]["eng_Latn"]["figures"]["auc"] > 0.95
    assert found.wanted is not None and "order_score <" in printed and "eng_Latn" in printed


def test_the_suggested_lines_are_a_recipes(sets: tuple[Path, Path], tmp_path: Path) -> None:
    assert run(*sets, tmp_path / "out", "--name", "order", "--min-documents", "5") == 0
    text = (tmp_path / "out" / "report.md").read_text()
    block = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert block is not None
    told = YAML(typ="safe").load(block[1])["quality"]
    assert classifier("order", told["classifiers"]["order"]["model"]).adds.names == ["order_score"]
    rules = ruleset(Quality.model_validate(told), signals=[*SIGNALS, "order_score"])
    assert {"*", "eng_Latn"} <= rules.rules["order"].keys()


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda rows: ("x.jsonl.zst", zstandard.compress(_lines(rows))), id="zstd"),
        pytest.param(lambda rows: ("x.jsonl.gz", __import__("gzip").compress(_lines(rows))), id="gzip"),
        pytest.param(lambda rows: ("x.ndjson", b"\xef\xbb\xbf" + _lines(rows) + b"\n\n"), id="a mark, blank lines"),
        pytest.param(lambda rows: ("x.parquet", _parquet(rows)), id="parquet"),
    ],
)
def test_every_format_gives_the_same_model(
    sets: tuple[Path, Path], tmp_path: Path, write: Callable[[Rows], tuple[str, bytes]]
) -> None:
    good, bad = sets
    name, data = write(_rows(good))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).write_bytes(data)
    assert run(good, bad, tmp_path / "a", "--epochs", "1") == run(folder, bad, tmp_path / "b", "--epochs", "1") == 0
    assert (tmp_path / "a" / "model.bin").read_bytes() == (tmp_path / "b" / "model.bin").read_bytes()


def _lines(rows: Rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _parquet(rows: Rows) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return bytes(sink.getvalue())


def test_texts_in_both_sets_are_left_out_and_copies_count_once(tmp_path: Path) -> None:
    good, bad = made(100, seed=1, good=True), made(100, seed=2, good=False)
    shout = [{"text": row["text"].upper(), "language": "eng"} for row in good[:30]]  # equal, as a model reads them
    result = train(
        [jsonl(tmp_path / "good.jsonl", good + good[40:50])],
        [jsonl(tmp_path / "bad.jsonl", bad + shout)],
        tmp_path / "out",
        Settings(epochs=1),
    )
    assert (result.in_both, result.repeats) == (30, 10)
    assert (result.all.positives, result.all.negatives) == (70, 100)
    assert "30 texts are in both sets" in (tmp_path / "out" / "report.md").read_text()


def test_a_language_weighs_the_same_on_both_sides(tmp_path: Path) -> None:
    good = made(200, seed=1, good=True) + made(40, seed=2, good=True, language="th", words="กขคง")
    bad = made(50, seed=3, good=False) + made(300, seed=4, good=False, language="th", words="กขคง")
    bad += made(30, seed=5, good=False, language="fra", words="xyz")
    paths = [jsonl(tmp_path / "good.jsonl", good)], [jsonl(tmp_path / "bad.jsonl", bad)]
    result = train(*paths, tmp_path / "out", Settings(held_out=0.5, epochs=1))
    for name, less in (("eng_Latn", 50), ("tha_Thai", 40)):
        found = result.languages[name]
        assert found.figures is not None and found.figures.positives == found.figures.negatives
        assert 0.5 * less < found.trained + found.figures.positives <= less
    french = result.languages["fra_Latn"]
    assert (french.positives, french.negatives, french.trained, french.figures) == (0, 30, 0, None)
    report = (tmp_path / "out" / "report.md").read_text()
    assert "Not trained, for want of texts on one side: fra_Latn" in report


def test_a_language_of_few_texts_is_trained_but_not_judged(sets: tuple[Path, Path], tmp_path: Path) -> None:
    few = [
        jsonl(tmp_path / f"few{good}.jsonl", made(25, seed=9 + good, good=good, language="th", words="กขคง"))
        for good in (True, False)
    ]
    result = train([sets[0], few[0]], [sets[1], few[1]], tmp_path / "out", Settings(epochs=1))
    thai = result.languages["tha_Thai"]
    assert thai.trained > 10 and not thai.is_judged and result.languages["eng_Latn"].is_judged
    report = (tmp_path / "out" / "report.md").read_text()
    assert (
        "| tha_Thai | 25/25 |" in report and "too few to judge, under 20 held-out texts a side: tha" in report.lower()
    )


def test_a_language_that_is_not_told_is_identified(tmp_path: Path) -> None:
    words = "der die das und nicht ein eine ist Haus Wasser Straße über schön Mädchen heute gestern".split()
    choice = random.Random(0)
    texts = [" ".join(choice.choices(words, k=30)) for _ in range(80)]
    good = jsonl(tmp_path / "good.jsonl", [{"text": text + "."} for text in texts[:40]])
    bad = jsonl(tmp_path / "bad.jsonl", [{"text": text, "language": None} for text in texts[40:]])
    result = train([good], [bad], tmp_path / "out", Settings(epochs=1, held_out=0.3))
    assert result.languages["deu_Latn"].positives > 30


@given(st.lists(st.tuples(st.integers(0, 1000), st.booleans()), min_size=2, max_size=60), st.floats(0.5, 1.0))
def test_figures_are_what_counting_gives(rows: list[tuple[int, bool]], precision: float) -> None:
    rows += [(300, True), (600, False)]
    scores, flags = np.array([s / 1000 for s, _ in rows], np.float32), np.array([f for _, f in rows])
    found = figures(scores, flags, precision=precision)
    pairs = [(a > b) + (a == b) / 2 for a in scores[flags] for b in scores[~flags]]
    assert found.auc == pytest.approx(np.mean(pairs))
    reached = {}
    for step in range(1, 1000):
        kept = scores.astype(float) >= step / 1000
        hits = int((kept & flags).sum())
        if hits and hits / kept.sum() >= precision:
            reached[step] = hits / flags.sum()
    assert (found.wanted is None) == (not reached)
    if found.wanted:
        assert found.wanted.precision >= precision
        assert found.wanted.recall == pytest.approx(max(reached.values()))
        assert found.wanted.recall == pytest.approx(reached[round(found.wanted.threshold * 1000)])
    kept = scores.astype(float) >= 0.5
    assert found.middle.recall == pytest.approx((kept & flags).sum() / flags.sum())
    assert found.middle.precision == pytest.approx((kept & flags).sum() / max(1, kept.sum()))


def _bad(path: Path, rows: Any) -> Path:
    path.write_text(rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param("", "the negative set holds no text: .*bad.jsonl", id="empty file"),
        pytest.param([{"text": " \n"}], "the negative set holds no text", id="blank texts"),
        pytest.param('{"text": "a"}\n{"text": \n', r"bad.jsonl, row 2 is no JSON", id="invalid JSON"),
        pytest.param("[1]\n", r"bad.jsonl, row 1 is list, and an object is wanted", id="no object"),
        pytest.param([{"body": "a"}], r"row 1 has no 'text'; it has 'body': set --text-column", id="no text column"),
        pytest.param([{"Text": "a"}], r"did you mean --text-column Text\?", id="nearly the text column"),
        pytest.param([{"text": "a"}, {"text": None}], r"row 2: 'text' is null", id="null"),
        pytest.param([{"text": 3}], r"row 1: 'text' is int", id="a number"),
        pytest.param([{"text": "a", "language": "xx9!"}], r"row 1: 'language' is no language", id="language"),
    ],
)
def test_bad_input_is_told_with_file_row_and_remedy(
    sets: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: Any, said: str
) -> None:
    assert run(sets[0], _bad(tmp_path / "bad.jsonl", rows), tmp_path / "out") == 2
    assert re.search(said, capsys.readouterr().err)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        pytest.param("bad.txt", b"x", "neither JSONL nor Parquet by its name", id="a text file"),
        pytest.param("bad.parquet", b"x", "bad.parquet can't be read .*repair it", id="no Parquet"),
        pytest.param("bad.parquet", _parquet([{"body": "a"}]), "has no 'text'; it has 'body'", id="no column"),
        pytest.param("bad.parquet", _parquet([{"text": 1}]), "column 'text' is int64", id="a column of numbers"),
        pytest.param("bad.jsonl.gz", __import__("gzip").compress(b'{"text": "a"}\n' * 99)[:-9], "damaged", id="cut"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    sets: tuple[Path, Path], tmp_path: Path, name: str, data: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=said):
        train([sets[0]], [tmp_path / name], tmp_path / "out", Settings())


def test_sets_that_cannot_be_told_apart_are_refused(sets: tuple[Path, Path], tmp_path: Path) -> None:
    good, bad = sets
    link = tmp_path / "link.jsonl"
    link.symlink_to(good)
    with pytest.raises(InputError, match="given as positive and as negative"):
        train([good], [bad, link], tmp_path / "out", Settings())
    copy = jsonl(tmp_path / "copy.jsonl", _rows(good))
    with pytest.raises(InputError, match="300 texts are both positive and negative"):
        train([good], [copy], tmp_path / "out", Settings())
    with pytest.raises(InputError, match="does not exist"):
        train([good], [tmp_path / "absent.jsonl"], tmp_path / "out", Settings())
    french = jsonl(tmp_path / "fra.jsonl", made(50, seed=1, good=False, language="fra"))
    with pytest.raises(InputError, match="no language has some of both"):
        train([good], [french], tmp_path / "out", Settings())
    with pytest.raises(InputError, match="no row has a language in 'lang'"):
        train([good], [bad], tmp_path / "out", Settings(), language_column="lang")


@pytest.mark.parametrize(
    "option", [("--held-out", "1.5"), ("--precision", "0"), ("--dim", "0"), ("--epochs", "0"), ("--name", "Two words")]
)
def test_an_option_out_of_bounds_is_refused_before_any_work(
    sets: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, str]
) -> None:
    assert run(*sets, tmp_path / "out", *option) == 2
    assert option[0] in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_training_that_fails_leaves_the_old_model(sets: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(*sets, out, "--epochs", "1") == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert run(sets[0], _bad(tmp_path / "broken.jsonl", "{"), out) == 2
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert classifier("a", str(out / "model.bin"), HQ).adds.names == ["a_score"]
