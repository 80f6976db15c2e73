"""The documents that every contestant of a stage reads: a sample of a JSONL file, as one plain JSONL file."""

import hashlib
import heapq
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import zstandard

_DATA = Path(__file__).parents[2] / "shared" / "data"  # beside the checkout; not part of the project
DOCUMENTS = _DATA / "docs.jsonl.zst"
ARCHIVE = _DATA / "html" / "pages.warc.gz"


@dataclass(frozen=True, slots=True)
class Sample:
    """A file of documents, or an archive, with its size.

    Args:
        path: JSONL with `id` and `text`; or a WARC file, as it is.
        docs: Documents; 0 for an archive, whose pages are the contestants' to count.
        megabytes: 10^6 bytes of UTF-8 text; of the file, for an archive.
    """

    path: Path
    docs: int
    megabytes: float


def sample(source: Path, count: int | None, folder: Path) -> Sample:
    """Write the `count` documents of `source` whose hashes are least, in the order of their hashes.

    A document's hash is that of its id and text, so that the sample doesn't depend on the order of the file. Documents
    without text are left out, and those whose text isn't Unicode (lone surrogates), which some peers can't read.

    Args:
        source: JSONL, or JSONL in zstandard (.zst), with `text` and perhaps `id`.
        count: Documents; None for all.
        folder: Where the sample is written.
    """
    rows = _rows(source)
    chosen = sorted(rows) if count is None else heapq.nsmallest(count, rows)
    path = folder / "documents.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for _, name, text in chosen:
            out.write(json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n")
    return Sample(path, len(chosen), sum(len(text.encode()) for _, _, text in chosen) / 1e6)


def archive(source: Path) -> Sample:
    """A WARC file as it is."""
    return Sample(source.resolve(), 0, source.stat().st_size / 1e6)


def _rows(source: Path) -> Iterator[tuple[bytes, str, str]]:
    for number, line in enumerate(_lines(source)):
        row = json.loads(line)
        text, name = row.get("text"), str(row.get("id", number))
        if not text:
            continue
        try:
            hashed = hashlib.blake2b(f"{name}\0{text}".encode(), digest_size=16).digest()
        except UnicodeEncodeError:
            continue
        yield hashed, name, text


def _lines(source: Path) -> Iterator[str]:
    with source.open("rb") as raw:
        stream = zstandard.ZstdDecompressor().stream_reader(raw) if source.suffix == ".zst" else raw
        with io.TextIOWrapper(stream, encoding="utf-8", newline="\n") as lines:
            yield from (line for line in lines if line.strip())
