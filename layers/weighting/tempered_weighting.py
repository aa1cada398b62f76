"""The tempered softmax: sharper the more keys there are."""

import math
from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Shape, Tensor
from kzoo.layers.functional.check_mask import check_boolean
from kzoo.layers.functional.masked_softmax import masked_softmax
from kzoo.registry import alias, register


@register("weighting")
class TemperedWeighting(keras.layers.Layer):
    """Turns scores into weights by a softmax whose temperature falls as the sequence grows.

    From [Awasthi and Gupta, 2023](https://arxiv.org/abs/2310.00726), section 5: with z_ij the scores and n the number
    of unmasked keys of a query,

        A_i = softmax(tau z_i),   tau = beta ln n

    so that one good match outweighs n others at any length: exp(tau z) grows as fast as their number. beta is trained,
    one for all heads of a layer.

    Args:
        beta: float. What beta starts at. Defaults to 1/3, where tau is about 1 among twenty keys.
        trained: bool. Whether beta is trained, as in the paper, or stays what it is. Defaults to True.
        shortest: int. n is at least this; 2 keeps a row of one key from having no temperature. Defaults to 2.
        stretch: float. While training, n is multiplied by a factor between 1 and this, log-uniform and drawn for each
            sequence. Defaults to 1, as in the paper.
        dtype: str or DTypePolicy. Weights are float32 under any.

    Call arguments:
        scores: float32 tensor of shape (B, N, T, S).
        mask: bool tensor that broadcasts to (B, N, T, S), True at unmasked keys; every row has at least one.
        training: bool.

    Returns:
        Weights, float32 of shape (B, N, T, S), exactly 0 at masked keys.

    Raises:
        InputError: an argument is out of range.

    Example:

    ```python
    scores, mask = np.array([[[[1, 0, 0, 0]]]], "float32"), np.ones(4, bool)
    weights = kzoo.layers.TemperedWeighting(beta=1.0)(scores, mask)
    assert abs(float(weights[0, 0, 0, 0]) - 4 / 7) < 1e-6  # e^(ln 4) = 4 against three others
    ```

    Differences: the paper calls n the sequence length and leaves open whether the output so far counts, and what beta
    starts at. Here n counts the unmasked keys of a query: under a causal mask it is the position, padding never
    counts, and decoding step by step gives what one pass gives. Training first takes beta towards 0, where all keys
    count alike and nothing generalises to greater lengths; with `trained=False` only the scores grow, and a small model
    generalises much further. Two matches whose scores are not quite equal get other weights at every length; `stretch`
    trains a model that counts matches by their weights on the temperatures of greater lengths.
    """

    def __init__(
        self,
        beta: float = 1 / 3,
        trained: bool = True,
        shortest: int = 2,
        stretch: float = 1.0,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(autocast=False, dtype=dtype, **kwargs)
        self.trained = checks.boolean("trained", trained)
        self.start = checks.number("beta", beta, -1000.0, 1000.0)
        self.shortest = checks.integer("shortest", shortest, 2, 1_000_000)
        self.stretch = checks.number("stretch", stretch, 1.0, 1e6)
        if self.stretch > 1:
            self.seeds = keras.random.SeedGenerator()

    def build(self, scores_shape: Shape | None = None, mask_shape: Shape | None = None) -> None:
        constant = keras.initializers.Constant(self.start)
        self.beta = self.add_weight((1,), initializer=constant, trainable=self.trained, name="beta")
        self.built = True

    def call(self, scores: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        check_boolean(mask)
        scores = ops.cast(scores, "float32")
        unmasked = ops.cast(ops.logical_and(mask, ops.ones_like(scores, dtype="bool")), "float32")
        number = ops.maximum(ops.sum(unmasked, axis=-1, keepdims=True), float(self.shortest))
        logarithm = ops.log(number)
        if training and self.stretch > 1:
            shape = (ops.shape(scores)[0], 1, 1, 1)
            logarithm += math.log(self.stretch) * keras.random.uniform(shape, dtype="float32", seed=self.seeds)
        return masked_softmax(ops.cast(self.beta, "float32") * logarithm * scores, mask)

    def get_config(self) -> Config:
        own = {"beta": self.start, "trained": self.trained, "shortest": self.shortest, "stretch": self.stretch}
        return {**super().get_config(), **own}


alias("weighting", "tempered", "TemperedWeighting")
