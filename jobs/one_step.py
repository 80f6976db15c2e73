"""What the job scripts share: the same options, one or two steps, the same books."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from glotmill.jobs.pipeline import MakeStep
from glotmill.jobs.reporting import Reporter
from glotmill.jobs.run import books_json, run_recipe
from glotmill.jobs.settings import pairs
from glotmill.schemas.errors import GlotmillError, RecipeError
from glotmill.schemas.recipe import Recipe
from glotmill.schemas.recipe_file import from_mapping, load, with_sets

OFF: Mapping[str, Any] = {"quality": {"preset": "none", "signals": "needed"}, "dedup": {"mode": "off"}}


class Options(Protocol):
    """What one job understands beside the options of all."""

    def add(self, parser: argparse.ArgumentParser) -> None:
        """Declare them."""

    def sets(self, args: argparse.Namespace) -> list[str]:
        """The recipe's keys that they stand for, as KEY=VALUE."""

    def instead(self, args: argparse.Namespace) -> str | None:
        """What is printed when nothing is to be run."""


def run_job(
    name: str,
    description: str,
    steps: Sequence[MakeStep],
    argv: Sequence[str] | None,
    *,
    off: Mapping[str, Any] = {},  # noqa: B006 (never written)
    options: Options | None = None,
) -> int:
    """Parse the options every job has, run `steps` on --input, and print the books.

    Args:
        off: Sections of the recipe that this job leaves to others, with their neutral values.
        options: Options of this job alone.

    Returns:
        0 done, 1 failed, 2 the options or the input are wrong.
    """
    parser = _parser(name, description)
    if options:
        options.add(parser)
    args = parser.parse_args(argv)
    try:
        if options:
            args.set = [*options.sets(args), *args.set]
            if (text := options.instead(args)) is not None:
                print(text, flush=True)
                return 0
        if args.output is None:
            raise RecipeError("there is nowhere to write: give --output DIR")
        recipe, base = _recipe(name, args, off)
        reporter = Reporter(quiet=args.quiet or args.json)
        lines = run_recipe(
            recipe,
            base=base,
            out=args.output,
            reporter=reporter,
            master=args.master,
            tasks=args.tasks,
            conf=pairs(args.conf, "--conf"),
            make=steps,
        )
    except GlotmillError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.exit_code
    if args.json:
        print(books_json(name, args.output, lines), flush=True)
    return 0


def _parser(name: str, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name, description=description)
    parser.add_argument("--input", nargs="+", help="files, folders or globs: WARC, WET, HTML, JSONL, Parquet, text")
    parser.add_argument("--output", type=Path, help="folder to bring up to date")
    parser.add_argument(
        "--recipe", type=Path, help="take this job's section, and without --input the sources, from here"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override one value of the recipe"
    )
    parser.add_argument("--id-column", help="column or key that holds the input's own id; kept as source_id")
    parser.add_argument("--text-column", help="column or key that holds the text; by default `text`")
    parser.add_argument("--master", help="Spark master; by default what spark-submit said, else this machine's cores")
    parser.add_argument("--tasks", type=int, help="Spark tasks a step uses at the most")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="a Spark setting")
    parser.add_argument("--json", action="store_true", help="print the books as one JSON line on standard output")
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    return parser


def _recipe(name: str, args: argparse.Namespace, off: Mapping[str, Any]) -> tuple[Recipe, Path]:
    base = Path.cwd()
    told: dict[str, Any] = {"name": name}
    if args.recipe:
        told = load(args.recipe).model_dump(mode="json", exclude_defaults=True)
        base = args.recipe.absolute().parent
    if args.input:
        told["sources"] = [{"name": "input", "path": [str(Path(path).absolute()) for path in args.input]}]
    elif not args.recipe:
        raise RecipeError("there is nothing to read: give --input PATH, or --recipe FILE with sources")
    columns = {"id": args.id_column, "text": args.text_column}
    for source in told["sources"]:
        source.setdefault("columns", {}).update({key: value for key, value in columns.items() if value})
    for section, neutral in off.items():
        told[section] = dict(neutral)
    return with_sets(from_mapping(told, where=f"options of {name}"), args.set), base
