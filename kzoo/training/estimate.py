"""How long runs take, by what is recorded of those before them."""

from collections.abc import Iterable
from statistics import median

from kzoo.saving import catalogue
from kzoo.saving.preset import Preset
from kzoo.tasks import get as get_task
from kzoo.training.recipe import Recipe, load_recipe

Pace = dict[tuple[str, str], float]
UNKNOWN = 0.1  # seconds a step of a model that nothing is recorded of
ANY = ""  # task


def steps(recipe: Recipe) -> int:
    """Returns the batches of all stages, if none stops early."""
    total = 0
    for stage in recipe.stages:
        own = stage.budget.steps_per_epoch
        if own is None:
            examples = stage.data.examples or get_task(recipe.task).splits[stage.data.split].size
            own = max(1, examples // stage.data.batch_size)
        total += stage.budget.epochs * own
    return total


def pace(names: Iterable[str] | None = None) -> Pace:
    """Returns the median seconds a step, as recorded, by task and class of model, and by class alone (task "").

    Args:
        names: iterable of str, bundled presets and recorded runs. Defaults to all.
    """
    found: dict[tuple[str, str], list[float]] = {}
    for name in catalogue.names_of(catalogue.PRESET, catalogue.RUN) if names is None else names:
        recipe = load_recipe(name)
        for run in (Preset.find(name).results or {}).get("training", []):
            if run.get("steps"):
                for task in (recipe.task, ANY):
                    found.setdefault((task, recipe.model["class"]), []).append(run["seconds"] / run["steps"])
    return {key: median(values) for key, values in found.items()}


def seconds(recipe: Recipe, known: Pace) -> float:
    """Returns about how long a recipe trains, in seconds of one of the machines that the recorded runs were made on.

    Args:
        recipe: Recipe.
        known: Pace, from `pace`.
    """
    model = recipe.model["class"]
    return steps(recipe) * known.get((recipe.task, model), known.get((ANY, model), UNKNOWN))


def spoken(time: float) -> str:
    """Returns seconds as one says them: "40 seconds", "12 minutes", "3.5 hours"."""
    if time < 100:
        return f"{time:.0f} seconds"
    return f"{time / 60:.0f} minutes" if time < 6_000 else f"{time / 3_600:.1f} hours"
