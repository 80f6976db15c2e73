"""The folder that `glotmill calibrate` writes and that rules and measures read."""

import json
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from glotmill.curate.calibrate.unigrams import SCHEMA, UNIGRAMS, UNSEEN
from glotmill.curate.calibrate.word_counts import Counts, log_probabilities
from glotmill.curate.presets import Written
from glotmill.schemas.atomic import transaction
from glotmill.schemas.errors import RecipeError

LIMITS = "limits.yaml"
FACTS = "calibration.json"
_MOST_UNITS = 200_000  # of a language; rarer ones count as unseen
_HEAD = """# Limits that glotmill calibrate fitted, by script and language. Recipes read them by `quality.calibration`;
# edit them as you like: a rule drops the documents for which it holds, and null takes it out.
"""


def limits(folder: str) -> Written:
    """By scope and reason, the rules that were fitted; people may have edited them.

    Raises:
        RecipeError: there is no such file, or it is another thing.
    """
    path = Path(folder) / LIMITS
    try:
        written = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, YAMLError) as error:
        raise RecipeError(
            f"quality.calibration: {path} can't be read ({error}); name a folder that `glotmill calibrate` wrote"
        ) from None
    ok = isinstance(written, dict) and all(
        isinstance(reasons, dict) and all(isinstance(text, str | None) for text in reasons.values())
        for reasons in written.values()
    )
    if not ok:
        raise RecipeError(f"quality.calibration: {path} must hold scopes, each with reason: rule, as in recipes")
    return dict(written)


def write(folder: Path, limits: Written, words: Mapping[str, Counts], facts: Mapping[str, Any]) -> None:
    """Limits, word probabilities and what they were made of, all or none; replaces those that are there."""
    folder.mkdir(parents=True, exist_ok=True)
    text, yaml = StringIO(), YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.dump(limits, text)
    with transaction(folder, "calibrate") as files:
        files.path(LIMITS).write_text(_HEAD + text.getvalue(), encoding="utf-8")
        pq.write_table(_unigrams(words), files.path(UNIGRAMS), compression="zstd")
        files.path(FACTS).write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        files.commit()


def _unigrams(words: Mapping[str, Counts]) -> pa.Table:
    parts = []
    for language, (units, counts) in sorted(words.items()):
        values, unseen = log_probabilities(counts)
        most = np.sort(np.argsort(-counts, kind="stable")[:_MOST_UNITS])
        rows = {
            "language": [language] * (len(most) + 1),
            "unit": np.concatenate([np.array([UNSEEN], np.uint64), units[most]]),
            "logprob": np.concatenate([[unseen], values[most]]).astype(np.float32),
        }
        parts.append(pa.table(rows, SCHEMA))
    return pa.concat_tables(parts) if parts else SCHEMA.empty_table()
