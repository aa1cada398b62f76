"""Attention supervision by an alignment that is learned from the pairs themselves."""

from dataclasses import dataclass
from typing import Any, Self

from kzoo import checks
from kzoo.data.alignment import Alignment
from kzoo.errors import InputError
from kzoo.training.part import Part

LEARNED = ("alignment", "phrases")


@dataclass(frozen=True)
class LearnedAlignment(Part):
    """Attention supervision from the training pairs alone: see `kzoo.align`. Written with `"from": "alignment"`, or
    with `"from": "phrases"` for `kzoo.align_phrases`.

    Args:
        weight: float. Weight of the loss between attention and the posteriors of the alignment.
        steps: int. Steps of Adam that fit the alignment in each direction, before the stage; not of phrases.
        phrases: bool. Whether phrases are aligned, see `kzoo.align_phrases`.
    """

    weight: float = 1.0
    steps: int = 300
    phrases: bool = False

    def __post_init__(self) -> None:
        checks.number("the weight of attention_supervision", self.weight, 1e-9, 1e6)
        checks.integer("the steps of attention_supervision", self.steps, 1, 1_000_000)

    @classmethod
    def from_config(cls, config: Any, name: str) -> Self:
        config = dict(config)
        learned = checks.choice(f"from of {name}", config.pop("from", None), LEARNED)
        for key in {"phrases", *(("steps",) if learned == "phrases" else ())} & set(config):
            raise InputError(f"{name} from {learned} has no {key}")
        return super().from_config({**config, "phrases": learned == "phrases"}, name)

    def to_config(self) -> dict[str, Any]:
        config = super().to_config()
        return {"from": LEARNED[config.pop("phrases", False)], **config}

    def align(self, pairs: Any, seed: int) -> Alignment:
        """Returns the alignment of pairs."""
        from kzoo.training.alignment.align import align
        from kzoo.training.alignment.align_phrases import align_phrases

        return align_phrases(pairs, seed) if self.phrases else align(pairs, seed, self.steps)
