"""The decoder: causal, padded or not the same, decoding with kept keys as one pass does; its heads."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.data.batches import Batches
from kzoo.data.interleaving import Alternating
from kzoo.errors import InputError
from kzoo.evaluation.measure import measure
from kzoo.saving.weights import named_variables

TEXTS = ["5 3 1 4 2", "7 7", "100 1 50 50 50 3 9 2 8", "12"]
STEPPING = [(name, "before") for name in ("relative", "gated_relative", "tempered")]


def make(task="sorter", seed=0, **config):
    """Returns a small decoder with the same random weights on every backend."""
    model = kzoo.models.TransformerDecoder.from_task(task, **{"units": 12, "hidden_units": 16, **config})
    rng = np.random.default_rng(seed)
    for name, variable in named_variables(model).items():
        scale = 0.2 if name.endswith(("bias", "beta")) else 0.7  # else the same token is always the likeliest
        variable.assign(rng.normal(0, scale, variable.shape).astype("float32"))
    return model


def numpy(x):
    return keras.ops.convert_to_numpy(x)


@pytest.fixture(name="logits")
def quick_logits(logits_of):
    return logits_of


def rows(task="sorter", n=6, **options):
    return kzoo.tasks.get(task).examples("test", n, **options)


@pytest.mark.parametrize("block", ["tempered", "rel"])
def test_it_sees_nothing_that_comes_later(block, logits):
    model = make(block=block)
    x, _, _ = model.preprocessor(rows())
    before = logits(model, x)
    changed = np.array(x["token_ids"])
    changed[:, 9:] = 3
    np.testing.assert_allclose(logits(model, {"token_ids": changed})[:, :9], before[:, :9], atol=1e-5)
    assert np.abs(logits(model, {"token_ids": changed})[:, 9:] - before[:, 9:]).max() > 1e-2


def test_padding_and_batching_change_nothing(logits):
    model, examples = make(block="tempered"), [rows(length=n)[0] for n in (5, 3, 1)]
    x, _, weight = model.preprocessor(examples)
    wide, _, _ = model.preprocessor(examples, pad_to=(16, 9))
    found = logits(model, x)
    np.testing.assert_allclose(logits(model, wide)[:, : found.shape[1]][weight > 0], found[weight > 0], atol=1e-5)
    for i, example in enumerate(examples):
        alone, _, real = model.preprocessor([example])
        np.testing.assert_allclose(logits(model, alone)[real > 0], found[i][weight[i] > 0], atol=1e-5)


@pytest.mark.parametrize("attention, norm", [*STEPPING, ("rotary", "after"), ("mirrored", "before")])
def test_the_logits_of_a_step_are_those_of_the_pass(attention, norm, logits):
    if attention in ("rotary", "mirrored"):
        seam = "position" if attention == "rotary" else "bias"
        attention = {"class": "MultiHeadAttention", "config": {seam: attention}}
    encoding = {"class": "SinusoidalEncoding", "config": {"dropout": 0.0}} if attention == "tempered" else None
    block = {"class": "TransformerBlock", "config": {"norm": norm, "attention": attention}}
    model = make(block=block, encoding=encoding, segments=norm == "before")
    sources = [model.preprocessor.encode_source(text) for text in ("5 3 1 4 2", "7 7", "12")]
    following = np.random.default_rng(0).integers(0, 100, (3, 6)).tolist()
    x, _, weight = model.preprocessor.arrays(sources, following)
    expected = logits(model, x)[weight > 0].reshape(3, 6, 103)
    prompts = model.preprocessor.prompts(sources, pad_to=8)
    _, state = model.start_generation(prompts, 8)
    tokens = np.concatenate([prompts["last_token_ids"][:, None], np.array(following)], axis=1)
    for place in range(6):
        found, state = model.generate_step(keras.ops.convert_to_tensor(tokens[:, place]), {}, state)
        np.testing.assert_allclose(numpy(found), expected[:, place], atol=1e-4)


def test_each_token_is_the_likeliest_given_those_before(logits):
    model = make(block="tempered")
    sources = [model.preprocessor.encode_source(text) for text in TEXTS]
    outputs = model.generator.decode(sources)
    assert [int((row != 102).sum()) for row in outputs] == [5, 2, 9, 1]
    targets = [row[: len(source) - 1].tolist() for row, source in zip(outputs, sources, strict=True)]
    assert len({token for target in targets for token in target}) > 2  # not trivially so
    x, y, weight = model.preprocessor.arrays(sources, targets)
    np.testing.assert_array_equal(logits(model, x).argmax(axis=-1)[weight > 0], y[weight > 0])


def test_neither_batch_nor_padding_changes_an_output():
    model = make(block="tempered")
    together = model.generate(TEXTS)
    assert [model.generate(text) for text in TEXTS] == together and len(set(together)) == 4
    assert [len(output.split()) for output in model.generate(TEXTS, max_length=3)] == [3, 2, 3, 1]


@pytest.mark.parametrize("task", ["sorter", "incrementer"])
def test_teacher_forcing_measures_what_greedy_decoding_does(task):
    model = make(task, block="tempered")
    if task == "incrementer":  # it ends now and then
        model.classes.bias.assign(1.5 * np.eye(14, dtype="float32")[model.preprocessor.tokenizer.end_id])
    examples = rows(task, 60, length=3)
    sources = [model.preprocessor.encode_source(row.source) for row in examples]
    greedy = model.generator.decode(sources, 8).tolist()
    outputs = model.generate([" ".join(row.source) for row in examples], max_length=8)
    # Every other target is what the model writes, so that not all are wrong.
    for i in range(0, 60, 2):
        own = outputs[i].split() if task == "sorter" else outputs[i][:2]
        examples[i] = examples[i]._replace(target=tuple(own))
    targets = [model.preprocessor.encode_target(row.target) for row in examples]
    right = [ids[: len(target)] == target for ids, target in zip(greedy, targets, strict=True)]
    found = measure(model, examples, ("sequence_accuracy", "accuracy_before_end", "edit_distance"))
    assert found["sequence_accuracy"] == np.mean(right) and 0.05 < np.mean(right) < 0.95
    assert (found["accuracy_before_end"] > found["sequence_accuracy"]) == (task == "incrementer")
    assert 0 < found["edit_distance"] <= 12


def test_numbers_are_written_from_their_last_digit():
    model = make("incrementer")
    assert model.preprocessor.encode_target("130") == [0, 3, 1, 12]
    assert model.preprocessor.decode([0, 3, 1, 12]) == "130"
    assert model.generate("129") == model.generate("1 2 9")


def test_each_head_has_its_own_answer_and_gradient(weight_change, logits):
    model = make(hints=["sorted_successor", "count"])
    x, y, weight = model.preprocessor(rows())
    plain = logits(model, x)
    np.testing.assert_array_equal(logits(model, {**x, "head": np.zeros(6, "int32")}), plain)
    mixed = logits(model, {**x, "head": np.array([0, 1, 2, 0, 1, 2], "int32")})
    np.testing.assert_array_equal(mixed[0], plain[0])
    assert np.abs(mixed[1] - plain[1]).max() > 0.1 and np.abs(mixed[2] - plain[2]).max() > 0.1
    changed = weight_change(model, {**x, "head": np.ones(6, "int32")}, y, weight)
    assert changed["hint_classes.0.kernel"] and changed["blocks.0.attention.query.kernel"]
    assert not changed["classes.kernel"] and not changed["hint_classes.1.kernel"]


@pytest.fixture
def weight_change():
    """A function that makes one step of plain gradient descent and says which weights moved."""

    def step(model, x, y, weight):
        model.compile(keras.optimizers.SGD(0.1))
        before = {name: numpy(variable.value) for name, variable in named_variables(model).items()}
        model.train_on_batch(x, y, weight)
        return {n: np.abs(numpy(v.value) - before[n]).max() > 0 for n, v in named_variables(model).items()}

    return step


def test_steps_alternate():
    model = make(hints=["sorted_successor", "fill"], layers=1)
    encoders = [model.preprocessor, *map(model.hint_preprocessor, model.hints)]
    data = [kzoo.tasks.get(name).examples("train", 32) for name in ("sorter", *model.hints)]
    batches = [Batches(examples, encoder, 8, seed=0) for examples, encoder in zip(data, encoders, strict=True)]
    found = Alternating(batches)
    assert len(found) == 12 and [int(found[i][0]["head"][0]) for i in range(6)] == [0, 1, 2, 0, 1, 2]
    x, y, weight = found[1]
    expected = batches[1][0]
    np.testing.assert_array_equal(y, expected[1])
    assert (weight.sum(axis=1) == 1).all() and (x["head"] == 1).all()
    model.compile(keras.optimizers.Adam(1e-2))
    history = model.fit(found, epochs=4, shuffle=False, verbose=0).history["loss"]
    assert history[-1] < history[0]
    with pytest.raises(InputError, match="no batches"):
        Alternating([])


def test_what_is_refused():
    with pytest.raises(InputError, match="carry has tokens that the vocabulary lacks: 0, ↑"):
        make(hints=["carry"])
    with pytest.raises(InputError, match="hints must be a list"):
        make(hints="sorted_successor")
    with pytest.raises(InputError, match="is a TransformerBlock, not a CopyGate"):
        make(block="ndr")
    with pytest.raises(LookupError, match="did you mean 'successor'"):
        make(hints=["succesor"])
    with pytest.raises(InputError, match='needs the norm "after"'):
        make(block={"class": "TransformerBlock", "config": {"norm": "none", "update": "tanh"}})
    with pytest.raises(InputError, match="layers must be"):
        make(layers=0)


def test_a_preset_comes_back(tmp_path):
    model = make("incrementer", block="tempered", hints=["carry"])
    model.save_to_preset(tmp_path / "tiny_incrementer")
    again = kzoo.from_preset(tmp_path / "tiny_incrementer")
    assert again.preprocessor.get_config() == model.preprocessor.get_config() and again.hints == ["carry"]
    assert again.get_config() | {"name": ""} == model.get_config() | {"name": ""}
    assert again.generate(["129", "99"], max_length=6) == model.generate(["129", "99"], max_length=6)


def test_the_states_of_each_block(logits):
    model = make()
    x, _, _ = model.preprocessor(rows())
    found = model.trace_blocks(x)
    assert len(found) == 2 and found[0]["weights"].shape == (6, 2, *[x["token_ids"].shape[1]] * 2)
    np.testing.assert_allclose(numpy(model.logits(found[1]["states"])), logits(model, x), atol=1e-5)


@pytest.mark.parametrize("thing", ["TransformerDecoder", "construct_sorter"])
def test_docstring_example(thing, run_examples):
    run_examples(getattr(kzoo.models, thing))
