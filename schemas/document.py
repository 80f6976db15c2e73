"""The tables that steps hand to one another, as Arrow schemas.

Names and types here are the contract with users: columns may be added, never renamed. Texts are Unicode as found (no
normalisation), `id` is 32 hex digits, times are ISO 8601 strings as stated by the source.
"""

import pyarrow as pa


def _schema(**fields: pa.DataType) -> pa.Schema:
    """Fields whose keyword ends in `_` may be null; the others may not."""
    return pa.schema([pa.field(name.rstrip("_"), kind, nullable=name.endswith("_")) for name, kind in fields.items()])


DOCUMENT = _schema(
    id=pa.string(),  # xxh3-128 of source name and record locator, see `document_ids`
    source_id_=pa.string(),  # the input's own id, when it has one
    text=pa.string(),
    source=pa.string(),  # name of the recipe's source
    record=pa.string(),  # locator: path relative to the source, then "@" and byte offset, or "#" and row
    url_=pa.string(),
    title_=pa.string(),
    date_=pa.string(),  # as the record states it
    domain=pa.string(),  # of text: web, code, law, ...; not the host
    license_=pa.string(),
    media_type_=pa.string(),
    charset_=pa.string(),  # by which the bytes were decoded
    charset_guessed=pa.bool_(),  # true where the stated charset was absent, unknown or wrong
    language_hint_=pa.string(),  # the source's own word for it, as glotmill writes languages
)

QUARANTINE = _schema(
    source=pa.string(),
    record=pa.string(),
    reason=pa.string(),  # a code of schemas/reasons.py
    error=pa.string(),
    excerpt=pa.binary(),  # at most EXCERPT_BYTES of the offending bytes
)
EXCERPT_BYTES = 1024

EDIT = pa.struct(  # one span of a text that is left out
    [
        pa.field("start", pa.int32()),  # in bytes of the UTF-8 text
        pa.field("end", pa.int32()),  # one past the last byte
        pa.field("reason", pa.string()),  # of the line rule; or repeated_line, repeated_text
    ]
)
EDITS = pa.list_(EDIT)  # of one text: in their order, disjoint, none empty

REASON = pa.struct(
    [
        pa.field("reason", pa.string()),
        pa.field("signal", pa.string()),
        pa.field("comparison", pa.string()),
        pa.field("value", pa.float64()),
        pa.field("limit", pa.float64()),
        pa.field("scope", pa.string()),  # "*", a script or a language: whose limit was used
    ]
)

VERDICT = _schema(
    id=pa.string(),
    source_id_=pa.string(),
    keep=pa.bool_(),
    reason_=pa.string(),  # the first rule broken, in the recipe's order; null when kept
    reasons=pa.list_(REASON),  # every rule broken
    margin_=pa.float64(),  # smallest relative distance to a limit over all rules that hold; null when dropped
    margin_rule_=pa.string(),  # the rule that comes nearest to breaking
)

DEDUP = _schema(
    id=pa.string(),
    source_id_=pa.string(),
    keep=pa.bool_(),
    kind_=pa.string(),  # exact, fuzzy, paragraph; null for a document without a twin
    twin_=pa.string(),  # id of the kept document this one repeats; null when kept
    similarity_=pa.float64(),  # Jaccard similarity to the twin, as measured; null for documents of one address
    cluster_=pa.string(),  # id of the kept document; null for a document without a twin
    cluster_size=pa.int64(),  # documents in the cluster, the kept one included; 1 without a twin
    measured_=pa.string(),  # what told that it repeats its twin: text, bytes, url, signature, shingles; null when kept
    index_=pa.string(),  # generation of the index that holds the twin; null where the twin is a document of this run
)

REPEATS = _schema(
    id=pa.string(),
    cuts=EDITS,  # of the text in documents/: the line rules' and what repeats other documents, together
    bytes=pa.int64(),  # UTF-8 bytes of what they leave
    empty=pa.bool_(),  # what repeats other documents was all there was, but for white space
)

KEPT = _schema(
    id=pa.string(),
    source_id_=pa.string(),
    source=pa.string(),
    language=pa.string(),
    domain=pa.string(),
    bytes=pa.int64(),  # UTF-8 bytes of the text without its cuts
    cuts=EDITS,  # what line rules and dedup cut out of the text in documents/; the rest is what is tokenized
)

DROPPED = _schema(
    id=pa.string(),
    source_id_=pa.string(),
    source=pa.string(),
    record=pa.string(),
    url_=pa.string(),
    language=pa.string(),
    domain=pa.string(),
    step=pa.string(),  # judge or dedup
    reason=pa.string(),
    twin_=pa.string(),
    similarity_=pa.float64(),
    excerpt=pa.string(),  # the first EXCERPT_CHARS code points without cuts; the whole text stays in documents/
)
EXCERPT_CHARS = 300

TOKENIZED = _schema(
    id=pa.string(),
    sequence=pa.int64(),  # row in the .idx beside this table
    tokens=pa.int64(),  # BOS and EOS included
    chars=pa.int64(),  # Unicode code points
    bytes=pa.int64(),  # UTF-8
    source=pa.string(),
    record=pa.string(),
    url_=pa.string(),
    license_=pa.string(),
    language=pa.string(),
    domain=pa.string(),
)

PROVENANCE = _schema(
    sequence=pa.int64(),  # row in the shard's .idx
    start=pa.int64(),  # first token of the document in the shard's .bin, in tokens
    tokens=pa.int64(),
    epoch=pa.int32(),
    id=pa.string(),
    source=pa.string(),
    record=pa.string(),
    url_=pa.string(),
    license_=pa.string(),
    language=pa.string(),
    domain=pa.string(),
)
