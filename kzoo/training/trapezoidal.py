"""A learning rate that is constant until it falls at the end."""

from typing import Any

import keras
from keras import ops

FALLING = 0.2


@keras.saving.register_keras_serializable("kzoo")
class Trapezoidal(keras.optimizers.schedules.LearningRateSchedule):
    """A rate that rises linearly, stays, and falls linearly to 0 over the last fifth of the steps.

    Until it falls it does not depend on how many steps there are: a run may be told to be longer or shorter before.

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
