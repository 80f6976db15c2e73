"""python -m benchmarks.dedup_scale: how the cost of deduplication grows with the corpus.

Made documents: words drawn by Zipf's law from made vocabularies in six scripts, lognormal lengths (117 words on
average), 10 % exact copies and 20 % near ones (0.2 to 3 % of the words replaced) of documents of the file before, some
copied often. Duplicate rates and sizes of clusters are the same for each size. jobs/dedup.py reads them as Parquet on
the cores told, Spark's start included, and writes all that it writes.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.dedup_score import markdown
from benchmarks.dedup_tools import JOB
from benchmarks.process_tree import Cost, cost

Array = npt.NDArray[np.int64]
SEED = 11
ROWS = 100_000  # documents of a file
VOCABULARY = 30_000  # words of a script
# Letters of a script: first code point, how many, and the share of documents in it. Chinese has no spaces.
SCRIPTS = (
    ("Latn", 0x61, 26, 0.50),
    ("Cyrl", 0x430, 32, 0.15),
    ("Arab", 0x627, 26, 0.10),
    ("Deva", 0x915, 36, 0.10),
    ("Grek", 0x3B1, 24, 0.05),
    ("Hani", 0x4E00, 3000, 0.10),
)
EXACT, NEAR = 0.1, 0.2  # shares of a file's documents
EDITED = (0.002, 0.03)  # share of a near copy's words: Jaccard similarities of 0.98 to 0.75
WORDS = (4.4, 0.85)  # mean and deviation of the logarithm of their number: 81 in the median, 117 on average
LONGEST = 5000


@dataclass(frozen=True, slots=True)
class Texts:
    """Documents as words: document d has words[bounds[d]:bounds[d + 1]], each an index of the vocabulary."""

    words: Array
    bounds: Array
    script: Array


def vocabulary(seed: int = SEED) -> pa.StringArray:
    """VOCABULARY words of each script, one script after another, each word with the space after it (Hani: none)."""
    rng = np.random.default_rng(seed)
    words = []
    for name, first, letters, _ in SCRIPTS:
        hani = name == "Hani"
        lengths = rng.integers(1, 4 if hani else 11, VOCABULARY)
        codes = rng.integers(first, first + letters, (VOCABULARY, 10))
        words += [
            "".join(map(chr, row[:length])) + ("" if hani else " ")
            for row, length in zip(codes.tolist(), lengths.tolist(), strict=True)
        ]
    return pa.array(words, pa.string())


def fresh(count: int, rng: np.random.Generator) -> Texts:
    lengths = np.clip(rng.lognormal(*WORDS, count), 3, LONGEST).astype(np.int64)
    script = rng.choice(len(SCRIPTS), count, p=[share for *_, share in SCRIPTS])
    bounds = np.concatenate(([0], np.cumsum(lengths)))
    return Texts(_zipf(np.repeat(script, lengths), rng), bounds, script)


def _zipf(script: Array, rng: np.random.Generator) -> Array:
    """A word for each place, the k-th of its script's about 1/k as often as the first."""
    ranks = (VOCABULARY ** rng.random(len(script), np.float32)).astype(np.int64) - 1
    return script * VOCABULARY + np.minimum(ranks, VOCABULARY - 1)


def copied(texts: Texts, rows: Array, edited: npt.NDArray[np.float64], rng: np.random.Generator) -> Texts:
    """Documents `rows` of `texts`, of each the share `edited` of its words replaced, one at least where
    it isn't 0."""
    lengths = np.diff(texts.bounds)[rows]
    bounds = np.concatenate(([0], np.cumsum(lengths)))
    places = np.repeat(texts.bounds[rows] - bounds[:-1], lengths) + np.arange(bounds[-1])
    script = texts.script[rows]
    words = texts.words[places]
    touched = rng.random(len(words), np.float32) < np.repeat(edited, lengths)
    touched[(bounds[:-1] + (rng.random(len(rows)) * lengths).astype(np.int64))[edited > 0]] = True
    at = np.flatnonzero(touched)
    words[at] = _zipf(np.repeat(script, lengths)[at], rng)
    return Texts(words, bounds, script)


def files(count: int, *, rows: int = ROWS, seed: int = SEED) -> Iterator[pa.Table]:
    """Tables of `id` and `text`, `rows` documents each, `count` in all; the same for the same arguments.

    The first file has copies of its own documents; later ones of the file before, so that most pairs lie in two files.
    """
    words = vocabulary(seed)
    before: Texts | None = None
    for number, start in enumerate(range(0, count, rows)):
        rng = np.random.default_rng((seed, number))
        size = min(rows, count - start)
        exact, near = round(EXACT * size), round(NEAR * size)
        new = fresh(size - exact - near, rng)
        source = before or new
        # the smallest rows are drawn most often: clusters of many sizes
        drawn = (len(source.script) * rng.random(exact + near) ** 2).astype(np.int64)
        edited = np.concatenate((np.zeros(exact), rng.uniform(*EDITED, near)))
        copies = copied(source, drawn, edited, rng)
        texts = pa.chunked_array([_strings(new, words), _strings(copies, words)]).combine_chunks()
        order = rng.permutation(size)
        ids = pc.binary_join_element_wise(str(number), pa.array(np.arange(size)).cast(pa.string()), "-")
        yield pa.table({"id": ids, "text": texts.take(pa.array(order))})
        before = new


def _strings(texts: Texts, words: pa.StringArray) -> pa.Array:
    """Words put together: one gather of bytes for all of them."""
    joined = words.take(pa.array(texts.words))
    ends = np.frombuffer(joined.buffers()[1], np.int32)[: len(joined) + 1]
    return pa.StringArray.from_buffers(
        len(texts.script), pa.py_buffer(np.ascontiguousarray(ends[texts.bounds])), joined.buffers()[2]
    )


def write(folder: Path, tables: Iterator[pa.Table]) -> int:
    """Parquet files; 10^6 bytes of text."""
    folder.mkdir(parents=True)
    size = 0
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number:05}.parquet", compression="zstd", compression_level=1)
        size += pc.sum(pc.binary_length(table["text"])).as_py()
    return size // 1_000_000


def identical(count: int, text: str, rows: int = ROWS) -> Iterator[pa.Table]:
    """The same document `count` times, under ids of its own each time."""
    for start in range(0, count, rows):
        size = min(rows, count - start)
        ids = pa.array(np.arange(start, start + size)).cast(pa.string())
        yield pa.table({"id": ids, "text": pa.array([text], pa.string()).take(pa.array(np.zeros(size, np.int64)))})


def different(count: int, *, seed: int = SEED, rows: int = ROWS) -> Iterator[pa.Table]:
    """`count` documents without copies."""
    words = vocabulary(seed)
    for number, start in enumerate(range(0, count, rows)):
        texts = fresh(min(rows, count - start), np.random.default_rng((seed, number, 1)))
        ids = pa.array(np.arange(start, start + len(texts.script))).cast(pa.string())
        yield pa.table({"id": ids, "text": _strings(texts, words)})


def typical(texts: pa.ChunkedArray) -> str:
    """The text of mean size: so many of it are as many bytes as so many different ones."""
    sizes = pc.binary_length(texts).to_numpy()
    return str(texts[int(np.abs(sizes - sizes.mean()).argmin())].as_py())


@dataclass(slots=True)
class Peaks:
    """The largest resident memory seen, in 10^6 bytes: of the driver's Python, the JVM, all Python workers together."""

    driver: float = 0.0
    jvm: float = 0.0
    workers: float = 0.0


class _Look(threading.Thread):
    """Looks at the processes under this one, ten times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peaks = Peaks()
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.1):
            jvm = driver = workers = 0.0
            for child in psutil.Process().children():
                for process in [child, *_below(child)]:
                    try:
                        size, java = process.memory_info().rss / 1e6, "java" in process.name()
                    except psutil.Error:
                        continue
                    jvm += size if java else 0
                    driver += size if process == child and not java else 0
                    workers += size if process != child and not java else 0
            self.peaks.driver = max(self.peaks.driver, driver)
            self.peaks.jvm = max(self.peaks.jvm, jvm)
            self.peaks.workers = max(self.peaks.workers, workers)


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return list(process.children(recursive=True))
    except psutil.Error:
        return []


def deduplicate(folder: Path, out: Path, cores: int, sets: Sequence[str], timeout: float) -> tuple[Cost, Peaks]:
    command = [sys.executable, str(JOB), "--input", str(folder), "--output", str(out), "--id-column", "id"]
    command += ["--scope", "all", "--master", f"local[{cores}]", "--json"]
    for pair in sets:
        command += ["--set", pair]
    look = _Look()
    look.start()
    done = cost(command, timeout=timeout, errors=out.with_suffix(".log"))
    look.over.set()
    look.join()
    if done.status:
        told = out.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
        sys.exit(f"{folder.name}: status {done.status}: {told[-1500:]}")
    return done, look.peaks


def removed_share(out: Path) -> float:
    keep = pq.read_table(out / "dedup", columns=["keep"])["keep"]
    return 1 - float(pc.mean(keep.cast(pa.float64())).as_py())


HEADER = (
    "corpus", "documents", "MB", "CPU s", "wall s", "CPU s / 10^6 docs", "by linear", "removed", "driver MB", "JVM MB",
    "workers MB", "disk MB",
)  # fmt: skip


def main() -> int:
    args = _parser().parse_args()
    rows: list[list[str]] = []
    unit = 0.0
    makers = [("mixed", size, files(size)) for size in args.sizes]
    if args.identical:
        text = typical(next(different(ROWS))["text"])
        makers += [("different", args.identical, different(args.identical))]
        makers += [("identical", args.identical, identical(args.identical, text))]
    with tempfile.TemporaryDirectory(dir=args.work) as temporary:
        for kind, size, tables in makers:
            folder, out = Path(temporary) / f"{kind}-{size}", Path(temporary) / f"out-{kind}-{size}"
            megabytes = write(folder, tables)
            print(f"scale: {kind} {size:,}: {megabytes:,} MB made", file=sys.stderr, flush=True)
            done, peaks = deduplicate(folder, out, args.cores, args.set, args.timeout)
            each = done.cpu_seconds / size * 1e6
            unit = unit or each
            disk = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 1e6
            rows.append(
                [
                    kind,
                    f"{size:,}",
                    f"{megabytes:,}",
                    f"{done.cpu_seconds:,.1f}",
                    f"{done.wall_seconds:,.1f}",
                    f"{each:,.1f}",
                    f"{each / unit:.3f}" if kind == "mixed" else "-",
                    f"{removed_share(out):.2%}",
                    *(f"{peak:,.0f}" for peak in (peaks.driver, peaks.jvm, peaks.workers)),
                    f"{disk:,.0f}",
                ]
            )
            print(markdown(HEADER, rows[-1:]).splitlines()[-1], flush=True)
            if args.json:
                with args.json.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(dict(zip(HEADER, rows[-1], strict=True))) + "\n")
            shutil.rmtree(folder)
            shutil.rmtree(out)
    print("\n" + markdown(HEADER, rows), flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sizes",
        type=lambda sizes: [int(size) for size in sizes.split(",") if size],
        default=[250_000, 500_000, 1_000_000, 2_000_000, 4_000_000],
        help="documents, comma between",
    )
    parser.add_argument("--identical", type=int, default=0, help="also so many identical documents, and different ones")
    parser.add_argument("--cores", type=int, default=min(2, len(os.sched_getaffinity(0))))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the recipe")
    parser.add_argument("--work", type=Path, help="folder for temporary files")
    parser.add_argument("--timeout", type=float, default=6 * 3600, help="seconds a run may take")
    parser.add_argument("--json", type=Path, help="append one JSON line a run to this file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
