"""What a person sees while a run works, and the one line a step leaves."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from glotmill.schemas.units import Books

MB = 1_000_000


@dataclass(slots=True)
class StepLine:
    """The end of a step, as numbers."""

    step: str
    units: int
    done_before: int
    books: Books
    seconds: float
    bytes_in: int

    def text(self) -> str:
        if self.units == self.done_before:
            return f"{self.step:<10} up to date  {_counts(self.books)}".rstrip()
        rate = f"  {self.bytes_in / MB / max(self.seconds, 1e-9):,.2f} MB/s" if self.bytes_in else ""
        again = f" ({self.units - self.done_before} of {self.units} units)" if self.done_before else ""
        return f"{self.step:<10} {self.seconds:6.1f} s{again}  {_counts(self.books)}{rate}".rstrip()


def _counts(books: Books) -> str:
    if not books.records:
        return ""
    parts = [f"{books.records:,} in", f"{books.kept:,} kept"]
    for name, reasons in (("dropped", books.dropped), ("skipped", books.skipped), ("quarantined", books.quarantined)):
        if reasons:
            parts.append(f"{sum(reasons.values()):,} {name} ({_reasons(reasons)})")
    return ", ".join(parts)


def _reasons(reasons: dict[str, int], most: int = 4) -> str:
    ranked = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{reason} {count:,}" for reason, count in ranked[:most]]
    return ", ".join(shown + ([f"{len(ranked) - most} more reasons"] if len(ranked) > most else []))


@dataclass(slots=True)
class Watch:
    """What a running step knows of itself; the bar shows it."""

    units: int
    done: int = 0
    books: Books = field(default_factory=Books)
    bytes_in: int = 0
    tasks_done: int = 0
    tasks_known: int = 0
    stage: str = ""  # of a step that has several


class Reporter:
    """Bars on a terminal, nothing but the closing lines elsewhere, nothing at all when quiet."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(stderr=True, quiet=quiet, highlight=False, soft_wrap=True)
        self._bars = self._console.is_terminal and not quiet

    @property
    def shows_bars(self) -> bool:
        return self._bars

    def say(self, text: str) -> None:
        self._console.print(text, markup=False)

    def finished(self, line: StepLine) -> None:
        self.say(line.text())

    @contextmanager
    def bar(self, step: str, watch: Watch) -> Iterator["Bar"]:
        if not self._bars:
            yield Bar(None, watch)
            return
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[shown]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self._console, transient=True) as progress:
            yield Bar(progress, watch, step)


class Bar:
    """One step's bar; `show` may be called as often as you like."""

    def __init__(self, progress: Progress | None, watch: Watch, step: str = "") -> None:
        self._progress = progress
        self._watch = watch
        self._started = time.perf_counter()
        self._task = progress.add_task(f"{step:<10}", total=None, shown="starting Spark") if progress else None

    def show(self) -> None:
        if self._progress is None or self._task is None:
            return
        seen = self._watch
        by_tasks = seen.tasks_known and not seen.done  # a plan with shuffles commits its units at the end
        total, done = (seen.tasks_known, seen.tasks_done) if by_tasks else (seen.units, seen.done)
        rate = seen.bytes_in / MB / max(time.perf_counter() - self._started, 1e-9)
        books = seen.books
        bad, dropped = sum(books.quarantined.values()), sum(books.dropped.values())
        shown = f"{seen.stage}  " if seen.stage else ""
        shown += f"{done}/{total} {'tasks' if by_tasks else 'units'}  {books.records:,} in, {books.kept:,} kept"
        shown += f", {dropped:,} dropped" if dropped else ""
        shown += f", {bad:,} quarantined" if bad else ""
        shown += f"  {rate:,.1f} MB/s" if seen.bytes_in else ""
        self._progress.update(self._task, total=max(total, 1), completed=done, shown=shown)
