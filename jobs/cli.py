"""The `glotmill` command."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from glotmill import __version__
from glotmill.schemas.errors import GlotmillError

if TYPE_CHECKING:  # --help and errors in a recipe shouldn't wait for pyspark and pydantic
    from glotmill.schemas.recipe import Recipe


# command -> module of jobs/ with its options and what it does, and one line of help
_TOOLS = {
    "calibrate": ("calibrate", "fit the limits of the quality rules, per language, to text that you trust"),
    "counterfactuals": ("counterfactuals", "say what each quality rule removes, and what it alone removes"),
    "index": ("index", "say what an index holds that runs compared their documents with, or remove documents from it"),
    "lid": ("lid", "measure language identification on texts whose language is known"),
    "mix": ("mixing", "say what other targets, budgets and caps would make of a run's token store"),
    "train-quality": ("train_quality", "train a quality classifier from good and bad texts"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0 when done, 1 when it failed, 2 when the recipe, the options or the input are wrong."""
    args = _parser().parse_args(argv)
    try:
        return int(args.command(args))
    except GlotmillError as error:
        print(f"glotmill: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("glotmill: stopped; what was finished stays, and the same command goes on from there", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="glotmill", description="Multilingual text in, training shards out.")
    parser.add_argument("--version", action="version", version=f"glotmill {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, act: Callable[[argparse.Namespace], int], help: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help, description=help)
        added.set_defaults(command=act)
        return added

    _run_options(command("run", _run, "bring an output folder up to date with a recipe"), recipe=True)
    plan = command("plan", _plan, "say what `run` would do, what is done already, and what the mix can reach")
    plan.add_argument("recipe", type=Path)
    plan.add_argument("--out", type=Path, help="output folder; by default out/NAME")
    plan.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override one value of the recipe"
    )
    verify = command("verify", _verify, "check every promise on a finished output folder")
    verify.add_argument("out", type=Path)
    verify.add_argument("--sample", type=float, default=1.0, help="share of the documents to decode and compare")
    _run_options(command("demo", _demo, "run the bundled sample and verify the result"), recipe=False)
    for name, (module, help) in _TOOLS.items():
        tool = import_module(f"glotmill.jobs.{module}")
        tool.options(command(name, tool.act, help))
    command("java-home", _java_home, "print a JAVA_HOME that Spark runs on, for spark-submit")
    return parser


def _run_options(parser: argparse.ArgumentParser, *, recipe: bool) -> None:
    if recipe:
        parser.add_argument("recipe", type=Path)
    parser.add_argument("--out", type=Path, help="output folder; by default out/NAME")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override one value of the recipe"
    )
    parser.add_argument("--master", help="Spark master, such as local[4] or spark://host:7077")
    parser.add_argument("--tasks", type=int, help="Spark tasks a step uses at the most")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="a Spark setting")
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    parser.add_argument("--json", action="store_true", help="print the books as one JSON line on standard output")


def _run(args: argparse.Namespace) -> int:
    from glotmill.schemas.recipe_file import load

    recipe = load(args.recipe, args.set)
    return _run_loaded(args, recipe, args.recipe.absolute().parent)


def _run_loaded(args: argparse.Namespace, recipe: "Recipe", base: Path) -> int:
    from glotmill.curate.dedup import summary
    from glotmill.curate.dedup.summary_text import brief
    from glotmill.curate.mix.aim import told
    from glotmill.jobs.reporting import Reporter
    from glotmill.jobs.run import books_json, run_recipe
    from glotmill.jobs.settings import pairs

    out = args.out or Path("out") / recipe.name
    reporter = Reporter(quiet=args.quiet)
    lines = run_recipe(
        recipe,
        base=base,
        out=out,
        reporter=reporter,
        master=args.master,
        tasks=args.tasks,
        conf=pairs(args.conf, "--conf"),
    )
    duplicates = summary.load(out) if recipe.dedup.mode != "off" else None
    if duplicates is not None:
        reporter.say(brief(duplicates))
    for sentence in told(json.loads((out / "mix.json").read_bytes())["nearness"]):
        reporter.say(f"mix: {sentence}")
    reporter.say(f"shards: {out / 'shards'}   report: {out / 'report.html'}")
    if args.json:
        more = {"duplicates": duplicates.counts()} if duplicates else {}
        print(books_json(recipe.name, out, lines, more), flush=True)
    return 0


def _plan(args: argparse.Namespace) -> int:
    from glotmill.jobs.planning import plan_text
    from glotmill.schemas.recipe_file import load

    recipe = load(args.recipe, args.set)
    print(plan_text(recipe, args.recipe.absolute().parent, (args.out or Path("out") / recipe.name).absolute()))
    return 0


def _verify(args: argparse.Namespace) -> int:
    from glotmill.jobs.verify import verify

    problems = verify(args.out.absolute(), sample=args.sample, say=print)
    for problem in problems:
        print(f"PROBLEM  {problem}")
    print(f"{len(problems)} problems" if problems else "verified: every promise holds")
    return 1 if problems else 0


def _demo(args: argparse.Namespace) -> int:
    from glotmill.jobs.sample import sample_recipe
    from glotmill.schemas.recipe_file import load

    path = sample_recipe()
    args.out = args.out or Path("out") / "demo"
    status = _run_loaded(args, load(path, args.set), path.parent)
    return status or _verify(argparse.Namespace(out=args.out, sample=1.0))


def _java_home(args: argparse.Namespace) -> int:
    from glotmill.jobs.java import java_home

    print(java_home())
    return 0


if __name__ == "__main__":
    sys.exit(main())
