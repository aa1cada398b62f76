"""From a recipe to a preset; `train` is the one caller of `model.fit`."""

from typing import TYPE_CHECKING

from kzoo.lazy import attach

if TYPE_CHECKING:
    from kzoo.training.calibration import calibrate as calibrate
    from kzoo.training.callbacks import LengthAccuracy as LengthAccuracy
    from kzoo.training.optimizers import Trapezoidal as Trapezoidal
    from kzoo.training.recipe import Recipe as Recipe
    from kzoo.training.recipe import load_recipe as load_recipe
    from kzoo.training.stages import Budget as Budget
    from kzoo.training.stages import Data as Data
    from kzoo.training.stages import Objective as Objective
    from kzoo.training.stages import Optimizer as Optimizer
    from kzoo.training.stages import Selection as Selection
    from kzoo.training.stages import Stage as Stage
else:
    __getattr__, __dir__, __all__ = attach(__name__, keras=True)
