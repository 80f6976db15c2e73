"""Finding inputs, cutting them into units, and doing a unit."""

import gzip
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from glotmill.curate.extract.files import find, format_of, units
from glotmill.curate.extract.unit import extract_unit, read_unit
from glotmill.schemas.atomic import transaction
from glotmill.schemas.document import DOCUMENT, QUARANTINE
from glotmill.schemas.errors import InputError
from glotmill.schemas.recipe import Columns, Extract, Source
from glotmill.schemas.units import Unit


def source(path: str | tuple[str, ...], **more: Any) -> Source:
    return Source(name="s", path=path, **more)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name in (
        "in/a b.txt",
        "in/sub/ñandú.jsonl",
        "in/sub/deep/c.md",
        "in/_SUCCESS",
        "in/.hidden.txt",
        "in/_temporary/x.bin",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"text": "x"}\n')
    return tmp_path


@pytest.mark.parametrize(
    ("path", "names"),
    [
        pytest.param("in", ["a b.txt", "sub/deep/c.md", "sub/ñandú.jsonl"], id="folder"),
        pytest.param("in/**/*.md", ["sub/deep/c.md"], id="glob over folders"),
        pytest.param("in/*/*.jsonl", ["sub/ñandú.jsonl"], id="glob"),
        pytest.param("in/a b.txt", ["a b.txt"], id="file with a space"),
        pytest.param(("in/sub", "in/a b.txt"), ["a b.txt", "sub/deep/c.md", "sub/ñandú.jsonl"], id="list"),
        pytest.param(("in", "in/sub/*"), ["a b.txt", "sub/deep/c.md", "sub/ñandú.jsonl"], id="the same file twice"),
    ],
)
def test_a_path_names_files_relative_to_its_fixed_part(path: Any, names: list[str], base: Path) -> None:
    found = find(source(path), base)
    assert [file.name for file in found.files] == names
    assert all((found.root / file.name).samefile(file.path) for file in found.files)
    assert [file.name for file in find(source(str(base / "in")), Path("/")).files] == [
        "a b.txt", "sub/deep/c.md", "sub/ñandú.jsonl"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "says"),
    [
        pytest.param("in/*.parquet", "matches no file", id="glob without a match"),
        pytest.param("nowhere", "does not exist", id="missing"),
        pytest.param("nowhere/*.txt", "does not exist", id="glob below a missing folder"),
        pytest.param("empty", "holds no files", id="empty folder"),
        pytest.param("odd", "Set format:", id="unknown kind"),
        pytest.param((), "names no path", id="no path"),
    ],
)
def test_what_can_not_be_read_is_said_before_any_work(path: Any, says: str, base: Path) -> None:
    (base / "empty").mkdir()
    (base / "odd").mkdir()
    (base / "odd/picture.png").write_bytes(b"x")
    with pytest.raises(InputError, match=says) as error:
        find(source(path), base)
    assert error.value.exit_code == 2


def test_a_format_that_is_set_reads_files_of_any_name(base: Path) -> None:
    (base / "in/data.bin").write_text('{"text": "x"}\n')
    assert {file.format for file in find(source("in", format="jsonl"), base).files} == {"jsonl"}


def test_a_file_that_may_not_be_read_is_an_input_error(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("a b.txt"))
    with pytest.raises(InputError, match="may not be read"):
        find(source("in"), base)


def test_a_dangling_link_is_an_input_error(base: Path) -> None:
    (base / "in/link.txt").symlink_to(base / "gone")
    with pytest.raises(InputError, match="link.txt"):
        find(source("in"), base)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        pytest.param(Columns(text="body"), "has no column 'body'.*'text', 'n', 'meta'", id="absent"),
        pytest.param(Columns(text="n"), "'n' is int64", id="number as text"),
        pytest.param(Columns(url="meta.href"), "has no column 'meta.href'", id="absent within a struct"),
        pytest.param(Columns(title="meta"), "must be one value", id="struct as title"),
    ],
)
def test_a_parquet_file_without_the_mapped_column_is_an_input_error(
    columns: Columns, says: str, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"text": ["x"], "n": [1], "meta": [{"url": "u"}]}), tmp_path / "a.parquet")
    assert find(source("a.parquet", columns=Columns(url="meta.url", id="n")), tmp_path).files
    with pytest.raises(InputError, match=says):
        find(source("a.parquet", columns=columns), tmp_path)


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.warc.gz", "warc"), ("a.warc", "warc"), ("a.arc.gz", "warc"), ("a.warc.wet.gz", "warc"), ("a.wat", "warc"),
        ("a.jsonl.zst", "jsonl"), ("a.ndjson", "jsonl"), ("a.json.bz2", "jsonl"), ("a.parquet", "parquet"),
        ("A.HTM", "html"), ("README.md", "text"), ("x.py", "text"), ("x.txt.gz", "text"), ("x.png", None), ("x", None),
    ],
)  # fmt: skip
def test_names_tell_formats(name: str, format: str | None) -> None:
    assert format_of(name) == format


# --- units --------------------------------------------------------------------------------------------------------


def small(folder: Path, names: list[str], size: int = 3000) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / f"{name}.txt").write_text("x" * size)


def test_one_file_more_changes_its_own_group_only(tmp_path: Path) -> None:
    names = [f"{n * 7919 % 1000:04d}" for n in range(400)]
    small(tmp_path / "in", names)
    before = {unit.key for unit in units(source("in"), find(source("in"), tmp_path), 1 << 16)}
    small(tmp_path / "in", ["0500x"])
    after = {unit.key for unit in units(source("in"), find(source("in"), tmp_path), 1 << 16)}
    assert len(before) > 8 and len(before - after) <= 1 and len(after - before) <= 2


def test_units_cover_every_file_once(tmp_path: Path) -> None:
    small(tmp_path / "in", [str(n) for n in range(100)])
    (tmp_path / "in/large.jsonl").write_text('{"text": "abc"}\n' * 20_000)
    table = pa.table({"text": ["word " * 50] * 5000})
    pq.write_table(table, tmp_path / "in/p.parquet", row_group_size=100, compression="none", use_dictionary=False)
    found = find(source("in"), tmp_path)
    made = units(source("in"), found, 1 << 16)
    splits = [tuple(split) for unit in made for split in unit.payload["splits"]]
    assert len(set(splits)) == len(splits) and {name for name, *_ in splits} == {file.name for file in found.files}
    assert [s for s in splits if s[0] == "large.jsonl"] == [
        ("large.jsonl", "jsonl", at, min(at + (1 << 16), 320_000)) for at in range(0, 320_000, 1 << 16)
    ]
    assert len([s for s in splits if s[0] == "p.parquet"]) > 5
    kept = 0
    for unit in made:
        reading = read_unit(unit, roots={"s": str(found.root)}, extract=Extract())
        kept += sum(batch.num_rows for batch in reading.batches())
    assert kept == 100 + 20_000 + 5000


def done(unit: Unit, root: Path, out: Path) -> Any:
    with transaction(out, "t") as files:
        outcome, stamps = extract_unit(unit, files, roots={"s": str(root)}, extract=Extract())
        outcome.books.check(unit.label)
        return outcome, stamps, files.commit()


def test_a_unit_writes_documents_and_quarantine_and_stamps_what_it_read(tmp_path: Path) -> None:
    data = b'{"text": "a"}\nnull\n{"text": "b"}\n'
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(data))
    found = find(source("a.jsonl.gz"), tmp_path)
    (unit,) = units(source("a.jsonl.gz"), found, 1 << 20)
    outcome, stamps, written = done(unit, found.root, tmp_path / "out")
    assert [stamp.path for stamp in written] == [
        f"documents/{unit.key}-000.parquet",
        f"quarantine/{unit.key}.parquet",
    ]
    assert pq.read_schema(tmp_path / "out" / written[0].path).equals(DOCUMENT)
    assert pq.read_schema(tmp_path / "out" / written[1].path).equals(QUARANTINE)
    assert outcome.books.kept == 2 and outcome.books.quarantined == {"not_an_object": 1}
    assert outcome.facts["documents"] == 2 and outcome.facts["text_bytes"] == 2
    assert outcome.bytes_in == (tmp_path / "a.jsonl.gz").stat().st_size
    (stamp,) = stamps
    assert stamp.path == "s:a.jsonl.gz" and (stamp.start, stamp.end) == (0, outcome.bytes_in)
    assert stamp.matches(tmp_path / "a.jsonl.gz")
    assert done(unit, found.root, tmp_path / "again")[0] == outcome


def test_a_unit_without_bad_records_leaves_no_quarantine(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("testo")
    found = find(source("a.txt"), tmp_path)
    outcome, _, written = done(units(source("a.txt"), found, 1 << 20)[0], found.root, tmp_path / "out")
    assert len(written) == 1 and outcome.digests["quarantine"] == ""


def test_a_file_that_changes_while_it_is_read_is_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "x"}\n' * 5000)
    found = find(source("a.jsonl"), tmp_path)
    (unit,) = units(source("a.jsonl"), found, 1 << 30)
    reading = read_unit(unit, roots={"s": str(tmp_path)}, extract=Extract())
    batches = reading.batches()
    next(batches)
    with path.open("a") as file:
        file.write("x")
    with pytest.raises(InputError, match="changed while it was read"):
        list(batches)
    path.unlink()
    with pytest.raises(InputError, match="check that it exists"):
        list(read_unit(unit, roots={"s": str(tmp_path)}, extract=Extract()).batches())


def test_a_unit_that_no_format_can_split_gives_files_of_bounded_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glotmill.curate.extract.unit.PART_BYTES", 5_000)
    data = b"".join(b'{"text": "%d %s"}\n' % (number, b"x" * 1000) for number in range(3000))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(data))
    found = find(source("a.jsonl.gz"), tmp_path)
    (unit,) = units(source("a.jsonl.gz"), found, 1 << 20)
    outcome, _, written = done(unit, found.root, tmp_path / "out")
    parts = outcome.facts["parts"]
    assert len(parts) == 3 and sum(part["documents"] for part in parts) == 3000  # a batch is 1024 documents
    assert [stamp.path for stamp in written] == [f"documents/{part['key']}.parquet" for part in parts]
