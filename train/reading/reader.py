"""The global order of samples, and the batches of one rank."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from glotmill.schemas.errors import RecipeError
from glotmill.train.reading.blend import Phase, checked_phases, whole_weights
from glotmill.train.reading.concat import Concatenated
from glotmill.train.reading.kernels.fill import COLUMNS, fill
from glotmill.train.reading.kernels.round_robin import choose
from glotmill.train.reading.packing import BestFit
from glotmill.train.reading.sequences import Ints, Pieces, Seen, Sequences, pieces
from glotmill.train.reading.source import Opened, Source, opened
from glotmill.train.reading.state import VERSION, Place, State, check_unchanged
from glotmill.train.reading.stored import StoreOptions

POOL = 1 << 24
Int32s = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples of one rank.

    Args:
        tokens, labels: int32 [n, L]; views of one array, labels a token further.
        loss_mask: uint8 [n, L], 1 where the label is learnt: 0 at padding, where the label begins another document
            (unless asked for) and where the shards' stored mask says so.
        position_ids: int32 [n, L], from 0 at every document's begin and at the sample's.
        cu_seqlens: int32 [segments + 1], documents in the n * L tokens of the batch, as attention over packed sequences
            takes them. Documents come from the index, never from looking for EOS. Padding is a segment of its own.
        segments: int32 [n + 1]; sample b begins at cu_seqlens[segments[b]].
        max_seqlen: Tokens of the longest segment.
        source: int32 [n], index into the reader's `names`.
        sample: int64 [n], number in the global order.
        refs: int64 [n, 3], epoch, unit and part: `Reader.documents` says what they are.
        state: Of the global order behind the global batch that this is a part of.
    """

    tokens: Int32s
    labels: Int32s
    loss_mask: NDArray[np.uint8]
    position_ids: Int32s
    cu_seqlens: Int32s
    segments: Int32s
    max_seqlen: int
    source: Int32s
    sample: Ints
    refs: Ints
    state: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """A global batch: source and reference of each sample, before anything is read."""

    first: int
    length: int
    source: Int32s
    refs: Ints


@dataclass(frozen=True, slots=True)
class Part:
    """A document, or a part of one, in a sample.

    Args:
        shard: Prefix of the shard's files.
        sequence: Row of the shard's .idx, and of its provenance.
        first: Token of the document that stands at `at`.
        at: Place in the sample.
        tokens: How many of the sample's tokens are the document's.
    """

    shard: str
    sequence: int
    first: int
    at: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Row:
    """What `Reader.report` says of a source. Shares are of tokens, since the weights changed last."""

    source: str
    requested: float
    achieved: float
    tokens: int
    epochs: float
    leapt: int


@dataclass(frozen=True, slots=True)
class _Options:
    length: int
    seed: int
    packing: Literal["concat", "best_fit"]
    block: int
    pool: int
    across: bool
    pad: int
    phases: tuple[Phase, ...] = field(default=())


class Reader:
    """Reads blends of shards, in an order that depends on nothing but seed, sources and phases.

    Args:
        sources: Their weights are shares of tokens.
        sequence_length: L, tokens of a sample.
        seed: Of the order of every epoch.
        phases: Weights over the run; without any, the sources' weights for ever.
        packing: "concat" cuts documents wherever a sequence ends; "best_fit" keeps those that fit whole, and pads.
        block_tokens: What is permuted in "concat", a multiple of every sequence length of the run; the longest of them
            by default. A remote store is asked for such a block at once.
        pool_tokens: Documents that are packed together in "best_fit".
        loss_across_documents: Learn a document's first token from the document before.
        pad_id: Of padding. It is known by its place, so any id will do.
        store: How a remote store is read.

    Raises:
        ShardError: shards are absent, don't have the size their manifest says, or don't fit together.
        RecipeError: weights, phases or lengths can't be.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        sequence_length: int,
        seed: int = 0,
        phases: Sequence[Phase] = (),
        packing: Literal["concat", "best_fit"] = "concat",
        block_tokens: int | None = None,
        pool_tokens: int = POOL,
        loss_across_documents: bool = False,
        pad_id: int = 0,
        store: StoreOptions | None = None,
    ) -> None:
        if not sources:
            raise RecipeError("a reader without sources reads nothing; give it one")
        stages = tuple(phases) or (Phase({source.name: source.weight for source in sources}),)
        checked_phases(stages, [source.name for source in sources])
        lengths = sorted({phase.sequence_length or sequence_length for phase in stages})
        block = block_tokens or lengths[-1]
        if lengths[0] < 1 or (packing == "concat" and any(block % length for length in lengths)):
            raise RecipeError(
                f"block_tokens is {block} and sequences have {lengths} tokens; give a multiple of them all"
            )
        self.options = _Options(
            sequence_length, seed, packing, block, pool_tokens, loss_across_documents, pad_id, stages
        )
        self.sources = opened(sources, store or StoreOptions())
        self.names = tuple(self.sources)
        self._state = State(places={name: Place() for name in self.names})
        self._parked: dict[str, list[str]] = {}  # digests of sources that a loaded state knows and this reader doesn't
        self._cut: dict[str, Sequences] = {name: self._sequences(source) for name, source in self.sources.items()}

    def batches(self, global_batch: int, *, rank: int = 0, ranks: int = 1) -> Iterator[Batch]:
        """From where the state is: of global batch t, the samples n with n % ranks == rank.

        The state follows what was taken from this iterator. It ends with the last whole global batch of the last phase.

        Args:
            global_batch: Samples of all ranks; a multiple of `ranks`.
        """
        for batch in self.batches_of(self._state, global_batch, rank=rank, ranks=ranks):
            self._state = State.from_dict(batch.state)
            yield batch

    def batches_of(
        self, state: State, global_batch: int, *, rank: int, ranks: int, worker: int = 0, workers: int = 1
    ) -> Iterator[Batch]:
        """Batches behind `state`, those numbered worker, worker + workers ...; the reader's own state stays."""
        if global_batch < 1 or global_batch % ranks or not 0 <= rank < ranks:
            raise RecipeError(
                f"rank {rank} of {ranks} can't share global batches of {global_batch}; a multiple of the ranks can"
            )
        number = 0
        while (planned := self.plan(state, global_batch)) is not None:
            plan, state = planned
            if number % workers == worker:
                yield self.read(plan, np.arange((rank - plan.first) % ranks, global_batch, ranks), state)
            number += 1

    def plan(self, state: State, samples: int) -> tuple[Plan, State] | None:
        """The next global batch and the state behind it; None where the phases end before."""
        first, length, source, refs = state.samples, 0, [], []
        while (lacking := samples - (state.samples - first)) > 0:
            found = self._phase(state, length)
            if found is None:
                return None
            phase, left, wanted = found
            if length and wanted != length:  # a batch has one length: the phase before lasts to its end
                phase, left = state.phase, None
            else:
                length = wanted
            some = lacking if left is None else min(lacking, left)
            state, chosen, taken = self._taken(state, phase, length, some)
            source.append(chosen)
            refs.append(taken)
        return Plan(first, length, np.concatenate(source), np.concatenate(refs)), state

    def read(self, plan: Plan, rows: Ints, state: State) -> Batch:
        """Some samples of a global batch, from disk or store."""
        source, refs, n, length = plan.source[rows], plan.refs[rows], len(rows), plan.length
        found = [Pieces(np.empty((0, COLUMNS), np.int64), [])]
        for s in np.unique(source).tolist():
            mine = np.flatnonzero(source == s)
            name = self.names[s]
            found.append(pieces(self.sources[name], self._cut[name], refs[mine], mine, length))
        every = np.concatenate([f.rows for f in found])
        if len(found) > 2:
            every = every[np.argsort(every[:, 0], kind="stable")]
        buffer = np.empty((n, length + 1), np.int32)
        mask, positions = np.empty((n, length), np.uint8), np.empty((n, length), np.int32)
        bounds, segments = np.empty(n * length + 1, np.int32), np.empty(n + 1, np.int32)
        packed, across = self.options.packing == "best_fit", np.uint8(self.options.across)
        used = fill(every, packed, across, self.options.pad, buffer, mask, positions, bounds, segments)
        del found  # the addresses pointed into its arrays until here
        bounds = bounds[:used].copy()
        return Batch(
            tokens=buffer[:, :-1],
            labels=buffer[:, 1:],
            loss_mask=mask,
            position_ids=positions,
            cu_seqlens=bounds,
            segments=segments,
            max_seqlen=int(np.diff(bounds).max(initial=0)),
            source=source,
            sample=plan.first + rows,
            refs=refs,
            state=state.to_dict(),
        )

    @property
    def state(self) -> State:
        return self._state

    @property
    def remote(self) -> bool:
        """Some shards lie in a remote store."""
        return any(shard.store.remote for source in self.sources.values() for shard in source.shards)

    def follow(self, consumed: dict[str, Any]) -> None:
        """Take a batch's `state` for what has been consumed, when batches were made elsewhere."""
        self._state = State.from_dict(consumed)

    def state_dict(self) -> dict[str, Any]:
        """What has been consumed, as whole numbers and digests; the same on every rank. Fit for JSON."""
        return self.completed(self._state.to_dict())

    def completed(self, numbers: dict[str, Any]) -> dict[str, Any]:
        """A batch's `state` with all that `load_state_dict` checks."""
        mine = {name: list(source.digests.values()) for name, source in self.sources.items()}
        return {"version": VERSION, **numbers, "order": self._order, "data": self._parked | mine}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on behind a state. Ranks, global batch, workers, weights, phases and sources may have changed.

        Raises:
            ShardError: a source isn't the data that it was.
            RecipeError: the order would be another one.
        """
        if state["version"] != VERSION:
            raise RecipeError(
                f"the reader's state has version {state['version']}, known is {VERSION}; use its glotmill"
            )
        for what, value in self._order.items():
            if state["order"].get(what) != value:
                raise RecipeError(
                    f"the state was saved with {what} {state['order'].get(what)} and the reader has {value}: samples "
                    f"would repeat; give the reader the saved {what}, or begin anew without the state"
                )
        check_unchanged(state["data"], {name: source.digests for name, source in self.sources.items()})
        saved = State.from_dict(state)
        new = {name: Place() for name in self.names if name not in saved.places}
        self._state = saved.with_places(new)
        self._parked = {name: digests for name, digests in state["data"].items() if name not in self.names}

    def unseen(self) -> dict[str, Seen]:
        """What of each source's current epoch hasn't come yet. Parked sources keep their cursors and aren't told."""
        length = self._state.length or self.options.length
        return {name: self._cut[name].seen(self._state.places[name].cursor, length) for name in self.names}

    def report(self) -> list[Row]:
        """Requested and achieved shares of tokens, and epochs, of each source."""
        places = {name: self._state.places[name] for name in self.names}
        since = sum(place.since for place in places.values())
        weights = sum(place.weight for place in places.values())
        rows = []
        for name, place in places.items():
            seen = self._cut[name].seen(place.cursor, self._state.length or self.options.length)
            epochs = seen.epoch + seen.seen / max(1, seen.seen + seen.unseen)
            achieved, requested = place.since / max(1, since), place.weight / max(1, weights)
            rows.append(Row(name, requested, achieved, place.tokens, epochs, place.leapt))
        return rows

    def fill_rate(self, name: str, pools: int = 1) -> float:
        """Share of a source's places that hold a token when its first pools are packed; 1 where nothing is packed."""
        cut = self._cut[name]
        return cut.fill_rate(pools, self.options.length) if isinstance(cut, BestFit) else 1.0

    def documents(self, batch: Batch, row: int) -> list[Part]:
        """Which documents a sample is made of, its last label not counted."""
        name = self.names[int(batch.source[row])]
        source, cut, length = self.sources[name], self._cut[name], batch.tokens.shape[1]
        _, at, start, stop = cut.ranges(batch.refs[row : row + 1], length)
        found = []
        stop = np.minimum(stop, start + length - at)
        for number, s, first, count in source.located(start, stop).tolist():
            shard = source.shards[s]
            place = int(at[number]) + int(source.starts[s]) + first - int(start[number])
            found += _parts(shard, first, count, place)
        return found

    @cached_property
    def _order(self) -> dict[str, int | str]:
        unit = self.options.block if self.options.packing == "concat" else self.options.pool
        what = "block_tokens" if self.options.packing == "concat" else "pool_tokens"
        return {"seed": self.options.seed, "packing": self.options.packing, what: unit}

    def _sequences(self, source: Opened) -> Sequences:
        if self.options.packing == "concat":
            return Concatenated(source.name, source.tokens, self.options.block, self.options.seed)
        return BestFit(source, self.options.pool, self.options.seed)

    def _phase(self, state: State, length: int) -> tuple[int, int | None, int] | None:
        """The phase of the next sample, samples left in it and its length; None behind the last."""
        for n, phase in enumerate(self.options.phases):
            mine = phase.sequence_length or self.options.length
            left = phase.samples_left(state.samples, state.tokens, mine)
            if left is None or left > 0:
                return n, left, mine
        return None

    def _taken(self, state: State, phase: int, length: int, samples: int) -> tuple[State, Int32s, Ints]:
        places = {name: state.places[name] for name in self.names}
        places = self._weighted(places, phase)
        if state.length not in (0, length):
            places = {name: self._aligned(name, place, length, state.length) for name, place in places.items()}
        weights = np.array([place.weight for place in places.values()], np.int64)
        credits = np.array([place.credit for place in places.values()], np.int64)
        source, refs = np.empty(samples, np.int32), np.empty((samples, 3), np.int64)
        choose(weights, credits, source)
        counts = np.bincount(source, minlength=len(places))
        by_source = np.split(np.argsort(source, kind="stable"), np.cumsum(counts)[:-1])
        for s, (name, place) in enumerate(places.items()):
            cursor, count = place.cursor, int(counts[s])
            if count:
                refs[by_source[s]], cursor = self._cut[name].take(cursor, count, length)
            places[name] = replace(
                place,
                cursor=cursor,
                credit=int(credits[s]),
                tokens=place.tokens + count * length,
                since=place.since + count * length,
            )
        done = state.with_places(
            places,
            samples=state.samples + samples,
            tokens=state.tokens + samples * length,
            length=length,
            phase=phase,
        )
        return done, source, refs

    def _weighted(self, places: dict[str, Place], phase: int) -> dict[str, Place]:
        """Places with the phase's weights; where these are new, every credit begins at 0."""
        weights = self._weights[phase]
        if all(place.weight == weights[name] for name, place in places.items()) and not sum(
            place.credit for place in places.values()
        ):
            return places
        return {name: replace(place, weight=weights[name], credit=0, since=0) for name, place in places.items()}

    @cached_property
    def _weights(self) -> list[dict[str, int]]:
        whole = [whole_weights([phase.weights[name] for name in self.names]) for phase in self.options.phases]
        return [dict(zip(self.names, weights.tolist(), strict=True)) for weights in whole]

    def _aligned(self, name: str, place: Place, length: int, before: int) -> Place:
        cursor, leapt = self._cut[name].aligned(place.cursor, length, before)
        return replace(place, cursor=cursor, leapt=place.leapt + leapt)


def printed(rows: Sequence[Row]) -> str:
    """A report as text."""
    lines = [f"{'source':24} {'requested':>9} {'achieved':>9} {'tokens':>15} {'epochs':>8} {'leapt':>8}"]
    for r in rows:
        told = f"{100 * r.requested:8.3f}% {100 * r.achieved:8.3f}% {r.tokens:15,} {r.epochs:8.3f} {r.leapt:8,}"
        lines.append(f"{r.source:24} {told}")
    return "\n".join([*lines, "shares are of tokens since the weights changed last"])


def _parts(shard: Any, first: int, count: int, place: int) -> list[Part]:
    """Documents in tokens first to before first + count of a shard, which stand from `place` on."""
    sequence = shard.first_document(first + 1) - 1  # the last that begins at or before it; no empty one is behind
    found = []
    end = first + count
    while first < end:
        begin = int(shard.pointers(sequence, sequence + 1)[0]) // shard.itemsize
        stop = begin + int(shard.lengths(sequence, sequence + 1)[0])
        if stop > first:
            some = min(stop, end) - first
            found.append(Part(shard.prefix, sequence, first - begin, place, some))
            first, place = first + some, place + some
        sequence += 1
    return found
