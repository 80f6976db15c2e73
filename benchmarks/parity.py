"""python benchmarks/parity.py DOCS.jsonl.zst --peer PYTHON: do our rules say what datatrove's filters say?

datatrove 0.10.0 judges documents in its own environment, and hands over the words and sentences that it saw. The
presets datatrove_* judge the same documents from those. Prints, for each filter, how often the verdict is the same, how
often verdict and reason are, and how often the verdict is where words and sentences are those of our own cut; and every
document about which the first two differ. The environment:

    python -m venv ENV
    ENV/bin/pip install "datatrove[processing]==0.10.0" spacy==3.8.18 indic-nlp-library pyvi jieba pythainlp laonlp \\
        sudachipy sudachidict_core

The real sample: of each language for which datatrove has a tokenizer that is no neural network, the documents whose ids
hash lowest. The made sample: texts thrown together so that every rule meets documents on both sides of its limit.
"""

import argparse
import hashlib
import io
import json
import random
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow as pa
import zstandard
from ruamel.yaml import YAML

from glotmill.curate.datatrove import LINE_SENTENCES, WORDS, datatrove
from glotmill.curate.judgement import judge_batch
from glotmill.curate.rules import RuleSet, ruleset
from glotmill.curate.signals import numbers
from glotmill.schemas.recipe import Quality

PEER_SCRIPT = Path(__file__).parent / "peers" / "verdicts_datatrove.py"
ROWS = 256
FAILS = "datatrove fails"

# datatrove's language -> the hints of the documents that are in it.
LANGUAGES = {
    "eng_Latn": ("en", "en-US", "en-GB", "eng"), "deu_Latn": ("de",), "fra_Latn": ("fr",), "spa_Latn": ("es",),
    "por_Latn": ("pt", "pt-BR", "pt-PT"), "ita_Latn": ("it",), "nld_Latn": ("nl",), "pol_Latn": ("pl",),
    "ces_Latn": ("cs",), "slk_Latn": ("sk",), "slv_Latn": ("sl",), "hrv_Latn": ("hr",), "srp_Cyrl": ("sr",),
    "srp_Latn": ("sr@latin",), "bos_Latn": ("bs",), "rus_Cyrl": ("ru",), "ukr_Cyrl": ("uk", "ukr"),
    "bul_Cyrl": ("bg",), "ron_Latn": ("ro",), "hun_Latn": ("hu",), "fin_Latn": ("fi",), "ekk_Latn": ("et", "est"),
    "lit_Latn": ("lt",), "lvs_Latn": ("lv", "lav"), "dan_Latn": ("da",), "swe_Latn": ("sv",),
    "nob_Latn": ("nb", "no"), "nno_Latn": ("nn",), "isl_Latn": ("is",), "tur_Latn": ("tr",), "ell_Grek": ("el",),
    "cat_Latn": ("ca", "ca-valencia"), "eus_Latn": ("eu", "baq"), "ind_Latn": ("id",), "vie_Latn": ("vi",),
    "arb_Arab": ("ar",), "fas_Arab": ("fa",), "heb_Hebr": ("he",), "hin_Deva": ("hi",),
    "mar_Deva": ("mr",), "npi_Deva": ("ne",), "ben_Beng": ("bn",), "asm_Beng": ("as",), "pan_Guru": ("pa",),
    "guj_Gujr": ("gu",), "tam_Taml": ("ta",), "tel_Telu": ("te",), "kan_Knda": ("kn",), "mal_Mlym": ("ml",),
    "kat_Geor": ("ka",), "epo_Latn": ("eo",), "gaz_Latn": ("om",), "uzn_Latn": ("uz",), "zul_Latn": ("zul",),
    "cmn_Hani": ("zh", "zh-CN", "zh-TW"), "tha_Thai": ("th",), "lao_Laoo": ("lo",), "jpn_Jpan": ("ja",),
}  # fmt: skip

# Our reasons by theirs.
REASONS = {
    "dup_para_frac": "repeated_paragraphs",
    "dup_para_char_frac": "repeated_paragraph_chars",
    "dup_line_frac": "repeated_lines",
    "dup_line_char_frac": "repeated_line_chars",
    **{f"top_{n}_gram": f"frequent_{n}_gram" for n in range(2, 5)},
    **{f"duplicated_{n}_n_grams": f"repeated_{n}_grams" for n in range(5, 11)},
    "gopher_short_doc": "few_words",
    "gopher_long_doc": "many_words",
    "gopher_below_avg_threshold": "short_words",
    "gopher_above_avg_threshold": "long_words",
    "gopher_too_many_hashes": "hashes",
    "gopher_too_many_ellipsis": "ellipses",
    "gopher_too_many_bullets": "bullet_lines",
    "gopher_too_many_end_ellipsis": "ellipsis_lines",
    "gopher_below_alpha_threshold": "few_alpha_words",
    "gopher_enough_stop_words": "few_stop_words",
    "lorem_ipsum": "lorem_ipsum",
    "curly_bracket": "curly_bracket",
    "too_few_sentences": "few_sentences",
    "empty": "no_lines",
    "line_punct_ratio": "few_line_ends",
    "short_line_ratio": "short_lines",
    "char_dup_ratio": "repeated_chars",
    "list_ratio": "list",
}


LETTERS = ("abcdefgh", "éß", "абв", "कखग\u093f", "字漢", "ابت", "１", "12", "\u0301")
STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with", "The")
ENDS = (".", ".", "!", "?", "", "...", "…", '"', "।", "。", ":", ". ", " [1].", "...\r", ".\r", ".\u3000", "[edit]")
STARTS = ("", "", "- ", "• ", "\t-", "* ", "\u00a0•", "1. ")
BREAKS = ("\n", "\n", "\n\n", "\n\n\n", "\r\n", "\u2028", " ", "\n \n", "\x0b")
EXTRAS = (
    "#", "##", "...", "....", "…", "[1]", "[citation needed]", "{", "lorem ipsum", "Lorem Ipsum", "JavaScript",
    "privacy policy", "uses coo\u212aies", "terms of use.", "x" * 1001, "-", "!!!", ", .", "١٢", "[١٢]",
)  # fmt: skip


def made(number: int) -> dict[str, str]:
    """A text of random words and lines; how often each thing happens is drawn for each text."""
    draw = random.Random(number)
    letters = draw.sample(LETTERS, draw.randint(1, 3))
    sizes = draw.choice(((1, 3), (1, 8), (2, 6), (6, 14)))
    words = ["".join(draw.choices(draw.choice(letters), k=draw.randint(*sizes))) for _ in range(draw.randint(2, 300))]
    ends, starts, breaks = (draw.sample(of, draw.randint(1, 3)) for of in (ENDS, STARTS, BREAKS))
    often = draw.choice((0, 0, 0.03, 0.3))  # a line is a copy
    stops, extra = draw.choice((0, 0.02, 0.2)), draw.choice((0, 0, 0.01, 0.1, 0.3))  # a word is one of those
    extras = draw.sample(EXTRAS, draw.randint(1, 8))
    longest = 100_200 if number == 1 else draw.choice((2, 5, 12, 40))
    lines: list[str] = []
    for _ in range(draw.randint(1, draw.choice((3, 30, 80))) if number % 500 else 0):
        line = [
            draw.choice(extras if draw.random() < extra else STOP_WORDS if draw.random() < stops else words)
            for _ in range(longest if number == 1 else draw.randint(1, longest))
        ]
        new = draw.choice(starts) + " ".join(line) + draw.choice(ends)
        lines.append(draw.choice(lines) if lines and draw.random() < often else new)
    text = "".join(line + draw.choice(breaks) for line in lines)
    return {"id": f"made-{number}", "language": "made", "text": draw.choice(("", "", "\n", " ")) + text}


def sample(path: Path, per_language: int) -> list[dict[str, str]]:
    by_hint = {hint: language for language, hints in LANGUAGES.items() for hint in hints}
    found: dict[str, list[tuple[str, dict[str, str]]]] = {}
    with path.open("rb") as raw:
        for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(raw), encoding="utf-8", newline="\n"):
            row = json.loads(line)
            language = by_hint.get(row["lang_hint"])
            if language:
                document = {"id": row["id"], "language": language, "text": row["text"]}
                found.setdefault(language, []).append((hashlib.sha256(row["id"].encode()).hexdigest(), document))
    return [
        document
        for _, rows in sorted(found.items())
        for _, document in sorted(rows, key=lambda row: row[0])[:per_language]
    ]


def rules(name: str, reasons: set[str] | None = None) -> RuleSet:
    """A preset's rules, all or those of some reasons."""
    text = resources.files("glotmill.curate").joinpath(f"data/{name}.yaml").read_text(encoding="utf-8")
    written = YAML(typ="safe", pure=True).load(text)["*"]
    kept = {reason: rule for reason, rule in written.items() if reasons is None or reason in reasons}
    return ruleset(Quality(preset="none", rules=kept), signals=numbers(datatrove))


def filters() -> dict[str, tuple[RuleSet, bool]]:
    """By filter, our rules, and whether the C4 signals are those with the rule on line ends."""
    gopher = list(rules("datatrove_gopher").reasons)
    at = gopher.index("few_words")
    return {
        "gopher_repetition": (rules("datatrove_gopher", set(gopher[:at])), True),
        "gopher_quality": (rules("datatrove_gopher", set(gopher[at:])), True),
        "c4": (rules("datatrove_c4"), True),
        "c4_any_line_end": (rules("datatrove_c4"), False),
        "fineweb": (rules("datatrove_fineweb"), True),
    }


def peer_verdicts(documents: list[dict[str, str]], python: Path, folder: Path) -> list[dict[str, Any]]:
    given, answer = folder / "documents.jsonl", folder / "verdicts.jsonl"
    given.write_text("".join(json.dumps(d, ensure_ascii=False) + "\n" for d in documents), encoding="utf-8")
    subprocess.run([str(python), str(PEER_SCRIPT), str(given), str(answer)], check=True)
    with answer.open(encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]


def batches(documents: list[dict[str, str]], theirs: list[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
    for at in range(0, len(documents), ROWS):
        rows, answers = documents[at : at + ROWS], theirs[at : at + ROWS]
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([row["text"] for row in rows], pa.string()),
                pa.array([answer["words"] for answer in answers], pa.list_(pa.string())),
                pa.array([answer["line_sentences"] for answer in answers], pa.list_(pa.int32())),
            ],
            names=["text", WORDS, LINE_SENTENCES],
        )


def our_verdicts(
    documents: list[dict[str, str]], theirs: list[dict[str, Any]], columns: tuple[str, ...]
) -> tuple[list[dict[str, Any]], float]:
    """By document and filter, the first broken rule or None; and the seconds that measuring took.

    Args:
        columns: What we are told: the text, and datatrove's words and sentences or not.
    """
    found: list[dict[str, Any]] = []
    datatrove(next(batches(documents, theirs)).select(columns))  # compiles
    seconds = 0.0
    for batch in (whole.select(columns) for whole in batches(documents, theirs)):
        started = time.process_time()
        measured = {True: datatrove(batch)}
        seconds += time.process_time() - started
        measured[False] = datatrove.bind(terminal_lines=False)(batch)
        judged = {
            name: judge_batch(measured[ends], ruleset)["reasons"].to_pylist()
            for name, (ruleset, ends) in filters().items()
        }
        found += [
            {name: reasons[row][0] if reasons[row] else None for name, reasons in judged.items()}
            for row in range(batch.num_rows)
        ]
    return found, seconds


def kind(theirs: str | None, ours: dict[str, Any] | None) -> str:
    if ours is not None and abs(ours["value"] - ours["limit"]) <= 1e-9 * abs(ours["limit"]):
        return "rounding at the limit"
    if theirs is None or ours is None:
        return "kept by one"
    return "another reason"


def compare(
    documents: list[dict[str, str]], theirs: list[dict[str, Any]], ours: list[dict[str, Any]]
) -> tuple[dict[str, Counter[str]], list[dict[str, Any]]]:
    """By filter, how many documents agree, disagree or made datatrove fail; and those that don't agree."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in filters()}
    apart: list[dict[str, Any]] = []
    for document, answer, found in zip(documents, theirs, ours, strict=True):
        for name, said in answer["verdicts"].items():
            mine = found[name]
            row = {"filter": name, "id": document["id"], "language": document["language"], "ours": mine}
            if isinstance(said, dict):
                counts[name]["error"] += 1
                apart.append({**row, "datatrove": said["error"], "kind": FAILS})
                continue
            wanted = None if said is None else REASONS[said]
            same = wanted == (mine and mine["reason"])
            counts[name]["dropped"] += said is not None
            counts[name]["same" if same else "different"] += 1
            counts[name]["same_verdict"] += (wanted is None) == (mine is None)
            if not same:
                apart.append({**row, "datatrove": said, "kind": kind(said, mine)})
    return counts, apart


def reasons(theirs: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """By filter, how many documents datatrove drops for each reason: what the agreement was tried on."""
    found: dict[str, Counter[str]] = {name: Counter() for name in filters()}
    for answer in theirs:
        for name, said in answer["verdicts"].items():
            if isinstance(said, str):
                found[name][said] += 1
    return {name: dict(count.most_common()) for name, count in found.items()}


def print_counts(counts: dict[str, Counter[str]], theirs: list[dict[str, Any]]) -> None:
    print(f"{'filter':<20}{'judged':>8}{'dropped':>9}{'errors':>8}{'verdict':>11}{'and reason':>12}{'our words':>11}")
    for name, count in counts.items():
        judged = count["same"] + count["different"]
        verdict, both, alone = (
            count[column] / max(1, judged) for column in ("same_verdict", "same", "same_verdict_by_our_words")
        )
        print(
            f"{name:<20}{judged:>8}{count['dropped']:>9}{count['error']:>8}{verdict:>11.4%}{both:>12.4%}{alone:>11.2%}"
        )
    print()
    for name, found in reasons(theirs).items():
        print(f"{name} drops for " + ", ".join(f"{reason} {times}" for reason, times in found.items()))
    print()


def parity(documents: list[dict[str, str]], python: Path) -> dict[str, Any]:
    """Judge by both, print how they agree, and give the facts."""
    with tempfile.TemporaryDirectory() as folder:
        theirs = peer_verdicts(documents, python, Path(folder))
    ours, seconds = our_verdicts(documents, theirs, ("text", WORDS, LINE_SENTENCES))
    counts, apart = compare(documents, theirs, ours)
    alone, _ = our_verdicts(documents, theirs, ("text",))
    for name, count in compare(documents, theirs, alone)[0].items():
        counts[name]["same_verdict_by_our_words"] = count["same_verdict"]
    languages = Counter(document["language"] for document in documents)
    megabytes = sum(len(document["text"].encode()) for document in documents) / 1e6
    print(
        f"{len(documents)} documents, {megabytes:.1f} MB, {len(languages)} languages; "
        f"all signals in {seconds:.2f} CPU s, {megabytes / max(seconds, 1e-9):.1f} MB/s\n"
    )
    print_counts(counts, theirs)
    fails = Counter((row["filter"], row["language"], row["datatrove"]) for row in apart if row["kind"] == FAILS)
    for (name, language, error), times in fails.items():
        print(f"{name}  {language}  {FAILS} on {times}: {error}")
    for row in (row for row in apart if row["kind"] != FAILS):
        print(f"{row['filter']}  {row['language']}  {row['id']}  {row['kind']}")
        print(f"    datatrove: {row['datatrove']}   ours: {row['ours']}")
    return {
        "documents": len(documents),
        "megabytes": round(megabytes, 1),
        "our_cpu_seconds": round(seconds, 2),
        "languages": dict(sorted(languages.items())),
        "filters": {name: dict(count) for name, count in counts.items()},
        "reasons": reasons(theirs),
        "apart": apart,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("--peer", type=Path, required=True, help="the Python of an environment with datatrove 0.10.0")
    parser.add_argument("--per-language", type=int, default=300, help="real documents of each language")
    parser.add_argument("--made", type=int, default=5000, help="made documents")
    parser.add_argument("--json", type=Path, help="write all of it there, too")
    args = parser.parse_args()
    samples = {"made": [made(number) for number in range(args.made)], "real": sample(args.documents, args.per_language)}
    facts = {}
    for name, documents in samples.items():
        if documents:
            print(f"\n{name}: ", end="")
            facts[name] = parity(documents, args.peer)
    if args.json:
        args.json.write_text(json.dumps(facts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
