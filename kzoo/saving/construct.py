"""A model from the plain data of a preset that is not trusted."""

from typing import Any

from kzoo.errors import InputError
from kzoo.registry import KERAS_ARGUMENTS


def construct_model(config: dict[str, Any], tokenizer: dict[str, Any], options: dict[str, Any]) -> Any:
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
