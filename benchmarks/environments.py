"""One virtual environment for each peer, since their requirements exclude each other and ours."""

import json
import subprocess
import sys
from pathlib import Path

PINS = Path(__file__).parent / "peers"
CACHE = Path.home() / ".cache" / "glotmill-benchmarks"
_VERSIONS = """
import json, re
from importlib.metadata import distributions
print(json.dumps({re.sub("[-_.]+", "-", d.metadata["Name"]).lower(): d.version for d in distributions()}))
"""


class EnvironmentProblem(Exception):
    """A peer can't be installed here; its contestants are left out."""


def python(name: str, folder: Path, base: str = sys.executable) -> Path:
    """The interpreter of the environment `folder/name`, which is made unless it holds what `peers/name.txt` pins.

    A file `.ready` in the environment says that an installation came to its end. `base` is the Python it is made from.

    Raises:
        EnvironmentProblem: pip failed, with the end of what it said.
    """
    place = folder / name
    interpreter = place / "bin" / "python"
    wanted = pins((PINS / f"{name}.txt").read_text(encoding="utf-8"))
    if (place / ".ready").exists() and not unmet(wanted, _installed(interpreter)):
        return interpreter
    folder.mkdir(parents=True, exist_ok=True)
    _run([base, "-m", "venv", "--clear", str(place)], name)
    _run([str(interpreter), "-m", "pip", "install", "--quiet", "-r", str(PINS / f"{name}.txt")], name)
    missing = unmet(wanted, _installed(interpreter))
    if missing:
        raise EnvironmentProblem(f"{name}: pip ended well, but these pins aren't met: {', '.join(missing)}")
    (place / ".ready").touch()
    return interpreter


def pins(text: str) -> dict[str, str]:
    """Distribution, in its normal spelling, to version; for lines such as `datatrove[processing]==0.10.1`."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    pairs = (line.split("==") for line in lines if line and not line.startswith("-"))
    return {_normal(name.split("[")[0]): version.split(";")[0].strip() for name, version in pairs}


def unmet(wanted: dict[str, str], installed: dict[str, str]) -> list[str]:
    """Those of `wanted` that are absent from `installed` or there in another version; local labels don't count."""
    return [name for name, version in wanted.items() if installed.get(name, "").split("+")[0] != version.split("+")[0]]


def _normal(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(".", "-")


def _installed(interpreter: Path) -> dict[str, str]:
    found = subprocess.run([str(interpreter), "-c", _VERSIONS], capture_output=True, text=True)
    return dict(json.loads(found.stdout)) if found.returncode == 0 else {}


def _run(command: list[str], name: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise EnvironmentProblem(f"{name}: {' '.join(command[1:4])} failed: {done.stdout.strip()[-600:]}")
