"""key=value options."""

from collections.abc import Iterable

from glotmill.schemas.errors import RecipeError


def pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """
    >>> pairs(["spark.ui.enabled=true"], "--conf")
    {'spark.ui.enabled': 'true'}
    """
    found = {}
    for item in given:
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise RecipeError(
                f"{option} takes KEY=VALUE, got {item!r}: write for example {option} spark.ui.enabled=true"
            )
        found[key.strip()] = value
    return found
