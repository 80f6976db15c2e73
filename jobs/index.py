"""glotmill index DIR [show | remove]: what an index holds; take documents or generations out of it."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from glotmill.schemas.errors import InputError, RecipeError

if TYPE_CHECKING:
    from glotmill.curate.dedup.index.format import Index


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("index", type=Path, metavar="DIR", help="folder of the index, as dedup.index names it")
    parser.add_argument("action", nargs="?", choices=("show", "remove"), default="show", help="by default show")
    parser.add_argument("--ids", type=Path, help="remove: file with one document id a line")
    parser.add_argument("--column", choices=("id", "source_id"), default="id", help="remove: which ids --ids lists")
    parser.add_argument(
        "--generation", action="append", default=[], metavar="NAME", help="remove: all that one output folder added"
    )
    parser.add_argument("--json", action="store_true", help="print what was found as one JSON line on standard output")


def act(args: argparse.Namespace) -> int:
    import json

    from glotmill.curate.dedup.index.format import INDEX, read_index
    from glotmill.curate.dedup.index.remove import remove_documents, remove_generations

    if not (args.index / INDEX).exists():
        raise InputError(f"{args.index} holds no {INDEX}: name the folder that dedup.index names, after a run")
    if args.action == "show":
        if args.ids or args.generation:
            raise RecipeError("--ids and --generation say what goes: write `glotmill index DIR remove --ids FILE`")
        index = read_index(args.index)
        print(json.dumps(_facts(index), ensure_ascii=False) if args.json else _table(index), flush=True)
        return 0
    if bool(args.ids) == bool(args.generation):
        raise RecipeError("remove needs either --ids FILE or --generation NAME, once or more often")
    if args.generation:
        removed = remove_generations(args.index, args.generation)
        told = {"removed": removed, "generations": args.generation}
    else:
        ids = _ids(args.ids)
        removed, absent = remove_documents(args.index, ids, column=args.column)
        told = {"removed": removed, "ids": len(ids), "not_found": absent}
    print(json.dumps(told, ensure_ascii=False) if args.json else _sentence(told), flush=True)
    return 0


def _ids(path: Path) -> set[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}; --ids wants a text file with one id a line") from None
    found = {line.strip() for line in lines} - {""}
    if not found:
        raise InputError(f"{path} lists no id: write one a line")
    return found


def _sentence(told: dict[str, object]) -> str:
    text = f"{told['removed']:,} documents removed"
    return text + (f"; {told['not_found']:,} of {told['ids']:,} ids not found" if told.get("not_found") else "")


def _facts(index: "Index") -> dict[str, object]:
    return {
        "parameters": index.parameters,
        "entries": sum(found.entries for found in index.generations),
        "generations": [
            {
                "name": found.name,
                "entries": found.entries,
                "removed": found.removed,
                "files": len(found.files),
                "bytes": sum(path.stat().st_size for path in index.path(found).rglob("*.parquet")),
                "against": [name for name, _ in found.against],
            }
            for found in index.generations
        ],
    }


def _table(index: "Index") -> str:
    shown = {name: value for name, value in (index.parameters or {}).items() if name != "probe"}
    shown |= shown.pop("shingling", {})
    lines = [", ".join(f"{name} {value}" for name, value in shown.items()), ""]
    width = max([len("generation"), *(len(found.name) for found in index.generations)])
    lines.append(f"{'generation':<{width}} {'documents':>12} {'removed':>9} {'MB':>9}  compared with")
    for found in index.generations:
        size = sum(path.stat().st_size for path in index.path(found).rglob("*.parquet")) / 1e6
        others = ", ".join(name for name, _ in found.against) or "nothing"
        lines.append(f"{found.name:<{width}} {found.entries:>12,} {found.removed:>9,} {size:>9,.1f}  {others}")
    lines.append(f"{'all':<{width}} {sum(found.entries for found in index.generations):>12,}")
    return "\n".join(lines)
