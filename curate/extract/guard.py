"""Pages that could hang or crash a native parser run in a child process, which can be killed; all others run here.

Parsers written in C don't return to Python while they work, so neither a signal nor a thread can stop them.
"""

import atexit
import os
import pickle
import re
import select
import struct
import subprocess
import sys
import time
from typing import Any

import numpy as np

from glotmill.curate.extract.html import Page, page

LARGE_CHARS = 4 << 20  # from here on even linear work takes noticeable time
SUSPICIOUS_DEPTH = 500  # quadratic from here: 2,000 nested blocks take 0.09 s, 10,000 take 3 s, 1,900 open <b> 10 s
_UNSORTED_DEPTH = 1_000  # the same, where elements that end by themselves are still counted
_WINDOW = 1 << 14  # bytes without any "<" after which a tag is suspected to hold thousands of attributes: quadratic too
MAX_DEPTH = 10_000
_SHORTEST_TAG = 3  # bytes of <b>
_MEMORY = 6 << 30  # address space of the child, in bytes
_START_SECONDS = 60.0
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9:-]{0,30})")
_NOT_NESTING = frozenset(
    b"area base br col embed hr img input link meta param source track wbr p li dt dd td th tr tbody thead tfoot "
    b"option optgroup colgroup rp rt html head body".split()
)


class RefusedError(Exception):
    """A page that is not read: a reason code and what happened."""

    def __init__(self, reason: str, error: str) -> None:
        super().__init__(error)
        self.reason, self.error = reason, error


def guarded_page(html: str, body: bytes, *, extractor: str, seconds: float) -> Page:
    """`page(html)`, safe against pages made to hang or crash a parser.

    Args:
        body: The page's bytes, from which its nesting is estimated.

    Raises:
        RefusedError: too_deep, too_slow or extraction_failed.
    """
    deep = nesting(body)
    if deep > MAX_DEPTH:
        raise RefusedError("too_deep", f"about {deep} elements are nested; {MAX_DEPTH} is the limit")
    harmless = deep <= SUSPICIOUS_DEPTH and len(html) <= LARGE_CHARS and not has_huge_tag(body)
    if extractor == "resiliparse" and harmless:
        try:
            return page(html)
        except Exception as error:  # whatever a parser raises, its neighbours go on
            raise RefusedError("extraction_failed", f"{type(error).__name__}: {error}") from error
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
    after = data[np.flatnonzero(opened) + 1]
    letters = (after | 0x20) - np.uint8(0x61) < 26
    steps = letters.astype(np.int32) - (after == 0x2F)
    if int(letters.sum()) <= _UNSORTED_DEPTH or _highest(steps) <= _UNSORTED_DEPTH:
        return 0
    return _highest(
        np.array([-1 if slash else 1 for slash, tag in _TAG.findall(body) if tag.lower() not in _NOT_NESTING], np.int32)
    )


def has_huge_tag(body: bytes) -> bool:
    """Whether some tag is so long that it spans a whole window."""
    for start in range(_WINDOW, len(body), _WINDOW):
        if body.find(b"<", start, start + _WINDOW) < 0:
            tag = body.rfind(b"<", 0, start)
            if tag >= 0 and body[tag + 1 : tag + 2].isalpha() and body.find(b">", tag, start) < 0:
                return True
    return False


def _highest(steps: Any) -> int:
    """How far a walk that never falls below zero rises."""
    if not len(steps):
        return 0
    walk = np.concatenate(([0], np.cumsum(steps)))
    return int((walk - np.minimum.accumulate(walk)).max())


class Child:
    """A process that extracts pages one by one. Killed and replaced when it takes too long."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def page(self, html: str, extractor: str, seconds: float) -> Page:
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        try:
            _send(process.stdin, (html, extractor))
            answer = _receive(process.stdout, time.monotonic() + seconds)
        except TimeoutError:
            self.close()
            raise RefusedError("too_slow", f"extraction took longer than {seconds:g} s") from None
        except (OSError, EOFError):
            code = process.poll()
            self.close()
            raise RefusedError("extraction_failed", f"the parser crashed or ran out of memory (exit {code})") from None
        if isinstance(answer, str):
            raise RefusedError("extraction_failed", answer)
        return Page(*answer)

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except OSError:  # unsent bytes to a process that is gone
                        pass

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from glotmill.curate.extract.guard import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert self._process.stdout is not None
        try:
            _receive(self._process.stdout, time.monotonic() + _START_SECONDS)
        except (OSError, EOFError, TimeoutError):
            self.close()
            raise RefusedError("extraction_failed", "the extracting process did not start") from None
        return self._process


def serve() -> None:
    """The child's side: answer pages until the parent is gone."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not reach the pipe
    _send(target, "ready")
    while size := source.read(8):
        html, extractor = pickle.loads(source.read(struct.unpack("<Q", size)[0]))
        try:
            answer: object = tuple(page(html, extractor))
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        _send(target, answer)


_children: dict[int, Child] = {}


def _child() -> Child:
    """This process's child: a forked worker must not share its parent's."""
    if os.getpid() not in _children:
        _children.clear()
        _children[os.getpid()] = Child()
        atexit.register(_children[os.getpid()].close)
    return _children[os.getpid()]


def _send(pipe: Any, value: object) -> None:
    data = pickle.dumps(value)
    pipe.write(struct.pack("<Q", len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: Any, deadline: float) -> Any:
    size = struct.unpack("<Q", _read(pipe.fileno(), 8, deadline))[0]
    return pickle.loads(_read(pipe.fileno(), size, deadline))


def _read(fd: int, n: int, deadline: float) -> bytes:
    """Exactly `n` bytes of a pipe before `deadline`."""
    parts = bytearray()
    while len(parts) < n:
        ready, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError
        data = os.read(fd, min(n - len(parts), 1 << 20))
        if not data:
            raise EOFError
        parts += data
    return bytes(parts)
