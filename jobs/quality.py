"""spark-submit jobs/quality.py --input PATH [PATH ...] --output DIR: which documents the quality rules keep."""

import sys
from collections.abc import Sequence

from glotmill.jobs.one_step import OFF, run_job
from glotmill.jobs.run import CURATION


def main(argv: Sequence[str] | None = None) -> int:
    return run_job(
        "quality",
        "Write verdicts/, kept/ and dropped/: every rule a document breaks, with value and limit.",
        CURATION,
        argv,
        off={"dedup": OFF["dedup"]},
    )


if __name__ == "__main__":
    sys.exit(main())
