"""The numbers that a paper reports for a task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Accuracy = Mapping[str, Mapping[int | None, float]]
SELECTED = "longer inputs"  # weights selected on them: said beside the number, which the rest of training can reach


@dataclass(frozen=True)
class Published:
    """The numbers that a paper reports for a task, and where they cannot stand beside ours.

    Args:
        accuracy: {mechanism: {length: sequence accuracy in 0..1}}; None is the test split as a whole. What the paper
            does not give is absent.
        statistic: "mean" or "median" of the paper's runs, or None where it has one run or does not say.
        runs: int or None. How many runs the paper has, where it says.
        not_comparable: {mechanism: why}. Where our runs of a mechanism differ from the paper's in what they were given,
            how they are read or what is counted.
        given: {mechanism: supervision}. What the paper's own runs had beyond pairs of source and target.
        budget: str. How long the paper trains, in a few words; empty where it does not say.
    """

    accuracy: Accuracy = field(default_factory=dict)
    statistic: str | None = None
    runs: int | None = None
    not_comparable: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, Sequence[str]] = field(default_factory=dict)
    budget: str = ""

    def number(
        self, mechanism: str | None, length: int | None, supervision: Sequence[str] | None = None
    ) -> float | None:
        """Returns the published accuracy that stands beside one of ours, or None if there is none to compare with.

        Args:
            mechanism: str or None, of our model.
            length: int or None.
            supervision: sequence of str. What the training of our model had beyond pairs of source and target.
        """
        if mechanism is None or self.why_not(mechanism, supervision):
            return None
        return self.accuracy.get(mechanism, {}).get(length)

    def why_not(self, mechanism: str | None, supervision: Sequence[str] | None = None) -> str | None:
        """Returns why a published accuracy does not stand beside ours; None if it may, or if the paper has none."""
        if mechanism is None or not self.accuracy.get(mechanism):
            return None
        alike = (SELECTED, *self.given.get(mechanism, ()))
        given = [word for word in supervision or () if word not in alike]
        if mechanism in self.not_comparable:
            return self.not_comparable[mechanism]
        return f"ours was trained with {' and '.join(given)}" if given else None


def percent(lengths: Sequence[int | None], **rows: Sequence[float | None]) -> dict[str, dict[int | None, float]]:
    """Returns accuracies by mechanism, given in percent for each length; None where the paper has no number.

    Example:

    ```python
    from kzoo.tasks.published import percent

    assert percent((15, 30), onestep=(100, 99.5), content=(3, None)) == {
        "onestep": {15: 1.0, 30: 0.995}, "content": {15: 0.03}
    }
    ```
    """
    return {
        mechanism: {
            length: round(value / 100, 6) for length, value in zip(lengths, values, strict=True) if value is not None
        }
        for mechanism, values in rows.items()
    }
