"""spark-submit jobs/extract.py --input PATH [PATH ...] --output DIR: records to documents."""

import sys
from collections.abc import Sequence

from glotmill.jobs.one_step import run_job
from glotmill.jobs.run import CURATION


def main(argv: Sequence[str] | None = None) -> int:
    return run_job(
        "extract", "Read WARC, HTML, JSONL, Parquet or text; write documents/ and quarantine/.", CURATION[:1], argv
    )


if __name__ == "__main__":
    sys.exit(main())
