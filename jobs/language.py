"""spark-submit jobs/language.py --input PATH [PATH ...] --output DIR: documents to signals, the language among them."""

import sys
from collections.abc import Sequence

from glotmill.jobs.one_step import run_job
from glotmill.jobs.run import CURATION


def main(argv: Sequence[str] | None = None) -> int:
    return run_job(
        "language", "Write signals/: language, script and quality metrics of every document.", CURATION[:2], argv
    )


if __name__ == "__main__":
    sys.exit(main())
