"""SCAN by length (Lake and Baroni, 2018): commands to actions, generated from its grammar."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Tokens
from kzoo.tasks.finite import FiniteTask
from kzoo.tasks.paper_results import PAPER
from kzoo.tasks.paper_results import published as published_for
from kzoo.tasks.strata import Stratum
from kzoo.tasks.strata.commands import scan_strata

VERBS = ("walk", "look", "run", "jump", "turn")
WORDS = ("and", "after", "twice", "thrice", "left", "right", "opposite", "around", *VERBS)
ACTIONS = ("I_WALK", "I_LOOK", "I_RUN", "I_JUMP", "I_TURN_LEFT", "I_TURN_RIGHT")
LONGEST_TRAINED = 22
SEED = 0


def sentences() -> dict[Tokens, Tokens]:
    """Returns the 102 commands without "and" and "after", with their actions."""
    phrases: dict[Tokens, Tokens] = {}
    for verb in VERBS:
        act = () if verb == "turn" else (f"I_{verb.upper()}",)
        if act:
            phrases[(verb,)] = act
        for side in ("left", "right"):
            turn = (f"I_TURN_{side.upper()}",)
            phrases[verb, side] = turn + act
            phrases[verb, "opposite", side] = turn + turn + act
            phrases[verb, "around", side] = (turn + act) * 4
    twice = {(*words, "twice"): actions * 2 for words, actions in phrases.items()}
    thrice = {(*words, "thrice"): actions * 3 for words, actions in phrases.items()}
    return phrases | twice | thrice


@cache
def lists() -> dict[str, list[Example]]:
    """Returns the examples of each split; together they are the 20,910 commands of SCAN."""
    single = sentences()
    commands = [Example(words, actions) for words, actions in single.items()]
    for words, actions in single.items():
        for other, more in single.items():
            commands.append(Example((*words, "and", *other), actions + more))
            commands.append(Example((*words, "after", *other), more + actions))
    short = [command for command in commands if len(command.target) <= LONGEST_TRAINED]
    long = [command for command in commands if len(command.target) > LONGEST_TRAINED]
    chosen = set(np.random.default_rng(SEED).choice(len(short), 3_920, replace=False).tolist())
    validation = [command for i, command in enumerate(short) if i in chosen]
    train = [command for i, command in enumerate(short) if i not in chosen]
    return {"train": train, "validation": validation, "test": long, "train_all": short}


@register("task", "scan")
class ScanLength(FiniteTask):
    """SCAN split by length: commands of up to 22 actions train, those of 24 to 48 test.

    Length counts the actions. The two sets, 16,990 and 3,920 commands, are those of the published split, and
    "train_all" is the first of them. As in the paper's experiments 3,920 of it are kept for validation and the other
    13,070 are the training split; which ones is our own choice. The published number is one for the whole test split.

    Example:

    ```python
    task = kzoo.tasks.get("scan")
    assert task.solve(("look", "and", "run", "right")) == ("I_LOOK", "I_TURN_RIGHT", "I_RUN")
    assert task.solve(("look", "after", "turn", "left", "twice")) == ("I_TURN_LEFT", "I_TURN_LEFT", "I_LOOK")
    ```
    """

    name = "scan"
    vocabulary = (*WORDS, *ACTIONS)
    splits = {
        "train": Split((1, 22), 13_070),
        "validation": Split((1, 22), 3_920),
        "test": Split((24, 48), 3_920),
        "train_all": Split((1, 22), 16_990),
    }
    test_lengths = (None,)
    source_end = True
    length_unit = "actions"
    paper = f"{PAPER}, Tables 3 and 8; the data are from Lake and Baroni, 2018 (arXiv:1711.00350)"
    published = published_for("scan")

    @property
    def strata(self) -> dict[str, Stratum]:
        return scan_strata(lambda: self.rows("test"))

    def rows(self, split: str) -> Sequence[Example]:
        return lists()[split]

    def check_source(self, source: Tokens) -> None:
        self.solve(source)  # the lists are all commands that there are

    def gold_attention(self, source: Tokens) -> tuple[int, ...]:
        """Returns the words to look at: for the first repetition of a phrase its first word, for the next the next.

        A command with "after" is read from its end, so that its phrases come in the order of the actions. A choice of
        ours: the index says how often a phrase was repeated, and only what one repetition needs must be remembered.
        """
        self.solve(source)
        joint = next((i for i, word in enumerate(source) if word in ("and", "after")), len(source))
        phrases = [phrase for phrase in (source[:joint], source[joint + 1 :]) if phrase]
        back = "after" in source
        indices: list[int] = []
        start = 0
        for phrase in reversed(phrases) if back else phrases:
            indices += [start + i for i in repetitions(phrase)]
            start += len(phrase) + 1
        if back:
            indices = [len(source) - 1 - index for index in indices]
        return (*indices, len(source))


def repetitions(phrase: Tokens) -> list[int]:
    """Returns for each action of a phrase, which has no "and" or "after", the repetition that it belongs to."""
    times = {"twice": 2, "thrice": 3}.get(phrase[-1], 1)
    return [i for i in range(times) for _ in range(len(sentences()[phrase]) // times)]
