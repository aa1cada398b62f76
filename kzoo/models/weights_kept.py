"""Weights that survive a call that fails."""

import contextlib
from collections.abc import Iterator
from typing import Any

import keras

STATE = ("trainable_variables", "non_trainable_variables", "optimizer_variables", "metrics_variables")


class WeightsKept(keras.Model):
    """A `keras.Model` that keeps its weights where training or prediction fails.

    On JAX, Keras takes the values out of the variables while it runs, and does not put them back after an error.
    """

    _jax_state: Any  # Keras' own: what the last step left

    @contextlib.contextmanager
    def _weights_kept(self) -> Iterator[None]:
        """Gives the model its weights back where a call fails: on JAX, Keras takes them away while it runs."""
        try:
            yield
        except BaseException:
            kept = self.__dict__.get("_kept")
            if kept and not self._jax_state_synced:
                self._jax_state = self._jax_state or kept
                self.jax_state_sync()
            raise
        finally:
            self.__dict__["_kept"] = None

    def _get_jax_state(self, **wanted: bool) -> Any:
        """Returns the variables that Keras runs a step with; it calls this on JAX only."""
        found = super()._get_jax_state(**wanted)
        asked = [name for name in STATE if wanted.get(name)]
        self.__dict__["_kept"] = dict(zip(asked, found, strict=True))
        self._jax_state = None
        return found
