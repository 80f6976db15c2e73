"""Build the bundled sample: a miniature multilingual web archive, some tables, and what belongs into neither.

    python recipes/samples/build.py [--output DIR]

Nothing here is random and nothing reads the clock: the same code gives the same content. expected.json says what a run
must make of it; it is counted from what is planted here, not from a run.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from making import tables
from making.expected import Expected
from making.web import build_web

HERE = Path(__file__).parent


def build(output: Path) -> Expected:
    """Write every file of the sample below `output`, and expected.json."""
    expected = Expected()
    for name, data in build_web(HERE / "text", expected).items():
        _write(output / "web" / name, data)
    _tables(output, HERE / "plants", expected)
    _broken(output, HERE / "plants", expected)
    _write(output / "expected.json", json.dumps(expected.to_json(), ensure_ascii=False, indent=1).encode() + b"\n")
    return expected


def _tables(output: Path, plants: Path, expected: Expected) -> None:
    rows = tables.code(plants)
    _write(output / "code" / "files.jsonl.zst", tables.zst(tables.jsonl(rows)))
    expected.add_code(rows)
    rows = tables.articles(plants)
    _write(output / "docs" / "articles.jsonl", tables.jsonl(rows))
    expected.add_articles(rows)
    notes = tables.notes(plants)
    for name, data in notes.items():
        _write(output / "notes" / name, data)
    expected.add_notes(notes)


def _broken(output: Path, plants: Path, expected: Expected) -> None:
    lines, wrong = tables.broken_lines(plants)
    _write(output / "broken" / "lines.jsonl", lines)
    _write(output / "broken" / "empty.jsonl.gz", b"")
    _write(output / "broken" / "cut.jsonl.gz", tables.cut_gzip(plants))
    expected.add_broken(lines.count(b"\n"), wrong, tables.WHOLE_LINES)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write Glotmill's bundled sample and its expected.json.")
    parser.add_argument(
        "--output", type=Path, default=HERE, help="folder to write into; the default replaces the sample"
    )
    output = parser.parse_args(argv).output
    expected = build(output)
    for name, books in expected.sources.items():
        print(f"{name}: {books.records} records, {books.documents} documents")


if __name__ == "__main__":
    main()
