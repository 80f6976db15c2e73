"""The bundled sample: a run must give what recipes/samples/expected.json derives from what was planted."""

import json
import re
import subprocess
import sys
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from ruamel.yaml import YAML

from glotmill.curate.extract import http
from glotmill.schemas.languages import parse_language
from glotmill.schemas.ledger import Ledger
from glotmill.schemas.units import Books

SAMPLES = Path(__file__).parents[2] / "recipes" / "samples"
BUILT = ("web", "code", "docs", "notes", "broken")
MAX_BYTES = 1_500_000
_OF_COMPRESSOR = {"content-length", "warc-block-digest"}  # change with the version of zlib or brotli
Row = dict[str, Any]


@pytest.fixture(scope="module")
def expected() -> Row:
    found: Row = json.loads((SAMPLES / "expected.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def documents(demo_out: Path) -> dict[str, Row]:
    """Documents by id, with the columns of their signals and of deduplication."""
    rows = {row["id"]: row for row in _table(demo_out, "documents")}
    for table in ("signals", "dedup"):
        for row in _table(demo_out, table):
            rows[row["id"]].update(row)
    return rows


@pytest.fixture(scope="module")
def pages(documents: dict[str, Row]) -> dict[str, Row]:
    """Documents of the archive by URL."""
    return {row["url"]: row for row in documents.values() if row["source"] == "web"}


def test_the_books_of_extraction_are_those_of_what_was_planted(demo_out: Path, expected: Row) -> None:
    found: dict[str, Books] = {}
    for receipt in Ledger(demo_out).receipts("extract").values():
        source = receipt.inputs[0].path.partition(":")[0]
        found.setdefault(source, Books()).add(receipt.books)
    assert {source: _as_json(books) for source, books in found.items()} == expected["sources"]


def test_each_unreadable_record_is_quarantined_once_and_at_its_place(demo_out: Path, expected: Row) -> None:
    found = sorted((row["source"], row["reason"], row["record"]) for row in _table(demo_out, "quarantine"))
    planted = sorted((row["source"], row["reason"], row["record"]) for row in expected["quarantine"])
    assert len(found) == len(planted)
    for (*kind, record), (*planted_kind, pattern) in zip(found, planted, strict=True):
        assert kind == planted_kind
        assert fnmatchcase(record, pattern)


def test_every_page_becomes_a_document_with_its_text(pages: dict[str, Row], expected: Row) -> None:
    assert set(pages) == {*expected["pages"], *expected["dropped"]}
    texts = {path.name: YAML(typ="safe").load(path.read_text("utf-8")) for path in (SAMPLES / "text").glob("*.yaml")}
    for url, page in expected["pages"].items():
        if page.get("copy") == "words":
            continue
        name, number = page["text"]
        text = _folded(pages[url]["text"])
        missing = [one for one in texts[name]["pages"][number]["paragraphs"] if _folded(one) not in text]
        assert not missing, f"{url} ({page['design']}, {page['charset']}, {page['transport']}) lacks {missing}"


def test_the_furniture_of_a_page_is_left_out(pages: dict[str, Row], expected: Row) -> None:
    texts = {path.name: YAML(typ="safe").load(path.read_text("utf-8")) for path in (SAMPLES / "text").glob("*.yaml")}
    leaks = Counter[str]()
    for url, page in expected["pages"].items():
        text, site = _folded(pages[url]["text"]), texts[page["text"][0]]
        leaks.update(part for part in ("cookie", "footer") if _folded(site[part]) in text)
        leaks["menu"] += sum(_folded(entry) in text for entry in site["menu"]) == len(site["menu"])
    assert not +leaks


def test_a_charset_that_is_absent_unknown_or_wrong_is_flagged_as_guessed(pages: dict[str, Row], expected: Row) -> None:
    found = {url: pages[url]["charset_guessed"] for url in expected["pages"]}
    assert found == {url: page["charset_guessed"] for url, page in expected["pages"].items()}


def test_the_language_of_every_page_is_recognised(pages: dict[str, Row], expected: Row) -> None:
    planted = {url: page["language"] for url, page in expected["pages"].items()} | expected["not_recognised"]
    found = {url: (pages[url]["language"], parse_language(name)) for url, name in planted.items()}
    assert not {url: names for url, names in found.items() if names[0] != names[1]}


def test_the_language_of_every_article_is_recognised(documents: dict[str, Row], expected: Row) -> None:
    found = {row["source_id"]: row["language"] for row in documents.values() if row["source"] == "articles"}
    assert found == {id: parse_language(name) for id, name in expected["articles"].items()}


def test_notes_are_read_without_their_mark_and_named_as_on_disk(documents: dict[str, Row], expected: Row) -> None:
    found = {row["record"]: row["text"].partition("\n")[0] for row in documents.values() if row["source"] == "notes"}
    assert found == expected["notes"]


def test_the_pages_without_worth_are_dropped_and_no_others(
    demo_out: Path, documents: dict[str, Row], expected: Row
) -> None:
    dropped = {row["id"]: row["reason"] for row in _table(demo_out, "verdicts") if not row["keep"]}
    assert {documents[id]["url"] or id: reason for id, reason in dropped.items()} == expected["dropped"]


def test_exactly_the_planted_copies_are_duplicates(documents: dict[str, Row], expected: Row) -> None:
    groups: dict[str, set[str]] = {}
    for row in documents.values():
        if row.get("cluster"):
            groups.setdefault(row["cluster"], set()).add(row["url"] or row["source_id"])
    planted = sorted(sorted(group["documents"]) for group in expected["twins"])
    assert sorted(map(sorted, groups.values())) == planted


def test_of_each_copy_one_is_kept_and_named_as_the_twin(documents: dict[str, Row], expected: Row) -> None:
    removed = [row for row in documents.values() if row.get("keep") is False]
    assert len(removed) == len(expected["twins"])
    assert all(documents[row["twin"]]["keep"] and row["kind"] == "exact" for row in removed)


def test_near_copies_are_kept_as_long_as_only_exact_ones_are_sought(pages: dict[str, Row], expected: Row) -> None:
    for group in expected["near_twins"]:
        assert all(pages[url]["keep"] for url in group["documents"])


def test_documents_kept_and_dropped_sum_up(demo_out: Path, expected: Row) -> None:
    kept, dropped = _table(demo_out, "kept"), _table(demo_out, "dropped")
    assert len(kept) == expected["totals"]["kept"]
    assert len(kept) + len(dropped) == expected["totals"]["documents"]


def test_the_sample_is_what_its_builder_builds(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SAMPLES / "build.py", "--output", tmp_path], check=True, capture_output=True)
    committed = {path.relative_to(SAMPLES) for folder in BUILT for path in (SAMPLES / folder).rglob("*")}
    rebuilt = {path.relative_to(tmp_path) for folder in BUILT for path in (tmp_path / folder).rglob("*")}
    assert committed == rebuilt
    for path in sorted(committed):
        assert list(_content(SAMPLES / path)) == list(_content(tmp_path / path)), path
    assert _without_offsets(SAMPLES / "expected.json") == _without_offsets(tmp_path / "expected.json")


def test_the_sample_is_small_enough_to_be_bundled() -> None:
    assert sum(path.stat().st_size for folder in BUILT for path in (SAMPLES / folder).rglob("*")) < MAX_BYTES


def _table(out: Path, name: str) -> list[Row]:
    rows: list[Row] = pa.concat_tables(
        pq.read_table(path) for path in sorted((out / name).glob("*.parquet"))
    ).to_pylist()
    return rows


def _as_json(books: Books) -> Row:
    return {
        "records": books.records,
        "documents": books.kept,
        "skipped": books.skipped,
        "quarantined": books.quarantined,
    }


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _without_offsets(path: Path) -> str:
    return re.sub(r"\.warc\.gz@\d+", ".warc.gz@*", path.read_text(encoding="utf-8"))


def _content(path: Path) -> Iterator[Any]:
    """What a file holds, whatever the version of the compressors that it was built with."""
    data = path.read_bytes() if path.is_file() else b""
    if path.suffix == ".zst":
        yield zstandard.ZstdDecompressor().decompressobj().decompress(data)
    elif path.suffix == ".gz":
        warc = path.name.endswith(".warc.gz")
        yield from (_record(member) if warc else member for member in _members(data))
    else:
        yield data


def _members(data: bytes) -> Iterator[bytes]:
    """Members decompressed; of one that breaks off its first bytes; bytes that are no member as they are."""
    while data:
        if not data.startswith(b"\x1f\x8b"):
            end = data.index(b"\x1f\x8b\x08")
            yield data[:end]
            data = data[end:]
            continue
        state = zlib.decompressobj(31)
        text = state.decompress(data)
        yield text if state.eof else text[:200]
        data = state.unused_data


def _record(member: bytes) -> Any:
    """A record's head and its block, a coded HTTP body decoded."""
    head, _, block = member.partition(b"\r\n\r\n")
    lines = {name: value for name, value in http.headers(head).items() if name not in _OF_COMPRESSOR}
    found = http.response(block.removesuffix(b"\r\n\r\n"))
    if found is None:
        return lines, block
    stated = {name: value for name, value in found.headers.items() if name not in _OF_COMPRESSOR}
    return lines, found.status, stated, http.content(found, limit=1 << 24)
