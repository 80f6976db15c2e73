"""What the page explains, in the words of its readers."""


def _one_line(text: str) -> str:
    return " ".join(text.split())


SOURCES = _one_line("""
    A record is what a source holds: a page, a line, a file. It becomes a document, is skipped because it was never
    meant to be one, or is quarantined because it could not be read. Nothing else can happen to it.
""")
LINES = _one_line("""
    Line rules look at one line at a time. A line for which one holds is not tokenized, nor do the rules for documents
    see it. It stays in documents/, and signals/ and kept/ name its place and reason. Counted are the lines of all
    documents, whether they were kept or not; a line that breaks several rules counts under the first.
""")
DROPS = _one_line("""
    A rule compares a number measured on the text with a limit. A document that breaks several rules is counted
    once, under the first in the recipe's order. A narrower limit, of a domain, a language or a script, replaces the
    general one. Break it counts all documents for which a rule holds; it alone removes those that no other rule
    would have dropped, which is what taking the rule out would bring back.
""")
DUPLICATES = {
    "text": "Texts count as equal when they differ in nothing but case, white space and Unicode form.",
    "bytes": "Texts count as equal when they are the same byte for byte.",
    "url": "Documents of one address count as equal; those without an address, when their texts are.",
}
NEAR_DUPLICATES = _one_line("""
    Near duplicates share at least {similarity:.0%} of their shingles (Jaccard similarity), which are runs of words, or
    of letters where no space parts words. A document goes only when it was measured so similar to the one that stays,
    which it names as its twin. Of the largest groups those removed documents are shown that are least like the one that
    stays.
""")
QUARANTINE = _one_line("""
    These records could not be read. Each is named by its place in the input, with the error and its first bytes;
    its neighbours were read as usual.
""")
LANGUAGES = _one_line("""
    A language is written as ISO 639-3 and ISO 15924: language, then script. Kept means kept by the rules and not a
    duplicate. Bytes per token tell how well the tokenizer knows a language: the fewer, the more tokens the same
    text costs. Compare within a script, since a letter takes one byte in Latin, two in Cyrillic or Arabic, three in
    most scripts of Asia. Limits used says whose limits the rules took, and how many rules took them. None by choice
    is a rule that the language or its script takes out.
""")
MIX = _one_line("""
    A cell is a language in a domain. Available, asked, planned and delivered are tokens; delivered is counted in
    the finished shards. Target is the share of all tokens that the recipe asks for; asked is what comes nearest to it
    under its caps. Epochs is how often the cell's documents are used on average. Off by is delivered less
    asked: documents are used whole, so a cell comes as near to its share as its documents allow.
""")
SHARDS = _one_line("""
    Megatron's indexed format. Each .bin has its .idx, and a provenance table that leads every token back to its
    document, record, URL and licence. Bytes are those of all three files; the checksum is the .bin's, and
    shards/manifest.json has the others. Documents lie in one order over all shards, drawn with the recipe's seed.
    One used twice counts twice.
""")
RECIPE = "What was asked, defaults left out. The same inputs give the same shards, byte for byte."
