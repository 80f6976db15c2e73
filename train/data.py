"""The reader of shards: blends of sources, in an order that any number of ranks and workers can go on with.

    sources = [Source("web", ["web/shards/manifest.json"], 0.7), Source("code", ["s3://data/code/manifest.json"], 0.3)]
    reader = Reader(sources, sequence_length=4096)
    for batch in reader.batches(global_batch=512, rank=rank, ranks=ranks):  # numpy
        ...
    for batch in loader(reader, 512, rank=rank, ranks=ranks, workers=2):  # torch tensors
        ...

docs/reader.md tells more.
"""

from typing import TYPE_CHECKING

from glotmill.train.reading.blend import Phase
from glotmill.train.reading.reader import Batch, Part, Reader, Row, printed
from glotmill.train.reading.sequences import Seen
from glotmill.train.reading.source import Source
from glotmill.train.reading.stored import StoreOptions

if TYPE_CHECKING:
    from glotmill.train.reading.torch_batches import Loader

__all__ = ["Batch", "Part", "Phase", "Reader", "Row", "Seen", "Source", "StoreOptions", "loader", "printed"]


def loader(
    reader: Reader, global_batch: int, *, rank: int = 0, ranks: int = 1, workers: int = 0, ahead: int = 2
) -> "Loader":
    """Batches of one rank as dicts of torch tensors: the fields of Batch, without `state`.

    Args:
        workers: Processes that read; 0 reads in this one. They change speed, never which samples come.
        ahead: Batches that each worker keeps ready.
    """
    from glotmill.train.reading.torch_batches import Loader  # torch is asked for here, and nowhere else

    return Loader(reader, global_batch, rank, ranks, workers, ahead)
