"""The two archives: good pages in turn, copies and poor pages between them, broken records where they hurt."""

from pathlib import Path

from making import pages, plants
from making.archive import Archive
from making.expected import Expected

_REVISIT_EVERY, _METADATA_EVERY = 23, 9
NESTED_URL = "https://broken.example/nested"


def build_web(texts: Path, expected: Expected) -> dict[str, bytes]:
    """File name -> bytes of the archives; what they hold is entered in `expected`."""
    good = pages.originals(pages.sites(texts))
    copies = [*pages.exact_copies(good), *pages.near_copies(good)]
    _check(good, copies)
    archives = (Archive("pages-00.warc.gz"), Archive("pages-01.warc.gz"))
    for archive in archives:
        archive.warcinfo()
        expected.books("web").skip("warcinfo")
    for turn, sent in enumerate([*good, *copies]):
        _add_page(archives[turn % 2], sent, turn, expected)
        if turn == len(good) // 2:
            _add_between(archives, good, expected)
    expected.add_copies(copies)
    _add_end(archives[1], good, expected)
    return {archive.name: bytes(archive.data) for archive in archives}


def _add_page(archive: Archive, sent: pages.Sent, turn: int, expected: Expected) -> None:
    books = expected.books("web")
    plants.add_page(archive, sent)
    books.skip("request")
    expected.add_page(sent)
    if turn % _METADATA_EVERY == 0:
        plants.add_metadata(archive, sent)
        books.skip("metadata")
    if turn % _REVISIT_EVERY == 0:
        plants.add_revisit(archive, sent)
        books.skip("revisit")


def _add_between(archives: tuple[Archive, Archive], good: list[pages.Sent], expected: Expected) -> None:
    """In the middle of both archives, so that good pages stand on either side of what is bad."""
    first, second = archives
    books = expected.books("web")
    plants.add_others(first, good[0])
    for reason in ("not_http", "http_status", "http_status", "media_type", "media_type"):
        books.skip(reason)
    for turn, poor in enumerate(plants.poor_pages(good)):
        plants.add_poor(archives[turn % 2], poor)
        if poor.reason is None:
            books.skip("empty_text")
        else:
            books.document()
            expected.dropped[poor.url] = poor.reason
    wrong = plants.add_wrong_length(first, "https://broken.example/length")
    expected.lost("web", f"{first.name}@{wrong}", "length_mismatch")
    plants.add_metadata(first, good[0])  # a sound record between two that are not
    books.skip("metadata")
    expected.lost("web", f"{first.name}@{plants.add_garbage(first)}", "garbage_between_records")
    expected.lost("web", f"{second.name}@{plants.add_malformed(second)}", "invalid_record")
    expected.lost("web", f"{second.name}@{plants.add_nested(second, NESTED_URL)}", "too_deep")


def _add_end(archive: Archive, good: list[pages.Sent], expected: Expected) -> None:
    expected.lost("web", f"{archive.name}@{plants.add_truncated(archive, good[-1])}", "truncated")


def _check(good: list[pages.Sent], copies: list[pages.Sent]) -> None:
    """That copies are what expected.json calls them, and that no two other pages are equal."""
    by_url = {sent.url: sent for sent in good}
    assert len(by_url) == len(good), "two pages have one URL; give a site another name"
    texts = [_folded(sent) for sent in good]
    assert len(set(texts)) == len(texts), "two language files hold the same page"
    for sent in copies:
        same = _folded(sent) == _folded(by_url[sent.copy_of or ""])
        assert same == (sent.copy not in pages.EDITS), f"{sent.url} is not the copy that it is said to be"


def _folded(sent: pages.Sent) -> str:
    return pages.folded(" ".join((sent.page.title, *sent.page.paragraphs)))
