"""Pages that could hang or crash a native parser run in a child process, which can be killed; all others run here.

Parsers written in C don't return to Python while they work, so neither a signal nor a thread can stop them.
"""

import atexit
import os
import re
from typing import Any

import numpy as np

from glotmill.curate.extract.child import Child, RefusedError
from glotmill.curate.extract.html import Page, page
from glotmill.schemas.reasons import Quarantined

LARGE_CHARS = 4 << 20  # from here on even linear work takes noticeable time
SUSPICIOUS_DEPTH = 500  # quadratic from here: 2,000 nested blocks take 0.09 s, 10,000 take 3 s, 1,900 open <b> 10 s
_UNSORTED_DEPTH = 1_000  # the same, where elements that end by themselves are still counted
_WINDOW = 1 << 14  # bytes without any "<" after which a tag is suspected to hold thousands of attributes: quadratic too
_MAX_ATTRIBUTES = 12_000  # they take 0.25 s, 32,000 take 2.5 s
_BEFORE_ATTRIBUTES = b" \t\n\r\f/\"'"
MAX_DEPTH = 10_000
_SHORTEST_TAG = 3  # bytes of <b>
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9:-]{0,30})")
_NOT_NESTING = frozenset(
    b"area base br col embed hr img input link meta param source track wbr p li dt dd td th tr tbody thead tfoot "
    b"option optgroup colgroup rp rt html head body".split()
)


def guarded_page(html: str, body: bytes, *, extractor: str, seconds: float) -> Page:
    """`page(html)`, safe against pages made to hang or crash a parser.

    Args:
        body: The page's bytes, from which its nesting is estimated.

    Raises:
        RefusedError: too_deep, too_slow or extraction_failed.
    """
    deep = nesting(body)
    if deep > MAX_DEPTH:
        raise RefusedError(Quarantined.TOO_DEEP, f"about {deep} elements are nested; {MAX_DEPTH} is the limit")
    harmless = deep <= SUSPICIOUS_DEPTH and len(html) <= LARGE_CHARS and not has_huge_tag(body)
    if extractor == "resiliparse" and harmless:
        try:
            return page(html)
        except Exception as error:  # whatever a parser raises, its neighbours go on
            raise RefusedError(Quarantined.EXTRACTION_FAILED, f"{type(error).__name__}: {error}") from error
    return _child().page(html, extractor, seconds)


def nesting(body: bytes) -> int:
    """Depth that a page may reach; exact only where it is suspicious, else some number that isn't.

    A first pass over `<` and what follows counts every tag alike; only where that gives too much do void elements and
    elements whose end tag is optional get told apart.
    """
    if len(body) <= _SHORTEST_TAG * _UNSORTED_DEPTH:
        return 0
    data = np.frombuffer(body, np.uint8)
    opened = data[:-1] == 0x3C
    if np.count_nonzero(opened) <= _UNSORTED_DEPTH:
        return 0
    after = data[1:][opened]
    letters = (after | 0x20) - np.uint8(0x61) < 26
    if np.count_nonzero(letters) <= _UNSORTED_DEPTH:
        return 0
    if _highest(letters.view(np.int8) - (after == 0x2F).view(np.int8)) <= _UNSORTED_DEPTH:
        return 0
    return _highest(
        np.array([-1 if slash else 1 for slash, tag in _TAG.findall(body) if tag.lower() not in _NOT_NESTING], np.int8)
    )


def has_huge_tag(body: bytes) -> bool:
    """Whether tags may hold so many attributes that parsing them takes long; one long value, such as an image, is none.

    Looked for in stretches without `<` that span a window. Every attribute needs white space, a slash or a quotation
    mark before it, so there are no more attributes than of those.
    """
    cost, seen = 0, -1
    for start in range(_WINDOW, len(body), _WINDOW):
        if body.find(b"<", start, start + _WINDOW) >= 0:
            continue
        tag = body.rfind(b"<", 0, start)
        if tag in (seen, -1) or not body[tag + 1 : tag + 2].isalpha() or body.find(b">", tag, start) >= 0:
            continue
        end = body.find(b"<", start)
        stretch, seen = body[tag:end] if end >= 0 else body[tag:], tag
        cost += (len(stretch) - len(stretch.translate(None, _BEFORE_ATTRIBUTES))) ** 2
        if cost > _MAX_ATTRIBUTES**2:
            return True
    return False


def _highest(steps: Any) -> int:
    """How far a walk that never falls below zero rises."""
    if not len(steps):
        return 0
    walk = np.cumsum(steps, dtype=np.int32)
    span = int(walk.max()) - min(0, int(walk.min()))
    if span <= SUSPICIOUS_DEPTH:  # it rises less than from its lowest to its highest place
        return max(0, span)
    return max(0, int((walk - np.minimum(np.minimum.accumulate(walk), 0)).max()))


_children: dict[int, Child] = {}


def _child() -> Child:
    """This process's child: a forked worker must not share its parent's."""
    if os.getpid() not in _children:
        _children.clear()
        _children[os.getpid()] = Child()
        atexit.register(close_child)
    return _children[os.getpid()]


def close_child() -> None:
    """End this process's child, if it has one; the next page that needs one starts another."""
    if child := _children.pop(os.getpid(), None):
        child.close()
