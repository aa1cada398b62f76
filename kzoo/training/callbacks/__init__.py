"""What happens between the steps and epochs of a training, one thing a callback.

Keras' own do not serve where a killed run must go on to the same weights: `BackupAndRestore` keeps no state of other
callbacks, `ReduceLROnPlateau` and `EarlyStopping` begin anew, and count a tie with the best as no improvement.
"""

from typing import TYPE_CHECKING

from kzoo.lazy import attach

if TYPE_CHECKING:
    from kzoo.training.callbacks.best_weights import BestWeights as BestWeights
    from kzoo.training.callbacks.checkpointing import Checkpointing as Checkpointing
    from kzoo.training.callbacks.epoch_history import EpochHistory as EpochHistory
    from kzoo.training.callbacks.length_accuracy import LengthAccuracy as LengthAccuracy
    from kzoo.training.callbacks.plateau import HalveOnPlateau as HalveOnPlateau
    from kzoo.training.callbacks.progress import Progress as Progress
    from kzoo.training.callbacks.stop_on_non_finite import StopOnNonFinite as StopOnNonFinite
    from kzoo.training.callbacks.timing import Timing as Timing
else:
    __getattr__, __dir__, __all__ = attach(__name__, keras=True)
