"""glotmill counterfactuals RECIPE [--out DIR]: what each rule of a recipe removes, and what it alone removes.

It reads the signals that a run stored and runs nothing else: rules can be tried out by `--set` before a run takes them.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glotmill.schemas.errors import InputError

if TYPE_CHECKING:
    from glotmill.curate.rules import RuleSet

ALL = "*"
_Row = dict[str, Any]


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--out", type=Path, help="output folder of a run; by default out/NAME")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override one value")
    parser.add_argument("--languages", action="store_true", help="tell it for each language, too")
    parser.add_argument("--master", help="Spark master, such as local[4] or spark://host:7077")
    parser.add_argument("--json", action="store_true", help="print one JSON line on standard output")


def act(args: argparse.Namespace) -> int:
    import json

    from glotmill.curate.spark import counterfactuals
    from glotmill.jobs import plans
    from glotmill.jobs.located import recipe_rules
    from glotmill.jobs.session import session
    from glotmill.jobs.state import State
    from glotmill.schemas.recipe_file import load

    recipe = load(args.recipe, args.set)
    out = (args.out or Path("out") / recipe.name).absolute()
    state = State(recipe, args.recipe.absolute().parent, out)
    rules = recipe_rules(state)
    if not state.paths("measure", ".parquet"):
        raise InputError(f"{out} holds no signals: run `glotmill run {args.recipe}` first, or name another --out")
    judged = plans.verdicts(session("counterfactuals", master=args.master), state, rules, None)
    rows = counterfactuals(judged).toArrow().to_pylist()
    told = {language: _ranked(rows, language, rules) for language in [ALL, *sorted({row["language"] for row in rows})]}
    if not args.languages:
        told = {ALL: told[ALL]}
    print(json.dumps(told, ensure_ascii=False) if args.json else _text(told), flush=True)
    return 0


def _ranked(rows: list[_Row], language: str, rules: "RuleSet") -> list[_Row]:
    """The sums of one language, or of all, in the order of reasons."""
    mine = [row for row in rows if language in (ALL, row["language"])]
    found = []
    for reason in (None, *rules.reasons):
        of = [row for row in mine if row["reason"] == reason]
        sums = {name: sum(row[name] for row in of) for name in ("breaks", "first", "only")}
        found.append({"reason": reason, **sums})
    return found


def _text(told: dict[str, list[_Row]]) -> str:
    lines = [
        "breaks: documents for which the rule holds. first: those that the books count under it.",
        "only: those that no other rule removes, which is what its absence would bring back.",
    ]
    for language, rows in told.items():
        documents = rows[0]["breaks"]
        lines.append(f"\n{'all languages' if language == ALL else language}: {documents:,} documents")
        lines.append(f"{'reason':<28} {'breaks':>10} {'share':>7} {'first':>10} {'only':>10} {'share':>7}")
        for row in rows[1:]:
            if row["breaks"]:
                breaks, only = row["breaks"] / documents, row["only"] / documents
                lines.append(
                    f"{row['reason']:<28} {row['breaks']:>10,} {breaks:>7.1%} {row['first']:>10,} "
                    f"{row['only']:>10,} {only:>7.1%}"
                )
    return "\n".join(lines)
