"""spark-submit jobs/shard.py --input PATH [PATH ...] --output DIR: documents to Megatron token shards."""

import sys
from collections.abc import Sequence

from glotmill.jobs.one_step import OFF, run_job
from glotmill.jobs.run import CURATION, TOKENS


def main(argv: Sequence[str] | None = None) -> int:
    return run_job(
        "shard",
        "Tokenize, mix and write shards/: .bin, .idx, manifest.json and provenance/.",
        (*CURATION, *TOKENS),
        argv,
        off=OFF,
    )


if __name__ == "__main__":
    sys.exit(main())
