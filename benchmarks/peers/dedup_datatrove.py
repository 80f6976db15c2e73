"""datatrove: its four MinHash stages with their defaults, in one process, from JSONL to JSONL."""

import os
from pathlib import Path
from typing import Any

os.environ.setdefault("DATATROVE_COLORIZE_LOGS", "0")

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup.minhash import (
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter
from dedup_contestant import main


def dedup(path: Path, work: Path) -> str:
    config = MinhashConfig()
    signatures, buckets, removed = (str(work / name) for name in ("signatures", "buckets", "removed"))

    def stage(name: str, blocks: list[Any], tasks: int = 1) -> None:
        LocalPipelineExecutor(pipeline=blocks, tasks=tasks, workers=1, logging_dir=str(work / "logs" / name)).run()

    def reader() -> JsonlReader:
        return JsonlReader(str(path.parent), glob_pattern=path.name)

    writer = JsonlWriter(str(work / "kept"), compression=None)
    stage("signatures", [reader(), MinhashDedupSignature(output_folder=signatures, config=config)])
    blocks = [MinhashDedupBuckets(input_folder=signatures, output_folder=buckets, config=config)]
    stage("buckets", blocks, tasks=config.num_buckets)
    stage("cluster", [MinhashDedupCluster(input_folder=buckets, output_folder=removed, config=config)])
    stage("filter", [reader(), MinhashDedupFilter(input_folder=removed), writer])
    return (
        f"its defaults: {config.num_buckets} bands of {config.hashes_per_bucket}, {config.n_grams}-grams of English "
        "words; not verified"
    )


if __name__ == "__main__":
    main("datatrove", {"words": dedup})
