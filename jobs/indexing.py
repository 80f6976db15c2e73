"""A run and the index that its recipe names: what it is compared with, and what it may add."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from glotmill.curate.dedup.index.files import Known
from glotmill.curate.dedup.index.format import pairs, read_index
from glotmill.curate.dedup.index.locks import in_use
from glotmill.curate.dedup.index.parameters import check_parameters
from glotmill.curate.dedup.options import Options
from glotmill.jobs.state import State
from glotmill.schemas.atomic import write_atomic
from glotmill.schemas.errors import LedgerError, RecipeError
from glotmill.schemas.ledger import LEDGER, unit_fingerprint
from glotmill.schemas.units import Unit

AGAINST = "index"  # what a unit's payload calls the generations that it is compared with
IDENTITY = "identity"

Pairs = Sequence[Sequence[str]]  # name and digest of some generations


def index_folder(state: State) -> Path | None:
    asked = state.recipe.dedup.index
    return None if asked is None else state.base / asked


def checked_index(state: State, options: Options) -> None:
    """Raises:
    RecipeError: the index that the recipe names was made with other parameters, or nothing is compared.
    InputError: it is no index.
    """
    folder = index_folder(state)
    if folder is None:
        return
    if state.recipe.dedup.mode == "off":
        raise RecipeError(
            "dedup.mode is off and dedup.index names an index: what nothing was compared with can't be added to it; "
            "set dedup.index to null, or dedup.mode to fuzzy or exact"
        )
    check_parameters(read_index(folder), options)


def identity(out: Path, *, make: bool = False) -> str:
    """What an output folder is known by wherever it is moved: random, kept in OUT/ledger; "" if it has none yet."""
    path = out / LEDGER / IDENTITY
    if make and not path.exists():
        write_atomic(path, uuid.uuid4().hex.encode())
    return path.read_text() if path.exists() else ""


def against(state: State, units: Callable[[Pairs], list[Unit]], *, config: Any, code: str) -> Pairs:
    """The generations that a run's documents are compared with.

    If it added a generation itself, and nothing changed since, they are those which that was compared with: the same
    run again has nothing to do, whatever others added meanwhile. If anything changed they are all that others added,
    since what is new was compared with none of them.

    Args:
        units: The units that compare documents, given the generations.
    """
    folder = index_folder(state)
    if folder is None or state.recipe.dedup.compare == "self":
        return []
    index = read_index(folder)
    run = identity(state.out)
    own = index.of(run)
    if own is not None and index.known(own.against) is not None:
        receipts = state.receipts("dedup")
        todays = {unit.key: unit_fingerprint(unit, config=config, code=code) for unit in units(own.against)}
        if todays == {key: receipt.fingerprint for key, receipt in receipts.items()}:
            return own.against
    return pairs(index.others(run))


@contextmanager
def comparing(state: State, wanted: Pairs, first: int) -> Iterator[Known | None]:
    """What the stages need to compare with some generations; nobody deletes them meanwhile.

    Args:
        first: Number of the first file of the index: how many files the run has.

    Raises:
        LedgerError: a generation is gone, or another one by now.
    """
    folder = index_folder(state)
    if folder is None or not wanted:
        yield None
        return
    with in_use(folder):
        generations = read_index(folder).known((name, digest) for name, digest in wanted)
        if generations is None:
            raise LedgerError(f"the index {folder} changed since this run began: run the same command again")
        yield Known(folder, generations, first)
