"""text-dedup: its MinHash with the parameters of its sample configuration, one process."""

from functools import partial
from pathlib import Path

from dedup_contestant import main, write_kept

THRESHOLD, PERMUTATIONS = 0.7, 240


def dedup(path: Path, work: Path, *, check: bool) -> str:
    from datasets import load_from_disk
    from text_dedup import minhash
    from text_dedup.config.base import load_config_from_toml

    (work / "config.toml").write_text(
        f"""
        [input]
        input_type = "local_files"
        file_type = "json"
        read_arguments = {{ path = "json", data_files = "{path}", split = "train", cache_dir = "{work}/cache" }}
        [algorithm]
        algorithm_name = "minhash"
        text_column = "text"
        num_perm = {PERMUTATIONS}
        threshold = {THRESHOLD}
        ngram_size = 5
        num_proc = 1
        check_false_positive = {str(check).lower()}
        [output]
        output_dir = "{work}/out"
        [debug]
        """,
        encoding="utf-8",
    )
    config = load_config_from_toml(work / "config.toml")
    minhash.main(config)
    columns = load_from_disk(str(work / "out")).select_columns(["id", "text"])
    write_kept(columns, work)
    algorithm = config.algorithm
    return (
        f"num_perm={PERMUTATIONS}, threshold={THRESHOLD}: {algorithm.bands} bands of {algorithm.rows} by its "
        f"optimiser; 5-grams split at \\W; min_length {algorithm.min_length}; "
        + ("verified" if check else "not verified")
    )


if __name__ == "__main__":
    main("text-dedup", {"words": partial(dedup, check=False), "checked": partial(dedup, check=True)})
