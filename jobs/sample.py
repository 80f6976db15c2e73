"""Where the bundled sample lies."""

from importlib import resources
from pathlib import Path

from glotmill.schemas.errors import InputError


def sample_recipe() -> Path:
    """The quickstart recipe, beside the sample it reads."""
    path = Path(str(resources.files("glotmill"))) / "recipes" / "quickstart.yaml"
    if not path.is_file():
        raise InputError(f"{path} is absent: this installation carries no sample; clone the repository for it")
    return path
