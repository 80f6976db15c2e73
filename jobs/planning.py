"""`glotmill plan`: what a run would do, without doing it."""

import json
from pathlib import Path

from glotmill.curate.mix.aim import told
from glotmill.jobs.pipeline import Due, pending
from glotmill.jobs.run import ALL
from glotmill.jobs.state import State
from glotmill.jobs.steps import Step
from glotmill.schemas.recipe import Recipe
from glotmill.schemas.units import Unit

_SHOWN = 5


def plan_text(recipe: Recipe, base: Path, out: Path) -> str:
    """For people: sources, then per step what is done, what is due and why; then what the mix can reach.

    A step after one that has work to do can't be known yet, since it depends on that work's result: it is said so,
    and costs nothing when the result comes out the same.

    Raises:
        RecipeError, InputError: What `run` would find wrong before any work.
    """
    state = State(recipe, base, out)
    state.look()
    lines = _sources(state)
    waiting = ""
    for step in [make(state) for make in ALL]:
        if waiting:
            lines.append(f"{step.name:<10} follows {waiting}")
            continue
        units = step.units(state)
        due = pending(step, units, state.ledger, state.roots)
        lines.extend(_step(step, units, due))
        waiting = step.name if due else ""
    return "\n".join([*lines, *_mix(out)])


def _sources(state: State) -> list[str]:
    lines = []
    for name, found in state.found.items():
        size = sum(file.size for file in found.files)
        lines.append(f"source {name}: {len(found.files):,} files, {size / 1e6:,.1f} MB")
    return lines


def _step(step: Step, units: list[Unit], due: list[Due]) -> list[str]:
    if not due:
        return [f"{step.name:<10} up to date, {len(units):,} units"]
    reasons: dict[str, list[str]] = {}
    for item in due:
        reasons.setdefault(item.why, []).append(item.unit.label)
    lines = [f"{step.name:<10} {len(due):,} of {len(units):,} units to do"]
    for why, labels in reasons.items():
        more = f" and {len(labels) - _SHOWN:,} more" if len(labels) > _SHOWN else ""
        lines.append(f"           {why}: {', '.join(labels[:_SHOWN])}{more}")
    return lines


def _mix(out: Path) -> list[str]:
    path = out / "mix.json"
    if not path.exists():
        return ["mix: known once the documents are tokenized"]
    mix = json.loads(path.read_bytes())
    most = int(mix["available"] * mix["max_epochs"])
    lines = [
        f"mix, as last planned: {mix['planned']:,} of {mix['available']:,} available tokens "
        f"in {len(mix['cells'])} cells; "
        f"{mix['max_epochs']:g} epochs allow {most:,}"
    ]
    return [*lines, *(f"           {sentence}" for sentence in told(mix.get("nearness", {})))]
