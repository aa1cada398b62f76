"""From a recipe to a preset; `train` is the one caller of `model.fit`."""

from typing import TYPE_CHECKING

from kzoo.lazy import attach

if TYPE_CHECKING:
    from kzoo.training.calibration import calibrate as calibrate
    from kzoo.training.callbacks import LengthAccuracy as LengthAccuracy
    from kzoo.training.optimizers import Trapezoidal as Trapezoidal
    from kzoo.training.recipe import Recipe as Recipe
    from kzoo.training.recipe import load_recipe as load_recipe
else:
    __getattr__, __dir__, __all__ = attach(__name__, keras=True)
