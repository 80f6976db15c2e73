"""Deduplication on Spark: the stages of stages.py with a shuffle of blocks before each. Text never enters the JVM."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from glotmill.curate.blocks.packed import BLOCK, Kinds, numbers, pack, unpack
from glotmill.curate.blocks.spark import exchange, few_rows_at_once, of_items
from glotmill.curate.dedup import stages
from glotmill.curate.dedup.index.files import Known
from glotmill.curate.dedup.options import Options
from glotmill.curate.dedup.stages import Parts

EDGES_IN_MEMORY = 16 << 20  # 2^24 edges take 1.2 GB in the one task that unites them
SCRATCH = "scratch"  # below OUT, gone after the run
_EDGE_BYTES = 16
_PART_BYTES = 64 << 20
_ROUNDS = 100
_SHINGLE_BYTES = 4096  # of a document's shingles, on average
_LEVEL = StorageLevel.MEMORY_AND_DISK


@dataclass(slots=True)
class Duplicates:
    """What was found, before anything is written.

    Args:
        blocks: Rows of BLOCK: FATE and LEADER to the files of the documents, COUNTS to the first file.
        counts: Of the whole run; see `stages.told`.
        held: What is cached; `release` lets go of it.
    """

    blocks: DataFrame
    counts: dict[str, int]
    held: list[DataFrame] = field(default_factory=list)
    scratch: Path | None = None

    def release(self) -> None:
        for frame in self.held:
            frame.unpersist()
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)


def duplicates(
    spark: SparkSession,
    files: Sequence[str],
    *,
    out: Path,
    options: Options,
    documents: int,
    known: Known | None = None,
    edges_in_memory: int = EDGES_IN_MEMORY,
    doing: Callable[[str], None] = lambda stage: None,
) -> Duplicates:
    """Find the duplicates among the documents of some files.

    Args:
        files: Keys of all files of OUT/signals, sorted.
        documents: How many documents they hold, about.
        known: Entries of an index that the documents are compared with, too; their files follow `files`.
        edges_in_memory: Up to so many edges are united in one task, more of them by `connected`.
        doing: Told what Spark is about to do.

    Cost: shuffles, each of packed records: of every document about 100 bytes and 8 a band (by text), 24 a band (by
    band key); of every document that shares a band its signature and shingles (by component); of every duplicate about
    60 bytes, three times.
    """
    few_rows_at_once(spark)
    held: list[DataFrame] = []

    def kept(frame: DataFrame) -> DataFrame:
        held.append(frame.persist(_LEVEL))
        return held[-1]

    parts = sizes(documents, options, spark.sparkContext.defaultParallelism)
    signed = of_items(
        spark, list(enumerate(files)), partial(stages.sign, out=out, options=options, parts=parts), tasks=None
    )
    find_same = partial(stages.same, options=options, parts=parts, indexed=known is not None)
    same = kept(exchange(signed, find_same, parts=parts.texts))
    fates = of_kind(same, stages.MEMBER)
    counts = None
    if options.fuzzy or known:
        bands = of_kind(same, stages.BAND)
        buckets = kept(exchange(bands, partial(stages.buckets, options=options, known=known), parts=parts.bands))
        edges = of_kind(same, stages.EDGE).unionByName(of_kind(buckets, stages.EDGE))
        doing("texts and buckets")
        nodes = _components(edges, edges_in_memory, out / SCRATCH)
        read = partial(stages.fetch, files=tuple(files), out=out, options=options, parts=parts, known=known)
        sources = len(files) + (len(known.files()) if known else 0)
        full = exchange(nodes, read, parts=max(1, min(sources, 4 * parts.components)))
        decided = kept(exchange(full, partial(stages.decide, options=options, parts=parts), parts=parts.components))
        fates = fates.unionByName(of_kind(decided, stages.FATE))
        counts = of_kind(buckets, stages.COUNTS).unionByName(of_kind(decided, stages.COUNTS))
    stars = exchange(fates, partial(stages.resolve, options=options, parts=parts), parts=parts.stars)
    blocks = kept(exchange(stars, partial(stages.size, files=len(files)), parts=parts.stars))
    if counts is not None:
        blocks = blocks.unionByName(counts)
    doing("signatures and verdicts" if options.fuzzy else "texts")
    found = Kinds()
    for data in of_kind(blocks, stages.COUNTS).select("data").toArrow()["data"]:
        found.add(stages.COUNTS, data.as_buffer())
    return Duplicates(blocks, stages.total(found), held, out / SCRATCH)


def sizes(documents: int, options: Options, cores: int) -> Parts:
    """Into how many parts each shuffle goes: of about 64 MB, and enough for all cores where there is work for them."""

    def parts(bytes_a_document: int) -> int:
        return parts_of(documents, bytes_a_document, cores)

    bands = options.bands + 1  # whole texts, which an index is asked for, are one more
    full = 4 * options.permutations + (_SHINGLE_BYTES if options.needs_sets else 0)
    return Parts(texts=parts(100 + 8 * bands), bands=parts(24 * bands), components=parts(full // 2), stars=parts(60))


def parts_of(documents: int, bytes_a_document: int, cores: int) -> int:
    """How many parts of about 64 MB."""
    enough = min(cores, 1 + documents // 10_000)
    return int(max(enough, -(-documents * bytes_a_document // _PART_BYTES)))


def each_file(spark: SparkSession, files: int) -> DataFrame:
    """A block without records for each file, so that a file about which nothing is told is a part, too."""
    nothing = pack(pa.RecordBatch.from_pylist([], schema=stages.GONE))
    return spark.range(files).select(
        F.col("id").cast("int").alias("part"), F.lit(stages.FATE).alias("kind"), F.lit(nothing).alias("data")
    )


def of_kind(blocks: DataFrame, kind: str) -> DataFrame:
    return blocks.where(F.col("kind") == kind)


def _components(edges: DataFrame, in_memory: int, scratch: Path) -> DataFrame:
    """NODE blocks: each node that has an edge, with its component, to its file."""
    size = edges.agg(F.coalesce(F.sum(F.length("data")), F.lit(0))).first()
    count = (size[0] if size else 0) // _EDGE_BYTES
    if count > in_memory:
        rows = edges.mapInArrow(_edge_rows, "node long, root long")
        return connected(rows, scratch).mapInArrow(_node_blocks, from_arrow_schema(BLOCK))
    groups = count // (in_memory // 4)
    if groups > 1:
        spread = edges.withColumn("part", F.pmod(F.xxhash64("data"), F.lit(groups)).cast("int"))
        edges = exchange(spread, stages.forest, parts=groups)
    return exchange(edges.withColumn("part", F.lit(0)), stages.assigned, parts=1)


def _edge_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for data in batch["data"]:
            yield unpack(data.as_buffer())


def _node_blocks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield from stages.to_files(numbers(batch["node"]), numbers(batch["root"]))


def connected(edges: DataFrame, scratch: Path) -> DataFrame:
    """node, root: each node of some edges with the smallest node that is connected with it, that one included.

    Alternating large-star and small-star (Kiveris et al. 2014, "Connected components in MapReduce and beyond"): every
    step shuffles the edges once, by node, and gives at most as many; O(log^2 n) steps, in practice about ten.

    Args:
        edges: node, root: long, any.
        scratch: Folder that all executors share; each round's edges are written there.

    Raises:
        AssertionError: The stars still change after 100 rounds, or what came out are no stars.
    """
    edges.sparkSession.sparkContext.setCheckpointDir(scratch.absolute().as_uri())
    edges = edges.where("node != root").distinct().checkpoint()
    before = _state(edges)
    for _ in range(_ROUNDS):
        edges = _small_star(_large_star(edges)).checkpoint()  # else the plan doubles with every round
        after = _state(edges)
        if after == before:
            break
        before = after
    else:
        raise AssertionError(f"connected components still change after {_ROUNDS} rounds: report it with the input")
    roots = edges.select(F.col("root").alias("node")).distinct()
    assert roots.join(edges, "node", "left_semi").isEmpty(), "connected components ended in no stars"
    return edges.unionByName(roots.select("node", F.col("node").alias("root")))


def _state(edges: DataFrame) -> Any:
    """What two equal sets of edges share."""
    return edges.agg(
        F.count("*"), F.sum(F.xxhash64("node", "root").cast("decimal(38,0)")), F.bit_xor(F.xxhash64("root", "node"))
    ).first()


def _large_star(edges: DataFrame) -> DataFrame:
    """Every larger neighbour of a node is connected to the smallest of it and its neighbours."""
    both = edges.unionByName(edges.select(F.col("root").alias("node"), F.col("node").alias("root")))
    least = both.groupBy("node").agg(F.min("root").alias("least"))
    least = least.select("node", F.least("node", "least").alias("least"))
    found = both.join(least, "node").where("root > node")
    return found.select(F.col("root").alias("node"), F.col("least").alias("root")).distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    """A node and its smaller neighbours are connected to the smallest of them."""
    down = edges.select(F.greatest("node", "root").alias("node"), F.least("node", "root").alias("root"))
    least = down.groupBy("node").agg(F.min("root").alias("least"))
    found = down.join(least, "node").select(F.col("root").alias("node"), F.col("least").alias("root"))
    return found.unionByName(least.select("node", F.col("least").alias("root"))).where("node != root").distinct()
