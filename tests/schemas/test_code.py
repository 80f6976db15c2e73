"""A result's code version changes with what can change the result, and with nothing else."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from glotmill.schemas import code
from glotmill.schemas.code import code_version


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `millet`: a imports b, which imports c; d stands alone."""
    folder = tmp_path / "millet"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "a.py").write_text("from millet.b import two\n")
    (folder / "b.py").write_text("import millet.c\ntwo = 2\n")
    (folder / "c.py").write_text("three = 3\n")
    (folder / "d.py").write_text("four = 4\n")
    (folder / "table.tsv").write_text("x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(code, "PACKAGE", "millet")
    yield folder
    for name in [name for name in sys.modules if name.startswith("millet")]:
        del sys.modules[name]


def version() -> str:
    code_version.cache_clear()
    return code_version(("millet.a",), ("numpy",), ("millet:table.tsv",))


@pytest.mark.parametrize(
    ("file", "changes"),
    [("a.py", True), ("b.py", True), ("c.py", True), ("d.py", False), ("table.tsv", True)],
)
def test_a_module_counts_when_the_start_reaches_it(package: Path, file: str, changes: bool) -> None:
    before = version()
    assert version() == before
    (package / file).write_text((package / file).read_text() + "# changed\n")
    assert (version() != before) == changes


def test_a_distribution_counts_by_its_version(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = version()
    monkeypatch.setattr("importlib.metadata.version", lambda name: "999")
    assert version() != before
