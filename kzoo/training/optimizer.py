"""The optimizer of a recipe."""

from typing import Any

import keras

from kzoo.training.recipe import Recipe
from kzoo.training.trapezoidal import Trapezoidal


def optimizer_of(recipe: Recipe, steps_per_epoch: int) -> keras.optimizers.Optimizer:
    """Returns the optimizer of a recipe, with its learning rate over all steps."""
    rate: Any = recipe.learning_rate
    all_steps = recipe.epochs * steps_per_epoch
    if recipe.schedule == "trapezoidal":
        rate = Trapezoidal(rate, all_steps, recipe.warmup_steps)
    elif recipe.schedule == "cosine":
        steps = max(1, all_steps - recipe.warmup_steps)
        warmup = {"warmup_target": rate, "warmup_steps": recipe.warmup_steps} if recipe.warmup_steps else {}
        start = 0.0 if recipe.warmup_steps else rate
        rate = keras.optimizers.schedules.CosineDecay(start, steps, alpha=0.01, **warmup)
    options: dict[str, Any] = {"epsilon": recipe.epsilon, "global_clipnorm": recipe.clip_norm}
    if recipe.ema_momentum is not None:
        options |= {"use_ema": True, "ema_momentum": recipe.ema_momentum}
    if recipe.weight_decay:
        return keras.optimizers.AdamW(rate, weight_decay=recipe.weight_decay, **options)
    return keras.optimizers.Adam(rate, **options)
