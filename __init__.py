"""glotmill: multilingual text in, training shards out.

schemas/   what the data is: Arrow schemas, recipe, languages, the shard format, receipts, errors
curate/    what is done to text: pure functions over Arrow batches, and the Spark plans that run them
tokenize/  text to tokens to shards (no __init__.py here: it would hide the standard library's tokenize)
train/     reads the shards
jobs/      where things start: one spark-submit script a job, and the `glotmill` command
"""

__version__ = "0.1.0"
