"""`kzoo.layers` lists its mechanisms, their bases, and the few functions that users compose with; nothing else."""

import kzoo.layers
from kzoo import registry

BASES = {
    "AttentionBias",
    "AttentionCell",
    "GaussianAttention",
    "CachedAttention",
    "MaskingBias",
    "Mixer",
    "MovingAttention",
    "PlacedEncoding",
    "Reader",
    "ScoreAttention",
}
OTHERS = {"BiasInputs", "leaky_clamp", "softstair"}
KINDS = {
    "attention",
    "bias",
    "block",
    "depth",
    "encoding",
    "layer",
    "multi_head",
    "position",
    "reader",
    "weighting",
} | {"mixer"}


def test_listed_are_the_registered_classes_and_what_they_are_composed_with():
    registered = [cls for kind in KINDS for cls in registry.classes(kind).values()]
    own = {cls.__name__ for cls in registered if cls.__module__.startswith("kzoo.layers.")}
    assert set(kzoo.layers.__all__) == own | BASES | OTHERS
    assert {kind for kind in registry._CLASSES if registry.classes(kind)} - {"model", "task"} == KINDS
