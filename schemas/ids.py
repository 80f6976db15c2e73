"""Names made from content: document ids, fingerprints, and the hashes that give an order without arrival."""

import json
from typing import Any

import xxhash


def document_id(source: str, record: str) -> str:
    """32 hex digits: xxh3-128 of source name and record locator.

    >>> document_id("web", "a.warc.gz@0") == document_id("web", "a.warc.gz@0") != document_id("we", "ba.warc.gz@0")
    True
    """
    return xxhash.xxh3_128_hexdigest(f"{source}\0{record}".encode("utf-8", "surrogateescape"))


def order_key(seed: int, epoch: int, id: str) -> int:
    """Unsigned 64 bits that place a document in an epoch: uniform, and unrelated between seeds and epochs.

    XXH64 of "seed NUL epoch NUL id" with seed 42: what Spark's `xxhash64(concat_ws("\0", seed, epoch, id))` gives as
    a signed number, so that plans and workers agree without a Python call a row.
    """
    return xxhash.xxh64_intdigest(f"{seed}\0{epoch}\0{id}".encode(), seed=42)


PICK = -1  # the "epoch" whose order decides which documents a fraction of an epoch takes


def fingerprint(value: Any) -> str:
    """32 hex digits: xxh3-128 of the canonical JSON of `value`."""
    return xxhash.xxh3_128_hexdigest(canonical_json(value))


def canonical_json(value: Any) -> bytes:
    """The same bytes for equal values: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(
        "utf-8", "surrogateescape"
    )
