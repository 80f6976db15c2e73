"""glotmill lid --input FILE [FILE ...]: how well language models do on texts whose language is known."""

import argparse
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glotmill.schemas.errors import InputError

if TYPE_CHECKING:  # --help shouldn't wait for numba
    from glotmill.curate.identify.scores import Scores

WORST = 10
_ROWS = 512


@dataclass(frozen=True, slots=True)
class Labelled:
    """Texts of one language.

    Args:
        language: The label that they should be given, such as ita_Latn.
        texts: Documents, or their sentences.
        where: File and row, for errors.
    """

    language: str
    texts: list[str]
    where: str


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "--input", nargs="+", type=Path, required=True, help="JSONL files, .zst or not: text and language"
    )
    parser.add_argument(
        "--text-column", help="key of the text, or of a list of sentences; by default text or sentences"
    )
    parser.add_argument("--language-column", help="key of the language's name or tag; by default language or lang")
    parser.add_argument(
        "--model", action="append", help="combined (default), lid176, cld2 or a fastText file; repeatable"
    )
    parser.add_argument(
        "--unit", choices=("document", "sentence"), default="document", help="what is labelled; a line is a sentence"
    )
    parser.add_argument("--windows", type=int, default=3, help="windows of a text that the model reads; default 3")
    parser.add_argument("--window-bytes", type=int, default=600, help="UTF-8 bytes of each window; default 600")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the scores of every model here")
    parser.add_argument(
        "--confusion", type=Path, metavar="FILE.tsv", help="write model, true and given label, texts here"
    )


def act(args: argparse.Namespace) -> int:
    """Print and write the scores. Returns 0.

    Raises:
        InputError: a file or row can't be read, or no model knows any of the languages.
        RecipeError: there is no such model.
    """
    from glotmill.curate.identify.scores import known_languages

    labelled = [row for path in args.input for row in _rows(path, args)]
    known = [row for row in labelled if row.language[:3] in known_languages()]
    if not known:
        raise InputError(f"{args.input[0]}: no text in a language that a model knows: give others with --input")
    unknown = sorted({row.language for row in labelled} - {row.language for row in known})
    if unknown:
        print(f"left out, for neither lid.176 nor CLD2 knows them: {', '.join(unknown)}")
    found = {model: _scores(known, model, args) for model in args.model or ["combined"]}
    for model, scores in found.items():
        print(_report(model, scores))
    if args.json:
        _write(
            args.json, json.dumps({"left_out": unknown, "models": {k: _facts(v) for k, v in found.items()}}, indent=1)
        )
    if args.confusion:
        _write(args.confusion, _table(found))
    return 0


def _rows(path: Path, args: argparse.Namespace) -> Iterator[Labelled]:
    for number, row in enumerate(_objects(path), 1):
        where = f"{path}, row {number}"
        text = _value(row, where, args.text_column, ("text", "sentences"), "--text-column")
        sentences = text.split("\n") if isinstance(text, str) else text
        if not isinstance(sentences, list) or not all(isinstance(each, str) for each in sentences):
            raise InputError(f"{where}: the text is no string and no list of strings: name another with --text-column")
        texts = sentences if args.unit == "sentence" else ["\n".join(sentences)]
        yield Labelled(_label(row, where, args), [each for each in texts if each.strip()], where)


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    import zstandard

    try:
        with zstandard.open(path, "rb") if path.suffix == ".zst" else path.open("rb") as file:
            for number, line in enumerate(io.TextIOWrapper(file, encoding="utf-8"), 1):
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise InputError(f"{path}, row {number}: no JSON object: write one a line")
                yield row
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, row {number}: no JSON ({error.msg}): write one object a line") from error
    except (OSError, UnicodeDecodeError, zstandard.ZstdError) as error:
        raise InputError(f"{path} can't be read ({error}): give JSONL in UTF-8, plain or as .zst") from error


def _value(row: dict[str, Any], where: str, asked: str | None, usual: Sequence[str], option: str) -> Any:
    for name in (asked,) if asked else usual:
        if name in row:
            return row[name]
    raise InputError(
        f"{where}: there is no {asked or ' or '.join(usual)!r}; it has: {', '.join(row)}. "
        f"Name the right one with {option}"
    )


def _label(row: dict[str, Any], where: str, args: argparse.Namespace) -> str:
    from glotmill.curate.identify.scores import true_label

    tag = _value(row, where, args.language_column, ("language", "lang"), "--language-column")
    try:
        return true_label(str(tag))
    except ValueError as error:
        raise InputError(f"{where}: {error}") from error


def _scores(labelled: list[Labelled], model: str, args: argparse.Namespace) -> "Scores":
    import pyarrow as pa

    from glotmill.curate.identify.scores import scores
    from glotmill.curate.language import language

    measured = language.bind(model=model, windows=args.windows, window_bytes=args.window_bytes)
    truths = [row.language for row in labelled for _ in row.texts]
    texts = pa.array([text for row in labelled for text in row.texts], pa.string())
    given: list[str] = []
    for first in range(0, len(texts), _ROWS):
        batch = pa.RecordBatch.from_arrays([texts.slice(first, _ROWS)], ["text"])
        given += measured(batch)["language"].to_pylist()
    return scores(truths, given)


def _report(model: str, scores: "Scores") -> str:
    each = scores.f1()
    lines = [
        f"{model}: accuracy {scores.accuracy:.4f}, macro F1 {scores.macro_f1:.4f}, "
        f"{scores.texts} texts, {len(each)} languages"
    ]
    lines += [f"  {label}  F1 {value:.4f}" for label, value in each.items()]
    lines.append(f"  the worst {WORST}, and what they are taken for:")
    for label in sorted(each, key=lambda label: (each[label], label))[:WORST]:
        others = ", ".join(f"{other} {n}" for other, n in scores.taken_for(label)[:4])
        lines.append(f"  {label}  F1 {each[label]:.4f}  {others or 'nothing else, but others are taken for it'}")
    return "\n".join(lines)


def _facts(scores: "Scores") -> dict[str, Any]:
    return {
        "accuracy": round(scores.accuracy, 6),
        "macro_f1": round(scores.macro_f1, 6),
        "texts": scores.texts,
        "f1": {label: round(value, 6) for label, value in scores.f1().items()},
    }


def _table(found: "dict[str, Scores]") -> str:
    rows = ["model\ttrue\tgiven\ttexts"]
    for model, scores in found.items():
        counts: Counter[tuple[str, str]] = scores.confusion
        rows += [f"{model}\t{true}\t{given}\t{n}" for (true, given), n in sorted(counts.items())]
    return "\n".join(rows) + "\n"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} can't be written ({error}): give a file in a folder that exists") from error
