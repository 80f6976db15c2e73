"""spark-submit jobs/dedup.py --input PATH [PATH ...] --output DIR: which documents repeat another one."""

import sys
from collections.abc import Sequence

from glotmill.jobs.one_step import OFF, run_job
from glotmill.jobs.run import CURATION


def main(argv: Sequence[str] | None = None) -> int:
    return run_job(
        "dedup",
        "Write dedup/, kept/ and dropped/: the kept twin of each removed document.",
        CURATION,
        argv,
        off={"quality": OFF["quality"]},
    )


if __name__ == "__main__":
    sys.exit(main())
