"""What every deduplicator does around its work. It runs in each peer's own environment: standard library only.

    python SCRIPT INPUT WORK [--variant NAME]

reads INPUT, JSONL with `id` and `text`, removes duplicates, writes the documents that stay as JSONL into WORK/kept, and
prints a JSON line with `version` and `settings`, a sentence for people. WORK is an empty folder.
"""

import argparse
import json
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

Document = dict[str, Any]


def main(distribution: str, variants: dict[str, Callable[[Path, Path], str]]) -> None:
    """Run one of `variants`: each is given INPUT and the folder WORK, and returns its settings in words."""
    parser = argparse.ArgumentParser()
    parser.add_argument("input", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--variant", choices=variants, default=next(iter(variants)))
    args = parser.parse_args()
    (args.work / "kept").mkdir()
    settings = variants[args.variant](args.input.resolve(), args.work.resolve())
    print("\n" + json.dumps({"version": version(distribution), "settings": settings}), flush=True)


def read(path: Path) -> list[Document]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]


def write_kept(documents: Iterable[Document], work: Path) -> None:
    with (work / "kept" / "kept.jsonl").open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
