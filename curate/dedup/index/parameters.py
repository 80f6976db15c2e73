"""What two runs must have in common to share an index."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

import pyarrow as pa

from glotmill.curate.dedup.exact import text_hash
from glotmill.curate.dedup.index.files import keys_of
from glotmill.curate.dedup.index.format import INDEX, Index
from glotmill.curate.dedup.options import Options
from glotmill.curate.dedup.signature import minhash
from glotmill.schemas.digest import rows_digest
from glotmill.schemas.errors import RecipeError

# What a parameter is called in a recipe, to say what to set.
_KEYS = {name: f"dedup.{name}" for name in ("mode", "exact", "scope", "permutations", "seed", "bands", "rows")} | {
    "min_shingles": "dedup.min_shingles",
    "unit": "dedup.shingles",
    "words": "dedup.shingle_words",
    "chars": "dedup.shingle_chars",
    "mask_digits": "dedup.digits",
}
_PROBES = (
    "The miller's 3 sons left before dawn, and the wheel kept turning in the cold stream below the old stone house.",
    "Ο μυλωνάς είχε τρεις γιους· έφυγαν πριν χαράξει και ο τροχός γύριζε ακόμη μέσα στο κρύο νερό κάτω από το σπίτι.",
    "كان للطحان ثلاثة أبناء رحلوا قبل الفجر وظلت العجلة تدور في الجدول البارد أسفل البيت الحجري القديم.",
    "चक्कीवाले के ३ बेटे भोर से पहले चले गए और पत्थर के पुराने घर के नीचे ठंडी धारा में पहिया घूमता रहा।",
    "粉屋の三人の息子は夜明け前に旅立ち、古い石の家の下の冷たい流れの中で水車は回り続けた。",
    "Thôi",
)


def parameters(options: Options) -> dict[str, Any]:
    """What two runs must have in common to share an index, as JSON values.

    `probe` is a digest of what today's code makes of a few texts: it changes with the code that signs and normalises.
    """
    shared: dict[str, Any] = {"mode": "fuzzy" if options.fuzzy else "exact", "exact": options.exact}
    shared["scope"] = options.scope[0] if options.scope else "all"
    if options.fuzzy:
        names = ("permutations", "seed", "bands", "rows", "min_shingles")
        shared |= {name: getattr(options, name) for name in names}
        shared["shingling"] = asdict(options.shingling)
    return shared | {"probe": _probe(options)}


@cache
def _probe(options: Options) -> str:
    texts = pa.RecordBatch.from_pydict({"text": pa.array(_PROBES, pa.string())})
    hashed = text_hash.bind(raw=options.exact == "bytes")(texts)
    measured = [hashed.select(["text_hash"])]
    if options.fuzzy:
        sign = minhash(shingling=options.shingling, permutations=options.permutations, seed=options.seed)
        signed = sign(texts)
        measured += [signed.select(["minhash", "shingles"]), keys_of(signed["minhash"], options)]
    return rows_digest(measured)


def check_parameters(index: Index, options: Options) -> None:
    """Raises:
    RecipeError: the index was made with other parameters than the run's.
    """
    if index.parameters is None:
        return
    mine, its = _flat(parameters(options)), _flat(index.parameters)
    told = [
        f"{_KEYS[name]} is {_shown(name, mine.get(name))} here and {_shown(name, its.get(name))} there"
        for name in _KEYS
        if mine.get(name) != its.get(name)
    ]
    path = index.folder / INDEX
    if told:
        sets = [f"{_KEYS[name]}={_shown(name, its.get(name))}" for name in _KEYS if mine.get(name) != its.get(name)]
        raise RecipeError(
            f"the index {path} was made with other parameters: {'; '.join(told)}. Documents only compare if these "
            f"agree: set {', '.join(sets)}, or begin another index in an empty folder"
        )
    if mine["probe"] != its.get("probe"):
        raise RecipeError(
            f"the index {path} was made by a version of glotmill that signs texts in another way: use that version, or "
            "begin another index in an empty folder, and run the recipes again that made this one"
        )


def _flat(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {**parameters, **parameters.get("shingling", {})}


def _shown(name: str, value: Any) -> str:
    if name == "mask_digits" and value is not None:
        return "mask" if value else "keep"
    return "null" if value is None else str(value)
