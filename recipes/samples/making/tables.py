"""The sources that are no web pages: code, articles, notes, and files that are broken."""

import json
import zlib
from pathlib import Path
from typing import Any

import zstandard
from ruamel.yaml import YAML

BOM = b"\xef\xbb\xbf"
WHOLE_LINES = 4  # of cut.jsonl.gz, before the one in which the file ends


def read(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def code(plants: Path) -> list[dict[str, str]]:
    """Rows of files.jsonl.zst; `copy_of` takes the content of an earlier path."""
    rows: list[dict[str, str]] = []
    for item in read(plants / "code.yaml"):
        content = item.get("content") or next(row["content"] for row in rows if row["path"] == item["copy_of"])
        rows.append({"path": item["path"], "content": content, "language": item["language"], "license": "CC0-1.0"})
    return rows


def articles(plants: Path) -> list[dict[str, str]]:
    """Rows of articles.jsonl."""
    return [
        {
            "id": item["id"],
            "body": item["body"],
            "lang": item["lang"],
            "published": f"2024-04-{1 + n % 28:02}",
            "url": f"https://articles.example/{item['lang']}/{item['id']}",
        }
        for n, item in enumerate(read(plants / "articles.yaml"))
    ]


def notes(plants: Path) -> dict[str, bytes]:
    """Content of the text files by name."""
    return {
        note["name"]: (BOM if note.get("bom") else b"") + note["text"].encode() for note in read(plants / "notes.yaml")
    }


def broken_lines(plants: Path) -> tuple[bytes, dict[int, str]]:
    """lines.jsonl: four sound lines among six damaged ones, and what is wrong by the damaged ones' byte offsets."""
    good = [_line({"text": text}) for text in read(plants / "broken.yaml")[:4]]
    damaged = [
        (
            b'{"text": "The byte after this colon is no UTF-8: \xff. The line is damaged, its neighbours are not."}\n',
            "byte",
        ),
        (b"null\n", "null"),
        (b'["an array", "is no record"]\n', "array"),
        (b'{"body": "This record has no text under the name that the recipe states."}\n', "no text"),
        (b'{"text": 20240501}\n', "number"),
        (b'{"text": "This record is never closed\n', "json"),
    ]
    data, wrong = bytearray(good[0]), {}
    for n, (line, kind) in enumerate(damaged):
        wrong[len(data)] = kind
        data += line
        if n % 2 == 1:
            data += good[1 + n // 2]
    return bytes(data), wrong


def cut_gzip(plants: Path) -> bytes:
    """cut.jsonl.gz, which ends within its fifth line.

    A full flush after each line puts it wholly before the cut, whatever zlib makes of it.
    """
    lines = [_line({"text": text}) for text in read(plants / "broken.yaml")[4:]]
    state = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = bytearray()
    for line in lines[:WHOLE_LINES]:
        data += state.compress(line) + state.flush(zlib.Z_FULL_FLUSH)
    last = state.compress(lines[WHOLE_LINES]) + state.flush(zlib.Z_FULL_FLUSH)
    return bytes(data + last[: len(last) // 2])


def jsonl(rows: list[dict[str, str]]) -> bytes:
    return b"".join(map(_line, rows))


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=19).compress(data)


def _line(row: dict[str, str]) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"
