"""A recipe: what one run reads and what it makes of it. Every default here is meant for web text in many languages."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from glotmill.schemas.languages import parse_language

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
DOMAIN = r"^[a-z0-9][a-z0-9_-]*$"
SIGNAL = r"^[a-z][a-z0-9_]*$"


class _Section(BaseModel):
    """Unknown keys are errors, and a value is never silently converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _language(code: str) -> str:
    return parse_language(code)


class Columns(_Section):
    """Which column or JSON key of a JSONL or Parquet source holds what. A dot descends into a nested object."""

    text: str = Field("text", description="the text itself; a record without it is quarantined as no_text")
    id: str | None = Field(None, description="kept as source_id; the document's own id is made from its place")
    url: str | None = Field(None, description="the document's address")
    title: str | None = Field(None, description="the document's title")
    date: str | None = Field(None, description="when it was published or fetched, as it stands in the input")
    license: str | None = Field(None, description="the document's licence; wins over the source's")
    domain: str | None = Field(None, description="the document's domain; wins over the source's")
    language: str | None = Field(None, description="kept as language_hint; the text decides the language")


class Source(_Section):
    """One collection of records."""

    name: str = Field(pattern=NAME, description="unique; part of every document's id")
    path: str | tuple[str, ...] = Field(
        description="file, folder or glob, or a list of them; relative to the recipe's folder"
    )
    format: Literal["auto", "warc", "html", "jsonl", "parquet", "text"] = Field(
        "auto", description="auto decides by the name of each file"
    )
    columns: Columns = Field(Columns(), description="which column or key holds what; for jsonl and parquet")
    domain: str = Field("web", pattern=DOMAIN, description="domain of records that state none")
    license: str | None = Field(
        None, description="licence of records that state none; an SPDX identifier where one fits"
    )
    language: Annotated[str, AfterValidator(_language)] | None = Field(
        None, description="language_hint of records that state none"
    )


class Extract(_Section):
    """From records to documents."""

    extractor: Literal["resiliparse", "trafilatura"] = Field(
        "resiliparse",
        description="what takes the main text out of HTML; trafilatura is slower and an extra: glotmill[trafilatura]",
    )
    max_record_bytes: int = Field(32 << 20, ge=1024, description="a larger record is quarantined as too_large")
    timeout_seconds: float = Field(20.0, gt=0, description="a page that takes longer is quarantined as too_slow")
    unit_bytes: int = Field(
        128 << 20,
        ge=1 << 16,
        description="input bytes a unit aims at: larger files are split, small ones grouped",
    )


class Language(_Section):
    """From text to a language label such as ita_Latn."""

    model: str = Field(
        "combined",
        description="combined (lid.176 and CLD2, calibrated), lid176, cld2, none, or the path of a fastText model",
    )
    window_bytes: int = Field(600, ge=64, description="UTF-8 bytes of each window of the text that the model reads")
    windows: int = Field(3, ge=1, description="windows, spread evenly over the text")
    min_score: Literal["per_language"] | Annotated[float, Field(ge=0, le=1)] | None = Field(
        None,
        description=(
            "documents whose language_score is lower are dropped as uncertain_language: per_language takes a limit "
            "measured for each language, a number is for all; null drops none"
        ),
    )
    keep: tuple[Annotated[str, AfterValidator(_language)], ...] | None = Field(
        None, description="languages to keep; documents of others are dropped as other_language; null keeps all"
    )


class Classifier(_Section):
    """A trained judge of quality: any supervised fastText model."""

    model: str = Field(description="path of the fastText model, relative to the recipe's folder")
    label: str = Field("__label__hq", description="the label whose probability is the signal")


class Quality(_Section):
    """Which documents are kept. A rule reads `words < 50` and drops what it holds for."""

    preset: Literal["glotmill", "gopher", "c4", "fineweb", "fineweb2", "dclm", "none"] = Field(
        "glotmill", description="the rules to begin with; none begins without any"
    )
    semantics: Literal["paper", "datatrove"] = Field(
        "paper",
        description=(
            "what the signals of the presets gopher, c4 and fineweb mean: the paper's words, read strictly "
            "and in every script, or what datatrove 0.10 computes, verdict by verdict"
        ),
    )
    rules: dict[str, dict[str, str | None] | str | None] = Field(
        default_factory=dict,
        description=(
            "reason: rule, for every language; or language or script: {reason: rule}, which overrides. "
            "null takes a rule out"
        ),
    )
    lines: dict[str, str | None] = Field(
        default_factory=dict,
        description="reason: rule over one line, such as 'line_words < 3'; lines for which it holds are cut out",
    )
    signals: Literal["all", "needed"] = Field(
        "all",
        description="needed leaves out the signals of a text's quality where there is no rule that could read them",
    )
    calibration: str | None = Field(
        None, description="folder that `glotmill calibrate` wrote, relative to the recipe's folder: limits per language"
    )
    classifiers: dict[Annotated[str, Field(pattern=SIGNAL)], Classifier] = Field(
        default_factory=dict, description="name: fastText classifier, which adds the signal NAME_score"
    )


class Lines(_Section):
    """Lines that many documents repeat: the first ones keep theirs."""

    within: Literal["host", "source", "all"] = Field(
        "host", description="whose documents are compared; a document without a url belongs to a host of its source"
    )
    keep: int = Field(1, ge=1, description="documents that keep the line, by the order of sources, then of ids")
    min_documents: int = Field(3, ge=2, description="a line that fewer documents have is left alone")
    min_words: float = Field(4.0, ge=0, description="a shorter line is left alone; as the signal line_words counts")
    min_chars: int = Field(0, ge=0, description="a line of fewer code points is left alone")


class Substrings(_Section):
    """Long stretches of text that an earlier document has, too: their sentences are cut out."""

    units: int = Field(
        50,
        ge=8,
        le=10_000,
        description="words that two documents share in a row; where no space parts them, as many letters as that takes",
    )


class Dedup(_Section):
    """Which documents repeat another one."""

    mode: Literal["fuzzy", "exact", "off"] = Field(
        "fuzzy",
        description="fuzzy finds near duplicates by MinHash; exact compares what `exact` names, and nothing else",
    )
    exact: Literal["text", "bytes", "url"] = Field(
        "text",
        description=(
            "what makes two documents exact duplicates: text (the same but for case, white space and Unicode form), "
            "bytes, or url (text where a document has none)"
        ),
    )
    similarity: float = Field(
        0.75, gt=0, le=1, description="a document is removed if it is measured at least so similar to one that stays"
    )
    shingles: Literal["auto", "words", "chars"] = Field(
        "auto",
        description=(
            "what is compared: runs of words, or of code points; auto takes code points for texts in scripts without "
            "spaces"
        ),
    )
    shingle_words: int = Field(5, ge=1, le=100, description="words of a shingle")
    shingle_chars: int = Field(8, ge=1, le=1000, description="code points of a shingle")
    digits: Literal["keep", "mask"] = Field(
        "keep", description="mask takes all numbers for equal: pages that differ in numbers alone are duplicates then"
    )
    permutations: int = Field(128, ge=16, le=4000, description="numbers of a signature")
    bands: int | None = Field(None, ge=1, description="null chooses bands and rows for `similarity`")
    rows: int | None = Field(None, ge=1, description="numbers of a band; null chooses")
    seed: int = Field(1, ge=0, description="of the permutations: signatures of different seeds don't compare")
    min_shingles: int = Field(
        5, ge=1, description="documents with fewer are compared by their normalised text, and by nothing else"
    )
    verify: Literal["signature", "exact", "none"] = Field(
        "signature",
        description=(
            "signature believes the estimate, and counts shingles where it is near `similarity`; exact always counts; "
            "none believes a shared band, as other tools do"
        ),
    )
    scope: Literal["language", "source", "all"] = Field("language", description="twins are sought within this")
    keep: tuple[str, ...] = Field(
        ("source_priority", "quality", "longest"),
        description=(
            "who stays, first criterion first: source_priority (the recipe's order of sources), quality (the margin "
            "by which a document passed the rules), longest, shortest, newest, oldest, or 'SIGNAL desc', 'SIGNAL asc'; "
            "ties go to the smallest hash of the text"
        ),
    )
    reference: tuple[str, ...] = Field(
        (), description="names of sources whose documents are never removed: what others repeat of them goes"
    )
    compare: Literal["all", "index", "self"] = Field(
        "all",
        description=(
            "all compares documents with each other, with `reference` and with the index; index leaves out each other; "
            "self leaves out the index, to which they are only added"
        ),
    )
    index: str | None = Field(
        None,
        description=(
            "folder of what earlier runs kept, relative to the recipe's folder: documents that repeat it are removed, "
            "the others are added to it; made where there is none"
        ),
    )
    index_add: bool = Field(True, description="false compares with the index and adds nothing to it")
    unique_ids: bool = Field(
        True,
        description=(
            "a source with `columns.id` that holds one id twice stops the run before anything is compared; false takes "
            "ids as they come"
        ),
    )
    max_removed_share: float | None = Field(
        None, ge=0, le=1, description="the run stops, with examples, before it would remove a larger share"
    )
    lines: Lines | None = Field(None, description="cut out lines that many documents repeat; null leaves them")
    substrings: Substrings | None = Field(
        None, description="cut out sentences within long stretches that an earlier document has; null leaves them"
    )

    @property
    def cuts_repeats(self) -> bool:
        """Whether the texts of kept documents are compared piece by piece."""
        return self.lines is not None or self.substrings is not None


class Mix(_Section):
    """How many tokens of each cell (language x domain) go into the shards."""

    tokens: int | None = Field(
        None, gt=0, description="budget; null takes everything once, or as much as the target's shares allow"
    )
    max_epochs: float = Field(1.0, gt=0, description="how often a document may be used at the most")
    epoch_caps: dict[str, float] = Field(
        default_factory=dict,
        description="by cell, language or *.DOMAIN: how often its documents may be used, instead of max_epochs",
    )
    target: str | dict[str, float | str | dict[str, float]] = Field(
        "proportional",
        description=(
            "shares of the tokens: a rule (proportional, uniform, unimax, temperature), a file (.csv, .yaml), the "
            "output folder of a run whose shares are matched, shares of cells, or `languages` and `domains` with a "
            "table each"
        ),
    )
    over: Literal["language", "domain", "cell"] = Field(
        "language", description="what uniform, unimax and temperature weigh; within it cells keep their proportions"
    )
    temperature: float = Field(
        3.33, ge=1, description="T of the rule temperature: shares in proportion to tokens ** (1 / T)"
    )
    normalise: bool = Field(False, description="true divides the target's shares by their sum")
    absent: Literal["error", "skip", "nearest"] = Field(
        "error",
        description=(
            "an entry of the target that has no document: error; skip, the others share its part; nearest, the cells "
            "of its language do, else of its domain"
        ),
    )
    pin: dict[str, float] = Field(
        default_factory=dict, description="by cell, language or *.DOMAIN: its share, whatever the target says"
    )
    at_least: dict[str, float] = Field(
        default_factory=dict, description="by cell, language or *.DOMAIN: its smallest share"
    )
    at_most: dict[str, float] = Field(
        default_factory=dict, description="by cell, language or *.DOMAIN: its largest share"
    )
    short: Literal["spread", "error"] = Field(
        "spread",
        description="where there are too few tokens for a share: spread gives the others more, error stops the run",
    )


class Shards(_Section):
    """From kept documents to Megatron shards."""

    tokenizer: str | None = Field(
        None,
        description=(
            "sentencepiece .model, or Hugging Face tokenizer.json or its folder, relative to the recipe's folder; "
            "null trains a sentencepiece model on the run's own documents"
        ),
    )
    vocabulary: int = Field(32_000, ge=512, description="size of a trained vocabulary; smaller where the text is small")
    append_eos: bool = Field(True, description="an end-of-document token after every document")
    prepend_bos: bool = Field(False, description="a begin-of-document token before every document")
    shard_tokens: int = Field(1 << 28, ge=1024, description="tokens a shard aims at")


class Recipe(_Section):
    """One run."""

    name: str = Field(pattern=NAME, description="what the run is called; the output folder is out/NAME by default")
    seed: int = Field(0, ge=0, description="of every order and every sample")
    sources: tuple[Source, ...] = Field(min_length=1, description="what is read; their order is their priority")
    extract: Extract = Field(Extract(), description="from records to documents")
    language: Language = Field(Language(), description="which language a document is in")
    quality: Quality = Field(Quality(), description="which documents are kept")
    dedup: Dedup = Field(Dedup(), description="which documents repeat another one")
    mix: Mix = Field(Mix(), description="how many tokens of each cell go into the shards")
    shards: Shards = Field(Shards(), description="from kept documents to Megatron shards")

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [source.name for source in self.sources]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two sources are called {name!r}; give each a name of its own: ids are made from it")
        return self
