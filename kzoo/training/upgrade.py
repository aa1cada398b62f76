"""Reads recipes of format 1, which had the keys of one stage beside those of the recipe."""

from typing import Any

from kzoo.errors import InputError, did_you_mean

# Part of a stage: its keys in format 1, by those of today.
MOVED = {
    "data": {
        "split": "split",
        "examples": "examples",
        "fresh": "fresh",
        "sampling": "lengths",
        "curriculum": "curriculum",
        "batch_size": "batch_size",
    },
    "objective": {"intermediate": "intermediate", "attention_supervision": "attention_supervision"},
    "optimizer": {
        key: key
        for key in (
            "learning_rate",
            "weight_decay",
            "schedule",
            "warmup_steps",
            "clip_norm",
            "epsilon",
            "ema_momentum",
        )
    },
    "selection": {
        "by": "selection",
        "length": "selection_length",
        "examples": "selection_examples",
        "patience": "patience",
        "watch": "watch",
    },
    "budget": {"epochs": "epochs", "steps_per_epoch": "steps_per_epoch"},
}
KEPT = {
    "task": "task",
    "task_version": "task_version",
    "model": "model",
    "layout": "layout",
    "init_from": "start",
    "calibration": "calibration",
    "seed": "seed",
    "evaluation": "evaluation",
}


def upgrade(config: dict[str, Any], constructions: tuple[str, ...] = ()) -> dict[str, Any]:
    """Returns a recipe of format 1 as one of format 2, without `supervision`.

    Args:
        config: dict.
        constructions: the classes of models without training.

    Raises:
        InputError: a key is unknown or missing.
    """
    known = {"format", *KEPT.values(), *(key for keys in MOVED.values() for key in keys.values())}
    for key in config:
        if key not in known:
            raise InputError(did_you_mean("key of a recipe", key, known))
    missing = {"task", "model", "epochs"} - set(config)
    if missing:
        raise InputError(f"a recipe needs {', '.join(sorted(missing))}")
    stage = {
        part: {key: config[old] for key, old in keys.items() if old in config}
        for part, keys in MOVED.items()
        if any(old in config for old in keys.values())
    }
    model = config["model"]
    constructed = isinstance(model, dict) and model.get("class") in constructions
    if constructed and config["epochs"] != 0:
        raise InputError(f"epochs must be 0 for {model['class']}, which sets every weight")
    kept = {key: config[old] for key, old in KEPT.items() if old in config}
    return {"format": 2, **kept, "mechanism": None, "stages": [] if constructed else [stage]}
