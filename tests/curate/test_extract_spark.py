"""The format "warc" of Spark: workers read what the plain reader reads."""

import gzip
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from glotmill.curate.extract.spark import register
from glotmill.schemas.errors import RecipeError


def record(n: int) -> bytes:
    block = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body><p>Pagina %d del mulino.</p></body></html>" % n
    )
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.test/{n}\r\n"
    head += f"Content-Length: {len(block)}\r\n\r\n"
    return gzip.compress(head.encode() + block + b"\r\n\r\n", mtime=0)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    (folder / "a.warc.gz").write_bytes(b"".join(map(record, range(2000))))
    (folder / "b.warc.gz").write_bytes(record(2000) + record(2001)[:-9])
    return folder


def test_pages_and_damage_are_rows(spark: SparkSession, crawl: Path) -> None:
    register(spark)
    rows = spark.read.format("warc").option("split_bytes", 1 << 16).load(str(crawl))
    assert rows.rdd.getNumPartitions() > 2
    found = rows.collect()
    assert sorted(row["url"] for row in found if row["error"] is None) == sorted(
        f"https://a.test/{n}" for n in range(2001)
    )
    assert all(row["text"].startswith("Pagina") and row["media_type"] == "text/html" for row in found if row["text"])
    assert [(row["record"], row["reason"]) for row in found if row["error"]] == [
        (f"b.warc.gz@{len(record(2000))}", "truncated")
    ]


def test_bodies_come_as_served(spark: SparkSession, crawl: Path) -> None:
    register(spark)
    rows = spark.read.format("warc").option("content", "body").load(str(crawl / "b.*")).where("error is null").collect()
    assert [bytes(row["body"])[:6] for row in rows] == [b"<html>"] and rows[0]["text"] is None


def test_an_option_that_does_not_exist_is_an_error(spark: SparkSession, crawl: Path) -> None:
    register(spark)
    with pytest.raises(Exception, match="has no option 'contents'"):
        spark.read.format("warc").option("contents", "body").load(str(crawl)).count()
    assert RecipeError.exit_code == 2
