"""The model of a recipe, before its training."""

import inspect
import sys
from pathlib import Path
from typing import Any

import numpy as np

from kzoo.backend import no_other_backend
from kzoo.errors import InputError
from kzoo.training.recipe import Recipe


def build(recipe: Recipe, index: int = -1, previous: Path | None = None, precision: str = "float32") -> Any:
    """Returns the model of a stage before its training, or the constructed one.

    It is the same for the same seed and backend.

    Args:
        recipe: Recipe.
        index: int. The stage. Defaults to the last.
        previous: Path or None. The weights that the stage before ended with. Without them, the first stage has those of
            the recipe's `init_from`, if it names a preset, and any other has random ones.
        precision: str. What the model computes in, see `Stage`.

    Raises:
        InputError: the model's class or config is not valid, or it has not what a stage trains.
    """
    import keras

    import kzoo.models
    from kzoo import registry

    with no_other_backend():
        keras.utils.set_random_seed(recipe.stage_seed(index) if recipe.stages else recipe.seed)
    if recipe.constructed:
        return registry.construct(getattr(kzoo.models, recipe.model["class"]), recipe.model_config())
    index %= len(recipe.stages)
    model = _random(recipe, index, precision)
    if previous is not None:
        _begin_with(model, previous, lambda: _trained(recipe, index - 1, previous), recipe.stage_seed(index))
    elif index == 0 and recipe.init_from is not None:
        _begin_with_preset(model, recipe)
    return model


def _random(recipe: Recipe, index: int, precision: str = "float32") -> Any:
    """Returns the model of a stage with random weights."""
    from kzoo import registry

    spec = {"class": recipe.model["class"], "config": recipe.model_config(index)}
    cls: Any = registry.classes("model").get(str(spec["class"]))
    if cls is None:
        registry.resolve("model", spec)  # raises, with the names that it might have been
        raise InputError("model must name a class")
    _check_fits(recipe, index, cls)
    registry.check_arguments(cls, {**dict.fromkeys(cls.task_arguments, 2), **spec["config"]})
    if recipe.calibration:
        spec["config"] = spec["config"] | _calibrated(recipe, index)
    layout = {"layout": recipe.layout} if recipe.layout else {}
    policy = {} if precision == "float32" else {"dtype": f"mixed_{precision}"}
    return cls.from_task(recipe.task, **layout, **policy, **spec["config"])


def _check_fits(recipe: Recipe, index: int, cls: Any) -> None:
    """Raises `InputError` if the recipe has what a model of this class cannot use."""
    for name in ("layout", "calibration"):
        if getattr(recipe, name) and not cls.preprocessor_class.layout:
            raise InputError(f"a {cls.__name__} has no {name}: it lays no calculation out")
    for name in recipe.stages[index].objective.to_config():
        if name not in cls.objectives:
            raise InputError(f"a {cls.__name__} cannot be trained with the objective {name}")


def _begin_with_preset(model: Any, recipe: Recipe) -> None:
    """Gives a model the weights of the preset that a recipe begins with, widened if it is narrower.

    Raises:
        PresetError: the preset has other weights.
        InputError: it has another vocabulary or cannot be widened, or the recipe does not declare its supervision.
    """
    from kzoo.saving.preset import Preset

    preset = str(recipe.init_from)
    if preset.startswith("hf://"):
        print(f"kzoo: training begins with the weights of {preset}", file=sys.stderr)
    found = Preset.find(preset)
    own, other = model.preprocessor.get_config(), found.tokenizer
    if any(own.get(key) != other.get(key) for key in ("tokens", "labels")):
        raise InputError(f"{preset} has another vocabulary than the task, so training cannot start from it")
    missing = [word for word in found.metadata.get("supervision") or [] if word not in (recipe.supervision or ())]
    if missing and recipe.supervision is not None:
        raise InputError(f"supervision must declare {', '.join(map(repr, missing))}, which {preset} was trained with")
    _begin_with(model, found.folder / "model.safetensors", found.build, recipe.stage_seed(0))


def _begin_with(model: Any, weights: Path, narrow: Any, seed: int) -> None:
    """Gives a model the weights in a file, widened if they are those of a narrower one, which `narrow` returns."""
    from kzoo.models.transformer_classifier import TransformerClassifier
    from kzoo.saving.safetensors_file import read_shapes
    from kzoo.saving.weights import load_weights
    from kzoo.training.widen import is_wider, widen

    if isinstance(model, TransformerClassifier) and is_wider(model, read_shapes(weights)):
        widen(model, narrow(), np.random.default_rng(seed))
    else:
        load_weights(model, weights)


def _trained(recipe: Recipe, index: int, weights: Path) -> Any:
    """Returns the model that a stage ended with."""
    from kzoo.saving.weights import load_weights

    model = _random(recipe, index)
    load_weights(model, weights)
    return model


def _calibrated(recipe: Recipe, index: int) -> dict[str, Any]:
    """Returns the biases of a recipe's calibration; the random state stays as it is."""
    import keras

    from kzoo.training.calibration import calibrate

    options = dict(recipe.calibration or {})
    preset = options.pop("preset")
    unknown = set(options) - set(inspect.signature(calibrate).parameters) | {"model", "task"} & set(options)
    if unknown:
        raise InputError(f"calibration has unknown arguments: {', '.join(sorted(unknown))}")
    biases = calibrate(preset, recipe.task, **options)
    with no_other_backend():
        keras.utils.set_random_seed(recipe.stage_seed(index))
    return biases
