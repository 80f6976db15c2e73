"""Batches as torch tensors, read ahead by worker processes, with a state that is exact all the same.

The only file of the reader that needs torch; glotmill.train.data imports it when a loader is asked for.
"""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from glotmill.train.reading.reader import Batch, Reader
from glotmill.train.reading.state import State


class Share(IterableDataset[dict[str, Any]]):
    """The batches of one rank behind a state; of several workers, each reads every n-th batch whole."""

    def __init__(self, reader: Reader, state: State, global_batch: int, rank: int, ranks: int) -> None:
        self.reader, self.state, self.global_batch, self.rank, self.ranks = reader, state, global_batch, rank, ranks

    def __iter__(self) -> Iterator[dict[str, Any]]:
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        yield from map(
            tensors,
            self.reader.batches_of(
                self.state, self.global_batch, rank=self.rank, ranks=self.ranks, worker=worker, workers=workers
            ),
        )


class Loader:
    """Iterate over it, save its state, load one.

    The state follows what was taken from it, not what workers have read ahead: each batch carries the state behind it.
    """

    def __init__(self, reader: Reader, global_batch: int, rank: int, ranks: int, workers: int, ahead: int) -> None:
        self.reader = reader
        self._global_batch, self._rank, self._ranks = global_batch, rank, ranks
        self._workers, self._ahead = workers, ahead

    def __iter__(self) -> Iterator[dict[str, Any]]:
        options: dict[str, Any] = {}
        if self._workers:  # a remote store's client doesn't survive a fork
            options = {
                "prefetch_factor": self._ahead,
                "multiprocessing_context": "spawn" if self.reader.remote else None,
            }
        share = Share(self.reader, self.reader.state, self._global_batch, self._rank, self._ranks)
        for batch in DataLoader(
            share, batch_size=None, num_workers=self._workers, collate_fn=_unchanged, in_order=True, **options
        ):
            self.reader.follow(batch.pop("state"))
            yield batch

    def state_dict(self) -> dict[str, Any]:
        return self.reader.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.reader.load_state_dict(state)


def tensors(batch: Batch) -> dict[str, Any]:
    """The fields of a batch, arrays as tensors that share their memory."""
    every = {field.name: getattr(batch, field.name) for field in fields(batch)}
    return {name: torch.from_numpy(v) if hasattr(v, "dtype") else v for name, v in every.items()}


def _unchanged(batch: Any) -> Any:
    return batch
