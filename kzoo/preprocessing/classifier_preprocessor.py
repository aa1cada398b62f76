"""Examples to arrays for a model that answers a sequence with one label."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kzoo import checks
from kzoo.errors import InputError, did_you_mean
from kzoo.preprocessing.preprocessor import MAX_LENGTH, Arrays, bucket, pad
from kzoo.preprocessing.tokenizer import Tokenizer


class ClassifierPreprocessor:
    """Turns sources and their labels into the `(x, y, sample_weight)` of a classifier.

    Args:
        tokens: iterable of str. The vocabulary, see `Tokenizer`.
        labels: iterable of str. The labels, in order; label k is class k.
        boundaries: bool. Whether start and end symbols stand around each source. Defaults to True.
        characters: bool. Whether a text is read character by character, without spaces. Defaults to False.

    Example:

    ```python
    preprocessor = kzoo.ClassifierPreprocessor("0123456789+", "0123456789", characters=True)
    x, y, weight = preprocessor([("4+7", "1"), ("2", "2")])
    assert x["token_ids"].tolist() == [[11, 4, 10, 7, 12], [11, 2, 12, 13, 13]]
    assert x["padding_mask"].sum() == 8 and y.tolist() == [[1], [2]] and weight.tolist() == [[1], [1]]
    ```
    """

    def __init__(
        self, tokens: Iterable[str], labels: Iterable[str], boundaries: bool = True, characters: bool = False
    ) -> None:
        self.tokenizer = Tokenizer(tokens)
        self.labels = list(labels)
        if len(set(self.labels)) != len(self.labels) or not all(isinstance(label, str) for label in self.labels):
            raise InputError("labels are different strings")
        self.boundaries = checks.boolean("boundaries", boundaries)
        self.characters = checks.boolean("characters", characters)

    @property
    def shortest(self) -> int:
        """int. Ids of the shortest encoded source."""
        return 1 + 2 * self.boundaries

    def encode_source(self, source: str | Sequence[str]) -> list[int]:
        """Returns the ids of one source.

        Raises:
            InputError: the source is empty, longer than 10,000 tokens, or has an unknown token.
        """
        if self.characters and isinstance(source, str):
            source = list("".join(source.split()))
        ids = self.tokenizer.encode(source)
        if not 1 <= len(ids) <= MAX_LENGTH:
            raise InputError(f"a source has 1 to {MAX_LENGTH:,} tokens, not {len(ids):,}")
        return [self.tokenizer.start_id, *ids, self.tokenizer.end_id] if self.boundaries else ids

    def any_source(self, rng: np.random.Generator, length: int) -> list[str]:
        """Returns the tokens of some source that `encode_source` takes, of that length."""
        return [str(token) for token in rng.choice(self.tokenizer.tokens[:-3], length)]

    def encode_target(self, target: str | Sequence[str]) -> list[int]:
        """Returns the class of a label, alone in a list.

        Raises:
            InputError: it is no label, or more than one.
        """
        words = target.split() if isinstance(target, str) else list(target)
        if len(words) != 1 or words[0] not in self.labels:
            raise InputError(did_you_mean("label", " ".join(words), self.labels))
        return [self.labels.index(words[0])]

    def encode(self, source: str | Sequence[str], target: str | Sequence[str]) -> tuple[list[int], list[int]]:
        """Returns the ids of a source and its target."""
        return self.encode_source(source), self.encode_target(target)

    def shape(self, source: int, target: int) -> tuple[int, int]:
        """Returns what to pad to where the longest source has this length."""
        return bucket(source), 1

    def sources(self, ids: Sequence[Sequence[int]], pad_to: int | None = None) -> dict[str, np.ndarray]:
        """Returns encoded sources as `token_ids` and `padding_mask`, each (B, T)."""
        array = pad(ids, self.tokenizer.pad_id, pad_to)
        return {"token_ids": array, "padding_mask": array != self.tokenizer.pad_id}

    def tensors(self, token_ids: Any) -> dict[str, Any]:
        """Returns what `sources` does, of one tensor of encoded sources, int32 (B, T), padded at the right."""
        return {"token_ids": token_ids, "padding_mask": token_ids != self.tokenizer.pad_id}

    def arrays(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        pad_to: tuple[int, int] | None = None,
    ) -> Arrays:
        """Returns `(x, y, sample_weight)` of encoded sources and targets.

        Args:
            sources: sequence of id lists, from `encode_source`.
            targets: sequence of lists of one class, from `encode_target`.
            pad_to: (int, int). The length T, and a number that means nothing here. Defaults to the longest of the
                batch.

        Returns:
            `x`, see `sources`; `y`, the classes, int32 (B, 1); and the weight, 1.0 everywhere.
        """
        y = np.array(targets, "int32")
        return self.sources(sources, pad_to and pad_to[0]), y, np.ones(y.shape, "float32")

    def __call__(self, examples: Iterable[Any], pad_to: tuple[int, int] | None = None) -> Arrays:
        """Returns `(x, y, sample_weight)` of pairs (source, label), each a text or a sequence of tokens."""
        pairs = [self.encode(source, target) for source, target in examples]
        if not pairs:
            raise InputError("there are no examples")
        sources, targets = zip(*pairs, strict=True)
        return self.arrays(sources, targets, pad_to)

    def get_config(self) -> dict[str, Any]:
        own = {"labels": self.labels, "boundaries": self.boundaries, "characters": self.characters}
        return {**self.tokenizer.get_config(), **own}
