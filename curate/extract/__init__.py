"""Records in (WARC, HTML, JSONL, Parquet, text), documents out."""
