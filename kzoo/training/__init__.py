"""From a recipe to a preset; `train` is the one caller of `model.fit`."""
