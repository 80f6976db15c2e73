import re
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


def test_every_code_that_extraction_writes_is_known() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted(EXTRACT.glob("*.py")))
    skipped = set(re.findall(r"""intake\.skip\("(\w+)"\)""", sources))
    raised = set(re.findall(r"""(?:BadRecordError|RefusedError)\(\s*"(\w+)",""", sources))
    quarantined = set(re.findall(r"""quarantine\(\s*[^\n]+?, "(\w+)", """, sources))
    breaks = set(re.findall(r"""\b(?:Break\([^"]+|reason = |problem = \()"(\w+)""", sources))
    assert skipped and raised and quarantined and breaks
    assert skipped <= set(map(str, Skipped))
    assert raised | quarantined | breaks <= set(map(str, Quarantined))


def test_every_kind_of_record_is_a_reason_to_pass_over_it() -> None:
    warc = (EXTRACT / "warc.py").read_text(encoding="utf-8")
    lists = re.findall(r"^(?:_KNOWN|DOCUMENT_TYPES) = \((.*)\)$", warc, re.MULTILINE)
    kinds = {kind for found in lists for kind in re.findall(r'"(\w+)"', found)}
    assert len(lists) == 2 and kinds <= set(map(str, Skipped))
