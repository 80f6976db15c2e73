"""spark-submit jobs/dedup.py --input PATH [PATH ...] --output DIR: which documents repeat another one."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from glotmill.jobs.one_step import OFF, run_job
from glotmill.jobs.run import CURATION

# Options that are keys of the recipe's section `dedup`: name, choices, what it says.
_KEYS: tuple[tuple[str, tuple[str, ...] | None, str], ...] = (
    ("mode", ("fuzzy", "exact"), "near duplicates by MinHash, or exact ones alone"),
    ("similarity", None, "least Jaccard similarity of a removed document to its twin"),
    ("shingles", ("auto", "words", "chars"), "what is compared; auto: words, or code points where no spaces part them"),
    ("digits", ("keep", "mask"), "mask takes all numbers for equal"),
    ("permutations", None, "numbers of a signature"),
    ("bands", None, "bands of a signature, instead of the best for the similarity"),
    ("rows", None, "numbers of a band"),
    ("verify", ("signature", "exact", "none"), "how a pair that shares a band is checked"),
    ("exact", ("text", "bytes", "url"), "what makes two documents exact duplicates"),
    ("scope", ("language", "source", "all"), "twins are sought within this"),
    (
        "compare",
        ("all", "index", "self"),
        "with each other, the index and reference sources; index: without each other",
    ),
    ("index", None, "folder of what earlier runs kept: what repeats it goes, what doesn't is added to it"),
    ("index-add", ("true", "false"), "false adds nothing to the index"),
    ("unique-ids", ("true", "false"), "stop where a source with an id column holds one id twice"),
    ("max-removed-share", None, "stop, with examples, before a larger share is removed"),
)
_LISTS = (
    ("keep", "who stays, first criterion first, such as source_priority longest"),
    ("reference", "sources whose documents are never removed"),
)


class DedupOptions:
    """Of this job."""

    def add(self, parser: argparse.ArgumentParser) -> None:
        for name, choices, about in _KEYS:
            parser.add_argument(f"--{name}", choices=choices, help=about)
        for name, about in _LISTS:
            parser.add_argument(f"--{name}", nargs="+", help=about)
        parser.add_argument(
            "--explain", action="store_true", help="print how likely pairs are found and removed; run nothing"
        )

    def sets(self, args: argparse.Namespace) -> list[str]:
        if args.index:
            args.index = str(Path(args.index).absolute())
        names = [*(name for name, *_ in _KEYS), *(name for name, _ in _LISTS)]
        given = {
            key: value
            for key in (name.replace("-", "_") for name in names)
            if (value := getattr(args, key)) is not None
        }
        found = [
            f"dedup.{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in given.items()
        ]
        if given.get("scope", "language") != "language" and not args.recipe:
            found.insert(0, "language.model=none")  # nothing here asks for the language then
        return found

    def instead(self, args: argparse.Namespace) -> str | None:
        if not args.explain:
            return None
        from glotmill.curate.dedup.explain import explanation
        from glotmill.schemas.recipe_file import from_mapping, with_sets

        sources = [{"name": "input", "path": "."}]
        recipe = with_sets(from_mapping({"name": "dedup", "sources": sources}, where="options of dedup"), args.set)
        return explanation(recipe.dedup)

    def told(self, out: Path) -> tuple[str, Mapping[str, Any]]:
        from glotmill.curate.dedup.summary import load
        from glotmill.curate.dedup.summary_text import table

        summary = load(out)
        return (f"\n{table(summary)}", {"duplicates": summary.counts()}) if summary else ("", {})


def main(argv: Sequence[str] | None = None) -> int:
    return run_job(
        "dedup",
        "Write dedup/, kept/ and dropped/: the kept twin of each removed document.",
        CURATION,
        argv,
        off={"quality": OFF["quality"]},
        options=DedupOptions(),
    )


if __name__ == "__main__":
    sys.exit(main())
