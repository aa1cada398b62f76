"""The stages of a training: each with its data, objective, optimizer, selection and budget.

Every part checks itself, in its own sentences.
"""

from dataclasses import dataclass, field
from typing import Any, Self

from kzoo import checks
from kzoo.data.sampling import SAMPLINGS
from kzoo.errors import InputError
from kzoo.training.learned_alignment import LearnedAlignment
from kzoo.training.part import LARGEST_COUNT, Part, check_count, check_lengths

ALGORITHMS = ("adam", "adamax")
SCHEDULES = ("constant", "cosine", "trapezoidal", "plateau")
WARMED_UP = ("cosine", "trapezoidal")
PRECISIONS = ("float32", "bfloat16")


@dataclass(frozen=True)
class Data(Part):
    """The examples of a stage.

    Args:
        split: str. The task's split that is trained on; hints have one of the same name.
        examples: int or None. Training examples drawn; None takes the split's size.
        fresh: bool. Whether every epoch draws new examples, as many as it needs, so that none is seen twice but by
            chance; needs `steps_per_epoch` in the budget.
        sampling: str. "mixed", "grouped" (a batch holds examples of like length) or "balanced" (of one length, all
            lengths equally often); see `Batches`.
        curriculum: tuple of int. The longest sources, in tokens before a delimiter, of parts that share the epochs
            equally, as (4, 8, 12, 16, 20); needs `fresh`. Of few short sources "balanced" repeats some; the others need
            as many different ones as they draw. Empty takes all lengths from the start.
        per_length: bool. Whether each epoch draws as many examples of every length as of any other, the lengths being
            the task's, and the curriculum's too: so it has many different short sources, where those of all lengths are
            mostly long. Needs `fresh`.
        exchange_words: bool. Whether words that the examples treat alike change places in them, once before the stage;
            see `kzoo.exchange_words`.
        batch_size: int. 1 to 65,536.
    """

    split: str = "train"
    examples: int | None = None
    fresh: bool = False
    sampling: str = "mixed"
    curriculum: tuple[int, ...] = ()
    per_length: bool = False
    exchange_words: bool = False
    batch_size: int = 32

    def __post_init__(self) -> None:
        checks.integer("batch_size", self.batch_size, 1, 65_536)
        checks.boolean("fresh", self.fresh)
        checks.boolean("per_length", self.per_length)
        checks.boolean("exchange_words", self.exchange_words)
        if self.per_length and not self.fresh:
            raise InputError("per_length needs fresh examples: it says how those of an epoch are drawn")
        checks.choice("sampling", self.sampling, SAMPLINGS)
        check_count("examples", self.examples)
        check_lengths("curriculum", self.curriculum)
        if self.exchange_words and self.fresh:
            raise InputError("exchange_words needs examples that stay: data may not be fresh")
        if self.fresh and self.examples is not None:
            raise InputError("fresh examples need steps_per_epoch, and no number of examples")


@dataclass(frozen=True)
class Objective(Part):
    """What is learned besides the target.

    Args:
        intermediate: bool. Whether the intermediate results of the task are targets too, each read from the column
            that the task names: see `Task.intermediate`. For a `TransformerClassifier`, or those of
            `Task.causal_results` for a `RecurrentClassifier`; or for a `SequenceTagger` with a `RewritingReader` the
            rows of `Task.execution_trace`.
        hold: int. How many of the last steps are read, each with the same targets, 1 to 10,000: a result has to be
            there some steps before the last, and to stay. For a `TransformerClassifier`.
        attention_supervision: float or LearnedAlignment. Weight of the loss between attention and the gold attention of
            the task: see `SupervisedAttention`. 0 leaves it out. Or `{"from": "alignment"}` or `{"from": "phrases"}`,
            supervision by an alignment that is learned from the stage's own pairs. For a `RecurrentSeq2Seq`.
    """

    intermediate: bool = False
    hold: int = 1
    attention_supervision: float | LearnedAlignment = 0.0

    def __post_init__(self) -> None:
        checks.boolean("intermediate", self.intermediate)
        checks.integer("hold", self.hold, 1, 10_000)
        if not isinstance(self.attention_supervision, LearnedAlignment):
            checks.number("attention_supervision", self.attention_supervision, 0.0, 1e6)

    @classmethod
    def from_config(cls, config: Any, name: str) -> Self:
        told = config.get("attention_supervision") if isinstance(config, dict) else None
        if isinstance(told, dict):
            learned = LearnedAlignment.from_config(told, "attention_supervision")
            config = {**config, "attention_supervision": learned}
        return super().from_config(config, name)

    @property
    def learned_alignment(self) -> LearnedAlignment | None:
        """LearnedAlignment or None. What supervises the attention, if that is an alignment learned from the pairs."""
        return self.attention_supervision if isinstance(self.attention_supervision, LearnedAlignment) else None


@dataclass(frozen=True)
class Optimizer(Part):
    """Adam or Adamax, its learning rate over the steps, and the average of the weights.

    Args:
        learning_rate: float. The peak rate.
        weight_decay: float. As of AdamW, on every weight: each step takes off rate * decay * weight.
        schedule: str. "constant"; "cosine" to 1 % of the peak; "trapezoidal", constant but for the last fifth of the
            steps, over which it falls to 0; "plateau", which halves the rate when the selection metric has not improved
            for five epochs.
        warmup_steps: int. Steps of linear warm-up, for "cosine" and "trapezoidal".
        clip_norm: float. Largest global gradient norm.
        epsilon: float. Of the algorithm.
        ema_momentum: float or None. Of a moving average of the weights over the steps, which the model has in the end
            instead of the last weights; needs the selection "last". `watch` shows the weights without it.
        algorithm: str. "adam"; or "adamax", of the same paper, [Kingma and Ba, 2015](https://arxiv.org/abs/1412.6980),
            which divides by the largest gradient of late, so that rare large ones make no large steps.
        beta_2: float. Of the algorithm: how much of the size of earlier gradients it remembers.
    """

    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    schedule: str = "constant"
    warmup_steps: int = 0
    clip_norm: float = 5.0
    epsilon: float = 1e-8
    ema_momentum: float | None = None
    algorithm: str = "adam"
    beta_2: float = 0.999

    def __post_init__(self) -> None:
        checks.choice("algorithm", self.algorithm, ALGORITHMS)
        checks.number("learning_rate", self.learning_rate, 1e-9, 10.0)
        checks.number("weight_decay", self.weight_decay, 0.0, 10.0)
        checks.choice("schedule", self.schedule, SCHEDULES)
        checks.integer("warmup_steps", self.warmup_steps, 0, LARGEST_COUNT)
        checks.number("clip_norm", self.clip_norm, 1e-9, 1e9)
        checks.number("epsilon", self.epsilon, 1e-12, 1.0)
        checks.number("beta_2", self.beta_2, 0.0, 0.999999)
        if self.ema_momentum is not None:
            checks.number("ema_momentum", self.ema_momentum, 0.0, 1.0)
        if self.schedule not in WARMED_UP and self.warmup_steps:
            raise InputError('warmup_steps are for the schedules "cosine" and "trapezoidal"')


@dataclass(frozen=True)
class Selection(Part):
    """Which weights are kept.

    Args:
        by: str. "last" keeps the last weights; "validation" those with the best sequence accuracy on the validation
            split after an epoch, the latest among equals.
        length: int or None. Selects on validation examples of this length instead of the split's own lengths, which
            cannot separate good weights from better ones once all of them are at 100 %.
        examples: int or None. So many validation examples; None takes the split's size.
        patience: int or None. Stops after so many epochs without a new best; a tie is one.
        watch: tuple of int. Lengths whose accuracy is noted after each epoch; it decides nothing.
    """

    by: str = "validation"
    length: int | None = None
    examples: int | None = None
    patience: int | None = None
    watch: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        checks.choice("selection", self.by, ("last", "validation"))
        check_count("patience", self.patience)
        check_count("the length of selection", self.length)
        check_count("the examples of selection", self.examples)
        check_lengths("watch", self.watch)


@dataclass(frozen=True)
class Budget(Part):
    """How long a stage is.

    Args:
        epochs: int. Passes over the training examples, 1 to 100,000.
        steps_per_epoch: int or None. Batches an epoch, taken on and on from pass after pass over the examples; None
            makes an epoch one pass.
    """

    epochs: int
    steps_per_epoch: int | None = None

    def __post_init__(self) -> None:
        checks.integer("epochs", self.epochs, 1, 100_000)
        check_count("steps_per_epoch", self.steps_per_epoch)


@dataclass(frozen=True)
class Stage(Part):
    """One of the trainings that follow each other; each begins with the weights that the one before ended with.

    Args:
        budget: Budget.
        data: Data.
        objective: Objective.
        optimizer: Optimizer.
        selection: Selection.
        model: dict. What differs in this stage from the config of the recipe's model, as a smaller width: see `widen`.
        seed: int or None. Seeds the weights, dropout and the order of the examples. None is the seed of the recipe for
            the first stage, and one more for each that follows.
        precision: str. "float32", or "bfloat16": products are of bfloat16 numbers while training, which is faster where
            the processor has them; the weights stay float32, and so does the trained model.
    """

    budget: Budget
    data: Data = Data()
    objective: Objective = Objective()
    optimizer: Optimizer = Optimizer()
    selection: Selection = Selection()
    model: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None
    precision: str = "float32"

    def __post_init__(self) -> None:
        checks.choice("precision", self.precision, PRECISIONS)
        if not isinstance(self.model, dict):
            raise InputError("the model of a stage must be a mapping of what differs from the recipe's config")
        if self.seed is not None:
            checks.integer("the seed of a stage", self.seed, 0, 2**31 - 1)
        data, selection = self.data, self.selection
        if data.fresh and self.objective.learned_alignment:
            raise InputError("an alignment is learned from examples that stay: data may not be fresh")
        if data.fresh and self.budget.steps_per_epoch is None:
            raise InputError("fresh examples need steps_per_epoch, and no number of examples")
        if data.curriculum and (not data.fresh or len(data.curriculum) > self.budget.epochs):
            raise InputError("a curriculum needs fresh examples, and an epoch or more for each part")
        if selection.by == "last" and (self.optimizer.schedule == "plateau" or selection.patience is not None):
            raise InputError('the schedule "plateau" and patience need the selection "validation"')
        if self.optimizer.ema_momentum is not None and selection.by != "last":
            raise InputError('ema_momentum needs the selection "last"')

    @classmethod
    def from_config(cls, config: Any, name: str) -> Self:
        if isinstance(config, dict):
            read = {key: part.from_config(config[key], key) for key, part in PARTS.items() if key in config}
            config = {**config, **read}
        return super().from_config(config, name)


PARTS: dict[str, type[Part]] = {
    "data": Data,
    "objective": Objective,
    "optimizer": Optimizer,
    "selection": Selection,
    "budget": Budget,
}
