"""python benchmarks/extraction.py PAGES.warc.gz: our extraction beside a bare loop over the same archive, in one run.

The bare loop reads responses with FastWARC, which undoes chunks and content codings, decodes by the HTTP header's
charset or else by detection, and extracts the main content with resiliparse and our options. It leaves out what a run
needs beside the text: records of other types and damaged ones, the charset that a page's meta tag states, the check
whether a stated charset is true, protection from pages that hang a parser, the search for footers and menus deep in a
page, title, date and language hint, ids, books, the stamp of the input's bytes, and the Parquet file with its digest.
Prints one JSON line; `ratio` is what matters.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding
from resiliparse.parse.html import HTMLTree

from glotmill.curate.extract import files
from glotmill.curate.extract.guard import close_child
from glotmill.curate.extract.unit import extract_unit
from glotmill.schemas.atomic import transaction
from glotmill.schemas.recipe import Extract, Source


def bare(path: Path) -> int:
    pages = 0
    with path.open("rb") as stream:
        records = ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True, auto_decode="all")
        for record in records:
            body = record.reader.read()
            html = bytes_to_str(body, record.http_charset or detect_encoding(body))
            extract_plain_text(
                HTMLTree.parse(html), main_content=True, preserve_formatting=True, list_bullets=True, alt_texts=False
            )
            pages += 1
    return pages


def ours(path: Path) -> int:
    source = Source(name="pages", path=str(path))
    found = files.find(source, path.parent)
    units = files.units(source, found, 1 << 40)
    documents = 0
    with tempfile.TemporaryDirectory() as out:
        for unit in units:
            with transaction(Path(out), "bench") as written:
                outcome, _ = extract_unit(unit, written, roots={"pages": str(found.root)}, extract=Extract())
                written.commit()
                documents += outcome.books.kept
    close_child()  # the system counts its time when it has ended
    return documents


def cpu(work: Callable[[Path], int], path: Path) -> tuple[float, int]:
    """CPU seconds of this process and of those that it started and ended, threads included."""
    started = sum(os.times()[:4])
    count = work(path)
    return sum(os.times()[:4]) - started, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("warc", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    costs: dict[str, list[float]] = {"bare": [], "ours": []}
    counts = {}
    for _ in range(args.rounds):  # alternating, so that a noisy neighbour hits both
        for name, work in (("bare", bare), ("ours", ours)):
            seconds, counts[name] = cpu(work, args.warc)
            costs[name].append(seconds)
    best = {name: min(seconds) for name, seconds in costs.items()}
    megabytes = args.warc.stat().st_size / 1e6
    print(
        json.dumps(
            {
                "archive_mb": round(megabytes, 1),
                "pages": counts["bare"],
                "documents": counts["ours"],
                "bare_cpu_s": round(best["bare"], 2),
                "ours_cpu_s": round(best["ours"], 2),
                "ratio": round(best["ours"] / best["bare"], 3),
                "ours_mb_per_cpu_s": round(megabytes / best["ours"], 1),
            }
        )
    )


if __name__ == "__main__":
    main()
