"""Which language a text is in, and in which script."""

from collections import defaultdict
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from glotmill.curate.identify.combined import Combined
from glotmill.curate.identify.models import COMBINED, language_model
from glotmill.curate.identify.quantised import Candidates
from glotmill.curate.identify.reliability import EVERY
from glotmill.curate.identify.reliability import thresholds as thresholds
from glotmill.curate.kernels.code_lines import CODE, LINES, code_lines, mark_shares
from glotmill.curate.kernels.reading import read_windows
from glotmill.curate.kernels.scripts import main_scripts
from glotmill.curate.measure import Columns, measure
from glotmill.schemas.languages import NO_LANGUAGE, from_lid176, parse_language

UNKNOWN_SCRIPT = "Zzzz"
UNKNOWN = "und"
# Below these, a label is wrong more often than right, mostly for languages that the models don't know.
MIN_SCORE = 0.2
MIN_COMBINED = 0.3
MOSTLY_CODE = 0.8  # share of lines from which on a text that no model is sure of is in no language
MARKS = 0.02  # share of the bytes that are brackets and the like, under which no text is mostly code
CODE_BYTES = 4096  # of a text, looked at for code
_LABEL = "__label__"

Guess = tuple[str, float, float]  # language, its score, its lead over the next one


@measure(
    reads=["text"],
    adds={
        "language": pa.string(),
        "script": pa.string(),
        "language_score": pa.float32(),
        "language_lead": pa.float32(),
    },
)
def language(batch: pa.RecordBatch, *, model: str = COMBINED, windows: int = 3, window_bytes: int = 600) -> Columns:
    """Language and script of each text: the script by counting letters, the language by a model.

    The model reads `windows` stretches of the text. One label wins (argmax), so a document is in one language. It reads
    a decomposed text in NFC, and a text all in capitals in lower case, as `read_windows` says; the text itself is left
    alone. The models: lid.176 (Joulin et al. 2016), CLD2 (Sites 2013), and both combined by how far each was right
    when it said the same before (`glotmill.curate.identify.combined`).

    What can't be told apart by any model has one label: Dari is pes_Arab, the Arabic of every country arb_Arab.

    Args:
        batch: n rows with `text: string`, no nulls.
        model: combined, lid176, cld2, or the path of a fastText model whose labels are as lid.176's (`__label__it`) or
            as GlotLID's (`__label__ita_Latn`).
        windows: Stretches that are read, spread evenly over the text.
        window_bytes: UTF-8 bytes of each; a text no longer than all of them together is read whole.

    Adds:
        language: ISO 639-3 and ISO 15924, as ita_Latn; und_Latn where the score is under 0.3, and 0.2 for a single
            model, since the text is then likely in a language that the model doesn't know; zxx_Zzzz for a text without
            letters; zxx_Latn for one that is mostly source code and whose score is under its language's threshold.
        script: ISO 15924; Hans, Hant, Jpan and Kore for East Asia.
        language_score: In [0, 1]; 0 without letters. Of a fastText model, the label's mean probability over the
            windows; of CLD2, the language's share of the text, halved where CLD2 isn't sure.
        language_lead: The score less that of the second language, in [0, 1].

    Raises:
        RecipeError: there is no such model.
    """
    reader = language_model(model)
    if isinstance(reader, Combined):
        scripts, found = reader.read(batch["text"], count=windows, size=window_bytes)
    else:
        texts, lines, firsts = read_windows(batch["text"], count=windows, size=window_bytes)
        scripts = main_scripts(texts)
        found = reader.candidates(lines, firsts, scripts)
    guess = _first if isinstance(reader, Combined) else _guess
    guesses = [
        (NO_LANGUAGE, 0.0, 0.0) if script == UNKNOWN_SCRIPT else guess(candidates, script)
        for candidates, script in zip(found, scripts, strict=True)
    ]
    _without_code(guesses, batch["text"], scripts)
    languages, scores, leads = zip(*guesses, strict=True) if guesses else ((), (), ())
    return {
        "language": pa.array(languages, pa.string()),
        "script": pa.array(scripts, pa.string()),
        "language_score": pa.array(scores, pa.float32()),
        "language_lead": pa.array(leads, pa.float32()),
    }


@measure(reads=["text"], adds={field.name: field.type for field in language.adds})
def no_language(batch: pa.RecordBatch) -> Columns:
    """In place of `language`, where nobody asks for it: every text is und_Zyyy, with a score of 0."""
    n = batch.num_rows
    zeros = pa.array(np.zeros(n, np.float32))
    script = pa.array([UNKNOWN_SCRIPT], pa.string()).take(pa.array(np.zeros(n, np.int8)))
    name = pa.array([f"{UNKNOWN}_Zyyy"], pa.string()).take(pa.array(np.zeros(n, np.int8)))
    return {"language": name, "script": script, "language_score": zeros, "language_lead": zeros}


def _first(candidates: Candidates, script: str) -> Guess:
    """The best of candidates that are named and summed as ours are."""
    if not candidates:
        return f"{UNKNOWN}_{script}", 0.0, 0.0
    name, score = candidates[0]
    second = candidates[1][1] if len(candidates) > 1 else 0.0
    return name if score >= MIN_COMBINED else f"{UNKNOWN}_{script}", score, score - second


def _guess(candidates: Candidates, script: str) -> Guess:
    """The best candidate, and by how much; labels that are one language in this script count together."""
    sums: dict[str, float] = defaultdict(float)
    for label, probability in candidates:
        sums[_language(label, script)] += probability
    ranked = sorted((-total, name) for name, total in sums.items())
    if not ranked:
        return f"{UNKNOWN}_{script}", 0.0, 0.0
    score = min(1.0, -ranked[0][0])
    second = min(1.0, -ranked[1][0]) if len(ranked) > 1 else 0.0
    name = ranked[0][1] if score >= MIN_SCORE else f"{UNKNOWN}_{script}"
    return name, score, score - second


def _without_code(guesses: list[Guess], texts: Any, scripts: list[str]) -> None:
    """Where a score is low and the text mostly code, say that it is in no language; the domain says that it is code."""
    limits = thresholds()
    is_dense = mark_shares(texts) > MARKS
    doubtful = [
        i
        for i in np.flatnonzero(is_dense).tolist()
        if guesses[i][0] != NO_LANGUAGE and guesses[i][1] < limits.get(guesses[i][0], limits[EVERY])
    ]
    if not doubtful:
        return
    counts = code_lines(texts.take(pa.array(doubtful)), most=CODE_BYTES)
    for place in np.flatnonzero(counts[:, CODE] >= MOSTLY_CODE * np.maximum(counts[:, LINES], 1)).tolist():
        i = doubtful[place]
        guesses[i] = (f"{NO_LANGUAGE[:3]}_{scripts[i]}", *guesses[i][1:])


@cache
def _language(label: str, script: str) -> str:
    """Our name of a model's label for a text in `script`."""
    name = label.removeprefix(_LABEL)
    if "_" not in name:
        return from_lid176(name, script)
    try:
        return parse_language(name)  # GlotLID's swh_Latn is our swa_Latn, so that models agree on cells
    except ValueError:
        return name
