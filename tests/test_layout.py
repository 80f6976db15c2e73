"""The repository root is the package, and a folder called tokenize/ lives in it. These tests keep that safe."""

import ast
import doctest
import importlib
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("curate", "jobs", "schemas", "tokenize", "train")


@pytest.mark.parametrize("folder", ["tokenize", "tests/tokenize"])
def test_a_tokenize_folder_has_no_init(folder: str) -> None:
    assert not (ROOT / folder / "__init__.py").exists()


@pytest.mark.parametrize("folder", ["jobs", "tests", "tokenize", "train"])
def test_no_script_is_named_like_a_standard_module(folder: str) -> None:
    names = {path.stem for path in (ROOT / folder).glob("*.py")} - {"__init__"}
    assert not names & sys.stdlib_module_names


def test_the_standard_library_wins_at_the_root() -> None:
    code = "import tokenize, inspect; tokenize.open; print(tokenize.__file__)"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    assert not Path(found.strip()).is_relative_to(ROOT)


def test_type_checkers_see_every_folder() -> None:
    links = {link.name: link.resolve() for link in (ROOT / ".typings" / "glotmill").iterdir()}
    assert links == {name: ROOT / name for name in ("__init__.py", "py.typed", *FOLDERS)}


def test_the_wheel_lists_every_folder_that_holds_code() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    on_disk = {path.parent.relative_to(ROOT) for top in FOLDERS for path in (ROOT / top).rglob("*.py")}
    assert set(listed) == {"glotmill"} | {".".join(("glotmill", *folder.parts)) for folder in on_disk}


MAY_IMPORT = {
    "schemas": {"schemas"},
    "curate": {"schemas", "curate"},
    "tokenize": {"schemas", "tokenize"},
    "train": {"schemas", "train"},
    "jobs": {"schemas", "curate", "tokenize", "train", "jobs"},
}


# Where each heavy package may be imported.
HOMES: dict[str, Callable[[Path], bool]] = {
    "pyspark": lambda path: path.parts[0] == "jobs" or path.name == "spark.py",
    "torch": lambda path: path.parts[0] == "train",
    "numba": lambda path: "kernels" in path.parts,
}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_point_one_way(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        for name in imported(path):
            if name.startswith("glotmill.") and not name.startswith("glotmill.__"):
                assert name.split(".")[1] in MAY_IMPORT[folder], f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("package", HOMES)
def test_heavy_packages_are_imported_in_their_homes_only(package: str) -> None:
    for path in (p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py")):
        if any(name.split(".")[0] == package for name in imported(path)):
            assert HOMES[package](path.relative_to(ROOT)), f"{path.relative_to(ROOT)} imports {package}"


def test_no_job_or_test_is_named_like_a_dependency() -> None:
    scripts = {path.stem for folder in ("jobs", "train", "tokenize") for path in (ROOT / folder).glob("*.py")}
    assert not scripts & {"pyspark", "pyarrow", "numpy", "torch", "sentencepiece", "tokenizers", "datasets", "rich"}


def test_no_test_folder_is_a_package() -> None:
    assert not list((ROOT / "tests").rglob("__init__.py"))


@pytest.mark.parametrize(
    "path", [p for f in FOLDERS for p in (ROOT / f).rglob("[!_]*.py")], ids=lambda p: str(p.relative_to(ROOT))
)
def test_examples_in_docstrings_hold(path: Path) -> None:
    name = ".".join(("glotmill", *path.relative_to(ROOT).with_suffix("").parts))
    assert doctest.testmod(importlib.import_module(name)).failed == 0
