"""What every step of a run sees: the recipe, the places, and the receipts so far."""

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from glotmill.curate.extract import files
from glotmill.curate.extract.files import Found
from glotmill.schemas.errors import InputError, LedgerError
from glotmill.schemas.ledger import Ledger, Receipt
from glotmill.schemas.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Part:
    """A file of documents: for people, and by content."""

    label: str
    digest: str


@dataclass(slots=True)
class State:
    """One run over one output folder.

    Args:
        recipe: What to do.
        base: Folder that the recipe's relative paths start from.
        out: The output folder, absolute.
        tasks: Spark tasks a step uses at the most; None lets each step choose.
        doing: What a step with several stages is at, for whoever watches.
    """

    recipe: Recipe
    base: Path
    out: Path
    tasks: int | None = None
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    found: dict[str, Found] = field(default_factory=dict)
    ledger: Ledger = field(init=False)
    doing: str = ""

    def does(self, stage: str) -> None:
        """Say what the running step is at."""
        self.doing = stage

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.out)

    def look(self) -> None:
        """Find the files of every source. Raises InputError for what is absent, unreadable or of another shape."""
        for source in self.recipe.sources:
            self.found[source.name] = files.find(source, self.base)

    @property
    def roots(self) -> dict[str, str]:
        """By source, the folder that its file names are relative to."""
        return {name: str(found.root) for name, found in self.found.items()}

    def receipts(self, step: str) -> dict[str, Receipt]:
        return self.ledger.receipts(step)

    def parts(self) -> dict[str, Part]:
        """By key, the files of documents that extract left: the units of the steps that follow it."""
        found: dict[str, Part] = {}
        for receipt in self.receipts("extract").values():
            made = receipt.facts["parts"]
            for number, part in enumerate(made, 1):
                label = receipt.label if len(made) == 1 else f"{receipt.label}, part {number} of {len(made)}"
                found[part["key"]] = Part(label, part["digest"])
        return found

    def sources(self) -> dict[str, str]:
        """By key, the source of each file of documents."""
        return {
            part["key"]: receipt.inputs[0].path.partition(":")[0]
            for receipt in self.receipts("extract").values()
            for part in receipt.facts["parts"]
            if receipt.inputs
        }

    def paths(self, step: str, suffix: str) -> list[Path]:
        """Files ending in `suffix` that the receipts of a step name, sorted."""
        named = (stamp.path for receipt in self.receipts(step).values() for stamp in receipt.files)
        return [self.out / path for path in sorted(named) if path.endswith(suffix)]


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Hold `out` against other runs; the lock dies with its process.

    Raises:
        LedgerError: Another run holds the folder.
        InputError: The folder can't be made or written.
    """
    try:
        (out / "ledger").mkdir(parents=True, exist_ok=True)
        descriptor = os.open(out / "ledger" / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise InputError(f"{out}: {error.strerror}; choose a folder that can be written with --out") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise LedgerError(f"{out} is held by another run; wait for it, or choose another --out") from None
    try:
        yield
    finally:
        os.close(descriptor)
