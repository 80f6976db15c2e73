"""The one place that starts Spark."""

import os
import sys
from collections.abc import Mapping
from importlib import resources

from pyspark.sql import SparkSession

from glotmill.jobs.java import java_home

_LOCAL = "local[*]"


QUICK_BYTES = 4 << 30  # of input: up to here starting takes longer than working


def session(
    name: str, *, master: str | None = None, conf: Mapping[str, str] | None = None, quick: bool = False
) -> SparkSession:
    """A Spark session: the one spark-submit prepared, else a new one.

    Args:
        name: Shown by Spark's own pages.
        master: Spark master URL; by default what spark-submit was told, else every core of this machine.
        conf: Spark settings that override ours.
        quick: There is little to do: the JVM of a local run starts at half the CPU time, and would run slower later.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else workers run whatever `python3` is on PATH
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    settings = dict(_ALWAYS)
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # else spark-submit has started the JVM, and chosen the master
        os.environ["JAVA_HOME"] = str(java_home())
        builder = builder.master(master or _LOCAL)
        settings |= _started_here(master or _LOCAL, quick)
    for key, value in {**settings, **(conf or {})}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


_ALWAYS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.parquet.enableVectorizedReader": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "true",
}


def _started_here(master: str, quick: bool) -> dict[str, str]:
    settings = {"spark.ui.enabled": "false"}
    java = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"] if quick and master.startswith("local") else []
    quiet = resources.files("glotmill.jobs").joinpath("log4j2.properties")
    if os.path.exists(str(quiet)):  # not when glotmill runs from a zip
        java.append(f"-Dlog4j2.configurationFile=file:{quiet}")
    settings["spark.driver.extraJavaOptions"] = " ".join(java)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # a laptop off the network has no other address
        settings["spark.driver.host"] = "127.0.0.1"
        settings["spark.driver.memory"] = "2g"
        settings["spark.sql.shuffle.partitions"] = "8"
    return settings
