"""Data-Juicer: document_minhash_deduplicator of its local executor, its defaults but the threshold told."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

from dedup_contestant import main

THRESHOLD = 0.7


def dedup(path: Path, work: Path, *, tokenization: str, window: int) -> str:
    (work / "config.yaml").write_text(
        f"""
project_name: dedup
dataset_path: {path}
export_path: {work}/kept/kept.jsonl
np: 1
text_keys: text
open_tracer: false
skip_op_error: false
process:
  - document_minhash_deduplicator:
      {{tokenization: {tokenization}, window_size: {window}, jaccard_threshold: {THRESHOLD}}}
""",
        encoding="utf-8",
    )
    homes = {"HF_HOME": f"{work}/hf", "DATA_JUICER_CACHE_HOME": f"{work}/cache"}
    command = [str(Path(sys.executable).with_name("dj-process")), "--config", str(work / "config.yaml")]
    subprocess.run(command, check=True, stdout=sys.stderr, cwd=work, env={**os.environ, **homes})
    return (
        f"document_minhash_deduplicator(tokenization={tokenization}, window_size={window}, "
        f"jaccard_threshold={THRESHOLD}), 256 permutations, bands by its optimiser; not verified"
    )


if __name__ == "__main__":
    main(
        "py-data-juicer",
        {
            "words": partial(dedup, tokenization="space", window=5),
            "characters": partial(dedup, tokenization="character", window=8),
        },
    )
