"""glotmill mix OUT: what other targets, budgets and caps would give, from the counts of a token store alone."""

import argparse
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glotmill.schemas.errors import GlotmillError, InputError

if TYPE_CHECKING:
    from glotmill.curate.mix.aim import Aim
    from glotmill.schemas.recipe import Mix

_SHOWN = 12  # rows of shares


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="OUT", help="output folder of a run that tokenized its documents")
    parser.add_argument(
        "--target", action="append", default=[], help="a rule, a file, or {cell: share, ...}; several are compared"
    )
    parser.add_argument("--tokens", action="append", default=[], help="a budget; several are compared")
    parser.add_argument("--max-epochs", action="append", default=[], metavar="N", help="a cap; several are compared")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="another key of the recipe's section mix, for all",
    )
    parser.add_argument("--by", choices=("language", "domain", "cell"), default="language", help="rows of the table")
    parser.add_argument(
        "--data-path",
        action="store_true",
        help="print weights and prefixes of the token store, as Megatron's --data-path wants them, and nothing else",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON line a mix on standard output")


def act(args: argparse.Namespace) -> int:
    from glotmill.curate.mix.aim import aim

    stored = store_tokens(args.out)
    tokens = {cell: sum(files.values()) for cell, files in stored.items()}
    mixes = list(_asked(args))
    if args.data_path:
        if len(mixes) != 1:
            raise InputError(f"--data-path is of one mix, and these options ask for {len(mixes)}: name one of each")
        print(data_path(stored, aim(mixes[0][1], tokens, Path())))
        return 0
    found: list[tuple[str, Aim | str]] = []
    for name, asked in mixes:
        try:
            found.append((name, aim(asked, tokens, Path())))
        except GlotmillError as error:
            if len(mixes) == 1:
                raise
            found.append((name, str(error)))
    if args.json:
        for name, one in found:
            print(json.dumps({"mix": name, **_facts(one)}, ensure_ascii=False))
    else:
        print(table(found, tokens, args.by), flush=True)
    return 0


def store_tokens(out: Path) -> dict[str, dict[str, int]]:
    """By cell and file of the token store, its tokens.

    Raises:
        InputError: The folder has no token store.
    """
    from glotmill.schemas.ledger import Ledger

    found: dict[str, dict[str, int]] = {}
    for key, receipt in sorted(Ledger(out).receipts("tokenize").items() if out.is_dir() else ()):
        for cell, facts in receipt.facts["cells"].items():
            found.setdefault(cell, {})[key] = facts["tokens"]
    if not found:
        raise InputError(f"{out} has no token store: name the output folder of a run that came as far as tokenize")
    return found


def _asked(args: argparse.Namespace) -> Iterator[tuple[str, "Mix"]]:
    """Every combination of the options, with a name."""
    from glotmill.schemas.recipe_file import from_mapping, with_sets

    plain = from_mapping({"name": "mix", "sources": [{"name": "documents", "path": "."}]})
    told = {key: getattr(args, key) for key in ("target", "tokens", "max_epochs") if getattr(args, key)}
    for chosen in product(*([(key, value) for value in values] for key, values in told.items())):
        differing = [value for key, value in chosen if len(told[key]) > 1]
        sets = [text if text.startswith("mix.") else f"mix.{text}" for text in args.set]
        sets += [f"mix.{key}={value}" for key, value in chosen]
        yield ", ".join(differing) or "mix", with_sets(plain, sets).mix


def _facts(one: "Aim | str") -> dict[str, Any]:
    if isinstance(one, str):
        return {"error": one}
    return {"budget": one.budget, **one.to_json(), "cells": one.tokens}


def table(found: list[tuple[str, "Aim | str"]], tokens: dict[str, int], by: str) -> str:
    """What each mix gives, and the largest labels' shares in each, side by side."""
    from glotmill.curate.columns import columns

    head = ("mix", "tokens", "KL", "off target", "short cells", "epochs at most", "meets target up to")
    parts = [columns(head, [_row(name, one, tokens) for name, one in found])]
    made = [(name, one) for name, one in found if not isinstance(one, str)]
    if made:
        parts.append(_shares(made, tokens, by))
    for name, one in found:
        said = [one] if isinstance(one, str) else one.told()
        parts.append("\n".join(f"{name}: {sentence}" for sentence in said))
    return "\n\n".join(filter(None, parts))


def _row(name: str, one: "Aim | str", tokens: dict[str, int]) -> tuple[str | int, ...]:
    if isinstance(one, str):
        return name, "-", "", "", "", "", ""
    epochs = max((count / tokens[cell] for cell, count in one.tokens.items() if tokens[cell]), default=0.0)
    near = (f"{one.divergence:.4f}", f"{one.variation:.2%}", len(one.short))
    return name, sum(one.tokens.values()), *near, f"{epochs:.2f}", one.enough


def _shares(made: list[tuple[str, "Aim"]], tokens: dict[str, int], by: str) -> str:
    from glotmill.curate.columns import columns
    from glotmill.curate.mix.target import by_label

    there = by_label(tokens, by)
    counted = [there, *(by_label(one.tokens, by) for _, one in made)]
    totals = [max(sum(counts.values()), 1) for counts in counted]
    ordered = sorted(there, key=lambda label: (-there[label], label))
    rows = [
        (label, *(f"{counts[label] / total:.2%}" for counts, total in zip(counted, totals, strict=True)))
        for label in ordered[:_SHOWN]
    ]
    more = f"\nand {len(ordered) - _SHOWN:,} more: --json tells all cells" if len(ordered) > _SHOWN else ""
    return columns((by, "available", *(name for name, _ in made)), rows) + more


def data_path(stored: dict[str, dict[str, int]], one: "Aim") -> str:
    """Weight and prefix of every file of the token store, for a trainer that mixes while it reads.

    A sample is as many tokens whatever its source, so weights in samples are weights in tokens. A cell's weight is
    parted among its files by their tokens.
    """
    total = max(sum(one.tokens.values()), 1)
    return " ".join(
        f"{one.tokens[cell] / total * count / sum(files.values()):.12g} tokens/{cell}/{key}"
        for cell, files in sorted(stored.items())
        for key, count in sorted(files.items())
        if one.tokens[cell] and count
    )
