"""Charsets, pages and the guard: what is stated is checked against the bytes, and no page takes a worker down."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glotmill.curate.extract import guard
from glotmill.curate.extract.charset import codec_of, decoded
from glotmill.curate.extract.child import RefusedError
from glotmill.curate.extract.guard import close_child, guarded_page, has_huge_tag, nesting
from glotmill.curate.extract.html import page, stated_date, stated_language

TEXTS = {
    "jpn": ("これは日本語のページです。水車は川の水で回り、粉を挽きます。", "shift_jis"),
    "jpn euc": ("これは日本語のページです。水車は川の水で回り、粉を挽きます。", "euc-jp"),
    "kor": ("한국어 페이지입니다. 물레방아는 강물로 돌아가며 밀가루를 빻습니다.", "euc-kr"),
    "zho": ("这是一个中文网页。水车靠河水转动，把麦子磨成面粉。", "gb2312"),
    "zho trad": ("這是一個中文網頁。水車靠河水轉動，把麥子磨成麵粉。", "big5"),
    "rus": ("Это русская страница. Водяная мельница мелет зерно каждый день.", "windows-1251"),
    "rus koi8": ("Это русская страница. Водяная мельница мелет зерно каждый день.", "koi8-r"),
    "ell": ("Αυτή είναι μια ελληνική σελίδα. Ο μύλος αλέθει το σιτάρι.", "iso-8859-7"),
    "arb": ("هذه صفحة باللغة العربية. الطاحونة تطحن القمح كل يوم.", "windows-1256"),
    "heb": ("זהו דף בעברית. הטחנה טוחנת את החיטה בכל יום.", "windows-1255"),
    "tha": ("หน้านี้เป็นภาษาไทย กังหันน้ำหมุนด้วยน้ำจากแม่น้ำ", "tis-620"),
    "pol": ("Zażółć gęślą jaźń. Młyn wodny miele zboże każdego dnia.", "iso-8859-2"),
    "vie": ("Tiếng Việt: cối xay nước quay.", "utf-8"),
    "fra": ("Le moulin à eau tourne grâce à la rivière, été comme hiver.", "latin1"),
}
BY_NAME = [pytest.param(text, charset, id=name) for name, (text, charset) in TEXTS.items()]


@pytest.mark.parametrize(("text", "charset"), BY_NAME)
def test_a_stated_charset_that_holds_is_used(text: str, charset: str) -> None:
    by_header = decoded(text.encode(charset), http=charset)
    assert by_header is not None and (by_header.text, by_header.guessed) == (text, False)
    page = f'<html><head><meta charset="{charset}"></head><body>{text}'
    by_meta = decoded(page.encode(charset), markup=True)
    assert by_meta is not None and (by_meta.text, by_meta.guessed) == (page, False)


@pytest.mark.parametrize("stated", ["nonsense-8", "x-user-defined", None])
@pytest.mark.parametrize(("text", "charset"), BY_NAME)
def test_without_a_charset_that_exists_the_bytes_decide_and_that_is_flagged(
    text: str, charset: str, stated: str | None
) -> None:
    found = decoded(text.encode(charset) * 3, http=stated)
    assert found is not None and found.guessed
    if charset not in ("windows-1255", "iso-8859-2"):  # too like their neighbours for a short text
        assert found.text == text * 3


@pytest.mark.parametrize(
    ("body", "http", "text"),
    [
        pytest.param("Übermüdung größer".encode(), "iso-8859-1", "Übermüdung größer", id="UTF-8 said to be Latin"),
        pytest.param(
            "水車は川の水で回り、粉を挽きます".encode(),
            "gb2312",
            "水車は川の水で回り、粉を挽きます",
            id="UTF-8 said to be GB",
        ),
        pytest.param(TEXTS["rus"][0].encode("cp1251"), "utf-8", TEXTS["rus"][0], id="cp1251 said to be UTF-8"),
        pytest.param(
            ("ж" * 500).encode() + b"\xff" + ("ж" * 500).encode(),
            "utf-8",
            "ж" * 500 + "\ufffd" + "ж" * 500,
            id="one bad byte",
        ),
    ],
)
def test_a_charset_that_lies_is_found_out_and_flagged(body: bytes, http: str, text: str) -> None:
    found = decoded(body, http=http)
    assert found is not None and (found.text, found.guessed) == (text, True)


@pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_wins(mark: str) -> None:
    found = decoded("ኢትዮጵያ a".encode(mark), http="iso-8859-1")
    assert found is not None and (found.text, found.guessed) == ("ኢትዮጵያ a", False)


def test_a_wrong_mark_is_not_believed() -> None:
    found = decoded(b"\xff\xfe" + "Это русская страница".encode("cp1251") + b"!", http="windows-1251")
    assert found is not None and found.guessed and "русская" in found.text


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("latin1", "cp1252"),
        ("GB2312", "gb18030"),
        ("euc-kr", "cp949"),
        ("Shift_JIS", "cp932"),
        ("utf8", "utf-8"),
        ("x" * 99, None),
    ],
)
def test_labels_mean_what_they_mean_on_the_web(label: str, codec: str | None) -> None:
    assert codec_of(label) == codec


@given(
    body=st.binary(max_size=300),
    http=st.text(max_size=12) | st.sampled_from(["utf-16", "utf-7", "idna", "hex", "gb18030"]),
)
def test_any_bytes_give_text_without_surrogates_and_nuls_or_none(body: bytes, http: str) -> None:
    found = decoded(body, http=http, markup=True)
    if found is not None:
        found.text.encode()
        assert "\0" not in found.text


@given(text=st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_utf8_that_is_stated_comes_back_as_it_was(text: str) -> None:
    found = decoded(text.encode(), http="utf-8")
    assert found is not None and found.text == text.removeprefix("\ufeff") and not found.guessed


# --- pages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<html lang="sr-Latn">', "sr-Latn"),
        ("<!DOCTYPE html>\n<HTML dir=rtl LANG=ar>", "ar"),
        ("<html xml:lang='pt_BR' class=x>", "pt_BR"),
        ("<html data-lang='x'>", None),
        ("<html><p lang=fr>", None),
    ],
)
def test_the_language_of_a_page_is_what_its_html_tag_says(html: str, language: str | None) -> None:
    assert stated_language(html) == language


@pytest.mark.parametrize(
    ("html", "date"),
    [
        ('<meta property="article:published_time" content="2021-03-04T05:06:07Z">', "2021-03-04T05:06:07Z"),
        ('<meta content="2021-03-04" property="article:published_time"/>', "2021-03-04"),
        ('<time class=x datetime="2020-01-01">New Year</time>', "2020-01-01"),
        ("<time>yesterday</time>", None),
        ("<p>2020-01-01</p>", None),
    ],
)
def test_a_page_is_dated_by_what_it_states(html: str, date: str | None) -> None:
    assert stated_date(html) == date


def test_paragraphs_and_lists_keep_their_lines() -> None:
    items = ["Il grano si versa nella tramoggia, poco alla volta.", "La macina gira e lo rompe, piano e senza fretta."]
    listed = "".join(f"<li>{item}</li>" for item in items)
    found = page(f"<title>a\n b</title><body><article><p>Primo</p><p>Secondo</p><ul>{listed}</ul></article>")
    assert found.title == "a b"
    lines = [line.strip() for line in found.text.splitlines() if line.strip()]
    assert lines == ["Primo", "Secondo", *(f"• {item}" for item in items)]


CONTENT = "<p>Il mulino macina il grano ogni giorno e la ruota gira piano sotto il ponte.</p>" * 3


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        pytest.param(f"{CONTENT}<footer>PIEDE</footer>", "", id="footer of the body"),
        pytest.param(f"<div>{CONTENT}<footer>PIEDE</footer></div>", "", id="footer in a div"),
        pytest.param(f"<div><div><div><div>{CONTENT}<footer><p>PIEDE</footer>", "", id="footer deep in divs"),
        pytest.param(f"<section>{CONTENT}<footer>PIEDE</footer></section>", "", id="footer of a section"),
        pytest.param(f"<article>{CONTENT}</article><footer>PIEDE</footer>", "", id="footer behind the article"),
        pytest.param(f"<article>{CONTENT}<footer>NOTE</footer></article><p>Fine", "NOTE", id="footer of the article"),
        pytest.param(f"<main>{CONTENT}<footer>NOTE</footer></main><p>Fine", "NOTE", id="footer of the main element"),
        pytest.param(
            f"<main><div>{CONTENT}<footer>NOTE</footer></div></main><p>Fine", "NOTE", id="deep in the main element"
        ),
        pytest.param(f"<div>{CONTENT}<div role=contentinfo>PIEDE</div></div>", "", id="footer by its role"),
        pytest.param(f"<nav><ul><li>MENU</ul></nav>{CONTENT}", "", id="menu of the body"),
        pytest.param(f"<div><div><div><div><nav><ul><li>MENU</ul></nav>{CONTENT}", "", id="menu deep in divs"),
        pytest.param(f"<div><div role=navigation>MENU</div>{CONTENT}</div>", "", id="menu by its role"),
        pytest.param(f"<FOOTER>PIEDE</FOOTER>{CONTENT}", "", id="footer in capitals, before the text"),
    ],
)
def test_footers_and_menus_of_the_site_are_left_out_and_those_of_articles_stay(body: str, kept: str) -> None:
    text = page(f"<!doctype html><title>t</title><body>{body}").text
    assert text.count("macina") == 3
    assert [word for word in ("PIEDE", "MENU", "NOTE") if word in text] == ([kept] if kept else [])


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"<nav>{CONTENT}", id="a menu that never ends"),
        pytest.param(f"<footer>{CONTENT}</footer>", id="all in a footer"),
        pytest.param(f"<div role=navigation>{CONTENT}</div>", id="all in a menu"),
    ],
)
def test_a_page_of_nothing_but_furniture_keeps_it(body: str) -> None:
    assert page(f"<body>{body}").text.count("macina") == 3


@pytest.mark.parametrize("tags", ["{}", "<div>{}</div>", "<main>{}</main>", "<main><article>{}</article></main>"])
@pytest.mark.parametrize("kind", ["ul", "ol"])
def test_lists_of_plain_pages_stay(tags: str, kind: str) -> None:
    listed = f"<{kind}><li>La macina gira.<li>Il grano si rompe.</{kind}>"
    text = page("<body>" + tags.format(f"<p>Primo</p>{listed}")).text
    assert "La macina gira." in text and "Il grano si rompe." in text


@given(
    html=st.text(max_size=300)
    | st.lists(st.sampled_from(["<div>", "</p>", "<b", ">", "<!--", "<table>", "ж", "\0"])).map("".join)
)
def test_any_text_is_a_page(html: str) -> None:
    guarded_page(html, html.encode("utf-8", "replace"), extractor="resiliparse", seconds=20).text.encode()


# --- the guard ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "deep"),
    [
        pytest.param(b"<p>x" * 5000, False, id="paragraphs without end tags"),
        pytest.param(b"<div>x<br></div>" * 5000, False, id="siblings"),
        pytest.param(b"</div>" * 5000, False, id="end tags alone"),
        pytest.param(b"<div>" * 5000, True, id="nested and open"),
        pytest.param(b"<br>" * 9000 + b"<div>" * 5000 + b"</div>" * 5000, True, id="nested and closed, behind breaks"),
        pytest.param(b"</div>" * 9000 + b"<b>" * 5000, True, id="nested behind end tags"),
    ],
)
def test_nesting_is_seen_before_parsing(body: bytes, deep: bool) -> None:
    assert (nesting(body) > guard.SUSPICIOUS_DEPTH) == deep


@pytest.mark.parametrize(
    ("body", "huge"),
    [
        pytest.param(b"<p " + b"a=1 " * 20_000 + b">x", True, id="attributes"),
        pytest.param(b"<p " + b"a/" * 20_000 + b">x", True, id="attributes parted by slashes"),
        pytest.param((b"<p " + b"a=1111 " * 7_000 + b">") * 4, True, id="in several tags"),
        pytest.param(b"<p " + b"a=1 " * 20_000, True, id="in a tag without end"),
        pytest.param(b'<img src="' + b"QUJD" * 50_000 + b'">', False, id="an image in one attribute"),
        pytest.param(b"<p>" + b"a a " * 20_000, False, id="text"),
        pytest.param(b"a = b < 2 " + b"a a " * 20_000, False, id="a sign that opens no tag"),
    ],
)
def test_tags_of_very_many_attributes_are_seen_before_parsing(body: bytes, huge: bool) -> None:
    assert has_huge_tag(body) == huge


def test_a_closed_child_is_replaced_by_another() -> None:
    html = "<div>" * 2500 + "x"
    for _ in range(2):
        assert guarded_page(html, html.encode(), extractor="resiliparse", seconds=60).text.strip() == "x"
        close_child()
        close_child()


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("<p " + " ".join(f"a{n}=1" for n in range(60_000)) + ">x", id="60,000 attributes"),
        pytest.param("".join(f"<p><b c={n}>x" for n in range(1900)), id="formatting that each paragraph opens again"),
    ],
)
def test_a_page_made_to_take_long_is_given_up_in_time(html: str) -> None:
    with pytest.raises(RefusedError) as refused:
        guarded_page(html, html.encode(), extractor="resiliparse", seconds=0.5)
    assert refused.value.reason == "too_slow"


def test_a_deep_page_is_read_in_the_child() -> None:
    html = "<div>" * 3000 + "in der Tiefe" + "</div>" * 3000
    found = guarded_page(html, html.encode(), extractor="resiliparse", seconds=60)
    assert found.text.strip() == "in der Tiefe"


def test_a_slow_page_is_given_up_and_the_next_one_read() -> None:
    slow = "<div>" * 9_900
    started = time.monotonic()
    with pytest.raises(RefusedError) as refused:
        guarded_page(slow, slow.encode(), extractor="resiliparse", seconds=0.3)
    assert refused.value.reason == "too_slow" and time.monotonic() - started < 30
    html = "<div>" * 2500 + "next"
    assert guarded_page(html, html.encode(), extractor="resiliparse", seconds=60).text.strip() == "next"


def test_a_child_that_dies_costs_one_page() -> None:
    html = "<div>" * 2500 + "x"
    guarded_page(html, html.encode(), extractor="resiliparse", seconds=60)
    process = guard._child()._process
    assert process is not None
    process.kill()
    process.wait()
    assert guarded_page(html, html.encode(), extractor="resiliparse", seconds=60).text.strip() == "x"


def test_trafilatura_is_another_extractor() -> None:
    pytest.importorskip("trafilatura")
    html = (
        "<html><body><article>"
        + "<p>Il mulino macina il grano ogni giorno e la ruota gira piano.</p>" * 5
        + "</article></body></html>"
    )
    assert "macina" in guarded_page(html, html.encode(), extractor="trafilatura", seconds=60).text
