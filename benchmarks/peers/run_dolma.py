"""dolma's taggers in process: gopher_v2 and c4_v2 with their attributes, nothing filtered. They cut words by spaces."""

from pathlib import Path

from contestant import Facts, Work, main
from dolma.core.data_types import Document
from dolma.core.registry import TaggerRegistry


def metrics(work: Path) -> Work:
    import dolma.taggers  # noqa: F401  registers the taggers

    taggers = [TaggerRegistry.get(name)() for name in ("gopher_v2", "c4_v2")]

    def run(texts: list[str]) -> Facts:
        attributes = 0
        for number, text in enumerate(texts):
            document = Document(source="sample", id=str(number), text=text)
            attributes = sum(len(tagger.predict(document).spans) for tagger in taggers)
        return {"attributes": attributes}

    return run


if __name__ == "__main__":
    main("dolma", {"metrics": metrics})
