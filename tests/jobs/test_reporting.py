"""The lines a run leaves for people."""

import pytest

from glotmill.jobs.reporting import Reporter, StepLine
from glotmill.schemas.units import Books

BOOKS = Books(1204, 1000, {"short": 150, "menu": 4}, {}, {"no_text": 50})


@pytest.mark.parametrize(
    ("line", "text"),
    [
        pytest.param(
            StepLine("judge", 4, 0, BOOKS, 2.0, 5_000_000),
            "judge         2.0 s  1,204 in, 1,000 kept, 154 dropped (short 150, menu 4), 50 quarantined (no_text 50)"
            "  2.50 MB/s",
            id="all of it",
        ),
        pytest.param(
            StepLine("judge", 4, 3, Books(2, 2), 1.0, 0), "judge         1.0 s (1 of 4 units)  2 in, 2 kept", id="part"
        ),
        pytest.param(
            StepLine("mix", 1, 1, Books(2, 2), 0.0, 0), "mix        up to date  2 in, 2 kept", id="nothing to do"
        ),
        pytest.param(StepLine("manifest", 1, 0, Books(), 0.1, 0), "manifest      0.1 s", id="a step without records"),
        pytest.param(
            StepLine("cut", 1, 1, Books(21, 0, {f"r{n}": n for n in range(1, 7)}), 0.0, 0),
            "cut        up to date  21 in, 0 kept, 21 dropped (r6 6, r5 5, r4 4, r3 3, 2 more reasons)",
            id="many reasons",
        ),
    ],
)
def test_a_step_ends_in_one_line(line: StepLine, text: str) -> None:
    assert line.text() == text


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Reporter(quiet=True).say("something")
    assert capsys.readouterr() == ("", "")


def test_brackets_of_a_path_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    Reporter().say("shards: out/[bold]/shards")
    assert "out/[bold]/shards" in capsys.readouterr().err
