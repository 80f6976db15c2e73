"""Our extraction, and a bare loop over the same archive.

The bare loop reads responses with FastWARC, which undoes chunks and content codings, decodes by the HTTP header's
charset or else by detection, and extracts the main content with resiliparse and our options. It leaves out what a run
needs beside the text: records of other types and damaged ones, the charset that a page's meta tag states, the check
whether a stated charset is true, protection from pages that hang a parser, the search for footers and menus deep in a
page, title, date and language hint, ids, books, the stamp of the input's bytes, and the Parquet file with its digest.
"""

import argparse
import json
import tempfile
from importlib.metadata import version
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
    documents = 0
    with tempfile.TemporaryDirectory() as out:
        for unit in files.units(source, found, 1 << 40):
            with transaction(Path(out), "bench") as written:
                outcome, _ = extract_unit(unit, written, roots={"pages": str(found.root)}, extract=Extract())
                written.commit()
                documents += outcome.books.kept
    return documents


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=("bare", "ours"))
    parser.add_argument("input", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--passes", type=int, default=1)
    args = parser.parse_args()
    package, work = ("glotmill", ours) if args.task == "ours" else ("resiliparse", bare)
    docs = 0
    for _ in range(args.passes):
        docs = work(args.input)
    close_child()  # rusage counts its time when it has ended
    print(json.dumps({"version": version(package), "docs": docs}))


if __name__ == "__main__":
    main()
