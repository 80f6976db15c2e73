"""Fast inflating: what comes out, and what is said of damage, is what zlib alone would give."""

import gzip
import os
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.extract import http
from glotmill.curate.extract.inflate import whole_gzip
from glotmill.curate.extract.members import GZIP, STEP, Block, Break, Codec, member_blocks

LIMIT = 1 << 20
Damage = Callable[[bytes, random.Random], bytes]


def read(path: Path, codec: Codec) -> tuple[bytes, list[int], list[Break]]:
    """All bytes, where members begin, and the breaks."""
    fd = os.open(path, os.O_RDONLY)
    try:
        found = list(member_blocks(fd, 0, codec, lambda opening: opening.startswith(b"{")))
    finally:
        os.close(fd)
    blocks = [item for item in found if isinstance(item, Block)]
    data = b"".join(block.data for block in blocks)
    return data, [b.member for b in blocks if b.first], [b for b in found if isinstance(b, Break)]


def flipped(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(1, len(data))]


def head_flipped(data: bytes, rng: random.Random) -> bytes:
    return flipped(data[:10], rng) + data[10:]


def longer(data: bytes, rng: random.Random) -> bytes:
    return data + rng.randbytes(rng.randrange(1, 100))


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data, rng: data, id="whole"),
        pytest.param(flipped, id="a bit flipped"),
        pytest.param(head_flipped, id="a bit of the header flipped"),
        pytest.param(cut, id="cut short"),
        pytest.param(longer, id="garbage behind"),
    ],
)
@pytest.mark.parametrize("level", [0, 1, 6])
def test_members_are_read_and_break_as_with_zlib_alone(damage: Damage, level: int, tmp_path: Path) -> None:
    assert GZIP.strict is not None
    rng = random.Random(level)
    for size in [10, 300, 5_000, STEP, 3 * STEP] * 3:
        members = [b'{"a": ' + rng.randbytes(size // 2).hex().encode() + b"}\n" for _ in range(3)]
        packed = [gzip.compress(member, level, mtime=0) for member in members]
        packed[1] = damage(packed[1], rng)
        path = tmp_path / "a.gz"
        path.write_bytes(b"".join(packed))
        assert read(path, GZIP) == read(path, GZIP.strict)


@given(body=st.binary(max_size=2000), cut=st.integers(0, 60), rest=st.binary(max_size=20), limit=st.integers(0, 2000))
def test_a_body_is_whole_or_left_to_zlib(body: bytes, cut: int, rest: bytes, limit: int) -> None:
    packed = gzip.compress(body)
    assert whole_gzip(packed + rest, limit) == (body if len(body) <= limit else None)
    if cut:
        assert whole_gzip(packed[:-cut], LIMIT) is None


@pytest.mark.parametrize("at", [3, 12, -1])
def test_an_error_in_a_body_is_told_in_the_words_of_zlib(at: int) -> None:
    packed = bytearray(gzip.compress(b"mulino " * 100))
    packed[at] ^= 0xFF
    with pytest.raises(zlib.error) as expected:
        zlib.decompressobj(31).decompress(bytes(packed))
    with pytest.raises(http.BodyError, match="gzip or deflate body") as found:
        http.content(http.Response(200, {"content-encoding": "gzip"}, bytes(packed)), limit=LIMIT)
    assert str(expected.value) in str(found.value)
