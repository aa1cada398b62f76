"""The arithmetic Transformer: decoding with kept keys as one pass does, padded or not the same, with every bias."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.evaluation.measure import measure
from kzoo.registry import classes
from kzoo.saving.weights import named_variables

LINES = {
    "self_bias": [[[1, None, 0, 0.0]], [[1, None, -1, 0.0]]],
    "cross_bias": [[[-1, 0, -1, 0.0]], [[-1, 1, -1, 0.0]]],
}
CONFIGS = {
    "vanilla": {"encoding": "sinusoidal"},
    "windowed": {"self_bias": "windowed", "cross_bias": "windowed_pairs", "encoding": "cyclic"},
    "alibi": {"self_bias": "alibi", "norm": "before"},
    "rotary": {"position": "rotary", "encoder_layers": 1},
    "shaw": {"self_bias": "shaw", "encoder_bias": "shaw", "encoder_layers": 2},
    "calibrated": {key: {"class": "CalibratedBias", "config": {"lines": lines}} for key, lines in LINES.items()},
}
TEXTS = ["1+2", "123+45", "999999+1", "12345678901+23"]


def make(name="vanilla", task="addition", **config):
    """Returns a small model with the same random weights on every backend."""
    if name == "windowed":
        config = {"layout": {"aligned": True}, **config}
    config = {"units": 8, "heads": 2, "hidden_units": 12, **CONFIGS[name], **config}
    model = kzoo.models.TransformerSeq2Seq.from_task(task, **config)
    rng = np.random.default_rng(0)
    for key, variable in named_variables(model).items():
        scale = 0.2 if key.endswith("bias") else 0.7
        variable.assign(rng.normal(0, scale, variable.shape).astype("float32"))
    return model


def pairs(model, number=4):
    return [
        (e.source, e.target) for n in (6, 2, 9) for e in kzoo.tasks.get("addition").examples("test", number, length=n)
    ]


@pytest.mark.parametrize("name", CONFIGS)
def test_steps_give_the_logits_of_the_pass(name, logits_of):
    model = make(name)
    x, _, weight = model.preprocessor(pairs(model))
    whole = logits_of(model, x)
    inputs = {key: keras.ops.convert_to_tensor(value) for key, value in x.items()}
    prepared, state = model.start_generation(inputs, 12)
    for t in range(whole.shape[1]):
        logits, state = model.generate_step(inputs["decoder_token_ids"][:, t], prepared, state)
        real = weight[:, t] > 0
        np.testing.assert_allclose(keras.ops.convert_to_numpy(logits)[real], whole[real, t], atol=2e-4)


@pytest.mark.parametrize("name", CONFIGS)
def test_padding_and_batching_change_nothing(name, logits_of):
    model = make(name)
    x, _, weight = model.preprocessor(pairs(model, 1))
    wide, _, _ = model.preprocessor(pairs(model, 1), pad_to=(48, 16))
    found = logits_of(model, x)
    np.testing.assert_allclose(logits_of(model, wide)[:, : found.shape[1]][weight > 0], found[weight > 0], atol=1e-4)
    alone, _, real = model.preprocessor(pairs(model, 1)[1:2])
    np.testing.assert_allclose(logits_of(model, alone)[real > 0], found[1][weight[1] > 0], atol=1e-4)


def test_a_text_is_answered_alike_in_any_batch():
    model = make("windowed")
    together = model.generate(TEXTS)
    assert len(set(together)) > 1 and [model.generate(text) for text in TEXTS] == together


@pytest.mark.parametrize("name", ["windowed", "calibrated"])
def test_a_window_makes_far_digits_unseen(name, logits_of):
    """Two layers see at most one place back each: a digit changes only what is written at its place and soon after."""
    model = make(name, layers=2)
    x, _, _ = model.preprocessor([("1234567890+1111111111", "")])
    y, _, _ = model.preprocessor([("1234967890+1111111111", "")])
    changed = np.abs(
        logits_of(model, {**x, "decoder_token_ids": np.zeros((1, 11), "int32")})
        - logits_of(model, {**y, "decoder_token_ids": np.zeros((1, 11), "int32")})
    ).max(axis=-1)[0]
    places = np.flatnonzero(changed > 1e-6)  # 5 is the sixth digit from the end, row 5
    assert 5 in places and set(places) <= {4, 5, 6, 7, 8}


def test_positions_of_a_source_count_from_its_end():
    """So the same calculation with more zeros differs by nothing but them: its last digits are where they were."""
    short, long = make("vanilla", layers=1), make("vanilla", layers=1, layout={"digits": 9})
    encoded = [m.encode(m.preprocessor([("12+9", "21")])[0])[0] for m in (short, long)]
    first, second = (keras.ops.convert_to_numpy(states)[0] for states in encoded)
    np.testing.assert_allclose(first[-4:], second[-4:], atol=1e-5)
    assert np.abs(first[1:4] - second[1:4]).max() > 1e-2


BACK = ("windowed", "calibrated")


@pytest.mark.parametrize("name", [*BACK, *(pytest.param(n, marks=pytest.mark.once) for n in CONFIGS if n not in BACK)])
def test_it_learns_and_comes_back_from_a_preset(name, tmp_path):
    model = make(name)
    data = kzoo.tasks.get("addition").dataset("train", 64)
    model.compile(keras.optimizers.Adam(1e-2), weighted_metrics=None)
    history = model.fit(data, epochs=4, batch_size=32, verbose=0).history["loss"]
    assert history[-1] < history[0]
    if name in BACK:
        model.save_to_preset(tmp_path / "preset")
        again = kzoo.from_preset(tmp_path / "preset")
        assert {**again.get_config(), "name": model.name} == model.get_config()
        assert again.generate(TEXTS) == model.generate(TEXTS)


def test_metrics_know_about_the_zeros():
    """Of a model that writes only zeros the output is 0, and as far from a number as it has digits that are not 0."""
    model = make("vanilla")
    for key, variable in named_variables(model).items():
        if key.startswith("classes"):
            variable.assign(np.zeros(variable.shape, "float32"))
    bias = np.zeros(14, "float32")
    bias[0] = 1.0
    model.classes.bias.assign(bias)
    assert model.generate("12+9") == "0"
    example = kzoo.tasks.Example(tuple("12+9"), tuple("21"))
    found = measure(model, [example], ["edit_distance", "token_accuracy"])
    assert found == {"edit_distance": 3, "token_accuracy": 0.25}  # 000 0 for 120 and the end symbol


def test_recopy_and_a_model_of_arrays():
    model = kzoo.models.TransformerSeq2Seq.from_task("recopy", units=8)
    x, y, _ = kzoo.Seq2SeqPreprocessor("0123456789")([("4 7", "4 4 4")])
    assert model(x).shape == (1, 4, 13) and "encoder_ends" not in x


def test_docstring_example(run_examples):
    run_examples(classes("model")["TransformerSeq2Seq"])


@pytest.mark.parametrize(
    "config, message",
    [
        ({"units": 9, "heads": 2}, "cannot be split between 2 heads"),
        ({"self_bias": "windowe"}, "unknown bias 'windowe'"),
        ({"layers": 0}, "layers must be an integer from 1"),
        ({"norm": "middle"}, "unknown norm"),
        ({"cross_bias": {"class": "windowed_cross", "config": {"step": 0}}}, "step must be an integer from 1"),
    ],
)
def test_wrong_arguments(config, message):
    with pytest.raises((InputError, LookupError), match=message):
        kzoo.models.TransformerSeq2Seq.from_task("addition", **config)
