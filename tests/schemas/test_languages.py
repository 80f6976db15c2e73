import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from ruamel.yaml import YAML

from glotmill.schemas.errors import RecipeError
from glotmill.schemas.languages import (
    Language,
    from_lid176,
    known,
    language,
    parse_language,
    script_direction,
    script_spaced,
    script_terminals,
)
from glotmill.schemas.recipe import Source
from glotmill.schemas.scripts import known_scripts

ROOT = Path(__file__).parents[2]
CANONICAL = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}")
LANGUAGES = st.sampled_from(known())

# The 176 labels of lid.176.
LABELS = """
    af als am an ar arz as ast av az azb ba bar bcl be bg bh bn bo bpy br bs bxr ca cbk ce ceb ckb co cs cv cy da de diq
    dsb dty dv el eml en eo es et eu fa fi fr frr fy ga gd gl gn gom gu gv he hi hif hr hsb ht hu hy ia id ie ilo io is
    it ja jbo jv ka kk km kn ko krc ku kv kw ky la lb lez li lmo lo lrc lt lv mai mg mhr min mk ml mn mr mrj ms mt mwl
    my myv mzn nah nap nds ne new nl nn no oc or os pa pam pfl pl pms pnb ps pt qu rm ro ru rue sa sah sc scn sco sd sh
    si sk sl so sq sr su sv sw ta te tg th tk tl tr tt tyv ug uk ur uz vec vep vi vls vo wa war wuu xal xmf yi yo yue zh
""".split()

# --- the table ----------------------------------------------------------------------------------------------------


def test_the_table_holds_many_languages_and_scripts() -> None:
    codes = [row.code for row in known()]
    assert len(codes) >= 120 and codes == sorted(set(codes))
    assert len({row.script for row in known()}) >= 30


@pytest.mark.parametrize("row", known(), ids=lambda row: row.code)
def test_every_row_is_whole(row: Language) -> None:
    facts = known_scripts()[row.script]
    assert CANONICAL.fullmatch(row.code) and row.code == f"{row.iso639_3}_{row.script}"
    assert row.english and (row.autonym or row.script == "Zzzz")
    assert (row.direction, row.spaced, row.terminals) == (facts.direction, facts.spaced, facts.terminals)
    assert language(row.code) is row


@pytest.mark.parametrize("field", ["bcp47", "english"])
def test_no_two_rows_share_a_name(field: str) -> None:
    names = [getattr(row, field) for row in known()]
    assert len(names) == len(set(names))


def test_a_row_is_what_a_reader_expects() -> None:
    assert language("zho_Hant") == Language(
        code="zho_Hant",
        bcp47="zh-Hant",
        english="Chinese (Traditional)",
        autonym="繁體中文",
        direction="ltr",
        spaced=False,
        terminals="。！？…｡．.!?⋯",
        lid176="",
    )


@pytest.mark.parametrize(
    ("code", "nearest"),
    [
        ("ita_Latm", "ita_Latn"),
        ("itl_Latn", "ita_Latn"),
        ("zho_Hanz", "zho_Hans"),
        ("Ita_Latn", "ita_Latn"),
        ("it", "ita_Latn"),
    ],
)
def test_an_unknown_code_names_the_nearest(code: str, nearest: str) -> None:
    with pytest.raises(RecipeError, match=f"{code}.*did you mean {nearest}"):
        language(code)


def test_a_code_like_no_other_names_the_form() -> None:
    with pytest.raises(RecipeError, match="write one such as ita_Latn"):
        language("§§§§§")


@pytest.mark.parametrize("path", sorted((ROOT / "recipes/samples/text").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_samples_are_in_known_languages(path: Path) -> None:
    head = YAML(typ="safe").load("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:2]))
    assert language(head["language"]).code == path.stem
    assert parse_language(head["bcp47"]) == path.stem


# --- scripts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("script", "Hans Hant Hani Jpan Hira Kana Bopo Thai Laoo Khmr Mymr Tibt".split())
def test_spaces_do_not_part_words_in(script: str) -> None:
    assert not script_spaced(script)


@pytest.mark.parametrize("script", "Latn Cyrl Grek Arab Hebr Deva Taml Kore Hang Ethi Armn Geor Xxxx".split())
def test_spaces_part_words_in(script: str) -> None:
    assert script_spaced(script)


@pytest.mark.parametrize("code", "arb_Arab heb_Hebr urd_Arab pes_Arab div_Thaa syr_Syrc nqo_Nkoo yid_Hebr".split())
def test_right_to_left(code: str) -> None:
    assert language(code).direction == script_direction(code[4:]) == "rtl"


@pytest.mark.parametrize("script", "Latn Deva Hans Mong Xxxx Zzzz".split())
def test_left_to_right(script: str) -> None:
    assert script_direction(script) == "ltr"


@pytest.mark.parametrize(
    ("script", "marks"),
    [
        ("Latn", ".!?…"),
        ("Jpan", "。！？…"),
        ("Hans", "。！？…"),
        ("Deva", "।॥!?"),
        ("Beng", "।!?"),
        ("Khmr", "។"),
        ("Tibt", "།"),
        ("Ethi", "።"),
        ("Arab", "؟.!۔"),
        ("Armn", "։"),
        ("Grek", ".!;\u037e"),
        ("Mymr", "။"),
        ("Xxxx", ".!?。"),
    ],
)
def test_sentences_end_in(script: str, marks: str) -> None:
    assert set(marks) <= set(script_terminals(script))


def test_no_script_repeats_a_mark() -> None:
    assert [s.code for s in known_scripts().values() if len(set(s.terminals)) < len(s.terminals)] == []


# --- reading names ------------------------------------------------------------------------------------------------


@given(LANGUAGES)
def test_codes_and_tags_of_the_table_are_read_back(row: Language) -> None:
    for name in (
        row.code,
        row.bcp47,
        row.code.upper(),
        row.code.replace("_", "-"),
        f" {row.bcp47.replace('-', '_')}\n",
    ):
        assert parse_language(name) == row.code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("it", "ita_Latn"),
        ("ita", "ita_Latn"),
        ("pt-BR", "por_Latn"),
        ("pt_BR", "por_Latn"),
        ("en-US.UTF-8", "eng_Latn"),
        ("zh", "zho_Hans"),
        ("zh-CN", "zho_Hans"),
        ("zh-TW", "zho_Hant"),
        ("zh-HK", "zho_Hant"),
        ("zh-Hant-TW", "zho_Hant"),
        ("cmn", "zho_Hans"),
        ("cmn-Hans", "zho_Hans"),
        ("cmn_Hani", "zho_Hans"),
        ("zh-yue", "yue_Hant"),
        ("zh-min-nan", "nan_Hans"),
        ("zho_Latn", "zho_Latn"),
        ("ja", "jpn_Jpan"),
        ("jpn_Hani", "jpn_Jpan"),
        ("ko", "kor_Kore"),
        ("kor_Hang", "kor_Kore"),
        ("sr", "srp_Cyrl"),
        ("sr-Latn", "srp_Latn"),
        ("sr@latin", "srp_Latn"),
        ("sr-ME", "srp_Latn"),
        ("sh", "hbs_Latn"),
        ("hbs", "hbs_Latn"),
        ("no", "nob_Latn"),
        ("nor", "nob_Latn"),
        ("nb", "nob_Latn"),
        ("nn", "nno_Latn"),
        ("iw", "heb_Hebr"),
        ("ji", "yid_Hebr"),
        ("in", "ind_Latn"),
        ("mo", "ron_Latn"),
        ("tl", "tgl_Latn"),
        ("fil", "tgl_Latn"),
        ("fil-PH", "tgl_Latn"),
        ("ms", "msa_Latn"),
        ("zsm", "msa_Latn"),
        ("swh_Latn", "swa_Latn"),
        ("ekk", "est_Latn"),
        ("als", "sqi_Latn"),
        ("gsw", "gsw_Latn"),
        ("ger", "deu_Latn"),
        ("fre", "fra_Latn"),
        ("chi", "zho_Hans"),
        ("ar", "arb_Arab"),
        ("ara", "arb_Arab"),
        ("ar-EG", "arb_Arab"),
        ("fa", "pes_Arab"),
        ("per", "pes_Arab"),
        ("prs", "prs_Arab"),
        ("pa-PK", "pan_Arab"),
        ("az-IR", "aze_Arab"),
        ("azb", "azb_Arab"),
        ("aii", "aii_Syrc"),
        ("grc", "grc_Grek"),
        ("tlh", "tlh_Latn"),
        ("Swahili", "swa_Latn"),
        ("und", "und_Zzzz"),
        ("und_Latn", "und_Latn"),
        ("zxx", "zxx_Zzzz"),
        ("rus_Latn", "rus_Latn"),
    ],
)
def test_a_language_is_read(text: str, code: str) -> None:
    assert parse_language(text) == code
    assert parse_language(code) == code


@pytest.mark.parametrize(
    "text", ["", " ", "x", "xx", "x-unknown", "ita_Abcd", "en,fr", "C", "中文", "--", "\0", "\ud800"]
)
def test_what_names_no_language_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(ValueError, match="names no language: .*write ISO 639-3 and script, such as ita_Latn, or"):
        parse_language(text)


@given(st.text(max_size=12) | st.from_regex(r"[a-z]{2,3}([-_][A-Za-z0-9]{1,8}){0,3}", fullmatch=True))
def test_any_text_is_read_to_a_canonical_code_or_refused(text: str) -> None:
    try:
        code = parse_language(text)
    except ValueError:
        return
    assert CANONICAL.fullmatch(code)
    assert parse_language(code) == code


def test_a_recipe_that_names_no_language_says_what_to_write() -> None:
    with pytest.raises(ValidationError, match=r"'x-unknown' names no language.*such as zh-Hant or pt-BR"):
        Source(name="a", path="b", language="x-unknown")


def test_names_of_the_table_are_read_without_langcodes() -> None:
    code = (
        "import sys; from glotmill.schemas.languages import *; from glotmill.schemas import languages as l\n"
        "assert not l.by_code.cache_info().currsize\n"
        "for row in l.known():\n"
        "    assert l.parse_language(row.code) == l.parse_language(row.bcp47) == row.code\n"
        "    assert not row.lid176 or l.from_lid176(row.lid176, 'Cyrl')\n"
        "    assert row.lid176 in ('', 'als') or l.parse_language(row.lid176) == row.code\n"
        "print([name for name in sys.modules if name.startswith('lang')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- labels of models ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", LABELS)
def test_every_label_of_lid176_is_a_row(label: str) -> None:
    code = from_lid176(f"__label__{label}", None)
    assert language(code).lid176 == label
    assert CANONICAL.fullmatch(code) and from_lid176(label, code[4:]) == code


def test_the_table_has_no_other_labels() -> None:
    labels = [row.lid176 for row in known() if row.lid176]
    assert sorted(labels) == sorted(LABELS)


@pytest.mark.parametrize(
    ("label", "script", "code"),
    [
        ("zh", "Hans", "zho_Hans"),
        ("zh", "Hant", "zho_Hant"),
        ("zh", None, "zho_Hans"),
        ("zh", "Latn", "zho_Latn"),
        ("wuu", "Hant", "wuu_Hant"),
        ("yue", "Hans", "yue_Hans"),
        ("ja", "Jpan", "jpn_Jpan"),
        ("ja", "Hans", "jpn_Jpan"),
        ("ko", "Kore", "kor_Kore"),
        ("sr", "Cyrl", "srp_Cyrl"),
        ("sr", "Latn", "srp_Latn"),
        ("sh", "Latn", "hbs_Latn"),
        ("ru", "Latn", "rus_Latn"),
        ("it", "Zzzz", "ita_Latn"),
        ("no", None, "nob_Latn"),
        ("ar", "Arab", "arb_Arab"),
        ("fa", "Arab", "pes_Arab"),
        ("als", "Latn", "gsw_Latn"),
        ("bh", None, "bho_Deva"),
        ("eml", None, "egl_Latn"),
        ("xal", None, "xal_Cyrl"),
        ("azb", None, "azb_Arab"),
        ("nah", None, "nah_Latn"),
        ("tl", None, "tgl_Latn"),
        ("ita_Latn", "Latn", "ita_Latn"),
        ("__label__xyz_Latn", None, "xyz_Latn"),
    ],
)
def test_a_label_and_a_script_make_a_code(label: str, script: str | None, code: str) -> None:
    assert from_lid176(label, script) == code


def test_a_label_that_is_no_language_is_refused() -> None:
    with pytest.raises(ValueError, match="'spam' names no language"):
        from_lid176("__label__spam", "Latn")
