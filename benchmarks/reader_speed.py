"""Our reader beside megatron-core's GPTDataset: start-up, tokens a second, and the opening of a large index.

    python -m benchmarks.reader_speed [--tokens N] [--documents N] [--length L] [--samples N] [--work FOLDER]

Makes a shard pair with `--tokens` random tokens in documents of log-normal length, reads it once so that it lies in the
page cache, and lets each contestant read it in fresh processes, by turns, on one core. Needs the dev extra.
`--documents N` times the opening of an index of N documents instead, which takes 20 N bytes of disk, and, for
no more than BUILT, the start of all contestants on it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

MEDIAN, SPREAD = 500, 1.1  # of documents, in tokens and in natural logarithms
BATCH = 32
BUILT = 50_000_000  # documents; the peer's orders of more need more memory than a small machine has
CONTESTANTS = {
    "glotmill concat": "ours concat",
    "glotmill best_fit": "ours best_fit",
    "megatron-core, documents": "megatron documents",
    "megatron-core, plain": "megatron plain",
}


def made(folder: Path, tokens: int) -> Path:
    """A shard pair with its manifest."""
    from glotmill.schemas.indexed import IndexedWriter

    rng = np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    with IndexedWriter(folder / "x.bin", vocabulary_size=50_000) as writer:
        while writer.tokens < tokens:
            lengths = np.maximum(rng.lognormal(np.log(MEDIAN), SPREAD, 20_000), 1).astype(np.int64)
            writer.add(rng.integers(3, 50_000, int(lengths.sum()), np.uint16), lengths)
        documents, total = len(writer), writer.tokens
        digest = writer.finish(folder / "x.idx")
    return manifest(folder, documents, total, digest)


def manifest(folder: Path, documents: int, tokens: int, digest: str) -> Path:
    """shards/manifest.json as `glotmill run` writes it, for one shard."""
    from glotmill.schemas.manifest import Manifest, ShardEntry

    def file(name: str) -> dict[str, Any]:
        path = folder / name
        return {"path": name, "bytes": path.stat().st_size if path.exists() else 0, "xxh3_128": digest}

    counts = {"shards": 1, "documents": documents, "tokens": tokens}
    by = {"x": tokens}
    shard = {"name": "x", "documents": documents, "tokens": tokens, "bin": file("x.bin"), "idx": file("x.idx")}
    shard["provenance"] = file("x.parquet")
    tokenizer = {"name": "x", "kind": "huggingface", "path": "x", "fingerprint": "x", "vocabulary_size": 50_000}
    said: dict[str, Any] = {"recipe": "x", "recipe_fingerprint": "x", "glotmill_version": "x", "seed": 0}
    said |= {"tokenizer": tokenizer | {"bos_id": None, "eos_id": 0}, "dtype": "uint16"}
    said |= {"append_eos": True, "prepend_bos": False, "totals": counts, "data_path": ""}
    said |= {f"tokens_by_{name}": by for name in ("cell", "language", "domain", "source")}
    if "split" in ShardEntry.model_fields:
        shard["split"] = "train"
        split = {"tokens_by_cell": by, "tokens_by_language": by, "languages_without": [], "data_path": ""}
        said["splits"] = {"train": counts | split}
    path = folder / "manifest.json"
    path.write_bytes(Manifest.model_validate(said | {"shards": [shard]}).to_json())
    return path


def ours(folder: Path, length: int, samples: int, read: int, how: Any) -> dict[str, float]:
    begin = time.perf_counter()
    from glotmill.train.data import Reader, Source

    imported = time.perf_counter()
    reader = Reader([Source("x", [folder / "manifest.json"])], sequence_length=length, packing=how)
    batches = reader.batches(BATCH)
    next(batches)
    started, cpu = time.perf_counter(), time.process_time()
    for _ in range(read // BATCH):
        next(batches)
    used = time.process_time() - cpu
    return _told(begin, imported, started, used, read // BATCH * BATCH * length)


def megatron(folder: Path, length: int, samples: int, read: int, how: str) -> dict[str, float]:
    """`documents`: positions and loss masks follow documents, as ours always do; `plain`: neither does."""
    begin = time.perf_counter()
    import torch
    from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder
    from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig
    from torch.utils.data import default_collate

    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/gloo-{os.getpid()}", rank=0, world_size=1
    )

    class Tokenizer:
        vocab_size, eod, pad, unique_identifiers = 50_000, 1, -1, {"x": 1}

    imported = time.perf_counter()
    config = GPTDatasetConfig(
        random_seed=1,
        sequence_length=length,
        split="100,0,0",
        path_to_cache=str(folder / "cache"),
        tokenizer=Tokenizer(),
        reset_position_ids=how == "documents",
        reset_attention_mask=False,
        eod_mask_loss=how == "documents",
        create_attention_mask=False,
        blend=([str(folder / "x")], None),
    )
    wanted = [samples + BATCH, 0, 0]
    data = BlendedMegatronDatasetBuilder(GPTDataset, wanted, lambda: True, config).build()[0]
    default_collate([data[i] for i in range(BATCH)])
    started, cpu = time.perf_counter(), time.process_time()
    for at in range(BATCH, read // BATCH * BATCH + BATCH, BATCH):
        default_collate([data[i] for i in range(at, at + BATCH)])
    used = time.process_time() - cpu
    return _told(begin, imported, started, used, read // BATCH * BATCH * length)


def _told(begin: float, imported: float, started: float, cpu: float, tokens: int) -> dict[str, float]:
    return {
        "import_s": imported - begin,
        "start_s": started - imported,
        "tokens_per_cpu_s": tokens / cpu,
        "wall_s": time.perf_counter() - started,
    }


def index(folder: Path, documents: int) -> dict[str, float]:
    """Open an index of documents of 500 tokens each; the .bin has its size and nothing in it."""
    from glotmill.schemas.indexed import HEADER, MAGIC
    from glotmill.train.data import Reader, Source

    with (folder / "x.idx").open("wb") as file:
        file.write(HEADER.pack(MAGIC, 1, 8, documents, documents + 1))
        some = 1 << 22
        for first in range(0, documents, some):
            file.write(np.full(min(some, documents - first), 500, "<i4").data)
        for first in range(0, documents, some):
            file.write((np.arange(first, min(first + some, documents), dtype="<i8") * 1000).data)
        for first in range(0, documents + 1, some):
            file.write(np.arange(first, min(first + some, documents + 1), dtype="<i8").data)
    with (folder / "x.bin").open("wb") as file:
        file.truncate(1000 * documents)
    path = manifest(folder, documents, 500 * documents, "x")
    small = folder / "small"
    small.mkdir()
    next(Reader([Source("x", [made(small, 1_000_000)])], sequence_length=4096).batches(8))  # loads kernels
    before, begin = _anonymous(), time.perf_counter()
    reader = Reader([Source("x", [path])], sequence_length=4096)
    opened = time.perf_counter()
    batches = reader.batches(8)
    next(batches)
    first = time.perf_counter()
    for _ in range(200):
        next(batches)
    told = {
        "idx_bytes": float((folder / "x.idx").stat().st_size),
        "open_s": opened - begin,
        "first_batch_s": first - opened,
    }
    return told | {"memory_mb": (_anonymous() - before) / 1e6, "tokens": float(reader.sources["x"].tokens)}


def _anonymous() -> int:
    return int(Path("/proc/self/status").read_text().split("RssAnon:")[1].split()[0]) * 1024


def compared(folder: Path, length: int, samples: int, read: int, reps: int) -> dict[str, dict[str, Any]]:
    """Fresh processes, by turns, on one core; least start, most tokens a second. The first start makes caches."""
    rows: dict[str, dict[str, Any]] = {}
    for rep in range(reps + 1):
        for name, task in CONTESTANTS.items():
            command = [sys.executable, "-m", "benchmarks.reader_speed", "--task", *task.split(), "--work", str(folder)]
            command += ["--length", str(length), "--samples", str(samples), "--read", str(read)]
            core = max(os.sched_getaffinity(0))
            done = subprocess.run(["taskset", "-c", str(core), *command], text=True, capture_output=True, check=False)
            if done.returncode:
                rows[name] = {"error": done.stderr[-300:]}
                continue
            said = json.loads(done.stdout.strip().splitlines()[-1])
            if rep == 0:
                rows[name] = {"first_start_s": said["start_s"], "import_s": said["import_s"], "start_s": 1e9}
                rows[name]["tokens_per_cpu_s"] = 0.0
            else:
                rows[name]["start_s"] = min(rows[name]["start_s"], said["start_s"])
                rows[name]["tokens_per_cpu_s"] = max(rows[name]["tokens_per_cpu_s"], said["tokens_per_cpu_s"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=400_000_000)
    parser.add_argument("--documents", type=int, default=0)
    parser.add_argument("--length", type=int, default=4096)
    parser.add_argument("--samples", type=int, default=25_600)
    parser.add_argument("--read", type=int, default=25_600, help=argparse.SUPPRESS)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--task", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.task:
        tasks = {"ours": ours, "megatron": megatron}
        print(json.dumps(tasks[given.task[0]](given.work, given.length, given.samples, given.read, given.task[1])))
        return
    with tempfile.TemporaryDirectory(dir=given.work) as name:
        folder = Path(name)
        if given.documents:
            print(json.dumps(index(folder, given.documents)))
            samples = given.documents * 500 // given.length - BATCH if given.documents <= BUILT else 0
            for row in compared(folder, given.length, samples, 320, 1).items() if samples else ():
                print(json.dumps(row))
            return
        made(folder, given.tokens)
        for row in compared(folder, given.length, given.samples, given.samples, given.reps).items():
            print(json.dumps(row))


if __name__ == "__main__":
    main()
