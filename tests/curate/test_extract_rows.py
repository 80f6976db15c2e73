"""JSON Lines, Parquet and single files: a bad record is one row of quarantine, and its neighbours stay."""

import bz2
import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.extract.split import Split
from glotmill.curate.extract.unit import Reading
from glotmill.schemas.document import EXCERPT_BYTES
from glotmill.schemas.recipe import Columns, Extract, Source


class Read:
    """A file read to its end, its books balanced."""

    def __init__(self, path: Path, format: str, start: int = 0, end: int = 1 << 60, **source: Any) -> None:
        extract = Extract(**source.pop("extract", {}))
        split = Split(path.name, format, start, end)
        reading = Reading(Source(name="s", path=".", **source), [split], path.parent, extract)
        self.documents = [row for batch in reading.batches() for row in batch.to_pylist()]
        self.quarantine = reading.quarantine().to_pylist()
        self.books = reading.books
        self.books.check(path.name)
        assert self.books.kept == len(self.documents)

    @property
    def texts(self) -> list[str]:
        return [row["text"] for row in self.documents]

    @property
    def bad(self) -> list[tuple[str, str]]:
        return [(row["record"], row["reason"]) for row in self.quarantine]


def put(tmp_path: Path, name: str, data: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def line(text: Any, **more: Any) -> bytes:
    return json.dumps({"text": text, **more}, ensure_ascii=False).encode() + b"\n"


# --- JSON Lines ---------------------------------------------------------------------------------------------------


def test_one_bad_byte_in_twenty_thousand_lines_costs_one_line(tmp_path: Path) -> None:
    lines = [line(f"riga {n}") for n in range(20_001)]
    lines[10] = b'{"text": "riga \xff"}\n'
    found = Read(put(tmp_path, "a.jsonl", b"".join(lines)), "jsonl")
    assert len(found.texts) == 20_000 and found.texts[10] == "riga 11"
    assert found.bad == [(f"a.jsonl@{sum(map(len, lines[:10]))}", "invalid_utf8")]
    assert found.quarantine[0]["excerpt"] == lines[10].rstrip() and "0xff" in found.quarantine[0]["error"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        pytest.param(b"null", "not_an_object", id="null"),
        pytest.param(b"[1, 2]", "not_an_object", id="array"),
        pytest.param(b"17", "not_an_object", id="number"),
        pytest.param(b'"text"', "not_an_object", id="string"),
        pytest.param(b'{"title": "x"}', "no_text", id="no text"),
        pytest.param(b'{"text": null}', "no_text", id="null text"),
        pytest.param(b'{"text": "  "}', "no_text", id="blank text"),
        pytest.param(b'{"text": 5}', "text_not_string", id="number as text"),
        pytest.param(b'{"text": ["a"]}', "text_not_string", id="array as text"),
        pytest.param(b'{"text": "a"', "invalid_json", id="unclosed"),
        pytest.param(b"\x00\x01", "invalid_json", id="binary"),
        pytest.param(b"[" * 100_000, "invalid_json", id="nested too deep"),
    ],
)
def test_a_bad_line_is_quarantined_with_place_and_reason(bad: bytes, reason: str, tmp_path: Path) -> None:
    first = line("前")
    found = Read(put(tmp_path, "a.jsonl", first + bad + b"\n" + line("後")), "jsonl")
    assert found.texts == ["前", "後"]
    assert found.bad == [(f"a.jsonl@{len(first)}", reason)]
    assert found.quarantine[0]["excerpt"] == bad[:1024]


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        pytest.param(line("a").replace(b"\n", b"\r\n") + line("b"), ["a", "b"], id="CRLF"),
        pytest.param(
            b"\xef\xbb\xbf" + line("a") + b"\xef\xbb\xbf" + line("b"), ["a", "b"], id="mark at start and in mid-file"
        ),
        pytest.param(b"\n\n" + line("a") + b"  \n" + line("b").rstrip(), ["a", "b"], id="blank lines, no last LF"),
        pytest.param(b'{"text": "a\\ud800b"}\n', ["a\ufffdb"], id="lone surrogate"),
        pytest.param(b'{"text": "\\ud83d\\ude00"}\n', ["😀"], id="surrogate pair"),
        pytest.param(b'{"text": "a\\u0000b"}\n', ["ab"], id="NUL"),
        pytest.param(b'{"text": "a", "n": NaN}\n', ["a"], id="NaN"),
        pytest.param(line("க்ஷ நூல்"), ["க்ஷ நூல்"], id="tam"),
        pytest.param(line("a\u2028b"), ["a\u2028b"], id="U+2028 ends no line of JSON"),
    ],
)
def test_what_is_odd_but_right_is_read(data: bytes, texts: list[str], tmp_path: Path) -> None:
    found = Read(put(tmp_path, "a.jsonl", data), "jsonl")
    assert found.texts == texts and found.bad == []


def test_ten_megabytes_on_one_line_are_read_and_more_than_the_limit_is_not_held(tmp_path: Path) -> None:
    path = put(tmp_path, "a.jsonl", line("a") + line("ж" * 5_000_000) + line("b" * (40 << 20)) + line("c"))
    found = Read(path, "jsonl")
    assert [len(text) for text in found.texts] == [1, 5_000_000, 1]
    assert [reason for _, reason in found.bad] == ["too_large"]


LINES = [line(f"Zeile {n} " + "wort " * 20) for n in range(40)]
ALL = b"".join(LINES)


@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(gzip.compress, id="gz"),
        pytest.param(
            lambda data: gzip.compress(data[:999]) + gzip.compress(data[999:]), id="gz of members, cut in a line"
        ),
        pytest.param(zstandard.compress, id="zst"),
        pytest.param(lambda data: zstandard.compress(data[:999]) + zstandard.compress(data[999:]), id="zst of frames"),
        pytest.param(bz2.compress, id="bz2"),
    ],
)
def test_compressed_lines_are_read(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    found = Read(put(tmp_path, "a.jsonl.x", pack(ALL)), "jsonl")
    assert len(found.texts) == 40 and found.bad == []
    assert found.documents[7]["record"] == f"a.jsonl.x@{sum(map(len, LINES[:7]))}"


@pytest.mark.parametrize("pack", [pytest.param(gzip.compress, id="gz"), pytest.param(zstandard.compress, id="zst")])
def test_a_truncated_file_is_read_to_its_last_whole_record(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    import random

    noise = random.Random(7)
    lines = [line(f"{n} {noise.randbytes(300).hex()}") for n in range(2000)]
    data = pack(b"".join(lines))
    found = Read(put(tmp_path, "a.jsonl.gz", data[: len(data) * 2 // 3]), "jsonl")
    n = len(found.texts)
    assert 1000 < n < 1500 and found.texts == [json.loads(text)["text"] for text in lines[:n]]
    assert found.bad == [(f"a.jsonl.gz@{sum(map(len, lines[:n]))}", "truncated")]


@pytest.mark.parametrize("level", [0, 9])
def test_what_is_left_of_a_truncated_gz_is_placed_at_the_start_of_the_line_that_breaks(
    level: int, tmp_path: Path
) -> None:
    data = gzip.compress(ALL, level)
    for cut in range(40, len(data) - 1, 97):
        readable = zlib.decompressobj(31).decompress(data[:cut])
        start = readable.rfind(b"\n") + 1
        found = Read(put(tmp_path, "a.jsonl.gz", data[:cut]), "jsonl")
        assert found.bad == [(f"a.jsonl.gz@{start}", "truncated")]
        assert len(found.texts) == readable.count(b"\n")
        if start < len(readable):
            assert found.quarantine[0]["excerpt"] == readable[start:][:EXCERPT_BYTES]


def test_damage_in_a_gzip_member_costs_the_rest_of_that_member(tmp_path: Path) -> None:
    first, second, third = (gzip.compress(line(f"{n}") * 50, mtime=0) for n in range(3))
    damaged = bytearray(second)
    damaged[-5] ^= 0xFF  # the checksum
    found = Read(put(tmp_path, "a.jsonl.gz", first + bytes(damaged) + third), "jsonl")
    assert found.texts[:50] == ["0"] * 50 and found.texts[-50:] == ["2"] * 50
    assert [reason for _, reason in found.bad] == ["corrupt_compression"]


def test_an_empty_gz_is_one_row(tmp_path: Path) -> None:
    assert Read(put(tmp_path, "a.jsonl.gz", b""), "jsonl").bad == [("a.jsonl.gz@0", "empty_file")]


def test_columns_are_mapped_by_dotted_paths_and_ids_become_strings(tmp_path: Path) -> None:
    columns = Columns(
        text="doc.body", id="id", url="meta.url", title="t", license="l", domain="d", language="lang", date="when"
    )
    row = {"doc": {"body": "texto"}, "id": 12, "meta": {"url": "u"}, "t": "T", "l": "CC0-1.0", "d": "law", "lang": "pt"}
    data = json.dumps(row).encode() + b"\n" + json.dumps({"doc": {"body": "b"}}).encode()
    found = Read(
        put(tmp_path, "a.jsonl", data), "jsonl", columns=columns, license="X", domain="web", language="por_Latn"
    )
    wanted = ("text", "source_id", "url", "title", "license", "domain", "language_hint", "date")
    assert [tuple(row[name] for name in wanted) for row in found.documents] == [
        ("texto", "12", "u", "T", "CC0-1.0", "law", "por_Latn", None),
        ("b", None, None, None, "X", "web", "por_Latn", None),
    ]


PIECES = st.lists(
    st.one_of(st.binary(max_size=20), st.just(b"\n"), st.just(line("x")), st.just(b"\xef\xbb\xbf")), max_size=12
)


@given(pieces=PIECES, cuts=st.lists(st.integers(1, 300), max_size=4))
def test_splitting_lines_changes_nothing(pieces: list[bytes], cuts: list[int], tmp_path_factory: Any) -> None:
    path = put(tmp_path_factory.mktemp("j"), "a.jsonl", b"{}\n" + b"".join(pieces))
    size, whole = path.stat().st_size, Read(path, "jsonl")
    points = sorted({0, size, *(cut % size for cut in cuts)})
    parts = [Read(path, "jsonl", start, end) for start, end in zip(points, points[1:], strict=False)]
    assert [row for part in parts for row in part.documents] == whole.documents
    assert [row for part in parts for row in part.quarantine] == whole.quarantine


@given(data=st.binary(max_size=300), format=st.sampled_from(["jsonl", "text", "html", "parquet"]))
def test_no_bytes_make_a_reader_fail(data: bytes, format: str, tmp_path_factory: Any) -> None:
    found = Read(put(tmp_path_factory.mktemp("r"), "a", data), format)
    for text in found.texts:
        text.encode()
        assert "\0" not in text


@given(
    value=st.recursive(
        st.none() | st.text() | st.integers() | st.floats(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
    )
)
def test_any_json_value_is_accounted_for(value: Any, tmp_path_factory: Any) -> None:
    data = json.dumps(value).encode() + b"\n" + json.dumps({"text": value, "id": value}).encode() + b"\n"
    found = Read(put(tmp_path_factory.mktemp("v"), "a.jsonl", data), "jsonl", columns=Columns(id="id"))
    assert found.books.records == 2


# --- Parquet ------------------------------------------------------------------------------------------------------


def parquet(path: Path, table: pa.Table, rows: int = 100) -> Path:
    pq.write_table(table, path, row_group_size=rows, compression="none", use_dictionary=False)
    return path


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_every_kind_of_string_is_text(kind: pa.DataType, tmp_path: Path) -> None:
    column = (
        pa.array(["ciao", None, "ቡና", ""]).cast(kind)
        if kind != pa.binary()
        else pa.array([b"ciao", None, "ቡና".encode(), b""])
    )
    found = Read(
        parquet(tmp_path / "a.parquet", pa.table({"text": column, "n": [1, 2, 3, 4]})),
        "parquet",
        columns=Columns(id="n"),
    )
    assert [(row["text"], row["record"], row["source_id"]) for row in found.documents] == [
        ("ciao", "a.parquet#0", "1"),
        ("ቡና", "a.parquet#2", "3"),
    ]
    assert found.bad == [("a.parquet#1", "no_text"), ("a.parquet#3", "no_text")]


def test_bytes_that_are_no_utf8_cost_one_row(tmp_path: Path) -> None:
    table = pa.table({"text": pa.array([b"a", b"\xff\xfe", b"c"], pa.binary())})
    found = Read(parquet(tmp_path / "a.parquet", table), "parquet")
    assert found.texts == ["a", "c"] and found.bad == [("a.parquet#1", "invalid_utf8")]


def test_nested_columns_are_read_by_dotted_path(tmp_path: Path) -> None:
    table = pa.table({"doc": [{"body": "x", "meta": {"url": "u"}}, None]})
    found = Read(
        parquet(tmp_path / "a.parquet", table), "parquet", columns=Columns(text="doc.body", url="doc.meta.url")
    )
    assert [(row["text"], row["url"]) for row in found.documents] == [("x", "u")]
    assert found.bad == [("a.parquet#1", "no_text")]


def test_an_unreadable_row_group_is_one_row_that_counts_its_records(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", pa.table({"text": [f"documento {n}" for n in range(300)]}))
    data = bytearray(path.read_bytes())
    at = pq.read_metadata(path).row_group(1).column(0).data_page_offset
    data[at : at + 30] = b"\xff" * 30
    path.write_bytes(bytes(data))
    found = Read(path, "parquet")
    assert [row["record"] for row in found.documents] == [f"a.parquet#{n}" for n in [*range(100), *range(200, 300)]]
    assert found.bad == [("a.parquet#100", "corrupt_parquet")]
    assert found.books.quarantined == {"corrupt_parquet": 100} and found.books.records == 300


def test_row_groups_split_without_a_trace(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", pa.table({"text": [f"d{n}" for n in range(950)]}))
    parts = [Read(path, "parquet", start, end) for start, end in ((0, 3), (3, 4), (4, 10))]
    assert [row for part in parts for row in part.documents] == Read(path, "parquet").documents


def test_a_file_that_is_no_parquet_is_quarantined(tmp_path: Path) -> None:
    found = Read(put(tmp_path, "a.parquet", b"PAR1 nonsense PAR1"), "parquet")
    assert found.bad == [("a.parquet#0", "corrupt_parquet")]


# --- single files -------------------------------------------------------------------------------------------------


def test_a_text_file_is_one_document(tmp_path: Path) -> None:
    found = Read(put(tmp_path, "Übung.txt", "Schöne Grüße\r\nzweite Zeile\n".encode()), "text").documents
    assert [(row["record"], row["text"], row["charset"], row["charset_guessed"], row["url"]) for row in found] == [
        ("Übung.txt", "Schöne Grüße\r\nzweite Zeile\n", "utf-8", False, None)
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(bytes(range(32)) * 50, "undecodable", id="binary"),
        pytest.param(gzip.compress(ALL)[:-20], "truncated", id="truncated"),
        pytest.param(b"x" * 3000, "too_large", id="too large"),
        pytest.param(b"", "empty_file", id="empty"),
    ],
)
def test_a_file_that_is_no_text_is_quarantined(data: bytes, reason: str, tmp_path: Path) -> None:
    found = Read(
        put(tmp_path, "a.txt", data), "text", extract={"max_record_bytes": 2048 if reason == "too_large" else 1 << 20}
    )
    assert [row[1] for row in found.bad] == [reason]


def test_an_html_file_is_one_page(tmp_path: Path) -> None:
    html = "<html lang=ja><title> 水車 </title><body><p>水車は粉を挽く。</p><time datetime='2020-02-02'></time></body>"
    found = Read(put(tmp_path, "a.html.gz", gzip.compress(html.encode())), "html").documents
    assert [(row["text"].strip(), row["title"], row["date"], row["language_hint"]) for row in found] == [
        ("水車は粉を挽く。", "水車", "2020-02-02", "jpn_Jpan")
    ]
