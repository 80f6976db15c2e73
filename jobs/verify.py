"""`glotmill verify OUT`: every promise that can be checked on what lies there, checked."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from glotmill.schemas.atomic import file_digest
from glotmill.schemas.ledger import LEDGER, Ledger, Receipt
from glotmill.tokenize.check import check_shards, check_store

Say = Callable[[str], None]


def verify(out: Path, *, sample: float, say: Say) -> list[str]:
    """Problems found, each one sentence; empty when every promise holds.

    Args:
        sample: Share of the documents whose tokens are decoded and compared with their text.
        say: Told what is being checked.
    """
    if not (out / LEDGER).is_dir():
        return [f"{out} has no ledger: it is not the output of a run"]
    problems: list[str] = []
    for title, check in (
        ("files are the ones of their receipts", _files),
        ("nothing lies there that no receipt names", _orphans),
        ("the books of every step balance and join", _books),
        ("every document has one id, one verdict, one fate", _documents),
        ("every removed duplicate names a kept twin", _twins),
        ("the mix is what the token store gives", _mix),
    ):
        found = list(check(out))
        say(f"{'ok  ' if not found else 'FAIL'}  {title}")
        problems += found
    if Ledger(out).receipts("tokenize"):
        found = check_store(out)
        say(f"{'ok  ' if not found else 'FAIL'}  the token store is whole")
        problems += found
    if (out / "shards" / "manifest.json").exists():
        found = check_shards(out, sample=sample)
        say(f"{'ok  ' if not found else 'FAIL'}  the shards are whole, and their tokens are the documents'")
        problems += found
    return problems


def _all(out: Path) -> Iterator[Receipt]:
    ledger = Ledger(out)
    for step in ledger.steps():
        yield from ledger.receipts(step).values()


def _files(out: Path) -> Iterator[str]:
    for receipt in _all(out):
        for stamp in receipt.files:
            path = out / stamp.path
            if not path.exists():
                yield f"{stamp.path} is missing: run again to make it anew"
            elif path.stat().st_size != stamp.size or file_digest(path) != stamp.xxh3:
                yield f"{stamp.path} is not what {receipt.step} wrote: delete it and run again"


def _orphans(out: Path) -> Iterator[str]:
    for path in Ledger(out).orphans(_FOLDERS):
        yield f"{path.relative_to(out)} belongs to no receipt: run again to sweep it"


_FOLDERS = tuple("documents quarantine signals verdicts dedup repeats kept dropped tokens shards".split())
# What goes out of one step goes into the next.
_CHAIN = (
    ("extract", "measure"),
    ("measure", "judge"),
    ("judge", "dedup"),
    ("dedup", "repeats"),
    ("measure", "cut"),
    ("cut", "tokenize"),
)


def _books(out: Path) -> Iterator[str]:
    ledger = Ledger(out)
    totals = {}
    for step in ledger.steps():
        records = kept = gone = 0
        for receipt in ledger.receipts(step).values():
            books = receipt.books
            lost = [books.dropped, books.skipped, books.quarantined]
            records += books.records
            kept += books.kept
            gone += sum(sum(reasons.values()) for reasons in lost)
        totals[step] = (records, kept)
        if records != kept + gone:
            yield f"{step}: {records} records in, {kept} kept, {gone} dropped, skipped or quarantined"
    for before, after in _CHAIN:
        if before in totals and after in totals and totals[before][1] != totals[after][0]:
            yield f"{before} kept {totals[before][1]} records and {after} read {totals[after][0]}: run again"
    told = sum(sum(r.books.quarantined.values()) for r in ledger.receipts("extract").values())
    held = sum(pq.read_metadata(path).num_rows for path in (out / "quarantine").glob("*.parquet"))
    if told != held:
        yield f"the books tell {told} quarantined records and quarantine/ holds {held}"


def _documents(out: Path) -> Iterator[str]:
    ledger = Ledger(out)
    cut = ledger.receipts("cut")
    parts = [part["key"] for receipt in ledger.receipts("extract").values() for part in receipt.facts["parts"]]
    seen = [_ids(out, "documents", key) for key in sorted(parts)]
    if seen and (repeated := _repeated(seen)):
        yield f"documents/ has ids that occur twice, such as {repeated}: two sources with one name?"
    for key in sorted(cut):
        documents = set(_ids(out, "documents", key).to_pylist())
        kept, dropped = (_ids(out, folder, key).to_pylist() for folder in ("kept", "dropped"))
        if len(kept) + len(dropped) != len(documents) or documents != {*kept, *dropped}:
            yield f"kept/ and dropped/ of {key} don't part the documents of {key}"
        if documents != set(_ids(out, "verdicts", key).to_pylist()):
            yield f"verdicts/{key}.parquet doesn't judge the documents of {key}"


def _ids(out: Path, folder: str, key: str) -> pa.ChunkedArray:
    return pq.read_table(out / folder / f"{key}.parquet", columns=["id"])["id"]


def _repeated(columns: Iterable[pa.ChunkedArray]) -> str | None:
    counts = pc.value_counts(pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.string()))
    twice = counts.filter(pc.greater(counts.field("counts"), 1))
    return str(twice[0]["values"]) if len(twice) else None


def _twins(out: Path) -> Iterator[str]:
    keys = sorted(Ledger(out).receipts("dedup"))
    if not keys:
        return
    rows = pa.concat_tables(
        pq.read_table(out / "dedup" / f"{key}.parquet", columns=["id", "keep", "twin", "index"]) for key in keys
    )
    kept = rows.filter(rows["keep"])["id"]
    removed = rows.filter(pc.and_(pc.invert(rows["keep"]), pc.is_null(rows["index"])))
    alone = removed.filter(pc.invert(pc.is_in(removed["twin"], value_set=kept)))
    for row in alone.slice(0, 10).to_pylist():
        yield f"document {row['id']} was removed as a duplicate of {row['twin']}, which is not kept"


def _mix(out: Path) -> Iterator[str]:
    path = out / "mix.json"
    tokenized = Ledger(out).receipts("tokenize")
    if not path.exists() or not tokenized:
        return
    mix = json.loads(path.read_bytes())
    held: dict[str, int] = {}
    for receipt in tokenized.values():
        for cell, facts in receipt.facts["cells"].items():
            held[cell] = held.get(cell, 0) + facts["tokens"]
    told = {cell: share["available"] for cell, share in mix["cells"].items()}
    if held != told:
        wrong = sorted(cell for cell in {*held, *told} if held.get(cell) != told.get(cell))
        yield f"mix.json tells other tokens than the store holds for {', '.join(wrong[:5])}: run again"
    shards = Ledger(out).receipts("shard")
    delivered = sum(receipt.facts["tokens"] for receipt in shards.values())
    if shards and delivered != mix["planned"]:
        yield f"the mix plans {mix['planned']} tokens and the shards hold {delivered}"
