import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from glotmill.schemas.atomic import file_digest
from glotmill.schemas.digest import table_digest

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run the interpreter that runs the tests
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

hypothesis.settings.register_profile("glotmill", deadline=None, derandomize=True)  # first call of a kernel compiles it
hypothesis.settings.load_profile("glotmill")

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"


TABLES = ("documents", "signals", "verdicts", "dedup", "kept", "dropped", "quarantine")


def _snapshot(out: Path) -> dict[str, str]:
    found = {}
    for table in TABLES:
        files = sorted((out / table).glob("*.parquet"))
        if files:
            rows = pa.concat_tables([pq.read_table(file) for file in files])
            found[table] = table_digest(rows, by=("source", "record") if table == "quarantine" else ("id",))
    for path in sorted(out.rglob("*")):
        parts = path.relative_to(out).parts
        if path.is_file() and parts[0] not in (*TABLES, "ledger"):
            found["/".join(parts)] = file_digest(path)
    return found


@pytest.fixture(scope="session")
def snapshot() -> Callable[[Path], dict[str, str]]:
    """What an output folder holds: tables by the digest of their rows, everything else byte for byte, times aside."""
    return _snapshot


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data beside the checkout; not part of the project."""
    if not SHARED.is_dir():
        pytest.skip(f"the real data of {SHARED} is absent")
    return SHARED


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from glotmill.jobs.session import session

    opened = session("glotmill tests", master="local[2]", conf={"spark.sql.shuffle.partitions": "2"})
    yield opened
    opened.stop()


@pytest.fixture(scope="session")
def demo_out(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the bundled sample."""
    from glotmill.jobs.reporting import Reporter
    from glotmill.jobs.run import run_recipe
    from glotmill.schemas.recipe_file import load

    recipe = ROOT / "recipes" / "quickstart.yaml"
    out = tmp_path_factory.mktemp("demo") / "out"
    run_recipe(load(recipe), base=recipe.parent, out=out, reporter=Reporter(quiet=True))
    return out
