"""One unit of the measuring step: a file of documents in, a file of signals out."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from glotmill.curate.dedup.exact import text_hash
from glotmill.curate.dedup.options import criteria, shingling
from glotmill.curate.dedup.signature import minhash
from glotmill.curate.identify.models import NONE
from glotmill.curate.language import language, no_language
from glotmill.curate.line_rules import line_rules
from glotmill.curate.lines import count_cuts, line_cuts, without_cuts
from glotmill.curate.measure import Measure, chain
from glotmill.curate.signals import of_text, optional
from glotmill.schemas.atomic import Transaction
from glotmill.schemas.document import DOCUMENT
from glotmill.schemas.parquet import write_table
from glotmill.schemas.recipe import Recipe
from glotmill.schemas.units import Books, Outcome, Unit

DOCUMENTS, SIGNALS = "documents", "signals"
KEPT = ("id", "source_id", "source", "domain")  # columns of documents that signals repeat
READ = (*KEPT, "text", "language_hint")
_ROWS = 512  # rows in memory: documents may be megabytes each


def measures(recipe: Recipe) -> tuple[Measure, ...]:
    """What a recipe has measured, in order; the first one says which lines are cut out."""
    by, dedup = recipe.language, recipe.dedup
    signed: tuple[Measure, ...] = ()
    if dedup.mode == "fuzzy":
        signed = (minhash(shingling=shingling(dedup), permutations=dedup.permutations, seed=dedup.seed),)
    return (
        line_cuts.bind(rules=line_rules(recipe.quality)),
        no_language
        if by.model == NONE
        else language.bind(**by.model_dump(include={"model", "windows", "window_bytes"})),
        *of_text(recipe.quality, needed=[column for column, _ in criteria(dedup.keep)]),
        *optional(recipe.quality),
        text_hash.bind(raw=recipe.dedup.exact == "bytes"),
        *signed,
    )


def signals_schema(measures: Sequence[Measure]) -> pa.Schema:
    """Columns of the signals table: those kept of the document, then each measure's."""
    added = [field for measure in measures for field in measure.adds]
    return pa.schema([*(DOCUMENT.field(name) for name in KEPT), *added])


def measure_unit(
    unit: Unit, files: Transaction, *, out: Path, measures: Sequence[Measure]
) -> tuple[Outcome, tuple[()]]:
    """Measure `documents/<unit.key>.parquet` into `signals/<unit.key>.parquet`: same rows, same order, no text.

    What follows `line_cuts` among the measures sees the texts without the lines that it cuts out.

    Returns:
        The outcome, with the digest of the signals, the documents of each language, and lines and code points cut out
        by each line rule; and no stamps, since no raw file was read.
    """
    schema = signals_schema(measures)
    languages: Counter[str] = Counter()
    cut: dict[str, Counter[str]] = {}
    read = 0
    cutting = [measure for measure in measures if "cuts" in measure.adds.names]
    others = chain(measure for measure in measures if measure not in cutting)

    def signals() -> Iterator[pa.RecordBatch]:
        nonlocal read
        with pq.ParquetFile(out / DOCUMENTS / f"{unit.key}.parquet") as documents:
            for batch in documents.iter_batches(_ROWS, columns=list(READ)):
                read += pc.sum(pc.binary_length(batch["text"])).as_py() or 0
                if cutting:
                    batch = chain(cutting)(batch)
                    for reason, counts in count_cuts(batch["text"], batch["cuts"]).items():
                        cut.setdefault(reason, Counter()).update(counts)
                    batch = without_cuts(batch)
                done = others(batch).select(schema.names)
                languages.update(done["language"].to_pylist() if "language" in schema.names else ())
                yield done

    rows, digest = write_table(files.path(f"{SIGNALS}/{unit.key}.parquet"), signals(), schema)
    facts = {
        "languages": dict(sorted(languages.items())),
        "cuts": {reason: dict(cut[reason]) for reason in sorted(cut)},
    }
    books = Books(records=rows, kept=rows)
    return Outcome(books=books, digests={"signals": digest}, bytes_in=read, facts=facts), ()
