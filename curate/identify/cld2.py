"""CLD2: languages by four-letter sequences and by script, run by pycld2.

Source: Sites 2013, https://github.com/CLD2Owners/cld2 (Apache-2.0). It knows some 40 languages of Africa and the
Pacific that lid.176 doesn't, and it costs 40 us for a text and 40 us for each KB of it.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pycld2

from glotmill.curate.identify.quantised import Candidates
from glotmill.curate.kernels.buffers import strings, utf8
from glotmill.curate.kernels.scripts import main_scripts
from glotmill.schemas.language_table import written
from glotmill.schemas.languages import parse_language
from glotmill.schemas.scripts import UNKNOWN_SCRIPT

UNSURE = 0.5  # what the share of a language counts for where CLD2 says itself that it isn't reliable

_FEW = 20  # bytes of letters that halve a share: CLD2 calls itself reliable even on ten letters of nothing

# Codes that pycld2 gives and BCP 47 lacks, or that mean less than they say: its Kurdish is Sorani, in Arabic letters.
_OURS = {"iw": "heb", "jw": "jav", "no": "nob", "sr-ME": "cnr", "mo": "ron", "zh-Hant": "zho", "zh": "zho"}
_NO_LANGUAGE = re.compile(r"un|xxx|tlh|zz[a-z]|xx-[A-Z][a-z]{3}")
# CLD2 refuses what is no interchange-valid UTF-8: controls, non-characters, and broken bytes, which become U+FFFD.
_REFUSED = re.compile(
    r"[\0-\x08\x0b\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(17))
    + "]"
)


class Opinion(NamedTuple):
    """What CLD2 says of a text: languages as ISO 639-3, each with its share of the text, and whether it is sure.

    Shares of n bytes of letters are multiplied by n / (n + 20).
    """

    shares: list[tuple[str, float]]
    is_sure: bool


class Cld2:
    """The model that pycld2 carries."""

    def candidates(
        self, lines: Any, firsts: npt.NDArray[np.int64], scripts: Sequence[str] | None = None
    ) -> list[Candidates]:
        """Labels are our codes in the script of the text; scores are shares of it, halved where CLD2 is unsure."""
        texts = joined(lines, firsts)
        found = []
        for text, script in zip(texts.cast("binary").to_pylist(), scripts or main_scripts(texts), strict=True):
            shares, is_sure = opinion(text, script)
            found.append([(written(iso, script), share if is_sure else share * UNSURE) for iso, share in shares])
        return found


def joined(lines: Any, firsts: npt.NDArray[np.int64]) -> Any:
    """The lines of each text as one string, without a copy: windows end where they end in the text, at white space."""
    data, offsets = utf8(lines)
    return strings(data, np.ascontiguousarray(offsets[firsts]))


def opinion(text: bytes, script: str) -> Opinion:
    """Ask CLD2.

    Args:
        text: UTF-8, maybe broken.
        script: The text's main one; decides which of two languages a code stands for.
    """
    try:
        is_sure, size, details = pycld2.detect(text, isPlainText=True, bestEffort=True)
    except pycld2.error:
        clean = _REFUSED.sub(" ", text.decode("utf-8", "replace"))
        is_sure, size, details = pycld2.detect(clean, isPlainText=True, bestEffort=True)
    part = size / (size + _FEW) / 100
    shares = [(iso, percent * part) for _, code, percent, _ in details if percent and (iso := iso639_3(code, script))]
    return Opinion(shares, is_sure)


@cache
def iso639_3(code: str, script: str) -> str | None:
    """ISO 639-3 of a code of pycld2; None where it names no language, as for a script alone and for play languages."""
    if _NO_LANGUAGE.fullmatch(code):
        return None
    if code == "ku" and script in ("Arab", UNKNOWN_SCRIPT):
        return "ckb"
    return _OURS.get(code) or parse_language(code)[:3]
