"""Which language a text is in, and in which script."""

from collections import defaultdict
from functools import cache

import pyarrow as pa

from glotmill.curate.kernels.reading import read_windows
from glotmill.curate.kernels.scripts import main_scripts
from glotmill.curate.kernels.unicode import rows
from glotmill.curate.lid import LID176, Candidates, language_model
from glotmill.curate.measure import Columns, measure
from glotmill.schemas.languages import NO_LANGUAGE, from_lid176, parse_language

UNKNOWN_SCRIPT = "Zzzz"
UNKNOWN = "und"
MIN_SCORE = 0.2  # below it, lid.176 is wrong more often than right, mostly for languages that it doesn't know
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
def language(batch: pa.RecordBatch, *, model: str = LID176, windows: int = 3, window_bytes: int = 600) -> Columns:
    """Language and script of each text: the script by counting letters, the language by a fastText model.

    The model reads `windows` stretches of the text; a label's score is its mean probability over them. One label wins
    (argmax), so a document is in one language. It reads a decomposed text in NFC, and a text all in capitals in lower
    case, as `read_windows` says; the text itself is left alone. Source of the model: Joulin et al. 2016 (lid.176.ftz,
    CC-BY-SA 3.0).

    Args:
        batch: n rows with `text: string`, no nulls.
        model: lid176, or the path of a fastText model whose labels are as lid.176's (`__label__it`) or as GlotLID's
            (`__label__ita_Latn`).
        windows: Stretches that are read, spread evenly over the text.
        window_bytes: UTF-8 bytes of each; a text no longer than all of them together is read whole.

    Adds:
        language: ISO 639-3 and ISO 15924, as ita_Latn; und_Latn where the score is under 0.2, since the text is then
            likely in a language that the model doesn't know; zxx_Zzzz for a text without letters.
        script: ISO 15924; Hans, Hant, Jpan and Kore for East Asia.
        language_score: In [0, 1]; 0 without letters.
        language_lead: The score less that of the second language, in [0, 1].

    Raises:
        RecipeError: there is no such model.
    """
    texts, lines, firsts = read_windows(batch["text"], count=windows, size=window_bytes)
    found_scripts = main_scripts(texts)
    guesses = [
        (NO_LANGUAGE, 0.0, 0.0) if script == UNKNOWN_SCRIPT else _guess(candidates, script)
        for candidates, script in zip(language_model(model).candidates(lines, firsts), found_scripts, strict=True)
    ]
    languages, scores, leads = zip(*guesses, strict=True) if guesses else ((), (), ())
    return {
        "language": pa.array(languages, pa.string()),
        "script": pa.array(found_scripts, pa.string()),
        "language_score": pa.array(scores, pa.float32()),
        "language_lead": pa.array(leads, pa.float32()),
    }


def _guess(candidates: Candidates, script: str) -> Guess:
    """The best candidate, and by how much; labels that are one language in this script count together."""
    sums: dict[str, float] = defaultdict(float)
    for label, probability in candidates:
        sums[_language(label, script)] += probability
    ranked = sorted((-total, name) for name, total in sums.items())
    if not ranked:
        return f"{UNKNOWN}_{script}", 0.0, 0.0
    score = min(1.0, -ranked[0][0])
    second = -ranked[1][0] if len(ranked) > 1 else 0.0
    name = ranked[0][1] if score >= MIN_SCORE else f"{UNKNOWN}_{script}"
    return name, score, score - second


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


@cache
def thresholds() -> dict[str, float]:
    """By language, and "*" for others, the language_score under which a label is uncertain."""
    return {language: float(limit) for language, limit in rows("language_thresholds.tsv")}
