"""
What can go wrong, sorted by who must act:

* GlotmillError
  x RecipeError       the recipe (or a command-line option) asks for what can't be: edit it            exit code 2
  x InputError        an input is absent, unreadable or lacks a column: fix the input or its path      exit code 2
  x SchemaError       a batch lacks a column, or holds another type: fix the code or table that made it
  x LedgerError       the output folder contradicts its own receipts, or another run holds it
  x BooksError        a step lost or invented records: a bug of ours, never to be waved through
  x GuardError        a step would remove more than the recipe allows: look at the examples, then edit the recipe
  x ShardError        a shard, index or manifest is damaged or contradicts the others
"""


class GlotmillError(Exception):
    """Base class, so that a caller can catch everything this package raises on purpose."""

    exit_code = 1


class RecipeError(GlotmillError):
    """The recipe is wrong; the message names the file, the line and the remedy."""

    exit_code = 2


class InputError(GlotmillError):
    """An input is absent, unreadable or of another shape than the recipe says."""

    exit_code = 2


class SchemaError(GlotmillError):
    """A batch does not have the columns it was declared to have."""


class LedgerError(GlotmillError):
    """The output folder is held by another run, or contradicts its receipts."""


class BooksError(GlotmillError):
    """records in differs from kept + dropped + quarantined."""


class GuardError(GlotmillError):
    """A step would remove a larger share than the recipe allows; the message shows examples and says what to do."""


class ShardError(GlotmillError):
    """A shard, its index or its manifest is damaged or contradicts the others."""
