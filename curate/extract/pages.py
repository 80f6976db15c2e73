"""Bodies to documents: decode, extract, keep. One way for archives, HTML files and text files."""

import re
from dataclasses import dataclass, replace

from glotmill.curate.extract.charset import decoded
from glotmill.curate.extract.child import RefusedError
from glotmill.curate.extract.guard import guarded_page
from glotmill.curate.extract.html import language_hint
from glotmill.curate.extract.intake import Fields, Intake
from glotmill.schemas.reasons import Quarantined, Skipped
from glotmill.schemas.recipe import Extract

HTML = ("text/html", "application/xhtml+xml")
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta)\b", re.I | re.S
)
_BINARY = (b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"RIFF", b"\x00\x00\x00")


@dataclass(frozen=True, slots=True)
class Pages:
    """How bodies become documents."""

    extract: Extract

    @property
    def limit(self) -> int:
        return self.extract.max_record_bytes

    def sniff(self, body: bytes) -> str | None:
        """The media type of a body that states none, of those we read: HTML, plain text, or None."""
        if _HTML_START.match(body[:4096]):
            return "text/html"
        if body.startswith(_BINARY) or not body or b"\0" in body[:4096]:
            return None
        controls = len(body[:4096]) - len(body[:4096].translate(None, bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))))
        return None if controls else "text/plain"

    def fits(self, record: str, body: bytes, intake: Intake) -> bool:
        """Whether a body is within the limit; a larger one is quarantined."""
        if len(body) > self.limit:
            error = f"a body of {len(body)} bytes is over max_record_bytes, {self.limit}"
            intake.quarantine(record, Quarantined.TOO_LARGE, error, body)
        return len(body) <= self.limit

    def take(
        self,
        record: str,
        body: bytes,
        fields: Fields,
        intake: Intake,
        *,
        charset: str | None = None,
        default: str | None = None,
    ) -> None:
        """Keep, skip or quarantine one body. `charset` is stated outside of it, `default` implied by its format."""
        if not self.fits(record, body, intake):
            return
        intake.body_bytes += len(body)
        markup = fields.media_type in HTML
        found = decoded(body, http=charset, markup=markup, default=default)
        if found is None:
            intake.quarantine(record, Quarantined.UNDECODABLE, "no text: control characters all over", body)
            return
        if not markup:
            self._keep(
                record, found.text, replace(fields, charset=found.charset, charset_guessed=found.guessed), intake
            )
            return
        flat = body if not found.charset.startswith(("utf-16", "utf-32")) else found.text.encode()
        try:
            page = guarded_page(
                found.text, flat, extractor=self.extract.extractor, seconds=self.extract.timeout_seconds
            )
        except RefusedError as refused:
            intake.quarantine(record, refused.reason, refused.error, body)
            return
        stated = replace(
            fields,
            charset=found.charset,
            charset_guessed=found.guessed,
            title=page.title,
            date=page.date or fields.date,
            language_hint=page.language or fields.language_hint,
        )
        self._keep(record, page.text, stated, intake)

    def _keep(self, record: str, text: str, fields: Fields, intake: Intake) -> None:
        if not text.strip():
            intake.skip(Skipped.EMPTY_TEXT)
            return
        hint = fields.language_hint
        known = language_hint(hint) if hint else None
        intake.keep(record, text, fields if known == hint else replace(fields, language_hint=known))
