"""The steps from kept documents to shards."""

import json
import math
import shutil
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from glotmill.curate.mix.aim import aim
from glotmill.curate.mix.plan import Plan
from glotmill.curate.mix.spark import plan_mix
from glotmill.curate.mix.target import tables
from glotmill.jobs import plans, sampling
from glotmill.jobs.state import State
from glotmill.jobs.steps import Step, following, over
from glotmill.jobs.units import Desk, finish_empty, over_groups, raise_reported
from glotmill.schemas.atomic import Transaction
from glotmill.schemas.code import code_version
from glotmill.schemas.errors import RecipeError
from glotmill.schemas.ids import fingerprint
from glotmill.schemas.units import Books, Outcome, Unit
from glotmill.tokenize import vocabulary
from glotmill.tokenize.manifest import write_manifest
from glotmill.tokenize.shards import write_shard
from glotmill.tokenize.store import tokenize_unit
from glotmill.tokenize.tokenizer import Tokenizer, check_policy, load

ONLY = "all"  # key of the unit of a step that has one
TOKENIZER = "tokenizer"  # folder in OUT; the manifest puts a copy beside the shards
TRAINING_BYTES_PER_PIECE = 1500  # text a trained vocabulary reads, a piece


def tokenizer_step(state: State) -> Step:
    asked = state.recipe.shards.tokenizer
    if asked is None:
        return _trained(state)
    path = state.base / asked
    given = load(path)
    check_policy(given, append_eos=state.recipe.shards.append_eos, prepend_bos=state.recipe.shards.prepend_bos)

    def act(spark: SparkSession, state: State, units: Sequence[Unit], desk: Desk) -> None:
        def copy(unit: Unit, files: Transaction) -> tuple[Outcome, tuple[()]]:
            for name, file in given.files.items():
                shutil.copyfile(file, files.path(f"{TOKENIZER}/{name}"))
            return Outcome(digests={"tokenizer": given.fingerprint}), ()

        desk.do(units[0], copy)

    return Step(
        "tokenizer",
        (TOKENIZER,),
        lambda state: [Unit("tokenizer", ONLY, path.name, {}, (given.fingerprint,))],
        act,
        None,
        code_version(("glotmill.tokenize.tokenizer",)),
    )


def _trained(state: State) -> Step:
    wanted = state.recipe.shards.vocabulary

    def units(state: State) -> list[Unit]:
        kept = sorted((key, r.digests["kept"]) for key, r in state.receipts("cut").items())
        texts = sorted((key, part.digest) for key, part in state.parts().items())
        return [
            Unit("tokenizer", ONLY, f"{wanted:,} pieces from the kept documents", {}, (fingerprint([kept, texts]),))
        ]

    def act(spark: SparkSession, state: State, units: Sequence[Unit], desk: Desk) -> None:
        budget = min(wanted * TRAINING_BYTES_PER_PIECE, vocabulary.SAMPLE_BYTES)
        texts = sampling.training_texts(spark, state, budget_bytes=budget, seed=state.recipe.seed)
        if not len(texts):
            raise RecipeError(
                "no document was kept, so there is no text to train a tokenizer on: see OUT/dropped for the reasons, "
                "or set shards.tokenizer"
            )
        model = vocabulary.train([texts], vocabulary=wanted)

        def write(unit: Unit, files: Transaction) -> tuple[Outcome, tuple[()]]:
            file = files.path(f"{TOKENIZER}/tokenizer.model")
            file.write_bytes(model)
            return Outcome(digests={"tokenizer": load(file).fingerprint}), ()

        desk.do(units[0], write)

    return Step(
        "tokenizer",
        (TOKENIZER,),
        units,
        act,
        [wanted, TRAINING_BYTES_PER_PIECE, state.recipe.seed],
        code_version(("glotmill.tokenize.vocabulary", "glotmill.jobs.sampling"), ("sentencepiece",)),
    )


def tokenizer_of(state: State) -> Tokenizer:
    """The tokenizer of this run."""
    return load(state.out / TOKENIZER)


def tokenize_step(state: State) -> Step:
    asked = state.recipe.shards
    policy = {"append_eos": asked.append_eos, "prepend_bos": asked.prepend_bos}

    def units(state: State) -> list[Unit]:
        made = state.receipts("tokenizer")[ONLY].digests["tokenizer"]
        before = following("tokenize", (("cut", "kept"),), state)
        return [Unit(u.step, u.key, u.label, {}, (*u.upstream, made)) for u in before]

    def work(state: State) -> Any:
        return partial(_tokenize, out=state.out, append_eos=asked.append_eos, prepend_bos=asked.prepend_bos)

    return Step(
        "tokenize",
        ("tokens",),
        units,
        over(work),
        policy,
        code_version(("glotmill.tokenize.store",), ("sentencepiece", "tokenizers")),
    )


def _tokenize(
    unit: Unit, files: Transaction, *, out: Path, append_eos: bool, prepend_bos: bool
) -> tuple[Outcome, tuple[()]]:
    tokenizer = _loaded(out / TOKENIZER, unit.upstream[-1])
    return tokenize_unit(unit, files, out=out, tokenizer=tokenizer, append_eos=append_eos, prepend_bos=prepend_bos)


@lru_cache(maxsize=1)
def _loaded(path: Path, fingerprint: str) -> Tokenizer:
    """Once a worker; by content, since a worker may outlive a run."""
    return load(path)


def mix_step(state: State) -> Step:
    asked, seed = state.recipe.mix, state.recipe.seed
    read = fingerprint(tables(asked, state.base))  # here, so that a bad table stops a run before any work

    def act(spark: SparkSession, state: State, units: Sequence[Unit], desk: Desk) -> None:
        index = plans.index(spark, state)
        made = Plan(seed, asked.tokens, asked.max_epochs)
        if index is not None:
            aimed = partial(aim, asked, base=state.base)
            made = plan_mix(index, aimed=aimed, max_epochs=asked.max_epochs, seed=seed)

        def write(unit: Unit, files: Transaction) -> tuple[Outcome, tuple[()]]:
            told = made.to_json()
            files.path("mix.json").write_bytes(json.dumps(told, ensure_ascii=False, indent=1).encode() + b"\n")
            documents, used = (sum(getattr(s, n) for s in made.cells.values()) for n in ("documents", "used"))
            left = {"not_in_mix": documents - used} if documents > used else {}
            facts = {"planned": made.planned, "uses": made.uses}
            return Outcome(Books(documents, used, left), {"mix": fingerprint(told)}, facts=facts), ()

        desk.do(units[0], write)

    return Step(
        "mix",
        (),
        lambda state: [Unit("mix", ONLY, "mix", {}, (_store_digest(state), read))],
        act,
        [asked.model_dump(mode="json"), seed],
        code_version(("glotmill.curate.mix.spark", "glotmill.jobs.plans")),
    )


def _store_digest(state: State) -> str:
    return fingerprint(sorted((key, r.digests["tokens"]) for key, r in state.receipts("tokenize").items()))


def plan_of(state: State) -> Plan:
    return Plan.from_json(json.loads((state.out / "mix.json").read_bytes()))


def shard_step(state: State) -> Step:
    aim = state.recipe.shards.shard_tokens

    def units(state: State) -> list[Unit]:
        mix = state.receipts("mix")[ONLY]
        count = math.ceil(mix.facts["planned"] / aim)
        made = state.receipts("tokenizer")[ONLY].digests["tokenizer"]
        upstream = (mix.digests["mix"], _store_digest(state), made)
        names = [f"{state.recipe.name}-{number:05d}" for number in range(count)]
        return [Unit("shard", name, name, {"shards": count}, upstream) for name in names]

    def act(spark: SparkSession, state: State, units: Sequence[Unit], desk: Desk) -> None:
        rows = plans.shard_rows(spark, state, plan_of(state), units[0].payload["shards"])
        work = partial(write_shard, out=state.out, vocabulary_size=tokenizer_of(state).vocabulary_size)
        raise_reported(over_groups(rows, units, work, desk, by="shard").toArrow())
        # A stretch of the order in which no document falls is a shard without documents.
        finish_empty(units, rows.limit(0).toArrow().drop_columns(["shard"]).schema, work, desk, "shard")

    return Step(
        "shard",
        ("shards",),
        units,
        act,
        state.recipe.name,
        code_version(("glotmill.tokenize.shards", "glotmill.curate.mix.spark", "glotmill.jobs.plans")),
    )


def manifest_step(state: State) -> Step:
    told = state.recipe.model_dump(mode="json")

    def units(state: State) -> list[Unit]:
        parts = sorted((key, r.digests["shard"]) for key, r in state.receipts("shard").items())
        made = state.receipts("tokenizer")[ONLY].digests["tokenizer"]
        return [Unit("manifest", ONLY, "manifest", {}, (fingerprint(parts), made))]

    def act(spark: SparkSession, state: State, units: Sequence[Unit], desk: Desk) -> None:
        def write(unit: Unit, files: Transaction) -> tuple[Outcome, tuple[()]]:
            manifest = write_manifest(
                files,
                state.receipts("shard").values(),
                recipe=state.recipe.name,
                recipe_fingerprint=fingerprint(told),
                seed=state.recipe.seed,
                tokenizer=tokenizer_of(state),
                append_eos=state.recipe.shards.append_eos,
                prepend_bos=state.recipe.shards.prepend_bos,
            )
            return Outcome(digests={"manifest": fingerprint(manifest.to_json().decode())}), ()

        desk.do(units[0], write)

    return Step("manifest", ("shards",), units, act, told, code_version(("glotmill.tokenize.manifest",)))
