"""glotmill train-quality --positive FILES --negative FILES --output DIR: train a judge of quality."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from glotmill.schemas.errors import GlotmillError

HELP = "train a classifier of quality from good and bad texts, and measure it language by language"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options. Light: nothing is imported for it."""
    several = "JSONL (also .gz, .zst) or Parquet files, or folders of them"
    parser.add_argument("--positive", nargs="+", type=Path, required=True, help=f"good texts: {several}")
    parser.add_argument("--negative", nargs="+", type=Path, required=True, help=f"bad texts: {several}")
    parser.add_argument("--output", type=Path, required=True, help="folder for model.bin, model.bin.json, report.md")
    parser.add_argument("--name", default="quality", help="the signal will be called NAME_score")
    parser.add_argument("--text-column", default="text", help="column or key of the text; a dot descends")
    parser.add_argument(
        "--language-column", default="language", help="column or key of its language; where absent, it is identified"
    )
    parser.add_argument("--held-out", type=float, default=0.1, help="share of the texts to judge by, not trained on")
    parser.add_argument("--seed", type=int, default=0, help="of the split, the order and the first weights")
    parser.add_argument("--dim", type=int, default=16, help="numbers a unit; the size of the model is in proportion")
    parser.add_argument("--epochs", type=int, default=5, help="times each text is trained on")
    parser.add_argument("--word-ngrams", type=int, default=2, help="units in a row that are learnt together")
    parser.add_argument("--min-count", type=int, default=1, help="units that are rarer are left out")
    parser.add_argument(
        "--min-documents", type=int, default=20, help="held-out texts a side that a language needs to be judged"
    )
    parser.add_argument("--precision", type=float, default=0.9, help="what the suggested threshold shall reach")


def act(args: argparse.Namespace) -> int:
    """Train, and print the table by language and the lines for a recipe."""
    from glotmill.curate.trained.train_quality import REPORT, Settings, train
    from glotmill.curate.trained.train_report import notes, recipe_lines, table

    settings = Settings(
        name=args.name,
        held_out=args.held_out,
        seed=args.seed,
        dim=args.dim,
        epochs=args.epochs,
        word_ngrams=args.word_ngrams,
        min_count=args.min_count,
        min_documents=args.min_documents,
        precision=args.precision,
    )
    result = train(
        args.positive,
        args.negative,
        args.output.absolute(),
        settings,
        text_column=args.text_column,
        language_column=args.language_column,
    )
    print(table(result))
    for note in notes(result):
        print(f"note: {note}")
    print(f"\n{recipe_lines(result, by_language=False)}\n\nthresholds by language: {args.output / REPORT}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """The command alone. Returns 0 when done, 2 when the options or the input are wrong."""
    parser = argparse.ArgumentParser(prog="train_quality", description=HELP)
    options(parser)
    try:
        return act(parser.parse_args(argv))
    except GlotmillError as error:
        print(f"train_quality: {error}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
