"""fastText's own library: lid.176 over each full text, its best label."""

from pathlib import Path

from contestant import Facts, Work, main
from fasttext.FastText import _FastText

MODEL = Path(__file__).parents[2] / "curate" / "data" / "lid.176.ftz"


def lid(work: Path) -> Work:
    model = _FastText(str(MODEL))

    def run(texts: list[str]) -> Facts:
        labels = [model.predict(text.replace("\n", " "), k=1)[0] for text in texts]
        return {"languages": len(set(labels))}

    return run


if __name__ == "__main__":
    main("fasttext-numpy2-wheel", {"lid": lid})
