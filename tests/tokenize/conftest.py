"""Small tokenizers, and an output folder made with them as the pipeline makes it."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tokenizers import Tokenizer as Library
from tokenizers import decoders, models, pre_tokenizers, trainers

from glotmill.schemas.atomic import transaction
from glotmill.schemas.document import DOCUMENT, KEPT
from glotmill.schemas.ids import document_id, order_key
from glotmill.schemas.ledger import Ledger, Receipt, do_unit
from glotmill.schemas.manifest import Manifest
from glotmill.schemas.units import Outcome, Unit
from glotmill.tokenize.manifest import write_manifest
from glotmill.tokenize.shards import write_shard
from glotmill.tokenize.store import STORE, tokenize_unit
from glotmill.tokenize.tokenizer import Tokenizer, load
from glotmill.tokenize.vocabulary import train

PHRASES = {
    "eng_Latn": "Every record is accounted for, and nothing vanishes in a log line.",
    "ita_Latn": "Perché no? Così è la vita, disse l'uomo più anziano della città.",
    "yor_Latn": "Ọjọ́ dára, ẹ kú àárọ̀; o\u0300jò ń rọ̀.",
    "arb_Arab": "كل سجل محسوب، ولا شيء يضيع.",
    "hin_Deva": "हर दस्तावेज़ का हिसाब है, क्षत्रिय।",
    "tha_Thai": "เอกสารทุกฉบับมีที่มา ไม่มีอะไรหายไป",
    "zho_Hans": "每一条记录都有着落。\u2028没有一条会丢失。",
    "jpn_Jpan": "すべての記録には理由がある。カタカナもｶﾅも。",
    "kor_Hang": "모든 기록은 설명된다.",
    "amh_Ethi": "እያንዳንዱ መዝገብ ይቆጠራል።",
    "und_Zzzz": "a ▁ b\0\t x  y </s> <s> <|endoftext|> ﬁ ① e\u0301 \U0001f469\u200d\U0001f4bb \u2585",
}


@pytest.fixture(scope="session")
def phrases() -> dict[str, str]:
    return PHRASES


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentencepiece model of our own making."""
    path = tmp_path_factory.mktemp("trained") / "tokenizer.model"
    path.write_bytes(train([pa.array(list(PHRASES.values()) * 200)], vocabulary=1000))
    return path


@pytest.fixture(scope="session")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level tokenizer.json that truncates, pads and adds tokens of its own, as such files may."""
    library = Library(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<|endoftext|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    library.train_from_iterator(PHRASES.values(), trainer)
    library.enable_truncation(4)
    library.enable_padding(length=64)
    folder = tmp_path_factory.mktemp("byte_level")
    library.save(str(folder / "tokenizer.json"))
    return folder


Build = Callable[..., Path]


@pytest.fixture
def documents() -> Callable[..., None]:
    """Write documents/ and kept/ of one unit."""
    return write_documents


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory, trained: Path) -> Build:
    """Tokenize texts and write one shard a name; `texts` by unit: [(language, text)]. A new folder each time."""

    def built(
        texts: dict[str, list[tuple[str, str]]],
        *,
        tokenizer: Tokenizer | None = None,
        append_eos: bool = True,
        prepend_bos: bool = False,
        shards: tuple[str, ...] = ("00000", "00001"),
        epochs: int = 2,
    ) -> Path:
        out = tmp_path_factory.mktemp("built") / "out"
        Ledger(out).begin("run")
        tokenizer = tokenizer or load(trained)
        policy = {"append_eos": append_eos, "prepend_bos": prepend_bos}

        def done(unit: Unit, work: Callable[..., tuple[Outcome, tuple[()]]]) -> Receipt:
            return do_unit(unit, work, out=out, run="run", token="t", config={}, code="", clock=lambda: 0.0)

        for key, documents in texts.items():
            write_documents(out, key, documents)
            done(
                Unit("tokenize", key, key),
                lambda unit, files: tokenize_unit(unit, files, out=out, tokenizer=tokenizer, **policy),
            )
        size = tokenizer.vocabulary_size
        receipts = []
        for number, name in enumerate(shards):
            rows = plan(out, epochs=epochs, shard=number, shards=len(shards))
            receipts.append(
                done(
                    Unit("shard", name, name),
                    lambda unit, files, rows=rows: (
                        write_shard(unit, files, rows, out=out, vocabulary_size=size),
                        (),
                    ),
                )
            )
        with transaction(out, "t") as files:
            manifest = write_manifest(
                files, receipts, recipe="r", recipe_fingerprint="f", seed=0, tokenizer=tokenizer, **policy
            )
            files.commit()
        assert Manifest.load(out / "shards" / "manifest.json") == manifest
        return out

    return built


def write_documents(out: Path, key: str, documents: list[tuple[str, str]]) -> None:
    """documents/ and kept/ of one unit; documents/ holds one more, which was dropped."""
    rows = [
        {
            "id": document_id("s", f"{key}@{at}"),
            "text": text,
            "source": "s",
            "record": f"{key}@{at}",
            "domain": "web",
            "charset_guessed": False,
            "language": language,
            "bytes": len(text.encode()),
            "cuts": [],
        }
        for at, (language, text) in enumerate([*documents, ("eng_Latn", "dropped")])
    ]
    for folder, schema, some in (("documents", DOCUMENT, rows), ("kept", KEPT, rows[:-1][::-1])):
        (out / folder).mkdir(parents=True, exist_ok=True)
        columns = [pa.array([row.get(field.name) for row in some], field.type) for field in schema]
        pq.write_table(pa.Table.from_arrays(columns, schema=schema), out / folder / f"{key}.parquet")


def plan(out: Path, *, epochs: int, shard: int, shards: int) -> pa.Table:
    """Every document of the store `epochs` times, as a plan deals them to shard number `shard`."""
    rows = []
    for path in sorted((out / STORE).glob("*/*.docs.parquet")):
        for row in pq.read_table(path).to_pylist():
            for epoch in range(epochs):
                place = {"cell": path.parent.name, "unit": path.name.removesuffix(".docs.parquet")}
                rows.append({**row, **place, "epoch": epoch, "key": order_key(0, epoch, row["id"])})
    types = {"key": pa.uint64(), "epoch": pa.int32(), "sequence": pa.int64(), "tokens": pa.int64()}
    names = "key epoch id cell unit sequence tokens source record url license language domain".split()
    rows = [row for row in rows if row["key"] % shards == shard]
    return pa.table({name: pa.array([row[name] for row in rows], types.get(name, pa.string())) for name in names})
