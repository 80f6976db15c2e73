"""The reference of a calibration, measured."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from glotmill.curate.calibrate.fit import fitted_rules
from glotmill.curate.calibrate.unigrams import UNIGRAM
from glotmill.curate.calibrate.word_counts import Counts, WordCounts, likelihoods
from glotmill.curate.judgement import judge_batch
from glotmill.curate.kernels.pieces import pieces
from glotmill.curate.kernels.vocabulary import SUM, UNITS, look_up
from glotmill.curate.language import language
from glotmill.curate.lines import line_cuts
from glotmill.curate.measure import Measure, chain
from glotmill.curate.quality import ratio
from glotmill.curate.rules import RuleSet
from glotmill.curate.signals import OF_TEXT

WEB = "web"
_STRETCH = 32


@dataclass(frozen=True, slots=True)
class Sample:
    """n documents, measured.

    Args:
        table: n rows: `id`, `language` (the hint where the input gives one: the user knows), `found` (what the language
            model says), `script` and every signal that a rule may read.
        words: By language, the counts of its units of letters.
    """

    table: pa.Table
    words: dict[str, Counts]

    def enough(self, least: int) -> pa.Table:
        """The rows of languages with at least so many documents."""
        counts = Counter(self.table["language"].to_pylist())
        names = [name for name, count in counts.items() if count >= least]
        return self.table.filter(pc.is_in(self.table["language"], pa.array(names, pa.string())))


def languages(rows: pa.Table) -> npt.NDArray[np.object_]:
    """By document, its label."""
    found: npt.NDArray[np.object_] = rows["language"].to_numpy(zero_copy_only=False)
    return found


def signals(rows: pa.Table) -> dict[str, npt.NDArray[np.float64]]:
    """By name, the values of the signals that limits are fitted to."""
    names = sorted({rule.signal for rule in fitted_rules()})
    return {name: rows[name].to_numpy().astype(np.float64) for name in names}


def kept(rows: pa.Table, rules: RuleSet) -> npt.NDArray[np.bool_]:
    """By document, whether the rules keep it, as web text."""
    found = []
    for batch in rows.append_column("domain", pa.repeat(WEB, rows.num_rows)).to_batches():
        found.append(judge_batch(batch, rules)["keep"].to_numpy(zero_copy_only=False))
    return np.concatenate(found)


def measure_sample(read: Callable[[], Iterable[pa.RecordBatch]], *, model: str) -> Sample:
    """Measure reference documents: `id`, `text` and `language_hint`.

    How likely a document's words are is taken from the counts of the other half of its language's documents: from its
    own they would flatter it. So the documents are read twice.
    """
    counts, seen = WordCounts(), Counter[str]()
    batches, groups = [], []
    measure = chain((line_cuts, *OF_TEXT))
    for batch in read():
        batch = measure(_labelled(batch, language.bind(model=model)))
        groups.append(_halves(batch["language"].to_pylist(), seen))
        counts.add(pieces(batch["text"]), [f"{name}.{half}" for name, half in groups[-1]])
        batches.append(batch.drop_columns(["text", "cuts"]))
    by_half = counts.counts()
    words = _joined(by_half)
    shares = {group: of.sum() / words[group.rpartition(".")[0]][1].sum() for group, (_, of) in by_half.items()}
    known = likelihoods(by_half, of_all=shares)
    likely = []
    for batch, pairs in zip(read(), groups, strict=True):
        found = look_up(pieces(batch["text"]), pa.array([f"{name}.{1 - half}" for name, half in pairs]), known)
        likely.append(ratio(found[:, SUM], found[:, UNITS]))
    table = pa.Table.from_batches(batches).append_column(UNIGRAM, pa.array(np.concatenate(likely)))
    return Sample(table, words)


def _labelled(batch: pa.RecordBatch, measure: Measure) -> pa.RecordBatch:
    """With the language that the model finds as `found`, and the hint, where there is one, as `language`."""
    batch = measure(batch)
    found = batch["language"]
    label = pc.coalesce(batch["language_hint"], found)
    batch = batch.set_column(batch.schema.get_field_index("language"), "language", label)
    return batch.append_column("found", found).drop_columns(["language_hint"])


def _halves(labels: list[str], seen: Counter[str]) -> list[tuple[str, int]]:
    """By document, its language and the half that it is in: stretches of documents go to each in turn, since those that
    stand together tell of the same things.
    """
    found = []
    for label in labels:
        found.append((label, seen[label] // _STRETCH % 2))
        seen[label] += 1
    return found


def _joined(by_half: dict[str, Counts]) -> dict[str, Counts]:
    """The counts of both halves of each language."""
    found: dict[str, Counts] = {}
    for group, counts in sorted(by_half.items()):
        name = group.rpartition(".")[0]
        if name in found:
            units = np.concatenate([found[name][0], counts[0]])
            keys, places = np.unique(units, return_inverse=True)
            sums = np.bincount(places, weights=np.concatenate([found[name][1], counts[1]])).astype(np.int64)
            found[name] = keys, sums
        else:
            found[name] = counts
    return found
