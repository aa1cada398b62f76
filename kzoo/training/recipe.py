"""A recipe: everything that one training run depends on."""

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from kzoo import checks
from kzoo.errors import InputError, PresetError, did_you_mean
from kzoo.saving.catalogue import bundled_folder, list_presets, on_hub, preset_folder
from kzoo.saving.files import read_json
from kzoo.tasks import get as get_task

FORMAT = 1
CONSTRUCTIONS = ("construct_sorter",)
LENGTHS = ("mixed", "grouped", "balanced")
SCHEDULES = ("constant", "cosine", "trapezoidal", "plateau")
WARMED_UP = ("cosine", "trapezoidal")


@dataclass
class Recipe:
    """A training run as plain data, as recipe.json holds it.

    Args:
        task: str. The task's name.
        task_version: int. The version of the task's examples; a recipe of another version is refused.
        model: dict. `{"class": name, "config": {...}}`, without vocabulary, which the task gives; or
            `{"class": "construct_sorter", ...}` with the arguments of that function of `kzoo.models`: a model whose
            weights are set, not trained.
        layout: dict. How a `TransformerSeq2Seq` lays calculations out: `digits` and `aligned`, see
            `CalculationPreprocessor`.
        start: str or None. A preset whose weights training begins with, instead of random ones: a name, a folder or an
            address on the Hub, of the same model and vocabulary. A `TransformerClassifier` may have whole multiples of
            its units and hidden units: see `widen`.
        calibration: dict or None. The second stage of attention bias calibration: `preset` names a trained
            `TransformerSeq2Seq`, a preset or its folder; everything else are arguments of `kzoo.calibrate`, which gives
            the model its biases.
        epochs: int. Passes over the training examples, 1 to 100,000; 0 where the weights are set.
        batch_size: int. 1 to 65,536.
        split: str. The task's split that is trained on; hints have one of the same name.
        examples: int or None. Training examples drawn; None takes the split's size.
        steps_per_epoch: int or None. Batches an epoch, taken on and on from pass after pass over the examples; None
            makes an epoch one pass.
        fresh: bool. Whether every epoch draws new examples, as many as it needs, so that none is seen twice but by
            chance; wants `steps_per_epoch`.
        lengths: str. "mixed", "grouped" (a batch holds examples of like length) or "balanced" (of one length, all
            lengths equally often); see `Batches`.
        curriculum: list of int. The longest sources, in tokens before a delimiter, of stages that share the epochs
            equally, as [4, 8, 12, 16, 20]; wants `fresh`. Empty takes all lengths from the start.
        intermediate: bool. Whether a `TransformerClassifier` is trained on the intermediate results of its task too,
            each read from the column that the task names: see `Task.intermediate`.
        attention_supervision: float. Weight of how far the attention of a `RecurrentSeq2Seq` is from the gold
            attention of its task, added to the loss: see `SupervisedAttention`. 0 leaves it out.
        learning_rate: float. The peak rate of Adam.
        weight_decay: float. Of AdamW, on every weight: each step takes off rate * decay * weight. 0 is Adam.
        schedule: str. "constant"; "cosine" to 1 % of the peak; "trapezoidal", constant but for the last fifth of the
            steps, over which it falls to 0; "plateau", which halves the rate when the selection metric has not improved
            for five epochs.
        warmup_steps: int. Steps of linear warm-up, for "cosine" and "trapezoidal".
        clip_norm: float. Largest global gradient norm.
        epsilon: float. Of Adam.
        ema_momentum: float or None. Of a moving average of the weights over the steps, which the model has in the end
            instead of the last weights; wants the selection "last". `watch` shows the weights without it.
        selection: str. "last" keeps the last weights; "validation" those with the best sequence accuracy on the
            validation split after an epoch, the latest among equals.
        selection_length: int or None. Selects on validation examples of this length instead of the split's own lengths,
            which do not tell good weights from better ones once all of them are at 100 %.
        selection_examples: int or None. So many validation examples; None takes the split's size.
        patience: int or None. Stops after so many epochs without a new best of the selection metric; a tie is one.
        seed: int. Seeds the weights, dropout and the order of the examples; the examples themselves are the task's own.
        watch: list of int. Lengths whose accuracy is noted after each epoch; it decides nothing.
        evaluation: dict. `lengths`, `examples` and `seed` of the evaluation at the end.
    """

    task: str
    model: dict[str, Any]
    epochs: int
    task_version: int = 1
    layout: dict[str, Any] = field(default_factory=dict)
    start: str | None = None
    calibration: dict[str, Any] | None = None
    batch_size: int = 32
    split: str = "train"
    examples: int | None = None
    steps_per_epoch: int | None = None
    fresh: bool = False
    lengths: str = "mixed"
    curriculum: list[int] = field(default_factory=list)
    intermediate: bool = False
    attention_supervision: float = 0.0
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    schedule: str = "constant"
    warmup_steps: int = 0
    clip_norm: float = 5.0
    epsilon: float = 1e-8
    ema_momentum: float | None = None
    selection: str = "validation"
    selection_length: int | None = None
    selection_examples: int | None = None
    patience: int | None = None
    seed: int = 0
    watch: list[int] = field(default_factory=list)
    evaluation: dict[str, Any] = field(default_factory=dict)
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise InputError(f"format must be {FORMAT}, not {self.format!r}")
        task = get_task(self.task)
        if self.task_version != task.version:
            raise InputError(f"the recipe is for version {self.task_version} of {self.task}; this is {task.version}")
        if self.split not in task.splits:
            raise InputError(did_you_mean(f"split of {self.task}", self.split, task.splits))
        if not isinstance(self.model, dict) or not set(self.model) <= {"class", "config"} or "class" not in self.model:
            raise InputError("model must have 'class' and 'config'")
        config = self.model.get("config", {})
        if not isinstance(config, dict) or {"vocabulary_size", "preprocessor"} & set(config):
            raise InputError("the config of model must be a mapping, without the vocabulary, which the task gives")
        if not isinstance(self.layout, dict) or not set(self.layout) <= {"digits", "aligned"}:
            raise InputError("layout may have digits and aligned, and nothing else")
        if (self.layout or self.calibration) and self.model["class"] != "TransformerSeq2Seq":
            raise InputError("layout and calibration are for a TransformerSeq2Seq")
        checks.boolean("intermediate", self.intermediate)
        if self.intermediate and self.model["class"] != "TransformerClassifier":
            raise InputError("intermediate results are for a TransformerClassifier")
        checks.number("attention_supervision", self.attention_supervision, 0.0, 1e6)
        if self.attention_supervision and self.model["class"] != "RecurrentSeq2Seq":
            raise InputError("attention_supervision is for a RecurrentSeq2Seq")
        if self.start is not None and (not isinstance(self.start, str) or self.constructed):
            raise InputError("start must name a preset, for a model whose weights are trained")
        if self.calibration is not None and not isinstance(self.calibration.get("preset"), str):
            raise InputError("calibration must name a preset")
        if self.calibration is not None and {"self_bias", "cross_bias"} & set(config):
            raise InputError("the biases come from the calibration: the model's config may not have them")
        checks.integer("epochs", self.epochs, *((0, 0) if self.constructed else (1, 100_000)))
        checks.integer("batch_size", self.batch_size, 1, 65_536)
        checks.number("learning_rate", self.learning_rate, 1e-9, 10.0)
        checks.choice("schedule", self.schedule, SCHEDULES)
        checks.integer("warmup_steps", self.warmup_steps, 0, 10**9)
        checks.number("clip_norm", self.clip_norm, 1e-9, 1e9)
        checks.number("epsilon", self.epsilon, 1e-12, 1.0)
        checks.choice("selection", self.selection, ("last", "validation"))
        if self.ema_momentum is not None:
            checks.number("ema_momentum", self.ema_momentum, 0.0, 1.0)
            if self.selection != "last":
                raise InputError('ema_momentum needs the selection "last"')
        checks.integer("seed", self.seed, 0, 2**31 - 1)
        checks.number("weight_decay", self.weight_decay, 0.0, 10.0)
        checks.boolean("fresh", self.fresh)
        checks.choice("lengths", self.lengths, LENGTHS)
        for name in ("examples", "steps_per_epoch", "patience", "selection_length", "selection_examples"):
            if getattr(self, name) is not None:
                checks.integer(name, getattr(self, name), 1, 10**9)
        if self.fresh and (self.steps_per_epoch is None or self.examples is not None):
            raise InputError("fresh examples need steps_per_epoch, and no number of examples")
        self._check_lengths("curriculum", self.curriculum)
        if self.curriculum and (not self.fresh or len(self.curriculum) > self.epochs):
            raise InputError("a curriculum needs fresh examples, and an epoch or more for each stage")
        if self.selection == "last" and (self.schedule == "plateau" or self.patience is not None):
            raise InputError('the schedule "plateau" and patience need the selection "validation"')
        if self.schedule not in WARMED_UP and self.warmup_steps:
            raise InputError('warmup_steps are for the schedules "cosine" and "trapezoidal"')
        self._check_lengths("watch", self.watch)
        if not isinstance(self.evaluation, dict) or not set(self.evaluation) <= {"lengths", "examples", "seed"}:
            raise InputError("evaluation may have lengths, examples and seed, and nothing else")
        self._check_lengths("evaluation", self.evaluation.get("lengths") or [], None)
        checks.integer("examples of evaluation", self.evaluation.get("examples", 1), 1, 1_000_000)
        checks.integer("seed of evaluation", self.evaluation.get("seed", 0), 0, 2**32 - 1)

    @property
    def constructed(self) -> bool:
        """bool. Whether the weights are set by a function instead of training."""
        return self.model["class"] in CONSTRUCTIONS

    def _check_lengths(self, name: str, lengths: Any, *allowed: None) -> None:
        if not isinstance(lengths, list):
            raise InputError(f"the lengths of {name} must be a list")
        for length in lengths:
            if length not in allowed:
                checks.integer(f"a length of {name}", length, 1, 100_000)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Recipe":
        """Returns the recipe of a mapping as in recipe.json.

        Raises:
            InputError: a key is unknown or missing, or a value out of range.
        """
        known = {item.name for item in fields(cls)}
        for key in config:
            if key not in known:
                raise InputError(did_you_mean("key of a recipe", key, known))
        missing = {"task", "model", "epochs"} - set(config)
        if missing:
            raise InputError(f"a recipe needs {', '.join(sorted(missing))}")
        return cls(**config)

    def to_config(self) -> dict[str, Any]:
        """Returns the mapping that `from_config` takes, in the order of reading."""
        config = asdict(self)
        return {"format": config.pop("format"), **config}


def load_recipe(source: str | Path) -> Recipe:
    """Returns a recipe from a recipe file, or that of a preset, a recorded run or a recipe by its name, folder or
    address on the Hub.

    Raises:
        UnknownNameError, PresetError, InputError: no such file or preset, or one that is no recipe.
    """
    path = Path(source)
    bundled = bundled_folder() / str(source) / "recipe.json"
    if path.name == str(source) and bundled.is_file():
        path = bundled
    if not path.is_file():
        known = on_hub(source) or str(source) in list_presets() or path.is_dir()
        if path.suffix == ".json" or ("/" in str(source) and not known):
            raise PresetError(f"there is no recipe {source}")
        path = preset_folder(source) / "recipe.json"
    try:
        return Recipe.from_config(read_json(path))
    except (InputError, LookupError) as error:
        raise InputError(f"{path}: {error}") from error
