"""What the models with a reader have in common."""

from typing import Any

import keras

from kzoo.annotations import Config, DType, Spec
from kzoo.registry import get, parameters_of, resolve


def reader_of(reader: Spec, units: int | None, layers: int | None, dropout: float, dtype: DType) -> Any:
    """Returns the reader of a model, with what the model says where the reader does not say it itself.

    Args:
        reader: name, config or object of the kind "reader".
        units: int. Size of its state, or None.
        layers: int. Its layers, or None.
        dropout: float. Rate between its layers, where it has several.
        dtype: str or DTypePolicy.
    """
    policy: Config = {"dtype": dtype}
    if _has_layers(reader, layers):
        policy |= {"dropout": dropout}
    return get("reader", reader, {"units": units, "layers": layers}, **policy)


def embedding_of(vocabulary_size: int, units: int, dtype: DType) -> keras.layers.Embedding:
    """Returns embeddings that start from N(0, 1)."""
    return keras.layers.Embedding(vocabulary_size, units, keras.initializers.RandomNormal(stddev=1.0), dtype=dtype)


def _has_layers(reader: Spec, layers: int | None) -> bool:
    """Whether a reader that is yet to be made has layers that dropout can be between."""
    if not isinstance(reader, (str, dict)):
        return False
    cls, config = resolve("reader", reader)
    default = parameters_of(cls).get("layers")
    return default is not None and (layers or config.get("layers") or default.default) != 1
