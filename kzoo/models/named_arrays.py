"""What a model did with one text, as arrays whose axes have names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from kzoo.annotations import Array, Config


@dataclass(frozen=True, repr=False)
class Trace(Mapping[str, np.ndarray]):
    """Arrays by name, as `model.trace` returns them; `trace["weights"]` is an array, `trace.axes` names its axes.

    | model | arrays | axes |
    |---|---|---|
    | RecurrentSeq2Seq | `weights` | written, source |
    | | `center`, `spread`, `mix`, `visit`, where the attention has them | written |
    | TransformerSeq2Seq | `weights` | layer, head, written, source |
    | | `self_weights` | layer, head, written, read |
    | | `bias` and `self_bias`, where they do not depend on states | layer, head, written, source or read |
    | TransformerDecoder | `weights` | layer, head, token, read |
    | TransformerClassifier | `weights` | step, head, column, read |
    | | `gates`, `halting`, where the block or the depth has them | step, column, channel; step, column |
    | RecurrentClassifier | `answers`, the probabilities if the text ended there | column, label |
    | SequenceTagger | `answers`, the probabilities at each token | column, label |
    | | `values`, the rows that a `RewritingReader` writes | step, column |

    Attention weights are not negative and sum to 1 along the last axis, those of geometric attention to at most 1.
    `center` and `spread` count positions of the source, the start vector's being 0; `mix` is the share of location
    attention, `visit` that of a visited waypoint. Where a bias is closed, it is -1e9.
    A decoder reads source, delimiter and what it wrote as one sequence: its last rows, as many as `labels["written"]`
    has tokens, are those that wrote them.

    Args:
        text: str. The source.
        answer: str. What the model wrote, or was made to write.
        arrays: dict of float32 arrays.
        axes: dict of tuples of str, the names of the axes of each array.
        labels: dict of lists of str, the tokens along an axis; steps, layers, heads and channels have none.

    Example:

    ```python
    trace = kzoo.from_preset("theorem_sorter").trace("5 3 1 4 2")
    assert trace.answer == "1 2 3 4 5" and trace.axes["weights"] == ("layer", "head", "token", "read")
    delimiter = trace.labels["token"].index("|")
    layer, head = 0, 1
    found = trace["weights"][layer, head, delimiter].argmax()
    assert trace.labels["read"][found] == "1"  # at the delimiter, this head finds the minimum
    ```
    """

    text: str
    answer: str
    arrays: dict[str, Array]
    axes: dict[str, tuple[str, ...]]
    labels: dict[str, list[str]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def __repr__(self) -> str:
        sizes = (
            f"{name} ({', '.join(f'{axis} {size}' for axis, size in zip(self.axes[name], x.shape, strict=True))})"
            for name, x in self.arrays.items()
        )
        return f"<Trace {self.text!r:.60} -> {self.answer!r:.60}: {'; '.join(sizes)}>"

    def to_config(self) -> Config:
        """Returns all of it as plain data, for JSON: each array as `{"axes": [...], "values": nested lists}`."""
        arrays = {name: {"axes": list(self.axes[name]), "values": x.tolist()} for name, x in self.arrays.items()}
        return {"text": self.text, "answer": self.answer, "labels": self.labels, "arrays": arrays}
