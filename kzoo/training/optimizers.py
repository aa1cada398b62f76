"""The optimizer of a stage, and a learning rate that is constant until it falls at the end."""

from typing import Any

import keras
from keras import ops

from kzoo.training.stages import Optimizer

FALLING = 0.2


@keras.saving.register_keras_serializable("kzoo")
class Trapezoidal(keras.optimizers.schedules.LearningRateSchedule):
    """A rate that rises linearly, stays, and falls linearly to 0 over the last fifth of the steps.

    Before it falls it does not depend on the number of steps, which may be changed until then.

    Args:
        rate: float. The rate between.
        steps: int. All steps of the training.
        warmup_steps: int. Steps of the rise; the first has 1 / `warmup_steps` of the rate. Defaults to 0.

    Example:

    ```python
    rate = Trapezoidal(0.1, 10, warmup_steps=2)
    assert [round(float(rate(k)), 3) for k in (0, 1, 8, 9, 10)] == [0.05, 0.1, 0.1, 0.05, 0.0]
    ```
    """

    def __init__(self, rate: float, steps: int, warmup_steps: int = 0) -> None:
        super().__init__()
        self.rate, self.steps, self.warmup_steps = rate, steps, warmup_steps

    def __call__(self, step: Any) -> Any:
        step = ops.cast(step, "float32")
        rising = (step + 1.0) / max(1, self.warmup_steps)
        falling = (self.steps - step) / max(1.0, FALLING * self.steps)
        return self.rate * ops.clip(ops.minimum(rising, falling), 0.0, 1.0)

    def get_config(self) -> dict[str, Any]:
        return {"rate": self.rate, "steps": self.steps, "warmup_steps": self.warmup_steps}


def make_optimizer(options: Optimizer, steps: int) -> keras.optimizers.Optimizer:
    """Returns the optimizer of a stage, with its learning rate over all its steps."""
    rate: Any = options.learning_rate
    if options.schedule == "trapezoidal":
        rate = Trapezoidal(rate, steps, options.warmup_steps)
    elif options.schedule == "cosine":
        warmup = {"warmup_target": rate, "warmup_steps": options.warmup_steps} if options.warmup_steps else {}
        first = 0.0 if options.warmup_steps else rate
        rate = keras.optimizers.schedules.CosineDecay(first, max(1, steps - options.warmup_steps), alpha=0.01, **warmup)
    own: dict[str, Any] = {"epsilon": options.epsilon, "beta_2": options.beta_2, "global_clipnorm": options.clip_norm}
    if options.ema_momentum is not None:
        own |= {"use_ema": True, "ema_momentum": options.ema_momentum}
    if options.algorithm == "adamax":
        return keras.optimizers.Adamax(rate, weight_decay=options.weight_decay or None, **own)
    if options.weight_decay:
        return keras.optimizers.AdamW(rate, weight_decay=options.weight_decay, **own)
    return keras.optimizers.Adam(rate, **own)
