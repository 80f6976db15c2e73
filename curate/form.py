"""Whether a text is prose at all: what of it is source code, and what is tables."""

import numpy as np
import pyarrow as pa

from glotmill.curate.kernels.code_lines import CODE, LINES, TABLE, code_lines
from glotmill.curate.measure import Columns, measure


@measure(reads=["text"], adds={"code_line_share": pa.float64(), "table_line_share": pa.float64()})
def form(batch: pa.RecordBatch) -> Columns:
    """Shares of the lines that aren't blank which are source code, and which are rows of tables.

    A line is of one kind at the most, so that both add up to 1 or less. Prose of any script has neither: of NTREX-128's
    news in 129 languages no line is taken for code. A line of code is known by its marks, such as `);`, `{` or `=>`,
    not by its language, so it may be of any; see `glotmill.curate.kernels.code_lines`.

    Args:
        batch: n rows with `text: string`, no nulls.

    Adds:
        code_line_share: In [0, 1]; 0 without lines.
        table_line_share: In [0, 1]: lines with 2 or more tabs or pipes, or mostly of numbers.

    >>> batch = pa.RecordBatch.from_pylist([{"text": "for (;;) {\\n  run();\\n}\\na | b | c"}])
    >>> form(batch)["code_line_share"].to_pylist()
    [0.75]
    """
    counts = code_lines(batch["text"])
    lines = np.maximum(counts[:, LINES], 1)
    return {
        "code_line_share": pa.array(counts[:, CODE] / lines),
        "table_line_share": pa.array(counts[:, TABLE] / lines),
    }
