"""What `glotmill train-quality` says of a model, for people: a table by language, and the lines for a recipe."""

from typing import TYPE_CHECKING

from glotmill.curate.columns import columns

if TYPE_CHECKING:  # it writes what this file makes
    from glotmill.curate.trained.train_quality import LanguageResult, Training

ALL = "all"
_HEAD = (
    "language",
    "given +/-",
    "trained",
    "held out",
    "precision",
    "recall",
    "F1",
    "AUC",
    "threshold",
    "recall there",
)


def rows(result: "Training") -> list[tuple[str, ...]]:
    """The table with its head; numbers are of the held-out texts, as many positive as negative, at 0.5."""
    found = [_row(name, language) for name, language in result.languages.items()]
    return [_HEAD, *found, _row(ALL, result.all)]


def table(result: "Training") -> str:
    """The table for a terminal."""
    head, *found = rows(result)
    return columns(head, found)


def notes(result: "Training") -> list[str]:
    """What to know before the numbers are believed, a sentence each."""
    said = []
    if result.in_both:
        said.append(f"{result.in_both} texts are in both sets and were left out of both")
    if result.repeats:
        said.append(f"{result.repeats} texts repeat an earlier one and were left out")
    if result.empty:
        said.append(f"{result.empty} texts hold no visible character and were left out")
    one_sided = [name for name, found in result.languages.items() if not found.positives or not found.negatives]
    if one_sided:
        said.append(f"not trained, for want of texts on one side: {', '.join(one_sided)}")
    few = [name for name, found in result.languages.items() if not found.is_judged and name not in one_sided]
    if few:
        least = result.settings.min_documents
        said.append(f"too few to judge, under {least} held-out texts a side: {', '.join(few)}")
    missed = [
        n for n, found in result.languages.items() if found.is_judged and found.figures and not found.figures.wanted
    ]
    if missed:
        said.append(f"precision {result.settings.precision:g} is reached at no threshold: {', '.join(missed)}")
    return said


def recipe_lines(result: "Training", *, by_language: bool) -> str:
    """The section of a recipe that uses the model: a threshold for all, and on demand for each language judged."""
    name = result.settings.name
    rules = {"": result.all}
    if by_language:
        rules |= {key: found for key, found in result.languages.items() if found.is_judged}
    lines = ["quality:", "  classifiers:", f"    {name}: {{model: {result.model}}}", "  rules:"]
    for scope, found in rules.items():
        if found.figures and found.figures.wanted:
            rule = f'{name}: "{name}_score < {found.figures.wanted.threshold:g}"'
            lines.append(f"    {scope}: {{{rule}}}" if scope else f"    {rule}")
    return "\n".join(lines)


def report(result: "Training") -> str:
    """The report as Markdown."""
    found = rows(result)
    lines = [" | ".join(row) for row in found]
    rule = " | ".join(["---"] + ["---:"] * (len(_HEAD) - 1))
    settings = result.settings
    return "\n".join(
        [
            f"# The classifier {settings.name}",
            "",
            f"Figures of {settings.held_out:g} of the texts, which the model has not seen, as many positive as "
            f"negative in each language: precision, recall and F1 at the threshold 0.5; then a threshold that "
            f"reaches a precision of {settings.precision:g}, and the recall there.",
            "",
            *(f"| {line} |" for line in (lines[0], rule, *lines[1:])),
            "",
            *(f"- {note[0].upper()}{note[1:]}." for note in notes(result)),
            "",
            "For a recipe:",
            "",
            "```yaml",
            recipe_lines(result, by_language=True),
            "```",
            "",
        ]
    )


def _row(name: str, found: "LanguageResult") -> tuple[str, ...]:
    start = (name, f"{found.positives}/{found.negatives}", str(found.trained))
    if not found.figures or not found.is_judged:
        few = str(found.figures.positives) if found.figures else "0"
        return (*start, few, "too few", *("" for _ in range(len(_HEAD) - len(start) - 2)))
    middle, wanted = found.figures.middle, found.figures.wanted
    numbers = (middle.precision, middle.recall, middle.f1, found.figures.auc)
    there = (f"{wanted.threshold:g}", f"{wanted.recall:.3f}") if wanted else ("none", "")
    return (*start, str(found.figures.positives), *(f"{number:.3f}" for number in numbers), *there)
