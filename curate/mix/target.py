"""The distribution that is asked for, as a share of each cell: by a rule, tables, or another run's shards."""

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from glotmill.curate.mix.project import Group, project
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.languages import parse_language
from glotmill.schemas.manifest import MANIFEST, Manifest
from glotmill.schemas.recipe import Mix

RULES = ("proportional", "uniform", "unimax", "temperature")
_SUM = 1e-6  # what shares may miss 1 by, as people round them
SHOWN = 5  # names in a message


@dataclass(slots=True)
class Target:
    """What is asked for.

    Args:
        shares: Of each cell, 0 for cells that the target leaves out; they sum to 1.
        absent: Entries of the table that no cell answers to, with their shares.
        outside: Cells that the table leaves out.
    """

    shares: dict[str, float]
    absent: dict[str, float] = field(default_factory=dict)
    outside: tuple[str, ...] = ()


Tables = Mapping[str, Mapping[str, float]]  # cells, languages, domains -> pattern of cells -> share
_MARGINALS = ("languages", "domains")


def target(asked: Mix, tokens: Mapping[str, int], base: Path) -> Target:
    """The shares that a recipe asks for.

    Args:
        tokens: Of each cell; the cells are named language.domain.
        base: Folder to which paths of the recipe are relative.

    Raises:
        RecipeError: As `tables`; or an entry has no data and `mix.absent` is error.
    """
    there = {name: count for name, count in tokens.items() if count > 0}
    if not there:
        return Target(dict.fromkeys(tokens, 0.0))
    if isinstance(asked.target, str) and asked.target in RULES:
        found = Target(_by_rule(asked.target, there, over=asked.over, temperature=asked.temperature))
    else:
        found = _of_tables(tables(asked, base), there, asked, _where(asked, base))
    return Target(dict.fromkeys(tokens, 0.0) | found.shares, found.absent, found.outside)


def tables(asked: Mix, base: Path) -> Tables:
    """The tables of a target, none for a rule: all that can be said of them without knowing the data.

    Raises:
        RecipeError: A table is unreadable, its shares don't sum to 1, are negative or no numbers, or an entry names no
            language.
    """
    rule = asked.target
    if isinstance(rule, str):
        read = {} if rule in RULES else _read(base / rule)
    elif sections := set(rule) & set(_MARGINALS):
        if sections != set(rule):
            raise RecipeError(
                f"mix.target has {', '.join(sorted(set(rule) - sections))} beside {', '.join(sorted(sections))}: give "
                "shares of cells, or of languages and domains, not both"
            )
        read = {name: _marginal(name, rule[name], base) for name in sorted(sections)}
    else:
        read = {"cells": rule}
    return {
        kind: {
            _pattern(kind, name): share
            for name, share in _checked(table, asked, f"{_where(asked, base)}, {kind}").items()
        }
        for kind, table in read.items()
    }


def _where(asked: Mix, base: Path) -> str:
    return str(base / asked.target) if isinstance(asked.target, str) else "mix.target"


def _by_rule(rule: str, tokens: Mapping[str, int], *, over: str, temperature: float) -> dict[str, float]:
    """Shares of labels by the rule, parted in proportion to tokens among the cells of a label."""
    if rule == "proportional":
        rule, temperature = "temperature", 1.0
    labels = by_label(tokens, over)
    largest = max(labels.values())
    power = 1 / temperature if rule == "temperature" else 0.0  # uniform; with caps on epochs that is UniMax
    weights = {label: (count / largest) ** power for label, count in labels.items()}
    whole = math.fsum(weights.values())
    return {
        name: weights[label_of(name, over)] / whole * count / labels[label_of(name, over)]
        for name, count in tokens.items()
    }


def label_of(cell: str, over: str) -> str:
    """A cell's language or domain, or the cell itself."""
    language, _, domain = cell.partition(".")
    return {"language": language, "domain": domain, "cell": cell}[over]


def by_label(tokens: Mapping[str, int], over: str) -> dict[str, int]:
    """The tokens of each language or domain."""
    found: dict[str, int] = {}
    for cell, count in tokens.items():
        label = label_of(cell, over)
        found[label] = found.get(label, 0) + count
    return found


def _of_tables(tables: Tables, tokens: Mapping[str, int], asked: Mix, where: str) -> Target:
    absent: dict[str, float] = {}
    outside: set[str] = set()
    parts: list[dict[str, dict[str, float]]] = []
    for entries in tables.values():
        answered, missing = _answered(entries, tokens, where)
        missing = {name: share for name, share in missing.items() if share > 0}
        absent |= missing
        answered = _without(answered, missing, asked, where)
        outside |= set(tokens) - {cell for cells in answered.values() for cell in cells}
        parts.append(answered)
    if len(parts) == 1:
        found = {cell: share for cells in parts[0].values() for cell, share in cells.items()}
    else:
        found = _raked(parts, tokens, where)
    return Target(found, absent, tuple(sorted(outside)))


def _pattern(kind: str, name: str) -> str:
    if kind == "domains":
        return f"*.{name}"
    language, dot, domain = str(name).partition(".")
    if not any(sign in language for sign in "*?["):
        try:
            language = parse_language(language)
        except ValueError as error:
            raise RecipeError(f"mix: {name!r}: {error}") from None
    return f"{language}.{domain if dot else '*'}"


def _checked(table: Mapping[str, Any], asked: Mix, where: str) -> dict[str, float]:
    wrong = [
        f"{name} {share!r}"
        for name, share in table.items()
        if not isinstance(share, int | float) or isinstance(share, bool) or not math.isfinite(share) or share < 0
    ]
    if wrong:
        raise RecipeError(f"{where}: {some_of(wrong)}: a share is a number from 0 to 1")
    whole = math.fsum(table.values())
    if whole <= 0:
        raise RecipeError(f"{where}: the shares sum to {whole:g}: give one that is above 0")
    if abs(whole - 1) > _SUM and not asked.normalise:
        raise RecipeError(
            f"{where}: the shares sum to {whole:.6g}, not to 1: correct them, or set mix.normalise to true, which "
            "divides each by that"
        )
    return {str(name): float(share) / whole for name, share in table.items()}


def _answered(
    entries: Mapping[str, float], tokens: Mapping[str, int], where: str
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """By entry, the shares of its cells, in proportion to their tokens; and the entries without a cell.

    A cell that is named isn't part of a pattern's.
    """
    named = {cell for cell in tokens if cell in entries}
    owner: dict[str, str] = {}
    cells: dict[str, list[str]] = {entry: [entry] for entry in named}
    for entry in entries:
        if entry in named:
            continue
        for cell in tokens:
            if cell in named or not fnmatchcase(cell, entry):
                continue
            if cell in owner:
                raise RecipeError(
                    f"{where}: {cell} answers to {owner[cell]} and to {entry}: give it a share of its own"
                )
            owner[cell] = entry
            cells.setdefault(entry, []).append(cell)
    found = {}
    for entry, members in cells.items():
        whole = sum(tokens[cell] for cell in members)
        found[entry] = {cell: entries[entry] * tokens[cell] / whole for cell in members}
    return found, {entry: share for entry, share in entries.items() if entry not in cells}


def _without(
    answered: dict[str, dict[str, float]],
    missing: Mapping[str, float],
    asked: Mix,
    where: str,
) -> dict[str, dict[str, float]]:
    """The shares of entries without data, given to others as `mix.absent` says."""
    if not missing:
        return answered
    if asked.absent == "error" or not answered:
        total = math.fsum(missing.values())
        raise RecipeError(
            f"{where}: no document is in {some_of(sorted(missing))}, of which {total:.4g} of all tokens are asked: add "
            "sources, take them out, or set mix.absent to skip (the others share it) or nearest (the cells of the same "
            "language do, else of the same domain)"
        )
    if asked.absent == "skip":
        rest = math.fsum(share for cells in answered.values() for share in cells.values())
        return {entry: {cell: share / rest for cell, share in cells.items()} for entry, cells in answered.items()}
    for entry, share in missing.items():
        language, _, domain = entry.partition(".")
        for pattern in (f"{language}.*", f"*.{domain}", "*"):
            near = {
                cell: given
                for cells in answered.values()
                for cell, given in cells.items()
                if given > 0 and fnmatchcase(cell, pattern)
            }
            if near:
                break
        whole = math.fsum(near.values())
        for cells in answered.values():
            for cell in cells:
                cells[cell] += share * near.get(cell, 0.0) / whole if whole else 0.0
    return answered


def _raked(parts: list[dict[str, dict[str, float]]], tokens: Mapping[str, int], where: str) -> dict[str, float]:
    """The shares nearest to the tokens there are that have the marginals: iterative proportional fitting's limit."""
    names = sorted(tokens)
    place = {name: k for k, name in enumerate(names)}
    groups = []
    reached = [{cell for cells in part.values() for cell in cells} for part in parts]
    inside = set.intersection(*reached)
    for part in parts:
        for entry, cells in part.items():
            share = math.fsum(cells.values())
            members = np.array([place[cell] for cell in cells if cell in inside], np.int64)
            groups.append(Group(f"{entry} {share:.4g}", members, share, share))
    size = np.array([float(tokens[name]) if name in inside else 0.0 for name in names])
    try:
        if size.sum() <= 0:
            raise ValueError
        found = project(size / size.sum(), np.zeros(len(names)), np.ones(len(names)), groups)
    except ValueError:
        raise RecipeError(
            f"{where}: no shares of the cells there are have these marginals of languages and of domains: a language "
            "has too few domains, or a domain too few languages; give shares of cells, or leave one marginal out"
        ) from None
    return dict(zip(names, found.shares.tolist(), strict=True))


def _marginal(name: str, table: Any, base: Path) -> Mapping[str, Any]:
    if isinstance(table, Mapping):
        return table
    found = _read(base / str(table))
    if list(found) != [name]:
        raise RecipeError(
            f"mix.target.{name}: {base / str(table)} gives shares of {', '.join(found)}: name a table with the column "
            f"{name.removesuffix('s')}"
        )
    return found[name]


def _read(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Tables of a file: cells, languages, domains."""
    if path.is_dir():
        places = (path / "shards" / MANIFEST, path / MANIFEST)
        path = next((place for place in places if place.is_file()), path)
    if not path.is_file():
        raise RecipeError(
            f"mix.target: {path} is none of the rules {', '.join(RULES)}, and no such file: name a .csv, a .yaml, or "
            "the output folder or manifest.json of a run to be matched"
        )
    if path.name == MANIFEST:
        counts = Manifest.load(path).tokens_by_cell
        whole = sum(counts.values())
        return {"cells": {name: count / whole for name, count in counts.items()} if whole else {}}
    return _of_csv(path) if path.suffix == ".csv" else _of_yaml(path)


def _of_csv(path: Path) -> dict[str, dict[str, float]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            columns = set(rows.fieldnames or ())
            kinds = {
                frozenset({"cell"}): "cells",
                frozenset({"language", "domain"}): "cells",
                frozenset({"language"}): "languages",
                frozenset({"domain"}): "domains",
            }
            kind = kinds.get(frozenset(columns & {"cell", "language", "domain"}))
            if kind is None or "share" not in columns:
                raise RecipeError(
                    f"{path} has the columns {', '.join(sorted(columns)) or 'none'}: it needs share, and cell, or "
                    "language, or domain, or language and domain"
                )
            found: dict[str, float] = {}
            for number, row in enumerate(rows, 2):
                name = row.get("cell") or ".".join(row[c] for c in ("language", "domain") if c in columns)
                try:
                    share = float(row["share"])
                except (TypeError, ValueError):
                    raise RecipeError(f"{path}, line {number}: the share {row['share']!r} is no number") from None
                if name in found:
                    raise RecipeError(f"{path}, line {number}: {name} has a share already")
                found[name] = share
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RecipeError(f"{path}: {error}: give a CSV file in UTF-8") from None
    return {kind: found}


def _of_yaml(path: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text) if path.suffix == ".json" else YAML(typ="safe", pure=True).load(text)
    except (OSError, ValueError, YAMLError) as error:
        raise RecipeError(f"{path}: {error}: give a .csv, or a .yaml of `cell: share` lines") from None
    if not isinstance(found, Mapping) or not found:
        raise RecipeError(f"{path} holds no `cell: share` lines")
    sections = [name for name in ("cells", *_MARGINALS) if isinstance(found.get(name), Mapping)]
    return {name: found[name] for name in sections} if sections else {"cells": found}


def matching(pattern: str, cells: Iterable[str], key: str) -> list[str]:
    """The cells that a pattern of a constraint means.

    Raises:
        RecipeError: It means none.
    """
    full = _pattern("cells", pattern)
    found = [cell for cell in cells if fnmatchcase(cell, full)]
    if not found:
        raise RecipeError(
            f"mix.{key}: no document is in {pattern}: write a cell such as ita_Latn.web, a language such as ita_Latn, "
            "or *.DOMAIN"
        )
    return found


def some_of(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
