"""What a run of recipes/quickstart.yaml must make of the sample, counted from what was planted."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from making.pages import EDITS, Sent

# What each damaged line of broken/lines.jsonl is quarantined as.
LINE_REASONS = {
    "byte": "invalid_utf8",
    "null": "not_an_object",
    "array": "not_an_object",
    "no text": "no_text",
    "number": "text_not_string",
    "json": "invalid_json",
}
ARTICLE_LANGUAGES = {
    "de": "deu_Latn",
    "en": "eng_Latn",
    "es": "spa_Latn",
    "fr": "fra_Latn",
    "it": "ita_Latn",
    "ja": "jpn_Jpan",
    "pt": "por_Latn",
    "ru": "rus_Cyrl",
}
# Pages that lid.176 takes for another language, by URL; they stay, since real crawls hold such pages as well.
NOT_RECOGNISED: dict[str, str] = {}


@dataclass(slots=True)
class SourceBooks:
    """Balanced counts of one source: records = documents + skipped + quarantined."""

    records: int = 0
    documents: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    quarantined: Counter[str] = field(default_factory=Counter)

    def document(self, count: int = 1) -> None:
        self.records += count
        self.documents += count

    def skip(self, reason: str) -> None:
        self.records += 1
        self.skipped[reason] += 1

    def quarantine(self, reason: str) -> None:
        self.records += 1
        self.quarantined[reason] += 1


@dataclass(slots=True)
class Expected:
    """Books by source, and what is known of single documents."""

    sources: dict[str, SourceBooks] = field(default_factory=dict)
    quarantine: list[dict[str, str]] = field(default_factory=list)
    dropped: dict[str, str] = field(default_factory=dict)  # URL -> reason
    twins: list[dict[str, Any]] = field(default_factory=list)
    near_twins: list[dict[str, Any]] = field(default_factory=list)
    pages: dict[str, dict[str, Any]] = field(default_factory=dict)  # URL -> what a reader must find
    articles: dict[str, str] = field(default_factory=dict)  # id -> language
    notes: dict[str, str] = field(default_factory=dict)  # file name -> first line

    def books(self, source: str) -> SourceBooks:
        return self.sources.setdefault(source, SourceBooks())

    def lost(self, source: str, record: str, reason: str) -> None:
        self.books(source).quarantine(reason)
        self.quarantine.append({"source": source, "record": record, "reason": reason})

    def add_page(self, sent: Sent) -> None:
        self.books("web").document()
        self.pages[sent.url] = {
            "language": sent.language,
            "text": [f"{sent.language}.yaml", sent.number],
            "design": sent.design,
            "transport": sent.transport,
            "charset": sent.charset.codec,
            "charset_stated": sent.charset.stated,
            "charset_guessed": sent.charset.guessed,
            **({"copy": sent.copy, "copy_of": sent.copy_of} if sent.copy else {}),
        }

    def add_code(self, rows: list[dict[str, str]]) -> None:
        self.books("code").document(len(rows))
        first: dict[str, str] = {}
        for row in rows:
            if (path := first.setdefault(row["content"], row["path"])) != row["path"]:
                self.twins.append(
                    {"source": "code", "by": "source_id", "documents": [path, row["path"]], "how": "copy"}
                )

    def add_articles(self, rows: list[dict[str, str]]) -> None:
        self.books("articles").document(len(rows))
        self.articles = {row["id"]: ARTICLE_LANGUAGES[row["lang"]] for row in rows}

    def add_notes(self, notes: dict[str, bytes]) -> None:
        self.books("notes").document(len(notes))
        self.notes = {name: data.decode("utf-8-sig").partition("\n")[0] for name, data in notes.items()}

    def add_broken(self, lines: int, wrong: dict[int, str], whole: int) -> None:
        """Lines of lines.jsonl, the `wrong` ones by their offsets, and `whole` ones before cut.jsonl.gz breaks off."""
        self.books("broken").document(lines - len(wrong) + whole)
        for offset, kind in wrong.items():
            self.lost("broken", f"lines.jsonl@{offset}", LINE_REASONS[kind])
        self.lost("broken", "empty.jsonl.gz@0", "empty_file")
        self.lost("broken", "cut.jsonl.gz@*", "truncated")  # how far it can be read depends on zlib

    def add_copies(self, copies: Iterable[Sent]) -> None:
        for sent in copies:
            group = {"source": "web", "by": "url", "documents": [sent.copy_of, sent.url], "how": sent.copy}
            (self.near_twins if sent.copy in EDITS else self.twins).append(group)

    def to_json(self) -> dict[str, Any]:
        return {
            "about": "Written by build.py from what it planted; compared with a run by tests/jobs/test_sample.py.",
            "sources": {
                name: {
                    "records": books.records,
                    "documents": books.documents,
                    "skipped": dict(sorted(books.skipped.items())),
                    "quarantined": dict(sorted(books.quarantined.items())),
                }
                for name, books in self.sources.items()
            },
            "totals": {
                "records": sum(books.records for books in self.sources.values()),
                "documents": sum(books.documents for books in self.sources.values()),
                "dropped_by_quality": dict(sorted(Counter(self.dropped.values()).items())),
                "exact_duplicates": len(self.twins),
                "kept": sum(books.documents for books in self.sources.values()) - len(self.dropped) - len(self.twins),
                "languages": len({page["language"] for page in self.pages.values()}),
            },
            "quarantine": self.quarantine,
            "dropped": self.dropped,
            "twins": self.twins,
            "near_twins": self.near_twins,
            "not_recognised": {url: name for url, name in NOT_RECOGNISED.items() if url in self.pages},
            "pages": self.pages,
            "articles": self.articles,
            "notes": self.notes,
        }
