"""Content and location attention together."""

from typing import Any

from keras import ops

from kzoo import checks
from kzoo.annotations import Config, DType, Prepared, Shape, Spec, States, Tensor
from kzoo.errors import InputError
from kzoo.layers.attention.attention_cell import AttentionCell
from kzoo.layers.attention.gaussian_attention import scalar
from kzoo.layers.functional.dense import dense
from kzoo.registry import alias, get, register, serialize


@register("attention")
class MixAttention(AttentionCell):
    """Mixes the weights of a content-based and of a location-based attention, by a gate on the query.

    From [Ray Chowdhury and Caragea, 2023](https://arxiv.org/abs/2305.20019), Eq. 15-16, and
    [Dubois et al., 2020](https://arxiv.org/abs/1911.03872), section 5.2. With h the query:

        w  = sigmoid(w_mix . h + b_mix)                  "mixer"
        a  = w a_location + (1 - w) a_content

    The state `mix` is w. Only the mixture has values; its parts only compute weights. The paper's Mix models over
    e_dir wrap this cell in `DirectionMix`, not its parts.

    Args:
        content: name, config or object: the `AttentionCell` of the content.
        location: name, config or object: the `AttentionCell` of the location.
        reference: str. The weights whose mean position the location attention keeps: "mixed", or "location", its own
            (the paper's PR, Appendix B.1).
        units: int. Size of queries, keys, location features and the value head. Defaults to the query's size, or for
            queries, keys and features to what the parts state.
        value_units: int. Size of the hidden layer before the values. Defaults to the memory's.
        dtype: str or DTypePolicy. Weights and states are float32 under any.

    Call arguments:
        query: tensor of shape (B, D).
        prepared: dict, from `prepare(memory, memory_mask)` with memory (B, S, D) and mask (B, S).
        states: dict of tensors: those of both parts, and `mix` (B,).

    Returns:
        Context (B, D), weights (B, S), states.

    Raises:
        InputError: a part has no weights of its own (`DirectionMix`) or states `value_units`, both parts have a state
            of the same name, a reference that is unknown or does not apply, or a size out of range or other than a
            part's.

    Example:

    ```python
    cell = kzoo.layers.MixAttention("content", "location")
    cell.build((None, 6), (None, None, 6))
    prepared = cell.prepare(np.ones((2, 5, 6), "float32"), np.ones((2, 5), bool))
    context, weights, states = cell(np.ones((2, 6), "float32"), prepared, cell.get_initial_state(prepared))
    assert states["mix"].shape == (2,)
    ```

    Differences, as in the authors' code where it mixes: w weights the location, while the gate of Eq. 15 weights the
    content; the factor beta of Eq. 16 is absent. The released configurations of the Mix models over e_dir leave the
    mixing off by mistake; here they mix.
    """

    def __init__(
        self,
        content: Spec,
        location: Spec,
        reference: str = "mixed",
        units: int | None = None,
        value_units: int | None = None,
        dtype: DType = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, value_units, dtype, **kwargs)
        self.content: AttentionCell = get("attention", content, {"units": units}, dtype=self.dtype_policy)
        self.location: AttentionCell = get("attention", location, {"units": units}, dtype=self.dtype_policy)
        self.reference = checks.choice("reference", reference, ["mixed", "location"])
        for part in (self.content, self.location):
            if type(part).weigh is AttentionCell.weigh:
                raise InputError(f"{type(part).__name__} cannot be a part of MixAttention; put it around the mixture")
            if part.value_units is not None:
                raise InputError("a part of MixAttention has no values: value_units is an argument of the mixture")
        if reference == "location" and type(self.location).advance is AttentionCell.advance:
            name = type(self.location).__name__
            raise InputError(f'the reference "location" does not apply: {name} keeps no mean position')

    def build_weights(self, query_shape: Shape, memory_shape: Shape) -> None:
        for part in (self.content, self.location):
            part.build_weights(query_shape, memory_shape)
            part.built = True
        self.mixer = dense(1, query_shape[-1], dtype=self.dtype_policy)
        self.mixer.build(query_shape)

    def prepare_weights(self, memory: Tensor, memory_mask: Tensor, summary: Tensor) -> Prepared:
        return {
            name: {"mask": memory_mask, **part.prepare_weights(memory, memory_mask, summary)}
            for name, part in (("content", self.content), ("location", self.location))
        }

    def get_initial_state(self, prepared: Prepared) -> States:
        own = super().get_initial_state(prepared)
        content = self.content.get_initial_state(prepared["content"])
        location = self.location.get_initial_state(prepared["location"])
        both = (content.keys() & location.keys()) - own.keys()
        if both:
            raise InputError(f"both parts of MixAttention keep the state {', '.join(sorted(both))}")
        return {**own, **content, **location, "mix": own["time"]}

    def weigh(self, query: Tensor, prepared: Prepared, states: States) -> tuple[Tensor, States]:
        content, states = self.content.weigh(query, prepared["content"], states)
        location, states = self.location.weigh(query, prepared["location"], states)
        if self.reference == "location":
            states = self.location.advance(location, prepared["location"], states)
        mix = ops.sigmoid(scalar(self.mixer, query))
        weights = mix[:, None] * location + (1.0 - mix[:, None]) * content
        return weights, {**states, "mix": mix}

    def advance(self, weights: Tensor, prepared: Prepared, states: States) -> States:
        states = self.content.advance(weights, prepared["content"], states)
        if self.reference == "mixed":
            states = self.location.advance(weights, prepared["location"], states)
        return states

    def get_config(self) -> Config:
        parts = {"content": serialize(self.content), "location": serialize(self.location)}
        return {**super().get_config(), **parts, "reference": self.reference}


for _name, _location in {"mix_location": "LocationAttention", "mix_location_s": "SimpleLocationAttention"}.items():
    alias("attention", _name, "MixAttention", content="ContentAttention", location=_location)
alias("attention", "mix_location_s_pr", "mix_location_s", reference="location")

for _name, _step in {"mix_onestep": "sigmoid", "mix_monotonic": "gated", "mix_relaxed_monotonic": "relu"}.items():
    _parts = {"content": "ContentAttention", "location": {"class": "MonotonicAttention", "config": {"step": _step}}}
    for _suffix, _reference in {"": "mixed", "_pr": "location"}.items():
        _mix = {"class": "MixAttention", "config": {**_parts, "reference": _reference}}
        alias("attention", _name + _suffix, "DirectionMix", attention=_mix)
