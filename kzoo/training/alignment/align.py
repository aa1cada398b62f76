"""From pairs to where each target token comes from."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from kzoo import checks
from kzoo.backend import ensure_backend
from kzoo.data.alignment import DIRECTIONS, Alignment
from kzoo.tasks.base import Example
from kzoo.training.alignment.pairs import encode, read_pairs_to_align, vocabulary_of

ROWS = 512  # pairs whose posteriors are computed together, where they are not long
RATE, STEPS = 0.05, 300


def align(pairs: Iterable[Any], seed: int = 0, steps: int = STEPS) -> Alignment:
    """Learns from pairs of source and target alone which source position each target token comes from.

    A hidden Markov model over source positions, see `Aligner`, is fitted to the pairs by maximising their exact
    likelihood with Adam: once for sources read forward, once for sources read backward. The likelihood chooses.

    It fits where a target token is a function of one source position and the token before it, and the positions follow
    each other, skip, or are named by a token: copying, translation word by word, lookup.

    Args:
        pairs: iterable of (source, target), texts of tokens separated by spaces, or sequences of tokens.
        seed: int. Of the initial weights and the order of the pairs. Defaults to 0.
        steps: int. Steps of Adam, of 128 pairs each, for each direction. Defaults to 300.

    Returns:
        Alignment.

    Raises:
        InputError: a pair is not valid, which is told by its index, or there are too many different tokens.

    Example:

    ```python
    alignment = kzoo.align(kzoo.tasks.get("reverse_copy").examples("train", 500))
    source, target = alignment.pairs[0]
    assert alignment.direction == "backward" and [source[j] for j in alignment.positions(0)] == list(target)
    ```
    """
    examples = read_pairs_to_align(pairs)
    checks.integer("seed", seed, 0, 2**31 - 1)
    checks.integer("steps", steps, 1, 1_000_000)
    vocabulary = vocabulary_of(examples)
    arrays = {way: encode(examples, vocabulary, backward=way == "backward") for way in DIRECTIONS}
    fitted = _fit(arrays, len(vocabulary), seed, steps)
    likelihoods = {direction: float(np.sum(found[0], dtype="float64")) for direction, found in fitted.items()}
    best = max(DIRECTIONS, key=lambda direction: likelihoods[direction])
    return Alignment(examples, best, likelihoods, *_by_pair(examples, best, *fitted[best][1:]))


def _fit(arrays: dict[str, dict[str, np.ndarray]], tokens: int, seed: int, steps: int) -> dict[str, list[np.ndarray]]:
    """Returns the log-likelihood of each pair and its posteriors, by direction."""
    ensure_backend()
    import keras

    from kzoo.compiling import compile_for_backend
    from kzoo.training.alignment.aligner import Aligner
    from kzoo.training.alignment.draws import Draws
    from kzoo.training.optimizers import Trapezoidal

    model = Aligner(tokens, arrays["forward"]["source"].shape[1], seed)
    model.compile(keras.optimizers.Adam(Trapezoidal(RATE, steps), beta_2=0.99))
    model.optimizer.build(model.trainable_variables)
    run: Any = compile_for_backend(model, lambda inputs, _: model.posterior(inputs))
    variables = [*model.variables, *model.optimizer.variables]
    initial = [keras.ops.convert_to_numpy(variable) for variable in variables]
    fitted = {}
    for way, own in arrays.items():  # from the same weights, so that it is compiled once
        for variable, value in zip(variables, initial, strict=True):
            variable.assign(value)
        model.fit(Draws(own, seed, steps), shuffle=False, verbose=0)
        fitted[way] = _posteriors(run, own)
    return fitted


def _posteriors(run: Any, arrays: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Returns the log-likelihood of each pair, and the posteriors of its positions and kinds."""
    from keras import ops

    from kzoo.training.alignment.draws import rows_together

    size = min(len(arrays["source"]), rows_together(arrays, ROWS))
    found = []
    for start in range(0, len(arrays["source"]), size):
        rows = np.arange(start, start + size) % len(arrays["source"])  # the last are of one shape with the others
        parts = run({name: values[rows] for name, values in arrays.items()}, 0)
        found.append([ops.convert_to_numpy(part) for part in parts])
    return [np.concatenate(parts)[: len(arrays["source"])] for parts in zip(*found, strict=True)]


def _by_pair(
    examples: list[Example], direction: str, looks: np.ndarray, kinds: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Returns posteriors without padding, the positions in the order of the source."""
    posteriors, shares = [], []
    for example, look, kind in zip(examples, looks, kinds, strict=True):
        width, height = len(example.source), len(example.target)
        order = np.r_[np.arange(width)[::-1] if direction == "backward" else np.arange(width), width]
        posteriors.append(look[:height, order])
        shares.append(kind[:height])
    return posteriors, shares
