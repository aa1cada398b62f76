"""Multi-head attention whose positions, bias and weighting are exchangeable."""

from typing import Any

import keras
from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, Spec, Tensor
from kzoo.errors import InputError
from kzoo.layers.bias.attention_bias import AttentionBias
from kzoo.layers.bias.bias_inputs import BiasInputs
from kzoo.layers.functional.check_mask import mask_for_heads
from kzoo.layers.functional.dense import dense, glorot
from kzoo.layers.transformer.cached_attention import CachedAttention
from kzoo.registry import alias, get, register, serialize


@register("multi_head")
class MultiHeadAttention(CachedAttention):
    """Attention of several heads, three parts of which are exchangeable.

        q, k, v = W_q x, W_k y, W_v y                     split into heads, without biases
        q', k'  = position(q + b_q, k)                    what changes queries and keys
        z       = scale * q' . k' + bias                  what is added to the scores
        A       = weighting(z)                            how scores become weights
        output  = W_o (A v)

    From [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), section 3.2, with the parts of
    [Csordas et al., 2022](https://arxiv.org/abs/2110.07732), Eq. 10 and 17: their b_q, or b_qE, is `query_bias`, their
    alpha is `scale`. The names "dot_product", "relative", "gated_relative", "geometric" and "geometric_normalized" are
    the attentions of that paper, "stretched_geometric" is kzoo's; "tempered" is that of
    [Awasthi and Gupta, 2023](https://arxiv.org/abs/2310.00726).

    Args:
        heads: int. Number of heads N. Defaults to 1.
        head_units: int. Size H of a head. Defaults to the size of the states divided by the number of heads.
        position: name, config or object of the kind "position". Defaults to None: queries and keys stay as they are.
        bias: name, config or object of the kind "bias". Defaults to None: nothing is added.
        weighting: name, config or object of the kind "weighting". Defaults to "softmax".
        query_bias: bool. Whether queries have a bias b_q, zero at first. Defaults to False.
        trainable_scale: bool. Whether the factor 1/sqrt(H), one for all heads, is trained. Defaults to False.
        initialization: str. Glorot-uniform over the "whole" maps, keys and values as one, with W_o uniform in
            +-1/sqrt(N H); or over a "head" of each. Defaults to "whole".
        dropout: float. Rate on the keys, and on the keys of a bias, while training. Defaults to 0.
        dtype: str or DTypePolicy. Scores and weights are float32 under any.

    Call arguments:
        inputs: tensor of shape (B, T, D).
        memory: tensor of shape (B, S, E), what is attended to. Defaults to the inputs.
        mask: bool tensor of shape (B, S) or (B, T, S), True at unmasked keys, at least one a query. Defaults to no key
            masked.
        training: bool.
        delimiter: int tensor of shape (B, 1), its index in the sequence of a decoder, for a bias that needs it.
        places: int tensor of shape (B, S), the places of a sequence that attends to itself, where its encoding gives
            them. Defaults to the columns.

    Returns:
        The output, of shape (B, T, D), and the weights, float32 of shape (B, N, T, S).

    Raises:
        InputError: a size is out of range, D is no multiple of the heads, or a part is unknown.

    Example:

    ```python
    attention = kzoo.layers.MultiHeadAttention(heads=2, position="rotary", head_units=4)
    output, weights = attention(np.ones((3, 5, 6), "float32"), mask=np.ones((3, 5), bool))
    assert output.shape == (3, 5, 6) and weights.shape == (3, 2, 5, 5)
    ```

    Differences from the paper, as in the authors' code: dropout is on the keys, where the paper has the query; the
    scale is trained in all attentions but the first; the initial weights.
    """

    reads_source = True  # whether it attends to another sequence, too

    def __init__(
        self,
        heads: int = 1,
        head_units: int | None = None,
        position: Spec | None = None,
        bias: Spec | None = None,
        weighting: Spec = "softmax",
        query_bias: bool = False,
        trainable_scale: bool = False,
        initialization: str = "whole",
        dropout: float = 0.0,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.heads = checks.integer("heads", heads, 1, 1024)
        self.head_units = None if head_units is None else checks.integer("head_units", head_units, 1, 65_536)
        policy = {"dtype": self.dtype_policy}
        self.position = None if position is None else get("position", position, **policy)
        self.bias = None if bias is None else get("bias", bias, dropout=dropout, **policy)
        self.weighting = get("weighting", weighting, **policy)
        self.query_bias = checks.boolean("query_bias", query_bias)
        self.trainable_scale = checks.boolean("trainable_scale", trainable_scale)
        self.initialization = checks.choice("initialization", initialization, ["whole", "head"])
        self.dropout = keras.layers.Dropout(checks.number("dropout", dropout, 0.0, 0.99), **policy)

    def build(self, inputs_shape: Shape, memory_shape: Shape | None = None, mask_shape: Shape | None = None) -> None:
        size, memory_size = inputs_shape[-1], (memory_shape or inputs_shape)[-1]
        if self.head_units is None and size % self.heads:
            raise InputError(f"states of size {size} cannot be split between {self.heads} heads")
        self.size = self.head_units or size // self.heads
        units = self.heads * self.size
        if self.initialization == "head":
            bounds = {n: glorot(self.size, size) for n in ("query", "key", "value", "projection")}
        else:
            joint = glorot(memory_size, 2 * units)
            bounds = {"query": glorot(size, units), "key": joint, "value": joint, "projection": units**-0.5}
        sizes = {"query": (size, units), "key": (memory_size, units), "value": (memory_size, units)}
        for name, (inputs, outputs) in {**sizes, "projection": (units, size)}.items():
            layer = dense(outputs, inputs, bounds[name], use_bias=False, dtype=self.dtype_policy)
            layer.build((None, None, inputs))
            setattr(self, name, layer)
        queries_shape = (None, self.heads, None, self.size)
        if self.query_bias:
            self.content_bias = self.add_weight((self.heads, 1, self.size), initializer="zeros", name="content_bias")
        self.scale: Tensor = self.size**-0.5
        if self.trainable_scale:
            self.scale = self.add_weight((1,), initializer=keras.initializers.Constant(self.scale), name="scale")
        if self.position is not None:
            self.position.build(queries_shape, queries_shape)
        if self.bias is not None:
            self.bias.build((None, None, size), queries_shape)
        if not self.weighting.built:
            states = {"states_shape": (None, None, size)} if needs_states(self.weighting) else {}
            self.weighting.build((None, self.heads, None, None), **states)
        self.built = True

    def call(
        self,
        inputs: Tensor,
        memory: Tensor | None = None,
        mask: Tensor | None = None,
        training: bool = False,
        delimiter: Tensor | None = None,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        prepared = self.prepare(inputs if memory is None else memory, training)
        prepared |= {} if delimiter is None else {"delimiter": delimiter}
        return self.attend(inputs, prepared, mask, None, training, places)

    def prepare(self, memory: Tensor, training: bool = False) -> Prepared:
        """Returns what `attend` needs of a memory (B, S, E): `keys` and `values`, each (B, N, S, H), and what its bias
        prepares.

        With `attend` and `update_cache` it is for decoding: the keys and values of what does not change are computed
        once.
        """
        keys = self.split(self.dropout(self.key(memory), training=training))
        own = self.bias.prepare(memory) if isinstance(self.bias, AttentionBias) else {}
        return {"keys": keys, "values": self.split(self.value(memory)), **own}

    def attend(
        self,
        inputs: Tensor,
        prepared: Prepared,
        mask: Tensor | None = None,
        query_offset: Tensor | None = None,
        training: bool = False,
        places: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attends to prepared keys and values; `call` is `attend` to what `prepare` returns.

        Args:
            inputs: tensor of shape (B, T, D).
            prepared: dict, from `prepare` or `update_cache`; with `source_ends` int (B, K) where the memory is a source
                of K parts, the index that ends each: its positions are then counted back from the last of them; with
                `delimiter` as of `call`.
            mask: bool tensor of shape (B, S) or (B, T, S). Defaults to no key masked.
            query_offset: int tensor of shape (B,), the position of the first query. Defaults to 0 in every row.
            training: bool.
            places: int tensor of shape (B, S), as of `call`.
        """
        keys, values, mask = prepared["keys"], prepared["values"], mask_for_heads(mask)
        plain = self.split(self.query(inputs))
        queries = plain + ops.cast(self.content_bias, plain.dtype) if self.query_bias else plain
        offsets = {"query_offset": query_offset, "source_ends": prepared.get("source_ends")}
        placed = {} if places is None else {"places": places}
        if self.position is not None:
            queries, keys = self.position(queries, keys, **offsets, **placed)
        scores = self.score(queries * self.scale, keys, prepared)
        if self.bias is not None:
            lengths = ops.shape(scores)[2:]
            about = {"states": inputs, "queries": plain, "scale": self.scale, "mask": mask, **offsets}
            about |= {"delimiter": prepared.get("delimiter"), "scores": scores, "prepared": prepared}
            about |= placed
            bias = self.bias(BiasInputs(*lengths, **about), training=training)
            scores = scores + ops.cast(bias, "float32")
        own = {"states": inputs} if needs_states(self.weighting) else {}
        weights = self.weighting(scores, mask, **own)
        context = ops.einsum("bnts,bnsh->btnh", ops.cast(weights, values.dtype), values)
        return self.projection(ops.reshape(context, (*ops.shape(context)[:2], self.heads * self.size))), weights

    def score(self, queries: Tensor, keys: Tensor, prepared: Prepared) -> Tensor:
        """Returns the scores before the bias, float32 (B, N, T, S), of scaled queries (B, N, T, H)."""
        return ops.cast(ops.einsum("bnth,bnsh->bnts", queries, keys), "float32")

    def split(self, x: Tensor) -> Tensor:
        """Returns vectors (B, T, N * H) as (B, N, T, H)."""
        return ops.transpose(ops.reshape(x, (*ops.shape(x)[:2], self.heads, self.size)), (0, 2, 1, 3))

    def largest_activation(self, length: int) -> int:
        """Returns the numbers of its scores of one sequence of so many tokens with itself."""
        return self.heads * length**2

    def compute_mask(self, *args: Any, **kwargs: Any) -> None:
        return None

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "heads": self.heads,
            "head_units": self.head_units,
            "position": None if self.position is None else serialize(self.position),
            "bias": None if self.bias is None else serialize(self.bias),
            "weighting": serialize(self.weighting),
            "query_bias": self.query_bias,
            "trainable_scale": self.trainable_scale,
            "initialization": self.initialization,
            "dropout": self.dropout.rate,
        }


def needs_states(weighting: keras.layers.Layer) -> bool:
    """Returns whether a weighting says that it is to be called with `states`, what the queries are projected from."""
    return getattr(weighting, "needs_states", False)


alias("multi_head", "dot_product", "MultiHeadAttention")
alias("multi_head", "tempered", "MultiHeadAttention", weighting="tempered")
_trained = {"query_bias": True, "trainable_scale": True}
alias("multi_head", "relative", "MultiHeadAttention", bias="relative", **_trained)
alias("multi_head", "gated_relative", "MultiHeadAttention", bias="gated_relative", **_trained)
for _name in ("geometric", "geometric_normalized", "stretched_geometric"):
    _parts = {"bias": "direction", "weighting": _name, "initialization": "head"}
    alias("multi_head", _name, "MultiHeadAttention", **_parts, **_trained)
