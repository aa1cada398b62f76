"""A model from the plain data of a preset that is not trusted."""

from pathlib import Path
from typing import Any

from kzoo.annotations import Config
from kzoo.errors import InputError, PresetError
from kzoo.registry import KERAS_ARGUMENTS
from kzoo.saving.safetensors_file import count_numbers


def construct_within(
    budget: float, folder: Path, config: Config, tokenizer: Config, dtype: str | None, blank: bool, needed: str = ""
) -> Any:
    """Returns what `construct_model` does, if it is within so many times the budget and needs no more weights than
    there are in a preset's file.

    Args:
        budget: float. See `Preset.build`.
        folder: Path. The preset.
        config, tokenizer: see `construct_model`.
        dtype: str. The dtype policy. Defaults to the one in force.
        blank: bool. Whether weights begin at 0, since they are read then.
        needed: str. What an error ends with: what may have to be imported first.

    Raises:
        PresetError: it is not, or cannot be made.
        InputError: `budget` is out of range.
    """
    from kzoo.saving.budget import BUDGET, check_costs, check_factor, limit_layers
    from kzoo.saving.weights import limit_parameters

    check_factor(budget)
    path, count = folder / "config.json", count_numbers(folder / "model.safetensors")
    BUDGET.check("parameters", count, budget, path)
    try:
        with limit_parameters(count, path, blank), limit_layers(budget, path):
            model = construct_model(config, tokenizer, {} if dtype is None else {"dtype": dtype})
        check_costs(model, budget, path)
    except PresetError:
        raise
    except Exception as error:  # kzoo's for its arguments, and whatever Keras and its backend raise for theirs
        told = " ".join(str(error).split())
        raise PresetError(f"{path}: {told:.300}{needed}") from error
    return model


def construct_model(config: Config, tokenizer: Config, options: Config) -> Any:
    """Returns the model, with new weights, that config.json and tokenizer.json describe.

    Args:
        config: dict. `class` and `config`, of registered classes only.
        tokenizer: dict. The arguments of the class's preprocessor.
        options: dict. Further arguments of the model, which no preset sets.

    Raises:
        UnknownNameError, InputError: a class is not registered, or an argument is not valid.
    """
    from kzoo import registry

    check_plain(config["config"])
    spec = {"class": config["class"], "config": config["config"]}
    cls, arguments = registry.resolve("model", spec)
    preprocessor = registry.construct(cls.preprocessor_class, tokenizer)  # type: ignore[attr-defined]
    return registry.construct(cls, {**arguments, **options, "preprocessor": preprocessor})


def check_plain(config: Any, what: str = "a preset") -> None:
    """Raises `InputError` if a config sets, at any depth, what is no argument of kzoo but of every Keras object."""
    values = [config]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            for key in KERAS_ARGUMENTS & set(value):
                raise InputError(f"{what} may not set {key!r}")
        if isinstance(value, (dict, list)):
            values.extend(value.values() if isinstance(value, dict) else value)
