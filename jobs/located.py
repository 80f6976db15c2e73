"""The files that a recipe's rules and measures name: where they are, and what they are by content."""

from pathlib import Path
from typing import Any

from glotmill.curate.calibrate.folder import limits
from glotmill.curate.calibrate.unigrams import UNIGRAMS
from glotmill.curate.identify.models import BUILT_IN, NONE, language_model
from glotmill.curate.rules import RuleSet, ruleset
from glotmill.curate.signals import optional
from glotmill.curate.trained.classifier import fingerprint
from glotmill.jobs.state import State
from glotmill.schemas.atomic import file_digest
from glotmill.schemas.recipe import Recipe


def located(state: State) -> Recipe:
    """The recipe with whole paths in place of those of its sections `language` and `quality`."""
    language, quality = state.recipe.language, state.recipe.quality
    if language.model not in (*BUILT_IN, NONE):
        language = language.model_copy(update={"model": str(state.base / language.model)})
    if quality.calibration is not None:
        quality = quality.model_copy(update={"calibration": str(state.base / quality.calibration)})
    classifiers = {
        name: of.model_copy(update={"model": str(state.base / of.model)}) for name, of in quality.classifiers.items()
    }
    quality = quality.model_copy(update={"classifiers": classifiers})
    return state.recipe.model_copy(update={"language": language, "quality": quality})


def contents(recipe: Recipe) -> dict[str, Any]:
    """By what they are for, the digests of the files that a located recipe measures with.

    Raises:
        RecipeError: one is absent, or isn't what it should be. Found here, before any work.
    """
    model, quality = recipe.language.model, recipe.quality
    if model != NONE:
        language_model(model)
    optional(quality)
    return {
        "model": model if model in (*BUILT_IN, NONE) else file_digest(Path(model)),
        "semantics": [quality.semantics, quality.preset] if quality.semantics == "datatrove" else None,
        "unigrams": file_digest(Path(quality.calibration) / UNIGRAMS) if quality.calibration else None,
        "classifiers": {name: [fingerprint(of.model), of.label] for name, of in quality.classifiers.items()},
    }


def recipe_rules(state: State) -> RuleSet:
    """The rules of the run's recipe."""
    recipe = located(state)
    calibrated = limits(recipe.quality.calibration) if recipe.quality.calibration else None
    return ruleset(recipe.quality, recipe.language, calibrated=calibrated)
