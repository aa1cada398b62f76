"""The other splits of SCAN: by a primitive that is seen alone, by a template, and by length for choosing recipes."""

from collections.abc import Sequence
from functools import cache

from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Tokens
from kzoo.tasks.classification import held_out
from kzoo.tasks.published import Published
from kzoo.tasks.scan import ScanLength, lists
from kzoo.tasks.strata import Stratum

PAPER = "Lake and Baroni, 2018 (arXiv:1711.00350)"
LONGEST = 15  # actions of a training command of `ScanDevelopment`


def has(source: Tokens, phrase: Tokens) -> bool:
    """Returns whether a command has these words, one behind the other."""
    return any(source[i : i + len(phrase)] == phrase for i in range(len(source) - len(phrase) + 1))


@cache
def split_by(phrase: Tokens, alone: int, left_out: Tokens | None = None) -> dict[str, list[Example]]:
    """Returns the examples of each split: commands with a phrase test, those without train.

    Args:
        phrase: tuple of str.
        alone: int. How often the phrase itself, alone, is in the training data.
        left_out: tuple of str. Commands with this phrase are in no split.
    """
    commands = [example for kind in ("train_all", "test") for example in lists()[kind]]
    test = [x for x in commands if has(x.source, phrase) and not (alone and x.source == phrase)]
    rest = [x for x in commands if not has(x.source, phrase)]
    if left_out is not None:
        test = [x for x in test if not has(x.source, left_out)]
    primitive = [x for x in commands if x.source == phrase] * alone
    validation = [x for x in rest if held_out(x.source)]
    train = [x for x in rest if not held_out(x.source)]
    return {"train": train + primitive, "validation": validation, "test": test, "train_all": rest + primitive}


class OtherSplit(ScanLength):
    """Base of all that are not the published split by length."""

    published = Published()
    paper = PAPER

    @property
    def strata(self) -> dict[str, Stratum]:
        """Those of `ScanLength` that the test split has."""
        return {name: stratum for name, stratum in super().strata.items() if stratum.pool and stratum.pool(None)}


class ScanSplit(OtherSplit):
    """Base of the splits by a phrase. Length counts the actions.

    The test split is the published one, and "train_all" the published training set, with its repeated primitive. Of it
    one command in eight, by its checksum, is the validation split, since none is published; the others are the training
    split.
    """

    phrase: Tokens
    alone = 0
    left_out: Tokens | None = None

    def rows(self, split: str) -> Sequence[Example]:
        return split_by(self.phrase, self.alone, self.left_out)[split]


@register("task", "scan_jump")
class ScanJump(ScanSplit):
    """SCAN, "jump" alone in training: every other command with it is for the test.

    Example:

    ```python
    task = kzoo.tasks.get("scan_jump")
    assert sum(x.source == ("jump",) for x in task.examples("train")) == 1467
    ```
    """

    name = "scan_jump"
    phrase, alone = ("jump",), 1_467
    splits = {
        "train": Split((1, 48), 13_018),
        "validation": Split((1, 48), 1_652),
        "test": Split((2, 48), 7_706),
        "train_all": Split((1, 48), 14_670),
    }


@register("task", "scan_turn_left")
class ScanTurnLeft(ScanSplit):
    """SCAN, "turn left" alone in training: every other command with it is for the test.

    Example:

    ```python
    task = kzoo.tasks.get("scan_turn_left")
    assert sum(x.source == ("turn", "left") for x in task.examples("train")) == 2189
    ```
    """

    name = "scan_turn_left"
    phrase, alone = ("turn", "left"), 2_189
    splits = {
        "train": Split((1, 48), 19_464),
        "validation": Split((1, 48), 2_426),
        "test": Split((2, 27), 1_208),
        "train_all": Split((1, 48), 21_890),
    }


@register("task", "scan_around_right")
class ScanAroundRight(ScanSplit):
    """SCAN without "around right" in training; the published test has it with every verb but "turn".

    From [Loula et al., 2018](https://arxiv.org/abs/1807.07545).

    Example:

    ```python
    task = kzoo.tasks.get("scan_around_right")
    assert not any("around right" in " ".join(x.source) for x in task.examples("train"))
    ```
    """

    name = "scan_around_right"
    phrase, left_out = ("around", "right"), ("turn", "around", "right")
    paper = "Loula et al., 2018 (arXiv:1807.07545)"
    splits = {
        "train": Split((1, 48), 13_367),
        "validation": Split((1, 48), 1_858),
        "test": Split((8, 48), 4_476),
        "train_all": Split((1, 48), 15_225),
    }


@register("task", "scan_development")
class ScanDevelopment(OtherSplit):
    """The training commands of SCAN by length, split by length again, at 15 actions: a recipe for `scan` can be chosen
    with it, without a look at the test split of that.

    The split is our own. At 15 the "around ... twice" of a verb, 16 actions, is as new to a model as the "around ...
    thrice", 24 actions, is in the test split of `scan`. One command in eight of those up to 15, by its checksum, is the
    validation split.

    Example:

    ```python
    task = kzoo.tasks.get("scan_development")
    assert max(len(x.target) for x in task.examples("train")) == 15
    assert max(len(x.target) for x in task.examples("test")) == 22
    ```
    """

    name = "scan_development"
    splits = {
        "train": Split((1, 15), 12_144),
        "validation": Split((1, 15), 1_694),
        "test": Split((16, 22), 3_152),
    }

    def rows(self, split: str) -> Sequence[Example]:
        commands = lists()["train_all"]
        if split == "test":
            return [command for command in commands if len(command.target) > LONGEST]
        kept = split == "validation"
        return [x for x in commands if len(x.target) <= LONGEST and held_out(x.source) == kept]
