"""A recipe: everything that one training depends on."""

import re
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from kzoo import checks
from kzoo.errors import InputError, PresetError, did_you_mean
from kzoo.saving import catalogue
from kzoo.saving.construct import check_plain
from kzoo.saving.files import read_json
from kzoo.tasks import get as get_task
from kzoo.tasks.pairs_file import is_file_of_pairs
from kzoo.tasks.pairs_file import read as read_pairs
from kzoo.training import supervision
from kzoo.training.part import check_lengths
from kzoo.training.stages import Stage
from kzoo.training.upgrade import upgrade

FORMAT = 2
CONSTRUCTIONS = ("construct_sorter", "construct_incrementer")
MECHANISM = re.compile(r"[a-z0-9_]{1,64}")
ALWAYS = ("task", "task_version", "mechanism", "supervision", "model")  # written in any case
LAYOUT = ("digits", "aligned", "running", "filled", "behind")


@dataclass(frozen=True)
class Recipe:
    """A training as plain data, as recipe.json holds it.

    Args:
        task: str. The task's name, or the path of a file of pairs, see `kzoo.tasks.PairsFile`, whose name is taken.
        model: dict. `{"class": name, "config": {...}}`, without vocabulary, which the task gives; or
            `{"class": "construct_sorter", ...}`, or "construct_incrementer", with the arguments of that function of
            `kzoo.models`: a model whose weights are set, not trained.
        stages: tuple of Stage. One after another; none where the weights are set.
        task_version: int. The version of the task's examples; a recipe of another version is refused.
        mechanism: str or None. What the recipe is listed under in tables, as "onestep". None is not stated.
        supervision: tuple of str or None. What training has beyond pairs of source and target, of
            `kzoo.training.supervision.SUPERVISION`; empty is nothing. What the stages imply must be declared. None is
            not stated, as in recipes of format 1.
        layout: dict. How a `TransformerSeq2Seq` lays calculations out, `digits`, `aligned` and
            `running`, see `CalculationPreprocessor`; a `TransformerDecoder`, `filled`, see `DecoderPreprocessor`; or
            where a `SequenceTagger` writes, `behind`, see `TaggerPreprocessor`.
        init_from: str or None. A preset whose weights training begins with, instead of random ones: a name, a folder
            or an address on the Hub, of the same model and vocabulary. A `TransformerClassifier` may have whole
            multiples of its units and hidden units: see `widen`.
        calibration: dict or None. The second stage of attention bias calibration: `preset` names a trained
            `TransformerSeq2Seq`, a preset or its folder; everything else are arguments of `kzoo.calibrate`, which gives
            the model its biases.
        seed: int. Seeds the weights, dropout and the order of the examples; the examples themselves are the task's own.
        evaluation: dict. `lengths`, `examples` and `seed` of the evaluation at the end.
    """

    task: str
    model: dict[str, Any]
    stages: tuple[Stage, ...]
    task_version: int = 1
    mechanism: str | None = None
    supervision: tuple[str, ...] | None = None
    layout: dict[str, Any] = field(default_factory=dict)
    init_from: str | None = None
    calibration: dict[str, Any] | None = None
    seed: int = 0
    evaluation: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        task = get_task(self.task)
        object.__setattr__(self, "task", task.name)
        if self.task_version != task.version:
            raise InputError(f"the recipe is for version {self.task_version} of {self.task}; this is {task.version}")
        self._check_model()
        checks.integer("seed", self.seed, 0, 2**31 - 1)
        if bool(self.stages) == self.constructed:
            said = "sets every weight, so it has no stages" if self.stages else "is trained, so it needs stages"
            raise InputError(f"{self.model['class']} {said}")
        for stage in self.stages:
            if stage.data.split not in task.splits:
                raise InputError(did_you_mean(f"split of {self.task}", stage.data.split, task.splits))
        if self.mechanism is not None and not (isinstance(self.mechanism, str) and MECHANISM.fullmatch(self.mechanism)):
            raise InputError("mechanism must be a word of small letters, digits and underscores")
        supervision.check(self.supervision or (), supervision.implied(task, self.layout, self.stages, self.model))
        self._check_evaluation()

    def _check_model(self) -> None:
        if not isinstance(self.model, dict) or not set(self.model) <= {"class", "config"} or "class" not in self.model:
            raise InputError("model must have 'class' and 'config'")
        config = self.model.get("config", {})
        for own in (config, *(stage.model for stage in self.stages)):
            if not isinstance(own, dict) or {"vocabulary_size", "preprocessor"} & set(own):
                raise InputError("the config of model must be a mapping, without the vocabulary, which the task gives")
            check_plain(own, "the config of model")
        if not isinstance(self.layout, dict) or not set(self.layout) <= set(LAYOUT):
            raise InputError(f"layout may have {', '.join(LAYOUT[:-1])} and {LAYOUT[-1]}, and nothing else")
        if self.init_from is not None and (not isinstance(self.init_from, str) or self.constructed):
            raise InputError("init_from must name a preset, for a model whose weights are trained")
        if self.calibration is None:
            return
        if not isinstance(self.calibration, dict) or not isinstance(self.calibration.get("preset"), str):
            raise InputError("calibration must name a preset")
        if {"self_bias", "cross_bias"} & set(config):
            raise InputError("the biases come from the calibration: the model's config may not have them")

    def _check_evaluation(self) -> None:
        if not isinstance(self.evaluation, dict) or not set(self.evaluation) <= {"lengths", "examples", "seed"}:
            raise InputError("evaluation may have lengths, examples and seed, and nothing else")
        check_lengths("evaluation", self.evaluation.get("lengths") or [], None)
        checks.integer("examples of evaluation", self.evaluation.get("examples", 1), 1, 1_000_000)
        checks.integer("seed of evaluation", self.evaluation.get("seed", 0), 0, 2**32 - 1)

    @property
    def constructed(self) -> bool:
        """bool. Whether the weights are set by a function instead of training."""
        return self.model["class"] in CONSTRUCTIONS

    def stage_seed(self, index: int) -> int:
        """Returns the seed of a stage: its own, or that of the recipe and one more for each stage before."""
        own = self.stages[index].seed
        return self.seed + index % len(self.stages) if own is None else own

    def model_config(self, index: int = -1) -> dict[str, Any]:
        """Returns the config of the model in a stage. Defaults to the last."""
        return {**self.model.get("config", {}), **(self.stages[index].model if self.stages else {})}

    def with_seed(self, seed: int) -> "Recipe":
        """Returns the recipe with another seed."""
        return replace(self, seed=seed)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Recipe":
        """Returns the recipe of a mapping as in recipe.json, of format 2 or 1.

        Raises:
            InputError: a key is unknown or missing, or a value out of range.
        """
        version = config.get("format", FORMAT if "stages" in config else 1)
        if version not in (1, FORMAT):
            raise InputError(f"format must be {FORMAT}, or 1, not {version!r:.40}")
        old = version == 1
        config = upgrade(config, CONSTRUCTIONS) if old else config
        known = {"format"} | {item.name for item in fields(cls)}
        for key in config:
            if key not in known:
                raise InputError(did_you_mean("key of a recipe", key, known))
        needed = {"task", "model", "stages"} | (set() if old else {"supervision"})
        if needed - set(config):
            raise InputError(f"a recipe needs {', '.join(sorted(needed - set(config)))}")
        if not isinstance(config["stages"], list):
            raise InputError("stages must be a list")
        stages = tuple(_stage(i, stage, len(config["stages"])) for i, stage in enumerate(config["stages"]))
        words: Any = config.get("supervision")
        if old:
            layout = config.get("layout")
            words = _implied(config["task"], layout if isinstance(layout, dict) else {}, stages) or None
        words = tuple(words) if isinstance(words, list) else words
        own = {**config, "stages": stages, "supervision": words}
        own.pop("format", None)
        return cls(**own)

    def to_config(self) -> dict[str, Any]:
        """Returns the mapping that `from_config` takes, in the order of reading, without what is at its default."""
        parts = [stage.to_config() for stage in self.stages]
        words = None if self.supervision is None else list(self.supervision)
        first = {"format": FORMAT, **{name: getattr(self, name) for name in ALWAYS}, "supervision": words}
        rest: dict[str, Any] = {"layout": {}, "init_from": None, "calibration": None, "seed": 0}
        changed = {key: getattr(self, key) for key, default in rest.items() if getattr(self, key) != default}
        return {**first, **changed, "stages": parts, **({"evaluation": self.evaluation} if self.evaluation else {})}

    def differs_from(self, other: "Recipe") -> list[str]:
        """Returns the keys in which it is another than `other`, but the seed and what is evaluated."""
        own, its = self.to_config(), other.to_config()
        keys = (key for key in dict.fromkeys([*own, *its]) if key not in ("seed", "evaluation"))
        return [key for key in keys if own.get(key) != its.get(key)]


def _stage(index: int, config: Any, stages: int) -> Stage:
    try:
        return Stage.from_config(config, "a stage")
    except InputError as error:
        raise InputError(f"stage {index + 1}: {error}") from None if stages > 1 else error


def _implied(task: Any, layout: dict[str, Any], stages: tuple[Stage, ...]) -> tuple[str, ...]:
    found = get_task(task)
    known = all(stage.data.split in found.splits for stage in stages)  # else the recipe says so
    return supervision.implied(found, layout, stages) if known else ()


def load_recipe(source: str | Path) -> Recipe:
    """Returns a recipe from a recipe file, that of a preset, a recorded run or a recipe by its name, folder or address
    on the Hub, or the one for a file of pairs, whose name ends with .tsv: see `kzoo.tasks.PairsFile`.

    Raises:
        UnknownNameError, PresetError, InputError: no such file or preset, or one that is no recipe.
    """
    if not isinstance(source, (str, Path)):
        raise InputError(f"a recipe is a file or a preset's name, not {type(source).__name__} {checks.short(source)}")
    path = Path(source)
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except (OSError, ValueError):  # too long for a path, or no text of one
        raise PresetError(f"there is no recipe {str(source)!r:.200}") from None
    if is_file_of_pairs(source):
        from kzoo.training.pairs_recipe import pairs_recipe

        return pairs_recipe(read_pairs(source))
    if not is_file:
        known = str(source).startswith("hf://") or is_folder
        if path.suffix == ".json" or ("/" in str(source) and not known):
            raise PresetError(f"there is no recipe {source}")
        from kzoo.saving.preset import Preset

        path = Preset.find(source).folder / "recipe.json"
    try:
        recipe = Recipe.from_config(read_json(path))
        if str(source).startswith("hf://"):
            check_remote(recipe)
        return recipe
    except (InputError, LookupError) as error:
        raise InputError(f"{path}: {error}") from error


def check_remote(recipe: Recipe) -> None:
    """Raises `InputError` if a recipe on the Hub would read a preset that is neither bundled nor on the Hub."""
    for key, preset in (("init_from", recipe.init_from), ("calibration", (recipe.calibration or {}).get("preset"))):
        if preset is not None and not preset.startswith("hf://") and not catalogue.bundled(preset):
            raise InputError(
                f"{key} of a recipe on the Hub must name a preset of kzoo or of the Hub, not {preset[:100]!r}"
            )
