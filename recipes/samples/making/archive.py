"""WARC 1.1 written by hand, one gzip member a record, so that the same calls give the same bytes on one zlib."""

import base64
import gzip
import hashlib
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

_START = datetime(2024, 5, 1, 6, 0, 0, tzinfo=UTC)
_NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # RFC 4122's, for URLs


@dataclass(slots=True)
class Archive:
    """One .warc.gz in the making; `add` returns the byte offset at which the record's member starts."""

    name: str
    data: bytearray = field(default_factory=bytearray)
    records: int = 0

    def add(
        self,
        kind: str,
        block: bytes,
        *,
        uri: str | None = None,
        media_type: str,
        extra: dict[str, str] | None = None,
        stated_length: int | None = None,
    ) -> int:
        """Append a record. `stated_length` lies about the length of the block."""
        head = {
            "WARC-Type": kind,
            "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(_NAMESPACE, f'{self.name}/{self.records}')}>",
            "WARC-Date": f"{_START + timedelta(seconds=7 * self.records):%Y-%m-%dT%H:%M:%SZ}",
            **({"WARC-Target-URI": uri} if uri else {}),
            **(extra or {}),
            "WARC-Block-Digest": digest(block),
            "Content-Type": media_type,
            "Content-Length": str(len(block) if stated_length is None else stated_length),
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        return self.add_raw(gzip.compress(f"WARC/1.1\r\n{lines}\r\n".encode() + block + b"\r\n\r\n", 9, mtime=0))

    def add_raw(self, member: bytes) -> int:
        """Append bytes as they are: garbage, a damaged record, or half of one."""
        start = len(self.data)
        self.data += member
        self.records += 1
        return start

    def warcinfo(self) -> None:
        fields = (
            "software: glotmill recipes/samples/build.py\r\nformat: WARC File Format 1.1\r\n"
            "description: miniature multilingual web archive; every site is invented\r\nlicense: CC0-1.0\r\n"
        )
        extra = {"WARC-Filename": self.name}
        self.add("warcinfo", fields.encode(), media_type="application/warc-fields", extra=extra)


def digest(block: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(block).digest()).decode()
