"""Whether a preset treats languages alike: the share of the same texts that it drops in each language.

    python -m benchmarks.treatment NTREX.jsonl.zst [--preset glotmill] [--passages]

The documents are the same in every language, so that a rule which drops more of one judges the language, not the text.
Languages are what the model says, as in a run.
"""

import argparse
import io
import json
from collections import Counter, defaultdict

import pyarrow as pa
import zstandard

from glotmill.curate.judgement import judge_batch
from glotmill.curate.line_rules import line_rules
from glotmill.curate.lines import line_cuts, without_cuts
from glotmill.curate.measure import chain
from glotmill.curate.rules import ruleset
from glotmill.curate.signals import MEASURES
from glotmill.schemas.recipe import Language, Quality

SENTENCES = 10  # of a passage


def texts(path: str, *, passages: bool) -> dict[str, list[str]]:
    """By the file's own tag, its documents, or their passages of ten sentences."""
    found: dict[str, list[str]] = defaultdict(list)
    with zstandard.open(path, "rb") as file:
        for line in io.TextIOWrapper(file, "utf-8"):
            row = json.loads(line)
            of = row["sentences"]
            step = SENTENCES if passages else len(of)
            found[row["lang"]] += ["\n".join(of[start : start + step]) for start in range(0, len(of), step)]
    return found


def dropped(given: list[str], quality: Quality, language: Language) -> Counter[str]:
    """By reason, the texts that are dropped first for it."""
    batch = line_cuts.bind(rules=line_rules(quality))(pa.RecordBatch.from_pydict({"text": given}))
    batch = chain(MEASURES[1:])(without_cuts(batch))
    batch = batch.append_column("domain", pa.array(["web"] * len(given)))
    reasons = judge_batch(batch, ruleset(quality, language))["reason"].to_pylist()
    return Counter(reason for reason in reasons if reason is not None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--preset", default="glotmill")
    parser.add_argument("--passages", action="store_true", help="judge passages of ten sentences, not documents")
    args = parser.parse_args()
    quality = Quality(preset=args.preset)
    shares = {}
    given = texts(args.path, passages=args.passages)
    for tag, of in sorted(given.items()):
        reasons = dropped(of, quality, Language())
        shares[tag] = sum(reasons.values()) / len(of)
        why = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
        print(f"{tag:28} {len(of):5} texts  {shares[tag]:6.1%} dropped  {why}")
    print(f"from {min(shares.values()):.1%} to {max(shares.values()):.1%} in {len(shares)} languages")


if __name__ == "__main__":
    main()
