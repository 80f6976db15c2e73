import argparse
import json
from pathlib import Path

import pytest
import zstandard

from glotmill.jobs import lid
from glotmill.schemas.errors import InputError, RecipeError

ITALIAN = "La legge non ammette ignoranza, e la pioggia cade su giusti e ingiusti."
GERMAN = "Alle Menschen sind frei und gleich an Würde und Rechten geboren."
HAUSA = "Yãadan adam duka an haife su ne 'yantattu, kuma kowannensu na da mutunci."


def run(*words: object) -> int:
    parser = argparse.ArgumentParser()
    lid.options(parser)
    return lid.act(parser.parse_args(list(map(str, words))))


def rows(path: Path, *found: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    return path


def test_models_are_scored_beside_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = rows(
        tmp_path / "a.jsonl",
        {"text": ITALIAN, "language": "it"},
        {"text": GERMAN, "language": "German"},
        {"text": HAUSA, "language": "hau_Latn"},
        {"text": "Ua fanauhia te mau taata atoa", "language": "tah"},
    )
    out, table = tmp_path / "o.json", tmp_path / "o.tsv"
    assert run("--input", path, "--model", "combined", "--model", "lid176", "--json", out, "--confusion", table) == 0
    told = capsys.readouterr().out
    assert "left out, for neither lid.176 nor CLD2 knows them: tah_Latn" in told
    assert "combined: accuracy 1.0000, macro F1 1.0000, 3 texts, 3 languages" in told
    found = json.loads(out.read_text())
    assert found["left_out"] == ["tah_Latn"] and found["models"]["combined"]["accuracy"] == 1
    assert found["models"]["lid176"]["f1"]["hau_Latn"] == 0 and found["models"]["lid176"]["texts"] == 3
    lines = table.read_text().splitlines()
    assert lines[0] == "model\ttrue\tgiven\ttexts" and "combined\tdeu_Latn\tdeu_Latn\t1" in lines


def test_sentences_of_a_document_are_scored_together_or_one_by_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl.zst"
    row = json.dumps({"id": "x", "lang": "ita", "sentences": [ITALIAN, "", ITALIAN]})
    path.write_bytes(zstandard.compress(row.encode()))
    assert run("--input", path) == 0
    assert "1 texts" in capsys.readouterr().out
    assert run("--input", path, "--unit", "sentence") == 0
    assert "2 texts" in capsys.readouterr().out


def test_columns_go_by_any_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = rows(tmp_path / "a.jsonl", {"body": ITALIAN, "tag": "it"})
    assert run("--input", path, "--text-column", "body", "--language-column", "tag") == 0
    assert "accuracy 1.0000" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param('{"text": "a", "language": "it"}\n{', r"a\.jsonl, row 2: no JSON", id="broken"),
        pytest.param("[1]", r"a\.jsonl, row 1: no JSON object", id="a list"),
        pytest.param('{"body": "a"}', r"row 1: there is no 'text or sentences'.*--text-column", id="no text"),
        pytest.param('{"text": "a"}', r"row 1: there is no 'language or lang'.*--language-column", id="no language"),
        pytest.param('{"text": 3, "lang": "it"}', r"row 1: the text is no string", id="a number"),
        pytest.param('{"text": "a", "lang": "xqz!"}', r"row 1: 'xqz!' names no language.*write", id="a bad tag"),
        pytest.param('{"text": "a", "lang": "tah"}', r"no text in a language that a model knows", id="unknown only"),
        pytest.param("", r"no text in a language that a model knows", id="empty"),
        pytest.param(b"\xff\xfe", r"can't be read.*UTF-8", id="other charset"),
    ],
)
def test_a_bad_file_is_named_with_its_row_and_the_remedy(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        run("--input", path)


def test_what_is_absent_or_no_zstandard_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "a.jsonl.zst"
    bad.write_bytes(b"{}")
    for path in (bad, tmp_path / "absent.jsonl"):
        with pytest.raises(InputError, match="can't be read"):
            run("--input", path)
    with pytest.raises(RecipeError, match="combined, lid176, cld2"):
        run("--input", rows(tmp_path / "b.jsonl", {"text": ITALIAN, "lang": "it"}), "--model", "other")
    with pytest.raises(InputError, match="can't be written"):
        run("--input", tmp_path / "b.jsonl", "--json", tmp_path / "no" / "o.json")
