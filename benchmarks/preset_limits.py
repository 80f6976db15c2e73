"""Write curate/data/glotmill_limits.tsv: the limits by language and script of the preset `glotmill`.

    python -m benchmarks.preset_limits NTREX.jsonl.zst > curate/data/glotmill_limits.tsv

Fitted as `glotmill calibrate` does to passages of parallel news (documents of even number; the others are for tests),
then set two and a half times as far from the language's median, since the web has more kinds of text than news.
"""

import argparse
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.calibration import passages
from glotmill.curate.calibrate.fit import Floats, Labels, by_script, fit, fitted_rules
from glotmill.curate.calibrate.sample import languages, measure_sample, signals
from glotmill.curate.presets import Written

# What differs between languages; the other rules mean the same in all.
REASONS = (
    "short_words",
    "long_words",
    "symbol_heavy",
    "top_2_gram",
    "top_3_gram",
    "top_4_gram",
    "compressible",
)
BUDGET = 0.002
WIDER = 2.5


def batches(path: str) -> Iterator[pa.RecordBatch]:
    rows = [
        {"id": f"{language}/{number}", "text": text, "language_hint": language}
        for language, (even, _) in passages(path).items()
        for number, text in enumerate(even)
    ]
    for start in range(0, len(rows), 512):
        yield pa.RecordBatch.from_pylist(rows[start : start + 512])


def wider(limits: Written, labels: Labels, values: dict[str, Floats]) -> Written:
    """The same rules with limits further from the medians of their languages."""
    rules = {rule.reason: rule for rule in fitted_rules() if rule.reason in REASONS}
    found: Written = {}
    for language in sorted(set(labels)):
        mine = labels == language
        for reason, rule in rules.items():
            text = limits[language][reason]
            if text is not None:
                middle = float(np.median(values[rule.signal][mine]))
                limit = middle + WIDER * (float(text.split()[-1]) - middle)
                text = rule.written(round(float(np.clip(limit, rule.lowest, rule.highest)), 3))
            found.setdefault(language, {})[reason] = text
    return by_script(list(rules.values()), found) | found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    args = parser.parse_args()
    table = measure_sample(lambda: batches(args.path), model="combined").table
    labels, values = languages(table), signals(table)
    limits = wider(fit(labels, values, budget=BUDGET), labels, values)
    print("# Limits of the preset glotmill by language, and by script for the languages that aren't here; derived by")
    print("# benchmarks/preset_limits.py from NTREX-128. Scope, reason and rule; nothing where the rule says nothing.")
    for scope, reasons in sorted(limits.items()):
        for reason in REASONS:
            if reason in reasons:
                print(scope, reason, reasons[reason] or "", sep="\t")


if __name__ == "__main__":
    main()
