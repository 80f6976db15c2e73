import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from glotmill.schemas.reasons import Quarantined, Reason, Related, Skipped, explained

EXTRACT = Path(__file__).parents[2] / "curate" / "extract"
KINDS = (Quarantined, Skipped, Related)


@pytest.mark.parametrize("kind", KINDS)
def test_every_code_is_its_own_name_and_has_words(kind: type[Reason]) -> None:
    for reason in kind:
        assert reason == reason.name.lower() == str(reason)
        assert explained(kind, str(reason)) == reason.explained
        assert reason.meaning and not reason.meaning.endswith(".") and reason.remedy in reason.explained


def test_a_code_is_of_one_kind() -> None:
    codes = [str(reason) for kind in KINDS for reason in kind]
    assert len(codes) == len(set(codes))


def test_a_code_that_is_unknown_is_explained_by_what_the_caller_says() -> None:
    assert explained(Skipped, "of_an_older_version", "never meant to be a document") == "never meant to be a document"


def calls(path: Path) -> Iterator[ast.Call]:
    return (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))


def test_extraction_writes_codes_by_their_names_and_uses_all_of_quarantine() -> None:
    """A literal would be a code that no one explains; an unused one a promise that no one keeps."""
    used = set()
    for path in sorted(EXTRACT.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        used |= set(re.findall(r"Quarantined\.([A-Z0-9_]+)", source))
        for call in calls(path):
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            place = {"skip": 0, "quarantine": 1, "BadRecordError": 0, "RefusedError": 0}.get(name, len(call.args))
            literals = [
                a for a in call.args[place : place + 1] if isinstance(a, ast.Constant) and isinstance(a.value, str)
            ]
            assert not literals, f"{path.name}:{call.lineno} writes {ast.unparse(call)}"
    assert used == {reason.name for reason in Quarantined}


def test_every_kind_of_record_is_a_reason_to_pass_over_it() -> None:
    warc = (EXTRACT / "warc.py").read_text(encoding="utf-8")
    lists = re.findall(r"^(?:_KNOWN|DOCUMENT_TYPES) = \((.*)\)$", warc, re.MULTILINE)
    kinds = {kind for found in lists for kind in re.findall(r'"(\w+)"', found)}
    assert len(lists) == 2 and kinds <= set(map(str, Skipped))
