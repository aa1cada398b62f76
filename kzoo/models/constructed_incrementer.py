"""A Transformer that adds one by construction: no training, every weight set by hand."""

from typing import Any

import numpy as np

from kzoo.models.transformer_decoder import TransformerDecoder
from kzoo.saving.weights import named_variables

DIGITS = 10
B = DIGITS  # the delimiter, among the digits
SHARP = 40.0  # the score of the place to look at; e^-40 is what any other gets
LONGEST = 2  # of the mirrored bias: one place back is told from two


def construct_incrementer() -> TransformerDecoder:
    """Returns a decoder of two blocks that writes a number plus one, from its last digit to its first.

    A program in the manner of RASP-L ([Zhou et al., 2023](https://arxiv.org/abs/2310.16028)), as weights. Each place
    needs two digits of the source: a, of the place that is written, and b, of the place before, whose digit was just
    written. One is carried into a place if it is the last, or if b is 9 and was written as 0.

    States have 34 coordinates: the token c_s, the digits a_s and b_s, where s is a digit or the delimiter B, and the
    carry.

    | weight | what it does |
    |---|---|
    | embedding | the token s to c_s |
    | block 1, head 1 | looks at the same place as the query on the other side of the delimiter: c_s there to a_s |
    | block 1, head 2 | looks one place back: c_s there to b_s |
    | both | where the source has no such place, look at the delimiter: half the score, from its key |
    | network 1 | relu(c_0 + b_9 - 1) and relu(c_B) to the carry |
    | block 2, attention | nothing |
    | network 2 | unit s: relu(a_s + carry - 1) moves a_s to a_(s+1), a_9 to a_0 and a_B to a_1 |
    | logits | a_s to s, a_B to the end symbol |

    The places are given: `MirroredBias` counts them from the delimiter on both of its sides.

    Returns:
        TransformerDecoder, for the task "incrementer".

    Example:

    ```python
    model = kzoo.models.construct_incrementer()
    assert model.generate(["129", "999", "7"]) == ["130", "1000", "8"]
    ```
    """
    attention = {"class": "MultiHeadAttention", "config": {"head_units": B + 1, "bias": "mirrored"}}
    block = {"class": "TransformerBlock", "config": {"norm": "none", "attention": attention}}
    sizes: dict[str, Any] = {"units": 3 * (B + 1) + 1, "hidden_units": B + 1, "heads": 2, "layers": 2}
    model = TransformerDecoder.from_task("incrementer", block=block, **sizes)
    variables, weights = named_variables(model), incrementer_weights()
    for name, variable in variables.items():
        variable.assign(weights.get(name, np.zeros(variable.shape, "float32")))
    return model


def incrementer_weights() -> dict[str, np.ndarray]:
    """Returns every weight of the construction that is not zero, by name."""
    size = B + 1
    units = np.eye(3 * size + 1, dtype="float32")
    c, a, b = np.split(units[:-1], 3)  # rows: vectors of a family, B last
    carry = units[-1]
    s = np.eye(size, dtype="float32")  # within a head
    end = DIGITS + 2  # among the token ids: digits, the arrow of the hint, delimiter, end, padding
    embedding, logits = np.zeros((end + 2, len(units)), "float32"), np.zeros((len(units), end + 2), "float32")
    embedding[:DIGITS], embedding[end - 1] = c[:B], c[B]
    logits[:, :DIGITS], logits[:, end] = a[:B].T, a[B]
    # A query is one number, the same for any token: head 1 has it on the first axis, head 2 on the second.
    query = size**0.5 * np.concatenate([np.tile(s[0], (size, 1)), np.tile(s[1], (size, 1))], axis=1)
    half = SHARP / 2 * np.concatenate([s[0], s[1]])[None]
    kinds = np.zeros((4 * (2 * LONGEST + 1), size), "float32")
    written_to_read = 2 * (2 * LONGEST + 1)  # the kinds of a query behind the delimiter and a key before it
    kinds[written_to_read + LONGEST, 0] = kinds[written_to_read + LONGEST - 1, 1] = SHARP
    inner, outer = np.zeros((2, len(units), size), "float32"), np.zeros((2, size, len(units)), "float32")
    bias = np.zeros((2, size), "float32")
    inner[0, :, 0], bias[0, 0], inner[0, :, 1] = c[0] + b[9], -1, c[B]
    outer[0, :2] = carry
    inner[1], bias[1] = a.T + carry[:, None], -1
    outer[1] = -a + a[[*range(1, DIGITS), 0, 1]]
    found = {
        "embedding.embeddings": embedding,
        "blocks.0.attention.query.kernel": c.T @ query,
        "blocks.0.attention.key.kernel": c[B:].T @ half,
        "blocks.0.attention.value.kernel": c.T @ np.concatenate([s, s], axis=1),
        "blocks.0.attention.projection.kernel": np.concatenate([a, b]),
        "blocks.0.attention.bias.vectors": kinds,
        "classes.kernel": logits,
        "classes.bias": np.where((logits != 0).any(axis=0), 0, -1).astype("float32"),  # the others are never written
    }
    for number in range(2):
        layer = f"blocks.{number}.feed_forward"
        found |= {f"{layer}.inner.kernel": inner[number], f"{layer}.inner.bias": bias[number]}
        found |= {f"{layer}.outer.kernel": outer[number]}
    return found
