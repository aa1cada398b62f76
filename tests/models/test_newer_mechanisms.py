"""A decoder with each of the later mechanisms writes, step by step, what one pass has."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.saving.weights import named_variables

RANDOM = {"class": "randomized", "config": {"limit": 64}}
PLACED = {"class": "randomized_places", "config": {"limit": 64}}
CASES = {
    "coupled": ("coupled", {}),
    "abacus": ("abacus", {"bias": "fire"}),
    "randomized": (RANDOM, {"bias": "relative"}),
    "randomized_rotary": (PLACED, {"position": "rotary"}),
    "randomized_t5": (PLACED, {"bias": "t5"}),
    "cope": (None, {"bias": "cope"}),
    "forgetting": (None, {"bias": "forgetting", "weighting": "ssmax"}),
    "kerple": (None, {"bias": "kerple", "weighting": "entmax"}),
    "hard_alibi": (None, {"bias": "hard_alibi"}),
    "nape": (None, {"bias": "nape", "weighting": "asentmax"}),
    "stick_breaking": (None, {"weighting": {"class": "StickBreakingWeighting", "config": {"rest": "own"}}}),
    "geometric": (None, "geometric"),
    "normalized": (None, "geometric_normalized"),
    "stretched": (None, "stretched_geometric"),
    "gated_relative": (None, "gated_relative"),
    "shaw": (None, {"bias": {"class": "shaw", "config": {"longest": 3}}}),
    "randomized_shaw": (PLACED, {"bias": "shaw"}),
    "canon": (None, "canon"),
    "canon_forgetting": (
        None,
        {
            "class": "CanonAttention",
            "config": {"width": 2, "attention": {"class": "MultiHeadAttention", "config": {"bias": "forgetting"}}},
        },
    ),
    "canon_placed": (
        PLACED,
        {
            "class": "CanonAttention",
            "config": {"attention": {"class": "MultiHeadAttention", "config": {"position": "rotary"}}},
        },
    ),
    "path": (None, "path"),
    "path_forgetting": (None, {"class": "PathAttention", "config": {"bias": "forgetting", "width": 1}}),
    "delta": (None, "delta"),
    "delta_product": (None, "delta_product"),
}


def make(name):
    encoding, attention = CASES[name]
    if isinstance(attention, dict) and "class" not in attention:
        attention = {"class": "MultiHeadAttention", "config": attention}
    block = {"class": "TransformerBlock", "config": {"norm": "before", "attention": attention}}
    config = {"units": 12, "hidden_units": 16, "layers": 2, "heads": 2}
    model = kzoo.models.TransformerDecoder.from_task("incrementer", block=block, encoding=encoding, **config)
    rng = np.random.default_rng(0)
    for variable in named_variables(model).values():
        variable.assign(rng.normal(0, 0.5, variable.shape).astype("float32"))
    return model


@pytest.mark.parametrize("name", CASES)
def test_the_logits_of_a_step_are_those_of_the_pass(name, logits_of):
    model = make(name)
    sources = [model.preprocessor.encode_source(text) for text in ("53142", "77", "9")]
    following = np.random.default_rng(0).integers(0, 10, (3, 4)).tolist()
    x, _, weight = model.preprocessor.arrays(sources, following)
    whole = logits_of(model, x)
    expected = whole[weight > 0].reshape(3, 4, -1)
    wide, _, _ = model.preprocessor.arrays(sources, following, (16, 9))
    np.testing.assert_allclose(logits_of(model, wide)[:, : whole.shape[1]][weight > 0], whole[weight > 0], atol=1e-4)
    prompts = model.preprocessor.prompts(sources, pad_to=8)
    _, state = model.start_generation(prompts, 8)
    tokens = np.concatenate([prompts["last_token_ids"][:, None], np.array(following)], axis=1)
    for place in range(4):
        found, state = model.generate_step(keras.ops.convert_to_tensor(tokens[:, place]), {}, state)
        np.testing.assert_allclose(keras.ops.convert_to_numpy(found), expected[:, place], atol=1e-4)


@pytest.mark.parametrize("name", ["coupled", "forgetting", "canon", "path", "delta"])
def test_it_trains_writes_and_comes_back(name, tmp_path):
    model = make(name)
    model.fit([("12", "13"), ("129", "130")], epochs=1, verbose=0)
    together = model.generate(["129", "7"], max_length=4)
    assert [model.generate(text, max_length=4) for text in ("129", "7")] == together
    model.save_to_preset(tmp_path / "tiny")
    assert kzoo.from_preset(tmp_path / "tiny").generate(["129", "7"], max_length=4) == together


@pytest.mark.parametrize("around", [None, "CountingAttention", "CanonAttention"])
def test_a_bias_that_counts_from_the_end_of_a_source_is_refused(around):
    attention = {"class": "MultiHeadAttention", "config": {"bias": "windowed_cross"}}
    if around:
        attention = {"class": around, "config": {"attention": attention}}
    block = {"class": "TransformerBlock", "config": {"attention": attention}}
    with pytest.raises(InputError, match="WindowedCrossBias counts from the end of a source"):
        kzoo.models.TransformerDecoder.from_task("incrementer", block=block, units=8)


def test_a_mixer_has_no_weights_to_draw():
    model = make("delta")
    assert not model.trace("53142", "53143").arrays
    for draw in (kzoo.inspection.plot_attention, kzoo.inspection.plot_writing):
        with pytest.raises(InputError, match="the model has no attention weights to draw"):
            draw(model, "53142", output="53143")
