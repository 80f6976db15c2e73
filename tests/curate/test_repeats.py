"""Repeated lines and stretches of text: what is cut stands in an earlier document, and nothing that does is missed."""

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glotmill.curate.dedup.repeats.documents import Asked, hosts
from glotmill.curate.kernels.lines import line_words
from glotmill.curate.kernels.pieces import Pieces, pieces
from glotmill.curate.kernels.scan import WORD
from glotmill.schemas.recipe import Lines, Substrings
from glotmill.schemas.units import Books

from .repeats_run import Doc, docs, run, run_all, some_id

N = 8  # words, in most tests of stretches
TEXT_ONLY = Asked(None, Substrings(units=N), ("web",), 0)
LINES_ONLY = Asked(Lines(within="all", min_documents=2), None, ("web",), 0)

# Letters, the mark that ends a sentence, what stands between words (or letters per word), and between sentences.
SCRIPTS: dict[str, tuple[str, str, str | float, str]] = {
    "Latn": ("aàbcdefghiklmñoprstuvz", ".", " ", " "),
    "Cyrl": ("абвгдежзиклмнопрстуя", ".", " ", " "),
    "Grek": ("αβγδεζηθικλμνοπρστυω", ";", " ", " "),
    "Arab": ("ابتثجحخدذرزسشصضطعغفق", "؟", " ", " "),
    "Hebr": ("אבגדהוזחטיכלמנסעפצקר", ".", " ", " "),
    "Deva": ("कखगघचछजझटठडढतथदधनपफब", "।", " ", " "),
    "Ethi": ("ሀለሐመሠረሰሸቀበተኀነአከወዘየደገ", "።", " ", " "),
    "Hang": ("가나다라마바사아자차카타파하", ".", " ", " "),
    "Hani": ("天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏", "。", 1.5, ""),
    "Hira": ("あいうえおかきくけこさしすせそたちつてとなにぬねの", "。", 3, ""),
    "Thai": ("กขคงจฉชซญดตถทธนบปผพฟมยรลวสหอ", " ", 4, ""),
    "Khmr": ("កខគឃងចឆជឈញដឋឌឍណតថទធនបផពភម", "។", 4, " "),
}


def sentences(script: str, seed: int, count: int, *, words: int = 6) -> list[str]:
    """Sentences of so many words, no two of them alike."""
    letters, end, space, _ = SCRIPTS[script]
    rng = random.Random(f"{script} {seed}")

    def some(size: float) -> str:
        return "".join(rng.choice(letters) for _ in range(int(size)))

    if isinstance(space, str):
        return [space.join(some(4) for _ in range(words)) + end for _ in range(count)]
    return [some(words * space) + end for _ in range(count)]


def together(script: str, parts: Sequence[str]) -> str:
    return SCRIPTS[script][3].join(parts)


def weight(text: str) -> float:
    cut = pieces(pa.array([text]))
    return float(cut.unit_weight.sum()) / WORD


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_sentences_of_a_shared_stretch_are_cut_out_of_the_later_document(script: str, tmp_path: Path) -> None:
    shared = sentences(script, 1, 6)
    own, other = sentences(script, 2, 4), sentences(script, 3, 4)
    first = together(script, [*own[:2], *shared, *own[2:]])
    later = together(script, [*other[:2], *shared, *other[2:]])
    found = run(tmp_path, [docs(first, later)], TEXT_ONLY)
    assert [row["text"] for _, row in sorted(found.items())] == [first, together(script, other)]
    assert [edit["reason"] for edit in found[f"{1:032x}"]["cuts"]] == ["repeated_text"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_shorter_stretches_stay(script: str, tmp_path: Path) -> None:
    shared = sentences(script, 1, 1, words=4)
    assert 2 < weight(shared[0]) < N - 2
    texts = [together(script, [*sentences(script, k, 4)[:2], *shared, *sentences(script, k, 4)[2:]]) for k in (2, 3)]
    assert [row["text"] for _, row in sorted(run(tmp_path, [docs(*texts)], TEXT_ONLY).items())] == texts


@pytest.mark.parametrize("script", SCRIPTS)
def test_exactly_so_many_words_are_enough_and_one_less_is_not(script: str, tmp_path: Path) -> None:
    """The stretch is one sentence, and what is around it differs."""
    letters, end, space, _ = SCRIPTS[script]
    cut = pieces(
        pa.array(
            [together(script, sentences(script, 1, 9)).replace(end, "" if isinstance(space, float | int) else " ")]
        )
    )
    needed = int(np.searchsorted(np.cumsum(cut.unit_weight), N * WORD)) + 1
    for units, is_cut in ((needed, True), (needed - 1, False)):
        data = bytes(cut.data[cut.unit_start[0] : cut.unit_end[units - 1]]).decode() + end
        texts = [together(script, [sentences(script, k, 1)[0], data, sentences(script, k, 2)[1]]) for k in (2, 3)]
        found = run(tmp_path, [docs(*texts)], TEXT_ONLY)
        assert (found[f"{1:032x}"]["text"] != texts[1]) == is_cut
        assert found[f"{0:032x}"]["text"] == texts[0]


def test_a_paragraph_that_goes_leaves_the_others_apart(tmp_path: Path) -> None:
    a, b, c, d = (" ".join(sentences("Latn", k, 3)) for k in range(4))
    later = f"{a}\n\n{b}\r\n\r\n{c}\n* * *\n{b}"
    found = run(tmp_path, [docs(f"{d}\n{b}", later)], TEXT_ONLY)
    assert found[f"{1:032x}"]["text"] == f"{a}\n\n{c}\n* * *\n"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param("a\n\nX\n\nb", "a\n\nb", id="one gap stays"),
        pytest.param("a\n\nX\n\n\nX\n \n\nb", "a\n\nb", id="of all gaps between those that go"),
        pytest.param("a\nX\n\nb", "a\n\nb", id="the gap after it stays where there is none before"),
        pytest.param("a\n\nX\nb", "a\n\nb", id="and the other way round"),
        pytest.param("a\nX\nb", "a\nb", id="lines of one paragraph"),
        pytest.param("X\n\nb\nX\n\nX\n\nc", "b\n\nc", id="at the beginning none is needed"),
        pytest.param("a\r\n\r\nX\r\n\r\nb", "a\r\n\r\nb", id="CR LF is one break"),
        pytest.param("a\u2029\u2029X\u2029\u3000\u2029b", "a\u2029\u2029b", id="wide ones, too"),
        pytest.param("a\n\nX\n\n  b", "a\n\n  b", id="an indented line keeps its indent"),
        pytest.param("a\n\nX\n\n", "a\n\n", id="at the end"),
    ],
)
def test_paragraphs_that_go_leave_one_gap(text: str, left: str, tmp_path: Path) -> None:
    x = " ".join(sentences("Latn", 1, 3))
    found = run(tmp_path, [docs(x, text.replace("X", x))], TEXT_ONLY)
    assert found[f"{1:032x}"]["text"] == left


def test_a_row_of_asterisks_goes_with_what_it_parts(tmp_path: Path) -> None:
    a, b, c = (" ".join(sentences("Latn", k, 3)) for k in range(3))
    found = run(tmp_path, [docs(f"{a}\n***\n{b}", f"{c}\n{a}\n***\n{b}\n---")], TEXT_ONLY)
    assert found[f"{1:032x}"]["text"] == f"{c}\n---"


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        pytest.param("Uno due tre. ", " Fine qui.", "Uno due tre. Fine qui.", id="between sentences"),
        pytest.param(
            "Uno due tre.  \u201c", "\u201d  Fine qui.", "Uno due tre.  Fine qui.", id="quotes go with theirs"
        ),
        pytest.param("Uno (due) tre!) ", " \u2013 Fine qui.", "Uno (due) tre!) \u2013 Fine qui.", id="a dash stays"),
        pytest.param("Uno due tre. ", "", "Uno due tre.", id="at the end of a text"),
        pytest.param("Uno due tre. ", "\nFine qui.", "Uno due tre.\nFine qui.", id="at the end of a line"),
        pytest.param("", " Fine qui.", "Fine qui.", id="at the beginning"),
        pytest.param("\u2022 ", " Fine qui.", "Fine qui.", id="after a bullet"),
        pytest.param("Uno due tre.\u00a0", "\u3000Fine qui.", "Uno due tre.\u00a0Fine qui.", id="wide white space"),
        pytest.param("三人行。", " Fine qui.", "三人行。Fine qui.", id="without space between"),
        pytest.param("三人行。」", " Fine qui.", "三人行。」Fine qui.", id="after a corner bracket"),
    ],
)
def test_a_span_begins_with_its_sentence_and_ends_with_the_next(
    before: str, after: str, left: str, tmp_path: Path
) -> None:
    shared = " ".join(sentences("Latn", 1, 3))
    found = run(tmp_path, [docs(f"{shared}", f"{before}{shared}{after}")], TEXT_ONLY)
    assert found[f"{1:032x}"]["text"] == left


def test_capitals_marks_and_white_space_make_no_difference_to_a_stretch(tmp_path: Path) -> None:
    shared = " ".join(sentences("Latn", 1, 5))
    texts = docs(shared, shared.upper().replace(" ", "\n"), shared.replace(". ", "!  "))
    found = run(tmp_path, [texts], TEXT_ONLY)
    assert [found[doc.id]["empty"] for doc in texts] == [False, True, True]


def test_a_document_that_repeats_itself_keeps_the_first(tmp_path: Path) -> None:
    shared, own = (" ".join(sentences("Latn", k, 3)) for k in (1, 2))
    found = run(tmp_path, [docs(f"{shared} {own}\n{shared}\n{shared}")], TEXT_ONLY)
    assert found[f"{0:032x}"]["text"] == f"{shared} {own}\n"


@pytest.mark.parametrize("period", [1, 3, 7, 8, 9, 20])
def test_of_text_that_goes_in_circles_the_first_round_and_enough_words_stay(period: int, tmp_path: Path) -> None:
    words = [f"w{k}." for k in range(period)] * (100 // period)  # every word is a sentence
    (row,) = run(tmp_path, [docs(" ".join(words))], TEXT_ONLY).values()
    assert row["text"].split() == words[: -(-N // period) * period]


def test_the_most_trusted_source_comes_first_and_a_reference_is_never_cut(tmp_path: Path) -> None:
    shared, a, b, c = (" ".join(sentences("Latn", k, 3)) for k in (1, 2, 3, 4))
    of = {"a": ("law", f"{a} {shared}"), "b": ("web", f"{b} {shared}"), "c": ("law", f"{c} {shared}")}
    files = [[Doc(text, some_id(name), source) for name, (source, text) in of.items()]]

    def left(sources: tuple[str, ...], reference: int) -> dict[str, str]:
        found = run(tmp_path, files, Asked(None, Substrings(units=N), sources, reference))
        return {name: found[some_id(name)]["text"] for name in of}

    first_law = min("ac", key=some_id)
    assert left(("web", "law"), 0) == {"a": a, "b": of["b"][1], "c": c}
    assert left(("law", "web"), 0) == {"a": a, "b": b, "c": c, first_law: of[first_law][1]}
    assert left(("law", "web"), 1) == {"a": of["a"][1], "b": b, "c": of["c"][1]}


def test_documents_that_deduplication_removed_neither_count_nor_have_a_row(tmp_path: Path) -> None:
    shared = " ".join(sentences("Latn", 1, 3))
    first, *others = docs(shared, f"Uno. {shared}", f"Due. {shared}")
    found = run(tmp_path, [[replace(first, keep=False), *others]], TEXT_ONLY)
    assert [row["text"] for _, row in sorted(found.items())] == [f"Uno. {shared}", "Due."]


def test_what_the_line_rules_cut_is_no_part_of_a_stretch_and_stays_cut(tmp_path: Path) -> None:
    a, b = " ".join(sentences("Latn", 1, 3)), " ".join(sentences("Latn", 2, 3))
    menu = "日本 menu\n"
    text = f"{a}\n{menu}{b}\nFine.\n{menu}"
    places = [len(f"{a}\n".encode()), len(f"{a}\n{menu}{b}\nFine.\n".encode())]
    size = len(menu.encode())
    ruled = replace(docs("", text)[1], cuts=tuple((place, place + size, "menu") for place in places))
    found = run(tmp_path, [[docs(f"{a} {b}")[0], ruled]], TEXT_ONLY)
    row = found[ruled.id]
    assert row["text"] == "Fine.\n"
    assert [edit["reason"] for edit in row["cuts"]] == ["repeated_text", "menu", "repeated_text", "menu"]
    assert row["bytes"] == len(b"Fine.\n")


# Lines


NOTICE = "Subscribe to our weekly letter today"


def test_the_first_documents_keep_a_line_and_later_ones_lose_it(tmp_path: Path) -> None:
    texts = [f"{NOTICE}\nPage {k}\n{NOTICE}" for k in range(5)]
    asked = replace(LINES_ONLY, lines=Lines(within="all", keep=2, min_documents=3))
    found = run(tmp_path, [docs(*texts)], asked)
    assert [row["text"] for _, row in sorted(found.items())] == [*texts[:2], "Page 2\n", "Page 3\n", "Page 4\n"]
    assert {edit["reason"] for row in found.values() for edit in row["cuts"]} == {"repeated_line"}


@pytest.mark.parametrize(("documents", "is_cut"), [(2, False), (3, True)])
def test_a_line_of_too_few_documents_stays(documents: int, is_cut: bool, tmp_path: Path) -> None:
    """Copies within one document don't count."""
    texts = [f"{NOTICE}\n{NOTICE}\nPage {k}" for k in range(documents)]
    found = run(tmp_path, [docs(*texts)], replace(LINES_ONLY, lines=Lines(within="all", min_documents=3)))
    assert any(row["cuts"] for row in found.values()) == is_cut


@pytest.mark.parametrize("line", ["---", "* one two", "12", "Read more", "目次一覧", "เมนู", ""])
def test_short_lines_stay(line: str, tmp_path: Path) -> None:
    texts = [f"{line}\nPage {k}\n{line}" for k in range(5)]
    assert not any(row["cuts"] for row in run(tmp_path, [docs(*texts)], LINES_ONLY).values())


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_line_counts_in_every_script(script: str, tmp_path: Path) -> None:
    line, *own = sentences(script, 1, 4)
    found = run(tmp_path, [docs(*(f"{line}\n{mine}" for mine in own))], LINES_ONLY)
    assert [row["text"] for _, row in sorted(found.items())] == [f"{line}\n{own[0]}", *own[1:]]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("one two three four", "  one \t two\u00a0three\u3000four ", True),
        ("one two three four", "One two three four", False),
        ("one two three four", "one two three four.", False),
        ("caf\u00e9 au lait noir", "cafe\u0301 au lait noir", False),
        ("one two three four", "one two four three", False),
        (
            "\u0f40\u0f0b\u0f41\u0f0b\u0f42\u0f0b\u0f44\u0f0b\u0f45",
            "\u0f40\u0f0b\u0f41\u0f0b\u0f42\u0f0b\u0f44\u0f0b\u0f45",
            True,
        ),
    ],
)
def test_lines_are_the_same_by_their_characters(one: str, other: str, is_same: bool, tmp_path: Path) -> None:
    asked = replace(LINES_ONLY, lines=Lines(within="all", min_documents=2, min_words=3))
    found = run(tmp_path, [docs(f"{one}\na", f"{other}\nb")], asked)
    assert (found[f"{1:032x}"]["text"] == "b") == is_same


@pytest.mark.parametrize(
    ("within", "left"),
    [
        ("all", [True, False, False, False, False]),
        ("source", [True, False, False, True, False]),
        ("host", [True, False, True, True, False]),
    ],
)
def test_lines_are_compared_within(within: Any, left: list[bool], tmp_path: Path) -> None:
    of = [
        ("web", "https://www.Example.org:443/a"), ("web", "http://example.org/b?c"), ("web", "http://example.com/"),
        ("law", None), ("law", ""),
    ]  # fmt: skip
    files = [[Doc(f"{NOTICE}\n{k}", f"{k:032x}", source, url) for k, (source, url) in enumerate(of)]]
    asked = Asked(Lines(within=within, min_documents=2), None, ("web", "law"), 0)
    found = run(tmp_path, files, asked)
    assert [NOTICE in row["text"] for _, row in sorted(found.items())] == left


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://user:pw@WWW.Example.org:8080/a?b#c", "example.org"),
        ("//example.org", "example.org"),
        ("http://例え.jp/パス", "例え.jp"),
        ("https://example.org?x=/y", "example.org"),
        (None, "source web"),
        ("", "source web"),
    ],
)
def test_the_host_of_an_address(url: str | None, host: str) -> None:
    assert hosts(pa.array([url], pa.string()), pa.array(["web"])).to_pylist() == [host]


# Both, whatever the texts


WORDS = ["a", "b", "ccc", "D\u00e9", "日", "本", "語", "ไทย", "कि", "سلام"]
PIECES = st.one_of(st.sampled_from(WORDS), st.sampled_from([" ", ". ", "\n", "\n\n", "。", "! \u201c", "\u201d ", ""]))
TEXTS = st.lists(PIECES, max_size=60).map(" ".join)
SHARED = st.lists(st.sampled_from(WORDS), min_size=8, max_size=30).map(" ".join)


@st.composite
def corpora(draw: st.DrawFn) -> list[Doc]:
    """Few words, so that a lot is repeated; and passages put into several documents."""
    passages = draw(st.lists(SHARED, min_size=1, max_size=3))
    parts = st.lists(st.one_of(TEXTS, st.sampled_from(passages)), max_size=4)
    texts = draw(st.lists(parts.map(". ".join), min_size=1, max_size=6))
    found = []
    for number, text in enumerate(texts):
        source = draw(st.sampled_from(["web", "law"]))
        found.append(Doc(text, some_id(str(number)), source, cuts=_some_lines(draw, text)))
    return found


def _some_lines(draw: st.DrawFn, text: str) -> tuple[tuple[int, int, str], ...]:
    """Lines that rules have cut."""
    place = 0
    cuts: list[tuple[int, int, str]] = []
    for line in text.splitlines(keepends=True):
        size = len(line.encode())
        if draw(st.integers(0, 5)) == 0:
            start = cuts.pop()[0] if cuts and cuts[-1][1] == place else place
            cuts.append((start, place + size, "rule"))
        place += size
    return tuple(cuts)


BOTH = Asked(Lines(within="all", min_documents=2, min_words=2), Substrings(units=N), ("law", "web"), 0)


def ruled(doc: Doc) -> str:
    """A text without what the rules cut."""
    data = doc.text.encode()
    for start, end, _ in reversed(doc.cuts):
        data = data[:start] + data[end:]
    return data.decode()


def in_order(corpus: Sequence[Doc]) -> list[Doc]:
    return sorted(corpus, key=lambda doc: (("law", "web").index(doc.source), doc.id))


def hashes(cut: Pieces) -> list[int]:
    return [int(h) for h in cut.unit_hash]


def windows_of(cut: Pieces) -> Iterator[tuple[int, int]]:
    """Each run of units that weighs enough, and none shorter does: first, and one past the last."""
    total = np.concatenate(([0], np.cumsum(cut.unit_weight.astype(int))))
    for start in range(len(total) - 1):
        end = int(np.searchsorted(total, total[start] + N * WORD))
        if end < len(total):
            yield start, end


def expected_sentences(corpus: Sequence[Doc]) -> dict[str, set[int]]:
    """By brute force: of each document the sentences that lie in a window that occurs before, apart from it."""
    first: dict[tuple[int, ...], tuple[str, int, int]] = {}
    found: dict[str, set[int]] = {}
    for doc in in_order(corpus):
        cut = pieces(pa.array([ruled(doc)]))
        units = hashes(cut)
        bounds = cut.sentence_unit.tolist()
        found[doc.id] = set()
        for start, end in windows_of(cut):
            where = first.setdefault(tuple(units[start:end]), (doc.id, start, end))
            if where[0] == doc.id and where[2] > start:
                continue
            found[doc.id] |= {s for s in range(len(bounds) - 1) if start <= bounds[s] and bounds[s + 1] <= end}
    return found


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(corpora())
def test_every_sentence_in_a_stretch_that_occurs_before_is_cut_and_it_stands_there(
    tmp_path: Path, corpus: list[Doc]
) -> None:
    asked = replace(BOTH, lines=None)
    found = run(tmp_path, [corpus[::2], corpus[1::2]], asked)
    expected = expected_sentences(corpus)
    before: list[tuple[str, ...]] = []
    for doc in in_order(corpus):
        cut = pieces(pa.array([ruled(doc)]))
        gone = cut_units(doc, found[doc.id], cut)
        bounds = cut.sentence_unit.tolist()
        units = [str(h) for h in hashes(cut)]
        for s in range(len(bounds) - 1):
            is_cut = gone[bounds[s] : bounds[s + 1]]
            assert all(is_cut) or not any(is_cut)
            if s in expected[doc.id]:
                assert all(is_cut)
            if all(is_cut):
                sentence = f" {' '.join(units[bounds[s] : bounds[s + 1]])} "
                earlier = [*before, units[: bounds[s + 1] - 1]]
                assert any(sentence in f" {' '.join(of)} " for of in earlier)
        before.append(tuple(units))


def cut_units(doc: Doc, row: dict[str, Any], cut: Pieces) -> list[bool]:
    """Of each unit of the ruled text, whether it is cut out of it."""
    data = np.ones(len(doc.text.encode()), bool)
    for edit in row["cuts"]:
        data[edit["start"] : edit["end"]] = False
    ruled_away = np.zeros(len(data), bool)
    for start, end, _ in doc.cuts:
        ruled_away[start:end] = True
    stays = data[~ruled_away]
    gone = [not stays[a:b].any() for a, b in zip(cut.unit_start, cut.unit_end, strict=True)]
    whole = [stays[a:b].all() for a, b in zip(cut.unit_start, cut.unit_end, strict=True)]
    assert all(g != w for g, w in zip(gone, whole, strict=True))
    return gone


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(corpora(), st.integers(1, 3), st.integers(2, 4))
def test_a_line_goes_if_and_only_if_enough_earlier_documents_keep_it(
    tmp_path: Path, corpus: list[Doc], keep: int, least: int
) -> None:
    asked = replace(BOTH, substrings=None, lines=Lines(within="all", keep=keep, min_documents=least, min_words=2))
    found = run(tmp_path, [corpus[::2], corpus[1::2]], asked)
    lines: dict[str, list[str]] = {}
    for doc in in_order(corpus):
        for line in dict.fromkeys(long_lines(ruled(doc))):
            lines.setdefault(line, []).append(doc.id)
    for doc in corpus:
        left = [line for line in long_lines(ruled(doc)) if doc.id in lines[line][:keep] or len(lines[line]) < least]
        assert long_lines(found[doc.id]["text"]) == left


def long_lines(text: str) -> list[str]:
    cut = pieces(pa.array([text]))
    words, _ = line_words(cut)
    spans = zip(cut.line_start, cut.line_end, words, strict=True)
    return [" ".join(bytes(cut.data[a:b]).decode().split()) for a, b, weight in spans if weight >= 2]


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(corpora(), st.randoms(use_true_random=False), st.integers(1, 5), st.integers(1, 4))
def test_files_order_and_partitions_change_nothing(
    tmp_path: Path, corpus: list[Doc], rng: random.Random, parts: int, files: int
) -> None:
    expected = run(tmp_path / "one", [corpus], BOTH, parts=1)
    mixed = rng.sample(corpus, len(corpus))
    split = [mixed[k::files] for k in range(files)]
    assert run(tmp_path / "other", split, BOTH, parts=parts, seed=rng.randrange(99)) == expected


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(corpora())
def test_the_table_holds_sorted_disjoint_joined_spans_and_the_rules_cuts_among_them(
    tmp_path: Path, corpus: list[Doc]
) -> None:
    found, outcomes = run_all(tmp_path, [corpus], BOTH)
    first = in_order(corpus)[0]
    for doc in corpus:
        row = found[doc.id]
        data, left = doc.text.encode(), b""
        place = 0
        for before, edit in zip([None, *row["cuts"]], row["cuts"], strict=False):
            assert place <= edit["start"] < edit["end"] <= len(data)
            assert before is None or before["end"] < edit["start"] or before["reason"] != edit["reason"]
            left += data[place : edit["start"]]
            place = edit["end"]
        left += data[place:]
        assert left.decode() == row["text"] and len(left) == row["bytes"]
        covered = {k for edit in row["cuts"] if edit["reason"] == "rule" for k in range(edit["start"], edit["end"])}
        assert covered == {k for start, end, _ in doc.cuts for k in range(start, end)}
        is_new = any(edit["reason"] != "rule" for edit in row["cuts"])
        assert row["empty"] == (is_new and not row["text"].strip())
        assert not (doc == first and any(edit["reason"] == "repeated_line" for edit in row["cuts"]))
    gone = sum(row["empty"] for row in found.values())
    assert outcomes[0].books == Books(len(corpus), len(corpus) - gone, {"repeated_text": gone} if gone else {})


# Large


@pytest.mark.parametrize("kind", ["one word", "a period", "one line", "no end of a sentence", "copies", "marks"])
def test_a_document_of_ten_megabytes_takes_linear_time(kind: str, tmp_path: Path) -> None:
    """Ten times the text, at most thirty times the time: quadratic would be a hundred."""
    unit = {
        "one word": "ja ",
        "a period": "one two three four five six seven. ",
        "one line": "",
        "no end of a sentence": "",
        "copies": " ".join(sentences("Latn", 1, 20)) + "\n",
        "marks": "ja ." + '"' * 5000,
    }[kind]
    rng = random.Random(1)

    def text(size: int) -> str:
        if unit:
            return unit * (size // len(unit))
        end = ". " if kind == "one line" else " "
        return end.join(f"{rng.randrange(1 << 40):x} {rng.randrange(1 << 20)}" for _ in range(size // 18))

    def seconds(size: int) -> float:
        whole = text(size)
        files = [docs(whole, f"Later: {whole}")]
        began = time.process_time()
        run(tmp_path, files, BOTH_LARGE)
        return time.process_time() - began

    seconds(100_000)  # compiles
    assert seconds(10_000_000) < 30 * max(seconds(1_000_000), 0.2)


BOTH_LARGE = Asked(Lines(within="all", min_documents=2), Substrings(), ("web",), 0)
