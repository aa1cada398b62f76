"""A Transformer that sorts by construction: no training, every weight from an equation."""

from typing import Any

import numpy as np

from kzoo import checks
from kzoo.models.transformer_decoder import TransformerDecoder
from kzoo.preprocessing.decoder_preprocessor import DecoderPreprocessor
from kzoo.saving.weights import named_variables
from kzoo.tasks import get as get_task

SYMBOLS = 3  # start (the delimiter), end and padding


def construct_sorter(largest: int = 100, longest: int = 200) -> TransformerDecoder:
    """Returns a decoder of two blocks with two heads that sorts numbers, duplicates included.

    From [Awasthi and Gupta, 2023](https://arxiv.org/abs/2310.00726), Theorem 5.1 and Appendix B. The idea: the
    delimiter finds the minimum, and each number that was written finds its successor, unless it still has copies to
    come. The numbers 1 .. q stand for the symbols of the paper's Sigma, B for its delimiter. Three families of unit
    vectors share the 3q + 2 coordinates of a state, in this order: e_s, t_s (with a tilde in the paper) and h_a (with a
    hat); s is any symbol or B, a and b are symbols. Vectors are rows, and tau is 3 ln(2 longest + 2).

    | weight | maps | equation |
    |---|---|---|
    | embedding | s to e_s | B.3 |
    | block 1, head 1: query | e_a to a + 3 B, e_B to B: a sees its copies, and B as soon as it is there | B.1, B.2 |
    | key, value, output | e_s to s, e_s to s, s to t_s: t_a before B, t_B from there on | B.1, B.2 |
    | block 1, head 2: query | e_a to a, e_B to the sum of (q - b + 1) b: the least number gets it | B.3, B.4 |
    | key, value, output | e_s to s, e_a to a, a to h_a: B now holds the minimum, a itself | B.3, B.4 |
    | network 1 | unit b: relu(e_b + t_B - 1) to -(t_b + t_B): written numbers hold -t_a | B.9 |
    | block 2, head 1: query, key | e_s to s: a sees its copies, read and written | B.11, B.12 |
    | value, output | t_a to a, a to 2 longest h_a: copies read less copies written | B.11, B.12 |
    | block 2, head 2: query | e_a to the sum over b > a of (q - b + 1) b, e_B to B: the successor | B.13, B.14 |
    | key, value, output | e_s to s, e_a to a, a to h_a / 2 | B.13, B.14 |
    | network 2 | unit b: relu(-t_b) to -h_b: a written number forgets itself | B.20 |
    | logits | h_a to a | B.21 |

    So a written number a scores itself with 2 longest (read - written) / (read + written), 0 once all copies are out,
    and its successor with 1/2.

    Args:
        largest: int. q: numbers go from 1 to this, 1 to 1,000. Defaults to 100.
        longest: int. Length up to which it is right, 1 to 1,000. Defaults to 200.

    Returns:
        TransformerDecoder, for the task "sorter" where `largest` is 100.

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    model = kzoo.models.construct_sorter(largest=9)
    assert model.generate("5 3 1 4 3 9") == "1 3 3 4 5 9"
    ```

    Differences from the paper, whose construction as printed fails where a number occurs twice: B.17 drops a
    denominator, so that 1/2 for the successor (the paper's epsilon) outweighs a copy to come; here the copies are
    weighed 2 longest times. B.10 moves t away from where B.11 and B.20 read it; it is left out, and B.9 writes -t_b,
    not -t'_b. The scores are X Q K^T X^T. tau and the weight of copies are constants of the network, which makes it
    right up to a length, as the theorem says. Scores are not divided by sqrt(H): the queries are that much longer.
    The paper has 5q + 3 coordinates. e'_s is always e_s, and h'_a is only read in the sum h_a + h'_a, so that e_s and
    h_a stand for both here.
    """
    q = checks.integer("largest", largest, 1, 1000)
    checks.integer("longest", longest, 1, 1000)
    tempered = {"class": "TemperedWeighting", "config": {"beta": 3.0, "shortest": 2 * longest + 2}}
    attention = {"class": "MultiHeadAttention", "config": {"head_units": q + 1, "weighting": tempered}}
    block = {"class": "TransformerBlock", "config": {"norm": "none", "attention": attention}}
    preprocessor = DecoderPreprocessor([str(i) for i in range(1, q + 1)], target_steps=(1, 0))
    sizes: dict[str, Any] = {"units": 3 * q + 2, "hidden_units": q, "heads": 2, "layers": 2}
    model = TransformerDecoder(q + SYMBOLS, block, preprocessor=preprocessor, **sizes)
    variables = named_variables(model)
    for name, value in sorter_weights(q, longest).items():
        variables[name].assign(value)
    if tuple(preprocessor.tokenizer.tokens[:-SYMBOLS]) == get_task("sorter").vocabulary:
        model.task_name = "sorter"
    return model


def sorter_weights(q: int, longest: int) -> dict[str, np.ndarray]:
    """Returns every weight of the construction but the tempered softmax's, by name."""
    units = np.eye(3 * q + 2, dtype="float32")
    e, t, h = np.split(units, np.cumsum([q + 1, q + 1]))  # rows: vectors of a family, B last
    s = np.eye(q + 1, dtype="float32")  # within a head
    a, delimiter = s[:q], s[q]
    ranks = np.arange(q, 0, -1, dtype="float32")  # gamma_b = q - b + 1
    larger = np.triu(np.ones((q, q), "float32"), 1)  # b > a
    root = np.float32((q + 1) ** 0.5)

    def maps(inputs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """Returns the matrix that takes each row of `inputs`, unit vectors, to that row of `outputs`."""
        return inputs.T @ outputs

    def heads(*parts: np.ndarray) -> np.ndarray:
        return np.concatenate(parts, axis=1)

    embedding = np.zeros((q + SYMBOLS, len(units)), "float32")
    embedding[: q + 1] = e
    first = {
        "query": root * heads(maps(e, np.vstack([a + 3 * delimiter, delimiter])), maps(e, np.vstack([a, ranks @ a]))),
        "key": heads(maps(e, s), maps(e, s)),
        "value": heads(maps(e, s), maps(e[:q], a)),
        "projection": np.vstack([t, h, np.zeros_like(units[:1])]),
    }
    second = {
        "query": root * heads(maps(e, s), maps(e, np.vstack([(larger * ranks) @ a, delimiter]))),
        "key": heads(maps(e, s), maps(e, s)),
        "value": heads(maps(t[:q], a), maps(e[:q], a)),
        "projection": np.vstack([2 * longest * h, np.zeros_like(units[:1]), h / 2, np.zeros_like(units[:1])]),
    }
    logits = np.zeros((len(units), q + SYMBOLS), "float32")
    logits[:, :q] = h.T
    found: dict[str, np.ndarray] = {"embedding.embeddings": embedding, "classes.kernel": logits}
    found["classes.bias"] = np.array([0.0] * q + [-1.0] * SYMBOLS, "float32")  # a symbol is never written
    for number, matrices in enumerate((first, second)):
        found |= {f"blocks.{number}.attention.{name}.kernel": matrix for name, matrix in matrices.items()}
    networks = [((e[:q] + t[q]).T, -np.ones(q), -(t[:q] + t[q])), (-t[:q].T, np.zeros(q), -h)]
    for number, (inner, bias, outer) in enumerate(networks):
        layer = f"blocks.{number}.feed_forward"
        found |= {f"{layer}.inner.kernel": inner, f"{layer}.inner.bias": bias.astype("float32")}
        found |= {f"{layer}.outer.kernel": outer, f"{layer}.outer.bias": np.zeros(len(units), "float32")}
    return found
