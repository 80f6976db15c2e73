"""Which script a text is written in."""

from typing import Any

import numpy as np
import numpy.typing as npt

from glotmill.curate.kernels.buffers import Bytes, Offsets, utf8
from glotmill.curate.kernels.unicode import (
    KIND,
    LETTER,
    NEUTRAL,
    SCRIPT_SHIFT,
    SIMPLIFIED,
    TRADITIONAL,
    UPPER,
    Bits,
    scripts,
    unicode_table,
    wide,
)
from glotmill.schemas.kernels.compiled import kernel

Counts = npt.NDArray[np.int64]

# A tenth of kana makes Han text Japanese: running Japanese has more than half, Chinese that quotes Japanese less.
_KANA_SHARE = 0.1


def main_scripts(texts: Any) -> list[str]:
    """ISO 15924 code of the script of most letters of each text, Zzzz where it has none.

    Han, kana and Hangul together are Jpan, Kore, Hans or Hant; the last two by the characters that only one of them
    has, and Hans where neither occurs. Ties go to the script whose code comes first.
    """
    data, offsets = utf8(texts)
    letters = _letters(data, offsets, unicode_table(), len(scripts()))
    names = np.array([*scripts(), "Jpan", "Kore", "Hans", "Hant"])
    return list(names[_main(letters)].tolist())


def foreign_letters(letters: Counts) -> tuple[Counts, Counts]:
    """int64 (n,) letters outside the script that has most, and all letters, from (n, scripts) counts."""
    place = {script: index for index, script in enumerate(scripts())}
    counts = letters.copy()
    counts[:, : len(NEUTRAL)] = 0
    for script in ("Hani", "Bopo", "Hira", "Kana"):
        counts[:, place["Hang"]] += counts[:, place[script]]
        counts[:, place[script]] = 0
    total = counts.sum(axis=1)
    return total - counts.max(axis=1, initial=0), total


def _main(letters: Counts) -> npt.NDArray[np.int64]:
    """Index into `scripts()` and the four that follow it."""
    place = {script: index for index, script in enumerate(scripts())}
    size = len(place)
    counts, chinese = letters[:, :size].copy(), letters[:, size:]
    counts[:, : len(NEUTRAL)] = 0
    han = counts[:, place["Hani"]] + counts[:, place["Bopo"]]
    kana = counts[:, place["Hira"]] + counts[:, place["Kana"]]
    east = han + kana + counts[:, place["Hang"]]
    for script in ("Hani", "Bopo", "Hira", "Kana"):
        counts[:, place[script]] = 0
    hangul = counts[:, place["Hang"]].copy()
    counts[:, place["Hang"]] = east  # all of East Asia competes as one with the other scripts
    best = counts.argmax(axis=1)
    best[counts.max(axis=1, initial=0) == 0] = place["Zzzz"]
    is_east = best == place["Hang"]
    within = np.where(chinese[:, 1] > chinese[:, 0], size + 3, size + 2)
    within = np.where(kana > _KANA_SHARE * (kana + han), size, within)
    within = np.where(2 * hangul >= east, size + 1, within)
    return np.where(is_east, within, best)


@kernel
def _letters(data: Bytes, offsets: Offsets, table: Bits, size: int) -> Counts:
    """Letters by script, then characters of simplified and of traditional Chinese alone."""
    out = np.zeros((len(offsets) - 1, size + 2), np.int64)
    for d in range(len(offsets) - 1):
        _count(data, offsets[d], offsets[d + 1], table, out[d])
    return out


@kernel
def _count(data, start, end, table, row):  # type: ignore[no-untyped-def]
    i = np.int64(start)
    simplified = traditional = latin = 0
    while i < end:
        code = np.int64(data[i])
        if code < 0x80:
            latin += 1 if ((code | 32) - 97) & 0xFF < 26 else 0
            i += 1
            continue
        b = np.int64(data[i + 1]) if i + 1 < end else 0
        c = np.int64(data[i + 2]) if i + 2 < end else 0
        code, step = wide(code, b, c, np.int64(data[i + 3]) if i + 3 < end else 0)
        i += step
        bits = table[code]
        if bits & KIND >= UPPER and bits & KIND <= LETTER:
            row[(bits >> SCRIPT_SHIFT) & 255] += 1
            simplified += bits & SIMPLIFIED != 0
            traditional += bits & TRADITIONAL != 0
    row[(table[97] >> SCRIPT_SHIFT) & 255] += latin
    row[-2] += simplified
    row[-1] += traditional
