"""What aligning pairs gives."""

from collections.abc import Mapping, Sequence

import numpy as np

from kzoo.tasks.base import Example

DIRECTIONS = ("forward", "backward")
KINDS = ("stay", "move", "look")


class Alignment:
    """Which source position each target token of some pairs comes from; see `kzoo.align` and `kzoo.align_phrases`.

    Args:
        pairs: sequence of Example.
        direction: str. "forward" or "backward", the end from which sources are read.
        log_likelihoods: mapping of str to float. Of all targets, by the directions that were tried.
        posteriors: sequence of float32 (T, S + 1), one a pair: how likely the target token comes from each source
            token, in the order of the source, and in the last column from the end of the source.
        kinds: sequence of float32 (T, 3), one a pair: how likely the step stays where the walk is, moves to the next
            waypoint, or looks at a position named by the token there.
    """

    def __init__(
        self,
        pairs: Sequence[Example],
        direction: str,
        log_likelihoods: Mapping[str, float],
        posteriors: Sequence[np.ndarray],
        kinds: Sequence[np.ndarray],
    ) -> None:
        self.pairs, self.direction, self.log_likelihoods = list(pairs), direction, dict(log_likelihoods)
        self.posteriors, self.kinds = list(posteriors), list(kinds)

    @property
    def log_likelihood(self) -> float:
        """float. Of all targets, in the chosen direction."""
        return self.log_likelihoods[self.direction]

    def positions(self, index: int) -> np.ndarray:
        """Returns the most likely position of each target token of a pair, int (T,); the end of the source is S."""
        return self.posteriors[index].argmax(axis=1)

    def read(self, index: int) -> list[tuple[str, str, str]]:
        """Returns what the positions of a pair mean: of each target token the token, the source token that it comes
        from, as "9 (3)" with its position or "end", and what the step does: "stay", "move" or "look".

        Example:

        ```python
        alignment = kzoo.align(kzoo.tasks.get("copy").examples("train", 500))
        assert alignment.pairs[0].source[:2] == ("3", "2")
        assert alignment.read(0)[:2] == [("3", "3 (0)", "move"), ("2", "2 (1)", "move")]
        ```
        """
        source, target = self.pairs[index]
        places = [f"{source[j]} ({j})" if j < len(source) else "end" for j in self.positions(index)]
        return list(zip(target, places, (KINDS[k] for k in self.kinds[index].argmax(axis=1)), strict=True))

    def describe(self) -> str:
        """Returns a few sentences on all pairs: direction, likelihood, what steps do, and how certain it is."""
        tokens = sum(len(rows) for rows in self.posteriors)
        shares = sum(rows.sum(axis=0) for rows in self.kinds) / tokens
        certain = sum(float(rows.max(axis=1).sum()) for rows in self.posteriors) / tokens
        other = self.log_likelihoods.get(DIRECTIONS[self.direction == "forward"])
        otherwise = "" if other is None else f" ({other / tokens:.4f} the other way)"
        steps = ", ".join(f"{kind} {100 * share:.1f} %" for kind, share in zip(KINDS, shares, strict=True))
        return (
            f"{len(self.pairs):,} pairs, read {self.direction}: log-likelihood {self.log_likelihood / tokens:.4f} "
            f"a token{otherwise}.\nSteps: {steps}.\n"
            f"The most likely position has {100 * certain:.1f} % of the posterior in the mean."
        )
