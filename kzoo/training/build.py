"""The model of a recipe, before its training."""

import inspect
from typing import Any

import numpy as np

from kzoo.backend import no_other_backend
from kzoo.errors import InputError
from kzoo.saving.files import read_json
from kzoo.training.recipe import Recipe


def build(recipe: Recipe) -> Any:
    """Returns the untrained model of a recipe, the same for the same seed and backend; or the constructed one.

    Raises:
        InputError: the model's class or config is not valid.
    """
    import keras

    import kzoo.models
    from kzoo import registry

    with no_other_backend():
        keras.utils.set_random_seed(recipe.seed)
    spec = {"class": recipe.model["class"], "config": recipe.model.get("config", {})}
    if recipe.constructed:
        return registry.construct(getattr(kzoo.models, spec["class"]), spec["config"])
    cls: Any = registry.classes("model").get(str(spec["class"]))
    if cls is None:
        registry.resolve("model", spec)  # raises, with the names that it might have been
        raise InputError("model must name a class")
    registry.check_arguments(cls, {**dict.fromkeys(cls.task_arguments, 2), **spec["config"]})
    if recipe.calibration:
        spec["config"] = spec["config"] | _calibrated(recipe)
    layout = {"layout": recipe.layout} if recipe.layout else {}
    model = cls.from_task(recipe.task, **layout, **spec["config"])
    if recipe.start is not None:
        _begin_with(model, recipe.start, recipe.seed)
    return model


def _begin_with(model: Any, preset: str, seed: int) -> None:
    """Gives a model the weights of a preset, widened if it is narrower.

    Raises:
        PresetError: the preset has other weights.
        InputError: it has another vocabulary, or cannot be widened.
    """
    from kzoo.models.transformer_classifier import TransformerClassifier
    from kzoo.saving.catalogue import preset_folder
    from kzoo.saving.presets_io import from_preset
    from kzoo.saving.safetensors_file import read_shapes
    from kzoo.saving.weights import load_weights
    from kzoo.training.widen import is_wider, widen

    folder = preset_folder(preset)
    own, other = model.preprocessor.get_config(), read_json(folder / "tokenizer.json")
    if any(own.get(key) != other.get(key) for key in ("tokens", "labels")):
        raise InputError(f"{preset} has another vocabulary than the task, so training cannot start from it")
    weights = folder / "model.safetensors"
    if isinstance(model, TransformerClassifier) and is_wider(model, read_shapes(weights)):
        widen(model, from_preset(folder), np.random.default_rng(seed))
    else:
        load_weights(model, weights)


def _calibrated(recipe: Recipe) -> dict[str, Any]:
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
        keras.utils.set_random_seed(recipe.seed)
    return biases
