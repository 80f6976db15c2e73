import io
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.form import form
from glotmill.curate.identify.cld2 import iso639_3, opinion
from glotmill.curate.identify.combined import Combined, allowed, ballot
from glotmill.curate.identify.lookalikes import counted_as, groups, told_apart
from glotmill.curate.identify.models import BUILT_IN, language_model
from glotmill.curate.identify.reliability import EVERY, reliabilities
from glotmill.curate.identify.scores import as_counted, known_languages, scores, true_label
from glotmill.curate.kernels.code_lines import CODE, LINES, code_lines, mark_shares
from glotmill.curate.language import language, thresholds

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5)


def labels(*texts: str, model: str = "combined") -> list[str]:
    batch = language.bind(model=model)(pa.RecordBatch.from_pydict({"text": pa.array(texts, pa.string())}))
    found: list[str] = batch["language"].to_pylist()
    return found


@pytest.mark.parametrize(
    ("text", "label"),
    [
        pytest.param("Yãadan adam duka an haife su ne 'yantattu, kuma kowannensu na da mutunci.", "hau_Latn", id="hau"),
        pytest.param("Gbogbo ènìyàn ni a bí ní òmìnira; iyì àti ẹ̀tọ́ kọ̀ọ̀kan sì dọ́gba.", "yor_Latn", id="yor"),
        pytest.param("A mụrụ mmadụ nile n'ohere nakwa nha anya ugwu na ikike.", "ibo_Latn", id="ibo"),
        pytest.param("Ko te katoa o nga tangata i te whanaungatanga mai e watea ana.", "mri_Latn", id="mri"),
        pytest.param("Bonke abantu bazalwa bekhululekile belingana ngesithunzi nangamalungelo.", "zul_Latn", id="zul"),
        pytest.param("ብመንፅር ክብርን መሰልን ኩሎም ሰባት እንትውለዱ ነፃን ማዕሪን እዮም፡፡", "tir_Ethi", id="tir, amh to lid.176"),
        pytest.param(
            "Øll menniskju eru fødd fræls og jøvn til virðingar og mannarættindi.", "fao_Latn", id="fao, isl to it"
        ),
        pytest.param("佢哋喺屋企食咗飯，唔知聽日冇嘢做，嗰啲人嘅嘢唔好攞。", "yue_Hant", id="yue"),
        pytest.param("他們在家裡吃過飯，不知道明天有沒有事情可做。", "zho_Hant", id="zho beside yue"),
        pytest.param("Prije podne su djeca u općini čekala hiljadu vojnika, tačno u januaru.", "bos_Latn", id="bos"),
        pytest.param("Prije podne su djeca u općini čekala tisuću vojnika, točno u siječnju.", "hrv_Latn", id="hrv"),
        pytest.param("Pre podne su deca u opštini čekala hiljadu vojnika, tačno u januaru.", "srp_Latn", id="srp"),
        pytest.param(
            "Alle mennesker er født frie og like i verd og menneskerettar. Dei har fått fornuft.", "nno_Latn", id="nno"
        ),
        pytest.param(
            "Semua manusia dilahirkan bebas dan samarata dari segi kemuliaan dan hak-hak.", "msa_Latn", id="msa"
        ),
        pytest.param(
            "Pemerintah mengatakan bahwa mobil itu bisa dibeli karena harganya murah di kantor.", "ind_Latn", id="ind"
        ),
        pytest.param("ᏂᎦᏓ ᎠᏂᏴᏫ ᏂᎨᎫᏓᎸᎾ ᎠᎴ ᎤᏂᏠᏱ ᎤᎾᏕᎿ ᏚᏳᎧᏛ ᎨᏒᎢ", "chr_Cher", id="chr, from CLD2 alone"),
        pytest.param("... 123", "zxx_Zzzz", id="no letters"),
        pytest.param("xq vw", "und_Latn", id="no language"),
    ],
)
def test_the_models_together_say_what_one_of_them_can_not(text: str, label: str) -> None:
    assert labels(text) == [label]


@given(TEXTS, st.sampled_from(BUILT_IN))
def test_a_text_is_judged_alone_by_every_model_and_scores_are_shares(texts: list[str], model: str) -> None:
    measured = language.bind(model=model)(pa.RecordBatch.from_pydict({"text": pa.array(texts, pa.string())}))
    assert measured["language"].to_pylist() == [label for text in texts for label in labels(text, model=model)]
    for name in ("language_score", "language_lead"):
        assert all(0 <= value <= 1 for value in measured[name].to_pylist())


@given(TEXTS)
def test_windows_cut_before_or_by_the_model_make_no_difference_to_short_texts(texts: list[str]) -> None:
    array = pa.array([text[:40] for text in texts], pa.string())
    from glotmill.curate.kernels.reading import read_windows

    model = Combined.load()
    composed, lines, firsts = read_windows(array, count=3, size=600)
    scripts, found = model.read(array, count=3, size=600)
    assert found == model.candidates(lines, firsts, scripts) == language_model("combined").candidates(lines, firsts)
    assert len(composed) == len(found)


@given(st.binary(max_size=60))
def test_cld2_takes_any_bytes(text: bytes) -> None:
    shares, is_sure = opinion(text, "Latn")
    assert all(len(iso) == 3 and 0 < share <= 1 for iso, share in shares)
    assert is_sure in (True, False)


@pytest.mark.parametrize(
    ("code", "script", "iso"),
    [
        ("iw", "Hebr", "heb"),
        ("jw", "Latn", "jav"),
        ("no", "Latn", "nob"),
        ("zh-Hant", "Hant", "zho"),
        ("ku", "Arab", "ckb"),
        ("fa", "Arab", "pes"),
        ("tl", "Latn", "tgl"),
        ("bh", "Deva", "bho"),
        ("sr-ME", "Latn", "cnr"),
        ("un", "Latn", None),
        ("xxx", "Latn", None),
        ("xx-Qaai", "Zzzz", None),
        ("zzp", "Latn", None),
    ],
)
def test_a_code_of_cld2_is_one_language_of_ours_or_none(code: str, script: str, iso: str | None) -> None:
    assert iso639_3(code, script) == iso


def test_controls_that_cld2_refuses_hide_no_language() -> None:
    text = "All human beings are born free and equal in dignity\u0094 and rights.\ufdd0 \uffff \U0010ffff"
    assert opinion(text.encode(), "Latn").shares[0][0] == "eng"


@pytest.mark.parametrize(
    ("text", "never"),
    [
        pytest.param(
            "Vse lyudi rozhdayutsya svobodnymi i ravnymi v svoyom dostoinstve i pravakh.", "rus", id="rus in Latin"
        ),
        pytest.param("Oloi oi anthropoi gennioyntai eleutheroi kai isoi stin axioprepeia.", "ell", id="ell in Latin"),
    ],
)
def test_a_language_that_is_not_written_in_the_text_s_script_never_wins(text: str, never: str) -> None:
    assert labels(text)[0][:3] != never
    assert allowed(f"{never}_Latn") is None


def test_every_table_names_labels_that_exist_and_numbers_in_range() -> None:
    for code, row in reliabilities().items():
        assert code == EVERY or len(code) == 8
        assert all(0 <= value <= 1 for value in row[:3]) and 0.3 <= row.trusted_from <= 2
    assert EVERY in thresholds() and all(0.3 <= value <= 0.9 for value in thresholds().values())
    assert all(re.fullmatch("[a-z]{3}_[A-Z][a-z]{3}", code) for code in {*thresholds(), *reliabilities()} - {EVERY})
    for code, other in counted_as().items():
        assert as_counted(code) == other == as_counted(other)
    assert {"prs_Arab", "hbs_Latn", "yue_Hant", "nno_Latn"} <= set(groups())


def test_labels_of_a_script_are_of_that_script_and_the_rest_is_vetoed() -> None:
    paper = ballot("Cyrl")
    assert {code[4:] for code in paper.codes if code} == {"Cyrl"}
    assert "rus_Cyrl" in paper.codes and "ita_Cyrl" not in paper.codes


MEMBERS = st.dictionaries(
    st.sampled_from(["bos_Latn", "hrv_Latn", "srp_Latn", "hbs_Latn"]), st.floats(0.01, 0.3), min_size=1
)


@given(MEMBERS)
def test_marks_share_a_group_s_score_out_and_add_nothing_to_it(given_scores: dict[str, float]) -> None:
    found = told_apart(pa.array(["Gdje je ovdje tisuću ljudi? Netko je točno rekao."]), [given_scores])[0]
    assert sum(found.values()) == pytest.approx(min(1.0, sum(given_scores.values())))
    assert "hbs_Latn" not in found
    plain = told_apart(pa.array(["."]), [given_scores])[0]
    assert found["hrv_Latn"] >= plain["hrv_Latn"]


def test_a_tag_leads_to_the_label_that_models_can_give() -> None:
    assert [true_label(tag) for tag in ("prs", "newstest2019-ref-2.spa", "zho-TW", "fil", "mey")] == [
        "pes_Arab",
        "spa_Latn",
        "zho_Hant",
        "tgl_Latn",
        "arb_Arab",
    ]
    with pytest.raises(ValueError, match="names no language"):
        true_label("a.nonsense!")
    assert {"hau", "ita", "sot"} <= known_languages() and "tah" not in known_languages()


def test_scores_count_each_true_label() -> None:
    found = scores(["a", "a", "b", "b"], ["a", "b", "b", "c"])
    assert found.accuracy == 0.5 and found.texts == 4
    assert found.f1() == {"a": pytest.approx(2 / 3), "b": 0.5} and found.macro_f1 == pytest.approx(7 / 12)
    assert found.taken_for("b") == [("c", 1)]
    assert scores([], []).accuracy == scores([], []).macro_f1 == 0


@cache
def news(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """Texts, labels and tags of the half of the documents from which no weight was derived."""
    order: dict[str, int] = {}
    rows = []
    with zstandard.open(folder / "parallel" / "ntrex_dev.jsonl.zst", "rb") as file:
        for line in io.TextIOWrapper(file, encoding="utf-8"):
            row: dict[str, Any] = json.loads(line)
            if order.setdefault(row["document"], len(order)) > 30:
                rows.append(("\n".join(row["sentences"]), true_label(row["lang"]), row["lang"]))
    kept = [row for row in rows if row[1][:3] in known_languages()]
    return tuple(list(column) for column in zip(*kept, strict=True))  # type: ignore[return-value]  # three columns


def test_unseen_news_is_labelled_as_well_as_measured_and_windows_lose_nothing(shared_data: Path) -> None:
    texts, truths, _ = news(shared_data)
    found = {
        (model, size): scores(truths, labels_of(texts, model, size)).accuracy
        for model in BUILT_IN
        for size in (600, 10**6)
    }
    assert found["combined", 600] >= 0.98
    assert found["combined", 600] > max(found["cld2", 600], found["lid176", 600])
    assert all(found[model, 600] >= found[model, 10**6] - 0.001 for model in BUILT_IN)


def labels_of(texts: list[str], model: str, size: int) -> list[str]:
    measured = language.bind(model=model, window_bytes=size)
    found: list[str] = measured(pa.RecordBatch.from_pydict({"text": texts}))["language"].to_pylist()
    return found


def test_few_correct_texts_fall_under_their_language_s_threshold(shared_data: Path) -> None:
    texts, truths, _ = news(shared_data)
    measured = language(pa.RecordBatch.from_pydict({"text": texts}))
    right: Counter[str] = Counter()
    low: Counter[str] = Counter()
    for truth, label, score in zip(
        truths, measured["language"].to_pylist(), measured["language_score"].to_pylist(), strict=True
    ):
        right[truth] += truth == label
        low[truth] += truth == label and score < thresholds().get(label, thresholds()[EVERY])
    assert low.total() <= 0.02 * right.total() > 0
    damaged = "srp_Cyrl"  # a third of these files have Latin letters within Cyrillic words
    assert all(low[code] <= 0.2 * right[code] for code in right if right[code] and code != damaged)


@pytest.mark.parametrize(
    ("line", "is_code"),
    [
        pytest.param("for (int i = 0; i < n; i++) {", True, id="c"),
        pytest.param("    return self.name == other", True, id="python"),
        pytest.param("</div>", True, id="html"),
        pytest.param("(defun foo (x) (bar (baz x)))", True, id="lisp"),
        pytest.param("items.map(x => x.id);", True, id="javascript"),
        pytest.param("fi", True, id="shell"),
        pytest.param("He said (see below) that it was true; nobody knew.", False, id="eng brackets"),
        pytest.param("Τι κάνεις;", False, id="ell question mark"),
        pytest.param("Я смеялся ))))", False, id="rus emoticon"),
        pytest.param("人人生而自由，在尊严和权利上一律平等。", False, id="zho"),
        pytest.param("https://example.org/a_b/c.html?x=1&y=2", False, id="address"),
        pytest.param("Write to name.surname@mail.example.org", False, id="mail"),
        pytest.param("U.S. should double A.I. funding", False, id="eng abbreviations"),
        pytest.param("", False, id="empty"),
    ],
)
def test_lines_of_code_are_known_by_their_marks(line: str, is_code: bool) -> None:
    counts = code_lines(pa.array([line]))[0]
    assert counts[CODE] == is_code and counts[LINES] == bool(line)


@pytest.mark.parametrize(
    ("line", "share"),
    [
        pytest.param("Name\tYear\tCity", 1.0, id="tabs"),
        pytest.param("| a | b |", 1.0, id="pipes"),
        pytest.param("12.5 13,7 99% x", 1.0, id="numbers"),
        pytest.param("if (a || b || c) {", 0.0, id="an operator is no pipe"),
        pytest.param("In 1999 it rained.", 0.0, id="prose"),
        pytest.param("ਸਾਨੂੰ ਇੱਕ ਸੌਦਾ ਕਰਨ ਦੀ ਲੋੜ ਹੈ| ਅਸੀਂ", 0.0, id="pan one pipe as a danda"),
    ],
)
def test_rows_of_tables_are_known_by_their_cells(line: str, share: float) -> None:
    assert form(pa.RecordBatch.from_pydict({"text": [line]}))["table_line_share"].to_pylist() == [share]


@given(TEXTS)
def test_form_gives_shares_that_add_up_to_one_at_most(texts: list[str]) -> None:
    found = form(pa.RecordBatch.from_pydict({"text": pa.array(["x", *texts], pa.string())}).slice(1))
    assert all(0 <= a + b <= 1 for a, b in zip(*(found[name].to_pylist() for name in form.adds.names), strict=True))
    assert found["code_line_share"].to_pylist() == [
        form(pa.RecordBatch.from_pydict({"text": [text]}))["code_line_share"][0].as_py() for text in texts
    ]


def test_news_has_no_code_in_it_and_code_has(shared_data: Path) -> None:
    texts, _, _ = news(shared_data)
    assert max(form(pa.RecordBatch.from_pydict({"text": texts}))["code_line_share"].to_pylist()) == 0
    code: dict[str, list[str]] = {}
    with zstandard.open(shared_data / "docs.jsonl.zst", "rb") as file:
        for line in io.TextIOWrapper(file, encoding="utf-8"):
            if '"code:' in line:
                row = json.loads(line)
                code.setdefault(row["lang_hint"], []).append(row["text"])
    for name, files in code.items():
        found = sorted(form(pa.RecordBatch.from_pydict({"text": files}))["code_line_share"].to_pylist())
        assert found[len(found) // 2] > 0.4, name


def test_a_text_that_is_code_and_in_no_sure_language_is_called_so_and_prose_about_code_is_not() -> None:
    code = "\n".join(f"  x{i}[{i}] = f_{i}(q{i}, z{i});" for i in range(40))
    prose = "The following function adds two numbers and gives back their sum.\n" * 10
    assert labels(code, prose, prose + "x = add(1, 2);") == ["zxx_Latn", "eng_Latn", "eng_Latn"]
    assert mark_shares(pa.array([code]))[0] > 0.02
