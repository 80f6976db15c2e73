"""Tables for a terminal."""

from collections.abc import Sequence


def columns(titles: Sequence[str], rows: Sequence[Sequence[str | int]]) -> str:
    """Text and numbers under titles; the first column is aligned to the left, the others to the right.

    >>> print(columns(("a", "n"), [("x", 1000), ("long", 2)]))
    a         n
    x     1,000
    long      2
    """
    cells = [list(titles), *([value if isinstance(value, str) else f"{value:,}" for value in row] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(titles))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    )
