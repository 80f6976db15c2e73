"""What every contestant does around its work. It runs in each peer's own environment: standard library only.

    python SCRIPT TASK INPUT WORK --passes=N

reads all documents of INPUT as Python strings, does the work N times over them, and prints a JSON line. Before that it
imports, loads models and works on one text, so that N = 0 costs everything except the work. WORK is an empty folder.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

Facts = dict[str, Any]
Work = Callable[[list[str]], Facts]
# Plain prose that the usual English filters keep, so that every one of them is reached and loads what it needs.
_WARM_UP = """\
The mill stands where the river bends, and people have brought their grain to it for about three hundred years.
A miller who knows the stones can hear from the next room whether they run too close or too far apart.
In spring the water is high, so most of the work is done before the first warm days of June arrive.
Farmers used to wait outside with their carts, and they talked about prices, weather and the health of horses.
Nobody waits any longer, because a lorry collects the flour twice a week and takes it to the bakers in town.
Some of them say that bread from slowly ground wheat keeps its taste longer, though others doubt that very much.
Last year the wooden wheel was repaired by two carpenters, who had to copy each of its forty paddles by hand.
"""


def main(distribution: str, tasks: dict[str, Callable[[Path], Work]]) -> None:
    """Run a task on documents.

    Args:
        distribution: Whose version is told.
        tasks: Each makes its work ready (imports, models), given a folder to write in, and returns a function from
            texts to facts worth telling, such as how many were kept.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("task", choices=tasks)
    parser.add_argument("input", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--passes", type=int, default=1)
    args = parser.parse_args()
    work = tasks[args.task](args.work)
    work([_WARM_UP])
    first = {"first_batch_s": round(_age(), 2), "first_batch_cpu_s": round(time.process_time(), 2)}
    with args.input.open(encoding="utf-8", newline="\n") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    facts: Facts = {}
    for _ in range(args.passes):
        facts = work(texts)
    print("\n" + json.dumps({"version": version(distribution), "docs": len(texts), **first, **facts}), flush=True)


def _age() -> float:
    """Wall seconds since the kernel started this process, to a hundredth."""
    started = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]  # field 22 of proc_pid_stat(5)
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(started) / os.sysconf("SC_CLK_TCK")
