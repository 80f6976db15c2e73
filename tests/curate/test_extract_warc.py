"""Archives: every record is accounted for, whatever the damage, and splitting changes nothing."""

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.extract.split import Split
from glotmill.curate.extract.unit import Reading
from glotmill.schemas.recipe import Extract, Source

SAMPLES = Path(__file__).parents[2] / "../shared/data/warc_samples"
PAGE = (
    b"<html lang=it><head><title>T %d</title></head><body><p>Questa pagina numero %d parla di mulini.</p></body></html>"
)


def record(n: int, *, kind: str = "response", block: bytes | None = None, length: int | None = None) -> bytes:
    block = http(PAGE % (n, n)) if block is None else block
    length = len(block) if length is None else length
    return (
        (
            f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: https://a.test/{n}\r\n"
            f"WARC-Date: 2024-01-0{n % 9 + 1}T00:00:00Z\r\n"
            f"Content-Type: application/http; msgtype=response\r\nContent-Length: {length}\r\n\r\n"
        ).encode()
        + block
        + b"\r\n\r\n"
    )


def http(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", *(headers or ("Content-Type: text/html; charset=utf-8",))]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Read:
    """A file read to its end, its books balanced."""

    def __init__(self, reading: Reading, name: str) -> None:
        self.documents = [row for batch in reading.batches() for row in batch.to_pylist()]
        self.quarantine = reading.quarantine().to_pylist()
        self.books = reading.books
        self.books.check(name)
        assert self.books.kept == len(self.documents)


def read(path: Path, *, start: int = 0, end: int = 1 << 60, **extract: Any) -> Read:
    source = Source(name="web", path=".")
    return Read(Reading(source, [Split(path.name, "warc", start, end)], path.parent, Extract(**extract)), path.name)


def bad(reading: Read) -> list[tuple[str, str]]:
    return [(row["record"], row["reason"]) for row in reading.quarantine]


def urls(reading: Read) -> list[int]:
    return [int(row["url"].rpartition("/")[2]) for row in reading.documents]


def plain(records: list[bytes]) -> tuple[str, bytes]:
    return "a.warc", b"".join(records)


def gzipped(records: list[bytes]) -> tuple[str, bytes]:
    return "a.warc.gz", b"".join(gzip.compress(r, mtime=0) for r in records)


def one_stream(records: list[bytes]) -> tuple[str, bytes]:
    return "a.warc.gz", gzip.compress(b"".join(records), mtime=0)


def zstd(records: list[bytes]) -> tuple[str, bytes]:
    return "a.warc.zst", b"".join(zstandard.compress(r) for r in records)


Pack = Callable[[list[bytes]], tuple[str, bytes]]
PACKS = [pytest.param(pack, id=pack.__name__) for pack in (plain, gzipped, one_stream, zstd)]


def written(tmp_path: Path, packed: tuple[str, bytes]) -> Path:
    path = tmp_path / packed[0]
    path.write_bytes(packed[1])
    return path


@pytest.mark.parametrize("pack", PACKS)
def test_a_whole_archive_is_read_whole(pack: Pack, tmp_path: Path) -> None:
    records = [record(0, kind="warcinfo"), record(1), record(2, kind="request"), record(3), record(4, kind="revisit")]
    found = read(written(tmp_path, pack(records)))
    assert urls(found) == [1, 3] and bad(found) == []
    assert found.books.skipped == {"warcinfo": 1, "request": 1, "revisit": 1}
    first = found.documents[0]
    assert (first["title"], first["date"], first["language_hint"]) == ("T 1", "2024-01-02T00:00:00Z", "ita_Latn")
    assert (first["charset"], first["charset_guessed"], first["media_type"]) == ("utf-8", False, "text/html")
    assert len({row["record"] for row in found.documents}) == 2


@pytest.mark.parametrize("pack", [plain, gzipped])
def test_a_locator_is_the_offset_at_which_the_record_starts(pack: Pack, tmp_path: Path) -> None:
    records = [record(n) for n in range(3)]
    path = written(tmp_path, pack(records))
    offsets = [len(pack(records[:n])[1]) for n in range(3)]
    assert [row["record"] for row in read(path).documents] == [f"{path.name}@{offset}" for offset in offsets]


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("change", [-30, -7, 5, 200, 1_000_000])
def test_a_wrong_content_length_costs_that_record_only(pack: Pack, change: int, tmp_path: Path) -> None:
    length = len(http(PAGE % (2, 2))) + change
    records = [record(1), record(2, length=length), record(3), record(4)]
    found = read(written(tmp_path, pack(records)))
    assert urls(found) == [1, 3, 4]
    assert [reason for _, reason in bad(found)] == ["length_mismatch"]


@pytest.mark.parametrize("pack", PACKS)
def test_a_truncated_last_record_is_quarantined(pack: Pack, tmp_path: Path) -> None:
    name, data = pack([record(1), record(2), record(3)])
    whole = len(pack([record(1), record(2)])[1])
    cut = data[: whole + 60] if pack is not one_stream else data[:-12]
    found = read(written(tmp_path, (name, cut)))
    assert urls(found) == [1, 2]
    assert [reason for _, reason in bad(found)] in (["truncated"], ["invalid_record"])


@pytest.mark.parametrize("pack", [plain, gzipped])
def test_garbage_between_two_records_is_one_row(pack: Pack, tmp_path: Path) -> None:
    garbage = b"\x00\x01 no record at all \xff\xfe" * 20
    name, first = pack([record(1)])
    path = written(tmp_path, (name, first + garbage + pack([record(2)])[1]))
    found = read(path)
    assert urls(found) == [1, 2]
    assert bad(found) == [(f"{name}@{len(first)}", "garbage_between_records")]
    assert found.quarantine[0]["excerpt"].startswith(garbage[:100])


def test_a_corrupt_member_costs_that_member_only(tmp_path: Path) -> None:
    members = [gzip.compress(record(n), mtime=0) for n in range(1, 5)]
    damaged = bytearray(members[1])
    damaged[len(damaged) // 2] ^= 0xFF
    damaged[len(damaged) // 2 + 1] ^= 0xFF
    found = read(written(tmp_path, ("a.warc.gz", members[0] + bytes(damaged) + members[2] + members[3])))
    assert urls(found) == [1, 3, 4]
    assert bad(found) == [(f"a.warc.gz@{len(members[0])}", "corrupt_compression")]


@pytest.mark.parametrize("packed", [False, True], ids=["dictionary as it is", "dictionary compressed"])
def test_a_zst_archive_brings_its_dictionary(packed: bool, tmp_path: Path) -> None:
    words = zstandard.ZstdCompressionDict(b"".join(record(n) for n in range(5)))
    compressor = zstandard.ZstdCompressor(dict_data=words)
    frame = zstandard.compress(words.as_bytes()) if packed else words.as_bytes()
    data = b"\x5d\x2a\x4d\x18" + len(frame).to_bytes(4, "little") + frame
    data += b"".join(compressor.compress(record(n)) for n in range(1, 4))
    found = read(written(tmp_path, ("a.warc.zst", data)))
    assert urls(found) == [1, 2, 3] and bad(found) == []


def test_a_member_cut_short_in_mid_file_does_not_swallow_the_next(tmp_path: Path) -> None:
    members = [gzip.compress(record(n), mtime=0) for n in range(1, 5)]
    for cut in range(1, 40):
        found = read(written(tmp_path, ("a.warc.gz", members[0] + members[1][:-cut] + members[2] + members[3])))
        assert [n for n in urls(found) if n != 2] == [1, 3, 4] and len(bad(found)) == 1


def test_zeros_behind_the_last_member_are_padding(tmp_path: Path) -> None:
    name, data = gzipped([record(1)])
    found = read(written(tmp_path, (name, data + bytes(5000))))
    assert urls(found) == [1] and bad(found) == []


def test_an_empty_file_is_one_row(tmp_path: Path) -> None:
    assert bad(read(written(tmp_path, ("e.warc.gz", b"")))) == [("e.warc.gz@0", "empty_file")]


@pytest.mark.parametrize("pack", PACKS)
def test_a_page_over_the_limit_is_too_large_and_its_neighbours_stay(pack: Pack, tmp_path: Path) -> None:
    big = http(b"<p>" + b"palavra " * 300_000)
    found = read(written(tmp_path, pack([record(1), record(2, block=big), record(3)])), max_record_bytes=1 << 20)
    assert urls(found) == [1, 3]
    assert [reason for _, reason in bad(found)] == ["too_large"]


def test_a_page_of_64_mb_is_never_in_memory(tmp_path: Path) -> None:
    import tracemalloc

    path = written(tmp_path, plain([record(1), record(2, block=http(b"x" * (64 << 20))), record(3)]))
    tracemalloc.start()
    found = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert urls(found) == [1, 3] and [reason for _, reason in bad(found)] == ["too_large"]
    assert peak < 8 << 20


def test_a_decompression_bomb_is_too_large(tmp_path: Path) -> None:
    bomb = http(gzip.compress(bytes(50 << 20)), "Content-Type: text/html", "Content-Encoding: gzip")
    found = read(written(tmp_path, gzipped([record(1), record(2, block=bomb), record(3)])))
    assert urls(found) == [1, 3] and [reason for _, reason in bad(found)] == ["too_large"]


def test_a_hundred_thousand_nested_tags_cost_that_page_only(tmp_path: Path) -> None:
    bomb = http(b"<div>" * 100_000 + b"deep" + b"</div>" * 100_000)
    found = read(written(tmp_path, gzipped([record(1), record(2, block=bomb), record(3)])))
    assert urls(found) == [1, 3] and [reason for _, reason in bad(found)] == ["too_deep"]


TEXT = "Ο μύλος αλέθει το σιτάρι και το νερό γυρίζει τη μυλόπετρα κάθε μέρα."
HTML = f"<html><body><p>{TEXT}</p></body></html>".encode()


def chunked(body: bytes, size: int = 7) -> bytes:
    parts = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        pytest.param(chunked(HTML), ["Transfer-Encoding: chunked"], id="chunked"),
        pytest.param(HTML, ["Transfer-Encoding: chunked"], id="says chunked and isn't"),
        pytest.param(gzip.compress(HTML), ["Content-Encoding: gzip"], id="gzip"),
        pytest.param(HTML, ["Content-Encoding: gzip"], id="says gzip and isn't"),
        pytest.param(chunked(gzip.compress(HTML)), ["Content-Encoding: gzip", "Transfer-Encoding: chunked"], id="both"),
        pytest.param(zlib.compress(HTML), ["Content-Encoding: deflate"], id="zlib"),
        pytest.param(zlib.compress(HTML)[2:-4], ["Content-Encoding: deflate"], id="raw deflate"),
        pytest.param(brotli.compress(HTML), ["Content-Encoding: br"], id="brotli"),
        pytest.param(HTML, ["Content-Encoding: br"], id="says brotli and isn't"),
        pytest.param(zstandard.compress(HTML), ["Content-Encoding: zstd"], id="zstd"),
        pytest.param(HTML, ["X-A: 1", "X-A: 2", "Content-Type: text/plain"], id="headers twice"),
        pytest.param(HTML, ["Content-Encoding: rot13"], id="unknown coding"),
    ],
)
def test_a_body_is_read_as_its_bytes_say(body: bytes, headers: list[str], tmp_path: Path) -> None:
    block = http(body, "Content-Type: text/html; charset=utf-8", *headers)
    found = read(written(tmp_path, gzipped([record(1, block=block)])))
    assert [row["text"].strip() for row in found.documents] == [TEXT]


def test_a_body_that_breaks_within_its_coding_is_quarantined(tmp_path: Path) -> None:
    block = http(gzip.compress(HTML * 50)[:-30], "Content-Type: text/html", "Content-Encoding: gzip")
    found = read(written(tmp_path, gzipped([record(1), record(2, block=block), record(3)])))
    assert urls(found) == [1, 3] and [reason for _, reason in bad(found)] == ["corrupt_body"]


@pytest.mark.parametrize(
    ("block", "skipped"),
    [
        pytest.param(http(b"gone", status="404 Not Found"), "http_status", id="404"),
        pytest.param(http(b"%PDF-1.4", "Content-Type: application/pdf"), "media_type", id="pdf"),
        pytest.param(http(b"\x89PNG\r\n\x1a\n\0\0", "X: y"), "media_type", id="no type, an image"),
        pytest.param(http(b"<html><body> </body></html>"), "empty_text", id="nothing to read"),
    ],
)
def test_what_is_no_document_is_skipped_and_counted(block: bytes, skipped: str, tmp_path: Path) -> None:
    found = read(written(tmp_path, gzipped([record(1, block=block)])))
    assert found.books.skipped == {skipped: 1} and found.books.records == 1


def test_arc_files_are_read(tmp_path: Path) -> None:
    body = http(PAGE % (1, 1))
    arc = b"filedesc://x.arc 0.0.0.0 20080430204825 text/plain 10\n1 0 X\nURL\n\n"
    arc += b"https://a.test/1 1.2.3.4 20080430204826 text/html %d\n%s\n" % (len(body), body)
    found = read(written(tmp_path, ("x.arc", arc)))
    assert urls(found) == [1] and found.documents[0]["date"] == "2008-04-30T20:48:26Z"
    assert found.books.skipped == {"warcinfo": 1} and bad(found) == []


def test_wet_text_is_the_document(tmp_path: Path) -> None:
    text = "ข้อความภาษาไทย".encode()
    block = b"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: https://a.test/1\r\nContent-Type: text/plain\r\n"
    block += b"WARC-Identified-Content-Language: tha,eng\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (len(text), text)
    found = read(written(tmp_path, ("a.warc.wet.gz", gzip.compress(block)))).documents
    assert [(row["text"], row["language_hint"], row["charset_guessed"]) for row in found] == [
        (text.decode(), "tha_Thai", False)
    ]


# --- splits -------------------------------------------------------------------------------------------------------

PIECES = st.one_of(
    st.integers(0, 9).map(lambda n: record(n)),
    st.integers(0, 9).map(lambda n: record(n, kind="request")),
    st.integers(0, 9).map(lambda n: record(n, block=http(b"<p>x</p>\r\n\r\n" + record(n)))),  # an archive in an archive
    st.tuples(st.integers(0, 9), st.integers(-200, 2000)).map(lambda x: record(x[0], length=max(0, 150 + x[1]))),
    st.binary(max_size=60),
    st.just(b"\r\n\r\nWARC/1.0\r\n"),
    st.just(b"WARC/1.0\r\nContent-Length: x\r\n\r\n"),
)


def whole_and_parts(path: Path, cuts: list[int]) -> tuple[list[Any], list[Any]]:
    size = path.stat().st_size
    points = sorted({0, size, *(cut % (size + 1) for cut in cuts)})
    whole = read(path)
    rows, books = [], 0
    for start, end in zip(points, points[1:], strict=False):
        part = read(path, start=start, end=end)
        rows += [*part.documents, *bad(part)]
        books += part.books.records
    assert books == whole.books.records
    return [*whole.documents, *bad(whole)], rows


def by_place(row: Any) -> str:
    return str(row["record"] if isinstance(row, dict) else row[0])


@given(pieces=st.lists(PIECES, min_size=1, max_size=6), cuts=st.lists(st.integers(1, 10**6), max_size=4))
def test_splitting_a_plain_archive_changes_nothing(pieces: list[bytes], cuts: list[int], tmp_path_factory: Any) -> None:
    path = written(tmp_path_factory.mktemp("w"), ("a.warc", b"".join(pieces)))
    if path.stat().st_size:
        whole, parts = whole_and_parts(path, cuts)
        assert sorted(whole, key=by_place) == sorted(parts, key=by_place)


MEMBERS = st.one_of(
    PIECES.map(lambda piece: gzip.compress(piece, mtime=0)),
    st.tuples(PIECES, st.integers(1, 40)).map(lambda x: gzip.compress(x[0], mtime=0)[: -x[1]]),
    st.binary(max_size=40),
)


@given(pieces=st.lists(MEMBERS, min_size=1, max_size=6), cuts=st.lists(st.integers(1, 10**6), max_size=4))
def test_splitting_a_gzipped_archive_changes_nothing(
    pieces: list[bytes], cuts: list[int], tmp_path_factory: Any
) -> None:
    path = written(tmp_path_factory.mktemp("w"), ("a.warc.gz", gzip.compress(record(1), mtime=0) + b"".join(pieces)))
    whole, parts = whole_and_parts(path, cuts)
    assert sorted(whole, key=by_place) == sorted(parts, key=by_place)


@given(
    data=st.binary(max_size=400),
    head=st.sampled_from([b"", b"WARC/1.0\r\n", b"\x1f\x8b\x08\x00", b"filedesc://", b"(\xb5/\xfd"]),
)
def test_no_bytes_make_the_reader_fail(data: bytes, head: bytes, tmp_path_factory: Any) -> None:
    read(written(tmp_path_factory.mktemp("w"), ("a.warc", head + data)))


# --- real archives ------------------------------------------------------------------------------------------------


def real() -> list[Any]:
    if not SAMPLES.is_dir():
        return [
            pytest.param("", marks=pytest.mark.skip(reason="shared/data/warc_samples is not beside the repository"))
        ]
    return [pytest.param(p.name, id=p.name) for p in sorted(SAMPLES.iterdir()) if p.name != "RESULTS.txt"]


def warcio_says(name: str) -> int:
    rows = [line.split("\t") for line in (SAMPLES / "RESULTS.txt").read_text().splitlines()]
    return next(int(row[2]) for row in rows if len(row) > 2 and row[0] == name)


@pytest.mark.parametrize("name", real())
def test_every_record_of_a_real_archive_is_accounted_for(name: str) -> None:
    found = read(SAMPLES / name)
    assert found.books.records >= warcio_says(name)
    assert found.books.kept == len(found.documents)
    assert len({by_place(row) for row in [*found.documents, *bad(found)]}) == found.books.kept + len(bad(found))
