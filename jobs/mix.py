"""spark-submit jobs/mix.py --input PATH [PATH ...] --output DIR: how many tokens of each cell go into the shards."""

import sys
from collections.abc import Sequence

from glotmill.jobs.one_step import OFF, run_job
from glotmill.jobs.run import CURATION, TOKENS


def main(argv: Sequence[str] | None = None) -> int:
    return run_job(
        "mix",
        "Tokenize and write mix.json: available, asked and planned tokens of each language x domain.",
        (*CURATION, *TOKENS[:3]),
        argv,
        off=OFF,
    )


if __name__ == "__main__":
    sys.exit(main())
