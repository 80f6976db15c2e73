"""Run a Spark action while something watches how far it is."""

import threading
from collections.abc import Callable
from typing import TypeVar

from pyspark import InheritableThread
from pyspark.sql import SparkSession

Result = TypeVar("Result")


def watched(
    spark: SparkSession,
    group: str,
    action: Callable[[], Result],
    tick: Callable[[int, int], None],
    *,
    every: float = 0.2,
) -> Result:
    """The result of `action`; meanwhile `tick(tasks done, tasks known)` is called from this thread.

    An interrupt cancels the action's Spark jobs before it is raised again.
    """
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def act() -> None:
        spark.sparkContext.setJobGroup(group, group, interruptOnCancel=True)
        try:
            outcome.append(action())
        except BaseException as error:
            failure.append(error)

    worker: threading.Thread = InheritableThread(target=act, daemon=True)
    worker.start()
    try:
        while worker.is_alive():
            tick(*_tasks(spark, group))
            worker.join(every)
    except BaseException:
        spark.sparkContext.cancelJobGroup(group)
        worker.join(10)
        raise
    if failure:
        raise failure[0]
    return outcome[0]


def _tasks(spark: SparkSession, group: str) -> tuple[int, int]:
    """Tasks done and known over all stages of all jobs of `group`, as Spark's status tracker tells."""
    tracker = spark.sparkContext.statusTracker()
    done = known = 0
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else ():
            state = tracker.getStageInfo(stage)
            if state:
                done += state.numCompletedTasks
                known += state.numTasks
    return done, known
