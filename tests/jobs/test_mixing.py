"""`glotmill mix`: what other targets would give, from a finished run's counts."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from glotmill.jobs.cli import main
from glotmill.jobs.mixing import store_tokens
from glotmill.schemas.manifest import Manifest

Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ask(demo_out: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    def run(*options: str) -> tuple[int, str, str]:
        status = main(["mix", str(demo_out), *options])
        told = capsys.readouterr()
        return status, told.out, told.err

    return run


def test_targets_and_budgets_are_compared_side_by_side(ask: Ask) -> None:
    status, out, _ = ask("--target", "uniform", "--target", "temperature", "--tokens", "1000", "--tokens", "2000")
    assert status == 0
    assert all(name in out for name in ("uniform, 1000", "uniform, 2000", "temperature, 1000", "temperature, 2000"))
    assert "eng_Latn" in out and "meets target up to" in out


def test_json_tells_every_cell(ask: Ask, demo_out: Path) -> None:
    status, out, _ = ask("--target", "unimax", "--tokens", "60000", "--max-epochs", "4", "--json")
    told = json.loads(out)
    assert status == 0 and sum(told["cells"].values()) == 60_000 and set(told["cells"]) == set(store_tokens(demo_out))


def test_what_cannot_be_is_said_and_the_others_are_compared(ask: Ask) -> None:
    status, out, _ = ask("--target", "uniform", "--tokens", "1000", "--tokens", "1_000_000_000")
    assert status == 0 and "asks 1,000,000,000 tokens" in out
    status, _, err = ask("--target", "uniform", "--tokens", "1_000_000_000")
    assert status == 2 and "Lower mix.tokens" in err


def test_a_data_path_has_the_asked_shares_and_files_that_are_there(ask: Ask, demo_out: Path) -> None:
    status, out, _ = ask("--target", '{"*.code": 0.25, "*.web": 0.75}', "--tokens", "20_000", "--data-path")
    words = out.split()
    weights = dict(zip(words[1::2], map(float, words[::2]), strict=True))
    assert status == 0 and sum(weights.values()) == pytest.approx(1, abs=1e-6)
    assert sum(w for prefix, w in weights.items() if ".code/" in prefix) == pytest.approx(0.25, abs=1e-3)
    assert all((demo_out / f"{prefix}.idx").exists() for prefix in weights)


def test_a_run_can_be_matched(ask: Ask, demo_out: Path) -> None:
    status, out, _ = ask("--target", str(demo_out), "--tokens", "50_000", "--json")
    manifest = Manifest.load(demo_out / "shards" / "manifest.json")
    told = json.loads(out)["cells"]
    assert status == 0
    for cell, tokens in manifest.tokens_by_cell.items():
        assert told[cell] == pytest.approx(50_000 * tokens / manifest.totals.tokens, abs=1)


def test_a_folder_without_tokens_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mix", str(tmp_path)]) == 2 and "has no token store" in capsys.readouterr().err
