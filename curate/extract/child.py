"""A process that extracts pages one by one and can be killed; it imports little, so that it starts fast."""

import os
import pickle
import select
import struct
import subprocess
import sys
import time
from typing import Any

from glotmill.curate.extract.html import Page, page
from glotmill.schemas.reasons import Quarantined

_MEMORY = 6 << 30  # address space of the child, in bytes
_START_SECONDS = 60.0


class RefusedError(Exception):
    """A page that is not read: a reason code and what happened."""

    def __init__(self, reason: str, error: str) -> None:
        super().__init__(error)
        self.reason, self.error = reason, error


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
            raise RefusedError(Quarantined.TOO_SLOW, f"extraction took longer than {seconds:g} s") from None
        except (OSError, EOFError):
            code = process.poll()
            self.close()
            raise RefusedError(
                Quarantined.EXTRACTION_FAILED, f"the parser crashed or ran out of memory (exit {code})"
            ) from None
        if isinstance(answer, str):
            raise RefusedError(Quarantined.EXTRACTION_FAILED, answer)
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
            [sys.executable, "-c", "from glotmill.curate.extract.child import serve; serve()"],
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
            raise RefusedError(Quarantined.EXTRACTION_FAILED, "the extracting process did not start") from None
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
