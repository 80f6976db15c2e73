"""Rules that come with glotmill."""

from functools import cache
from importlib import resources

from ruamel.yaml import YAML

from glotmill.schemas.errors import RecipeError

# scope -> reason -> rule as written, or None where the scope takes it out
Written = dict[str, dict[str, str | None]]

PRESETS = ("glotmill", "none")


@cache
def preset(name: str) -> Written:
    """The rules of a preset as written; those of "*" come first and give reasons their order.

    Raises:
        RecipeError: there is no such preset.
    """
    if name not in PRESETS:
        raise RecipeError(f"no preset is called {name!r}: write one of {', '.join(PRESETS)}")
    if name == "none":
        return {}
    text = resources.files("glotmill.curate").joinpath(f"data/{name}.yaml").read_text(encoding="utf-8")
    written: Written = YAML(typ="safe", pure=True).load(text)
    return written
