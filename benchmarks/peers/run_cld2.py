"""CLD2 over each full text, plain text mode."""

from pathlib import Path

import pycld2
from contestant import Facts, Work, main


def lid(work: Path) -> Work:
    def run(texts: list[str]) -> Facts:
        found: set[str] = set()
        refused = 0
        for text in texts:
            try:
                found.add(pycld2.detect(text, isPlainText=True)[2][0][1])
            except pycld2.error:  # control characters: it refuses the whole text
                refused += 1
        return {"languages": len(found), "refused": refused}

    return run


if __name__ == "__main__":
    main("pycld2", {"lid": lid})
