"""glotmill calibrate --input PATH [PATH ...] --output DIR: limits of the quality rules, fitted to trusted text."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glotmill.schemas.errors import InputError, RecipeError

if TYPE_CHECKING:
    from glotmill.curate.calibrate.sample import Sample
    from glotmill.curate.rules import RuleSet

_SHOWN = 3


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", nargs="+", required=True, help="text that you trust: JSONL, Parquet, text, WARC")
    parser.add_argument("--output", type=Path, required=True, help="folder to write; a recipe names it")
    parser.add_argument("--text-column", default="text", help="column or key that holds the text")
    parser.add_argument("--language-column", help="column or key that holds the language; else it is identified")
    parser.add_argument("--preset", default="glotmill", help="rules to compare with; by default glotmill")
    parser.add_argument(
        "--budget", type=float, help="share of each language's documents that the limits may remove; by default 0.02"
    )
    parser.add_argument(
        "--min-documents", type=int, default=30, help="a language with fewer gets its script's limits alone; 30"
    )
    parser.add_argument("--model", default="combined", help="language model: combined, lid176, cld2 or a path")
    parser.add_argument("--json", action="store_true", help="print what was fitted as one JSON line on standard output")


def act(args: argparse.Namespace) -> int:
    import json

    from glotmill.curate.calibrate.fit import BUDGET, fit
    from glotmill.curate.calibrate.folder import write
    from glotmill.curate.calibrate.reference import Reference
    from glotmill.curate.calibrate.sample import languages, measure_sample, signals
    from glotmill.curate.presets import preset
    from glotmill.curate.rules import ruleset
    from glotmill.schemas.recipe import Quality

    budget = BUDGET if args.budget is None else args.budget
    if not 0 < budget < 1:
        raise RecipeError(f"--budget is {budget}; write a share between 0 and 1, such as 0.02")
    preset(args.preset)  # says which there are
    before = ruleset(Quality(preset=args.preset))
    reference = Reference(args.input, args.text_column, args.language_column)
    sample = measure_sample(reference.batches, model=args.model)
    rows = sample.enough(args.min_documents)
    if not rows.num_rows:
        raise InputError(
            f"no language has {args.min_documents} documents in {', '.join(args.input)}: give more text, or lower "
            "--min-documents"
        )
    limits = fit(languages(rows), signals(rows), budget=budget)
    after = ruleset(Quality(preset=args.preset, calibration=str(args.output)), calibrated=limits)
    facts = {
        "inputs": args.input,
        "preset": args.preset,
        "budget": budget,
        "refused": len(reference.refused),
        "languages": _told(sample, before, after, args.min_documents),
    }
    write(args.output, limits, sample.words, facts)
    print(json.dumps(facts, ensure_ascii=False) if args.json else _table(facts, args.output), flush=True)
    for record, error in reference.refused[:_SHOWN]:
        print(f"not read: {record}: {error}", file=sys.stderr)
    return 0


def _told(sample: "Sample", before: "RuleSet", after: "RuleSet", least: int) -> dict[str, dict[str, Any]]:
    """By language: documents, how many of them the language model finds, and the shares removed before and after."""
    import numpy as np

    from glotmill.curate.calibrate.sample import kept, languages

    labels = languages(sample.table)
    found = sample.table["found"].to_numpy(zero_copy_only=False)
    keeps = {"before": kept(sample.table, before), "after": kept(sample.table, after)}
    told = {}
    for language in sorted(set(labels)):
        mine = labels == language
        told[language] = {
            "documents": int(mine.sum()),
            "fitted": bool(mine.sum() >= least),
            "found": float(np.mean(found[mine] == language)),
            **{f"removed_{when}": float(np.mean(~keep[mine])) for when, keep in keeps.items()},
        }
    return told


def _table(facts: dict[str, Any], output: Path) -> str:
    lines = [f"{'language':<10} {'documents':>9} {'removed before':>15} {'after':>7}"]
    for language, of in facts["languages"].items():
        notes = "" if of["fitted"] else "  too few to fit: limits of its script"
        if of["found"] < 0.5:
            notes += f"  the language model finds it in {of['found']:.0%}: elsewhere other limits will judge it"
        lines.append(
            f"{language:<10} {of['documents']:>9} {of['removed_before']:>15.1%} {of['removed_after']:>7.1%}{notes}"
        )
    lines.append(f"{output}: put it into a recipe as quality: {{calibration: {output}}}")
    return "\n".join(lines)
