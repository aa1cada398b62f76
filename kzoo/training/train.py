"""The way from a recipe to a preset folder."""

import inspect
import sys
from pathlib import Path
from typing import Any

import numpy as np

from kzoo.backend import ensure_backend, no_other_backend
from kzoo.errors import InputError, PresetError
from kzoo.files import read_json
from kzoo.tasks import Example, Task
from kzoo.tasks import get as get_task
from kzoo.tasks.hinting import parts
from kzoo.training.recipe import Recipe, load_recipe

FRESH = 10**6  # so far apart are the seeds of two runs' fresh examples; the seed of all other examples is 0


def train(
    recipe: Recipe | str | Path,
    output: str | Path,
    resume: bool = False,
    progress: bool = False,
    name: str | None = None,
    devices: int | None = None,
) -> Path:
    """Trains a model by a recipe, evaluates it by length, and writes it as a preset folder.

    While it runs, `<output>.training` holds a checkpoint of the last finished epoch; it is removed at the end.

    Args:
        recipe: Recipe, a recipe file, or a preset whose recipe to follow.
        output: str or Path. The preset folder to write.
        resume: bool. Goes on from the checkpoint, if there is one, to the same weights as an unbroken run on this
            machine; a run that has finished is left as it is.
        progress: bool. Whether to show progress on stderr.
        name: str. The name of the preset in its results. Defaults to the folder's.
        devices: int. Shares each batch between so many devices, on JAX; see `kzoo.training.devices.data_parallel`.
            Defaults to None: one device.

    Returns:
        Path. The folder.

    Raises:
        PresetError: `output` exists, or a checkpoint of another recipe is in the way.
        InputError: the recipe or its model is not valid, or there are not so many devices.
        BackendError: several devices on another backend than JAX.
    """
    recipe = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
    output = Path(output).expanduser().resolve()
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        if resume and (output / "recipe.json").is_file() and _is(recipe, read_json(output / "recipe.json")):
            return output
        raise PresetError(f"{output} exists; nothing was trained")
    ensure_backend()
    from kzoo.training.checkpoint import Checkpoint
    from kzoo.training.devices import data_parallel

    checkpoint = Checkpoint(output.parent / f"{output.name}.training")
    if checkpoint.exists():
        if not resume:
            raise PresetError(f"{checkpoint.folder} holds an unfinished run: resume it, or remove the folder")
        if not _is(recipe, read_json(checkpoint.folder / "notes.json").get("recipe")):
            raise PresetError(
                f"{checkpoint.folder} holds an unfinished run of another recipe: remove it, or finish that"
            )
    with data_parallel(devices, recipe.batch_size):
        model, notes = fit(recipe, checkpoint, progress)
        model.preset_name = name or output.name
        return _write(model, recipe, notes, output, checkpoint, progress)


def _is(recipe: Recipe, config: Any) -> bool:
    """Whether a saved config is this recipe, also where it was saved before recipes had all of today's keys."""
    try:
        return isinstance(config, dict) and Recipe.from_config(config) == recipe
    except InputError:
        return False


def build(recipe: Recipe) -> Any:
    """Returns the untrained model of a recipe, the same for the same seed and backend; or the constructed one.

    Raises:
        InputError: the model's class or config is not valid.
    """
    import keras

    import kzoo.models
    from kzoo import registry
    from kzoo.models import kind_of

    with no_other_backend():
        keras.utils.set_random_seed(recipe.seed)
    spec = {"class": recipe.model["class"], "config": recipe.model.get("config", {})}
    if recipe.constructed:
        return registry.construct(getattr(kzoo.models, spec["class"]), spec["config"])
    kind = kind_of(spec["class"])
    cls: Any = registry.classes(kind).get(str(spec["class"]))
    if cls is None:
        registry.resolve(kind, spec)  # raises, with the names that it might have been
        raise InputError("model must name a class")
    registry.check_arguments(cls, {**dict.fromkeys(cls.task_arguments, 2), **spec["config"]})
    if recipe.calibration:
        spec["config"] = spec["config"] | _calibrated(recipe)
    layout = {"layout": recipe.layout} if recipe.layout else {}
    model = cls.from_task(recipe.task, **layout, **spec["config"])
    if recipe.start is not None:
        _begin_with(model, recipe.start, recipe.seed)
    return model


def _begin_with(model: Any, preset: str, seed: int) -> None:
    """Gives a model the weights of a preset, widened if it is narrower.

    Raises:
        PresetError: the preset has other weights.
        InputError: it has another vocabulary, or cannot be widened.
    """
    from kzoo.catalogue import preset_folder
    from kzoo.models.transformer_classifier import TransformerClassifier
    from kzoo.presets_io import from_preset
    from kzoo.tensors import read_tensors
    from kzoo.training.widen import is_wider, widen
    from kzoo.weights import load_weights

    folder = preset_folder(preset)
    own, other = model.preprocessor.get_config(), read_json(folder / "tokenizer.json")
    if any(own.get(key) != other.get(key) for key in ("tokens", "labels")):
        raise InputError(f"{preset} has another vocabulary than the task, so training cannot start from it")
    weights = folder / "model.safetensors"
    if isinstance(model, TransformerClassifier) and is_wider(model, read_tensors(weights)):
        widen(model, from_preset(folder), np.random.default_rng(seed))
    else:
        load_weights(model, weights)


def _calibrated(recipe: Recipe) -> dict[str, Any]:
    """Returns the biases of a recipe's calibration; the random state stays as it is."""
    import keras

    from kzoo.calibration import calibrate

    options = dict(recipe.calibration or {})
    preset = options.pop("preset")
    unknown = set(options) - set(inspect.signature(calibrate).parameters) | {"model", "task"} & set(options)
    if unknown:
        raise InputError(f"calibration has unknown arguments: {', '.join(sorted(unknown))}")
    biases = calibrate(preset, recipe.task, **options)
    with no_other_backend():
        keras.utils.set_random_seed(recipe.seed)
    return biases


def fit(recipe: Recipe, checkpoint: Any, progress: bool = False) -> tuple[Any, dict[str, Any]]:
    """Returns the trained model and the notes of its run."""
    import keras

    from kzoo.training.callbacks import Bookkeeper, LengthAccuracy, Progress
    from kzoo.weights import load_weights

    model = build(recipe)
    if recipe.constructed:
        return model, {**Bookkeeper(recipe, checkpoint, None, None).notes, "steps": 0, "examples_seen": 0}
    task = get_task(recipe.task)
    batches = _batches(recipe, model)
    model.compile(optimizer=_optimizer(recipe, len(batches)), weighted_metrics=None)
    model.optimizer.build(model.trainable_variables)
    notes = checkpoint.restore(model) if checkpoint.exists() else None
    selecting = recipe.selection == "validation"
    size, length = recipe.selection_examples, recipe.selection_length
    validation = task.examples("validation", size, length=length) if selecting else None
    bookkeeper = Bookkeeper(recipe, checkpoint, notes, validation)
    done = bookkeeper.notes["epoch"]
    batches.begin(done)
    patience = recipe.patience
    if done < recipe.epochs and not (patience and notes and done - notes["best_epoch"] >= patience):
        callbacks = [bookkeeper, Progress(recipe.epochs * len(batches), done * len(batches), progress)]
        if recipe.watch:
            callbacks.insert(0, LengthAccuracy(task, recipe.watch))
        # `batches` shuffle themselves; were Keras to shuffle too, a run taken up again would see another order.
        options = {"initial_epoch": done, "epochs": recipe.epochs, "shuffle": False, "verbose": 0}
        keras.Model.fit(model, batches, callbacks=callbacks, **options)
    if recipe.ema_momentum is not None:  # also where nothing was left to train
        model.optimizer.finalize_variable_values(model.trainable_variables)
    if selecting:
        load_weights(model, bookkeeper.best_weights)
    steps, size = bookkeeper.notes["epoch"] * len(batches), batches.batch_size
    return model, {**bookkeeper.notes, "steps": steps, "examples_seen": steps * size}


def _batches(recipe: Recipe, model: Any) -> Any:
    """Returns the batches of the task, or where the model has hints, those of the task and its hints in turn."""
    from kzoo.preprocessing.alternating import Alternating
    from kzoo.preprocessing.batches import Batches

    options: dict[str, Any] = {"lengths": recipe.lengths, "drop_remainder": True}
    options["bucketed"] = False if recipe.lengths == "mixed" else None  # mixed batches mostly hold a long row
    hints = getattr(model, "hints", [])
    preprocessors = [_preprocessor(recipe, model), *(model.hint_preprocessor(hint) for hint in hints)]
    steps = None if recipe.steps_per_epoch is None else -(-recipe.steps_per_epoch // len(preprocessors))
    found = []
    for name, preprocessor in zip([recipe.task, *hints], preprocessors, strict=True):
        examples = _examples(recipe, get_task(name), steps)
        found.append(Batches(examples, preprocessor, recipe.batch_size, recipe.seed, steps=steps, **options))
    return Alternating(found, recipe.steps_per_epoch) if hints else found[0]


def _preprocessor(recipe: Recipe, model: Any) -> Any:
    """Returns what turns the examples of the task into arrays, with all that training is to learn from them."""
    from kzoo.preprocessing.intermediate_preprocessor import IntermediatePreprocessor
    from kzoo.preprocessing.supervised_attention import SupervisedAttention

    if recipe.intermediate:
        return IntermediatePreprocessor(model.preprocessor, get_task(recipe.task))
    if recipe.attention_supervision:
        return SupervisedAttention(model.preprocessor, get_task(recipe.task), recipe.attention_supervision)
    return model.preprocessor


def _examples(recipe: Recipe, task: Task, steps: int | None) -> Any:
    """Returns the training examples, or the function of the epoch that draws them."""
    if not recipe.fresh:
        return task.examples(recipe.split, recipe.examples)
    size = recipe.batch_size * (steps or 1)

    def draw(epoch: int) -> list[Example]:
        seed = (recipe.seed + 1) * FRESH + epoch
        if not recipe.curriculum:
            return task.examples(recipe.split, size, seed)
        # After the last epoch the batches are put in order once more.
        stage = min(epoch, recipe.epochs - 1) * len(recipe.curriculum) // recipe.epochs
        longest = recipe.curriculum[stage]
        for often in (1, 4, 16, 64):  # as many as it takes; each draw begins as the one before
            drawn = task.examples(recipe.split, often * size, seed)
            short = [row for row in drawn if len(parts(row.source)[0]) <= longest]
            if len(short) >= size:
                # Of a split that is a list the shallow come first: any of them, not the first ones.
                chosen = np.random.default_rng(seed).choice(len(short), size, replace=False)
                return [short[i] for i in chosen]
        raise InputError(f"{recipe.split} of {task.name} has too few sources of at most {longest} tokens")

    return draw


def _optimizer(recipe: Recipe, steps_per_epoch: int) -> Any:
    import keras

    from kzoo.training.trapezoidal import Trapezoidal

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


def _write(model: Any, recipe: Recipe, notes: dict[str, Any], output: Path, checkpoint: Any, progress: bool) -> Path:
    import keras

    from kzoo.evaluation.evaluate import evaluate
    from kzoo.evaluation.results import results_document
    from kzoo.presets_io import save_to_preset

    if progress:
        print(f"trained {notes['epoch']} epochs in {notes['seconds']:.0f} s; evaluating", file=sys.stderr)
    report = evaluate(model, recipe.task, progress=progress, **recipe.evaluation)
    training = {key: notes[key] for key in ("epoch", "steps", "examples_seen", "seconds", "best_epoch", "history")}
    training |= {"backend": keras.config.backend(), "seed": recipe.seed}
    results = results_document(report, training)
    save_to_preset(model, output, recipe=recipe.to_config(), results=results)
    checkpoint.remove()
    return output
