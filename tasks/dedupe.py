"""The DeDupe task of Ray Chowdhury and Caragea (2023)."""

from collections.abc import Sequence

import numpy as np

from kzoo.registry import register
from kzoo.tasks.base import Tokens
from kzoo.tasks.copying import CopyingTask
from kzoo.tasks.paper_results import PAPER
from kzoo.tasks.paper_results import published as published_for
from kzoo.tasks.strata import Stratum
from kzoo.tasks.strata.copying import dedupe_strata


@register("task", "dedupe")
class DeDupe(CopyingTask):
    """Remove repetitions: of a run of equal digits the target has one.

    Digits are drawn, and each is written one, three or five times, whatever the digit is. Length counts the draws;
    equal draws side by side become one run, so the target may be shorter. The paper leaves out the numbers of
    repetitions and that the end symbol closes the source. Gold attention is on the first digit of a run.

    Example:

    ```python
    task = kzoo.tasks.get("dedupe")
    assert task.solve(tuple("444777779888")) == ("4", "7", "9", "8")
    assert task.gold_attention(("4", "4", "4", "9")) == (0, 3, 4)
    ```
    """

    name = "dedupe"
    source_end = True
    target_room = 1
    test_lengths = (None, 15, 30, 100)
    length_unit = "digits before repetition"
    paper = f"{PAPER}, Table 6"
    published = published_for("dedupe")

    @property
    def strata(self) -> dict[str, Stratum]:
        return dedupe_strata(self.write)

    def write(self, digits: Tokens, rng: np.random.Generator) -> Tokens:
        counts = 2 * rng.integers(0, 3, len(digits)) + 1
        return tuple(digit for digit, count in zip(digits, counts, strict=True) for _ in range(count))

    def indices(self, source: Tokens) -> Sequence[int]:
        return [i for i, digit in enumerate(source) if i == 0 or digit != source[i - 1]]
