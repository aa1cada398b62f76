"""What every classifier can do; a new one is covered by being registered."""

from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np
import pytest

import kzoo
import kzoo.training.recipe
from kzoo.cards.card import render_card
from kzoo.errors import InputError
from kzoo.registry import classes, serialize
from kzoo.saving.weights import named_variables
from kzoo.training.batches import training_batches
from kzoo.training.build import build

CLASSIFIERS = sorted(name for name, cls in classes("model").items() if issubclass(cls, kzoo.models.Classifier))
TASK = kzoo.tasks.get("ctl_forward")
SMALL = {
    "TransformerClassifier": {"units": 12, "hidden_units": 16, "steps": 3},
    "RecurrentClassifier": {"units": 6, "embedding_units": 5},
}


def make(name, task="ctl_forward", **config):
    """Returns a small classifier with the same random weights on every backend."""
    keras.utils.set_random_seed(0)
    model = getattr(kzoo.models, name).from_task(task, **{**SMALL[name], **config})
    rng = np.random.default_rng(0)
    for variable in named_variables(model).values():
        variable.assign(rng.normal(0, 0.5, variable.shape).astype("float32"))
    return model


@pytest.fixture(params=CLASSIFIERS)
def model(request):
    return make(request.param)


def logits(model, x, **arguments):
    return keras.ops.convert_to_numpy(model(x, **arguments))


def test_it_is_an_ordinary_keras_model(model, capsys):
    assert isinstance(model, keras.Model) and model.built
    model.summary()
    assert f"{model.count_params():,}" in capsys.readouterr().out
    x, y, _ = model.preprocessor(TASK.examples("test", 6))
    found = logits(model, x)
    assert found.shape == (6, 8) and found.dtype == np.float32 and y.shape == (6, 1)


def test_config_makes_an_equal_one(model):
    again = type(model).from_config(model.get_config())
    assert again.get_config() == model.get_config()
    x, _, _ = model.preprocessor(TASK.examples("test", 6))
    again.set_weights(model.get_weights())
    np.testing.assert_array_equal(logits(again, x), logits(model, x))


def test_padding_and_batching_change_nothing(model):
    examples = [TASK.examples("train", 1, length=n)[0] for n in (5, 3, 1)]
    x, _, _ = model.preprocessor(examples)
    wide, _, _ = model.preprocessor(examples, pad_to=(16, 8))
    found = logits(model, x)
    np.testing.assert_allclose(logits(model, wide), found, atol=1e-5)
    for i, example in enumerate(examples):
        np.testing.assert_allclose(logits(model, model.preprocessor([example])[0])[0], found[i], atol=1e-5)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_training_lowers_the_loss(name):
    model = make(name, dropout=0.0)
    data = TASK.dataset("train", 64)
    history = model.fit(data, epochs=4, validation_data=data, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
    assert {"sequence_accuracy", "val_loss", "val_sequence_accuracy"} <= set(history)
    assert 0 <= model.evaluate(data, verbose=0)[1] <= 1


def test_texts_give_labels(model):
    texts = [" ".join(example.source) for example in TASK.examples("test", 5)]
    found = model.generate(texts)
    assert set(found) <= set(TASK.labels)
    assert [model.generate(text) for text in texts] == found
    x, _, _ = model.preprocessor([(text, "000") for text in texts])
    assert [TASK.labels[k] for k in logits(model, x).argmax(axis=-1)] == found
    with pytest.raises(InputError, match="unknown token"):
        model.generate("101 z")
    with pytest.raises(InputError, match="1 to 10,000 tokens"):
        model.generate("")


def test_arithmetic_is_read_character_by_character():
    model = make("TransformerClassifier", "arithmetic")
    assert model.generate("((4*7)+2)") == model.generate("( ( 4 * 7 ) + 2 )") in kzoo.tasks.get("arithmetic").labels


def test_keras_files(model, tmp_path):
    model.compile()
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    x, _, _ = model.preprocessor(TASK.examples("test", 3))
    np.testing.assert_array_equal(logits(again, x), logits(model, x))


def test_steps_at_call_and_afterwards():
    model = make("TransformerClassifier", inference_steps=5)
    x, _, _ = model.preprocessor(TASK.examples("test", 3))
    five, nine = logits(model, x), logits(model, x, steps=9)
    assert np.abs(five - nine).max() > 1e-4
    np.testing.assert_allclose(model.predict_on_batch(x), five, atol=1e-5)
    model.inference_steps = 9
    np.testing.assert_allclose(model.predict_on_batch(x), nine, atol=1e-5)
    assert model.get_config()["depth"]["config"]["steps"] == 3
    trace = model.trace_steps(x, steps=4)
    assert trace["weights"].shape == (3, 4, 1, 13, 13) and trace["gates"].shape == (3, 4, 13, 12)


@pytest.mark.parametrize("readout", ["first", "last"])
def test_the_column_of_the_answer(readout):
    model = make("TransformerClassifier", readout=readout)
    x, _, _ = model.preprocessor([("101 d a b", "011"), ("101 d", "001")])
    states = keras.ops.convert_to_numpy(model.encode(x)[0])
    column = states[:, 0] if readout == "first" else states[[0, 1], [5, 3]]
    expected = column @ keras.ops.convert_to_numpy(model.classes.kernel) + keras.ops.convert_to_numpy(
        model.classes.bias
    )
    np.testing.assert_allclose(logits(model, x), expected, atol=1e-5)


@pytest.mark.once
@pytest.mark.parametrize(
    "task, config, published",
    [
        ("ctl_forward", {"units": 256, "hidden_units": 512}, 665_869),
        ("ctl_forward", {"block": "abs_rel_gate", "units": 256, "hidden_units": 1024}, 993_546),
        ("ctl_forward", {"block": "rel", "units": 128, "heads": 4, "hidden_units": 256}, 152_329),
        ("ctl_forward", {"block": "transformer", "units": 128, "heads": 4, "hidden_units": 256}, 135_688),
        ("arithmetic", {"units": 256, "heads": 4, "hidden_units": 1024}, 929_301),
        ("listops", {"units": 512, "heads": 16, "hidden_units": 1024}, 2_656_813),
    ],
)
def test_published_sizes(task, config, published):
    model = kzoo.models.TransformerClassifier.from_task(task, **config)
    assert model.count_params() == published + config["units"]  # the padding has a row in the table of embeddings


@pytest.mark.parametrize("block, depth", [("rel", "act"), ("ndr", "shared")])
def test_one_step_of_training(block, depth):
    model = make("TransformerClassifier", block={"class": block, "config": {"dropout": 0.5}}, depth=depth)
    before = [keras.ops.convert_to_numpy(variable.value) for variable in model.trainable_variables]
    model.fit(TASK.dataset("train", 8), epochs=1, verbose=0)
    moved = [
        np.abs(keras.ops.convert_to_numpy(v.value) - b).max() > 0
        for v, b in zip(model.trainable_variables, before, strict=True)
    ]
    assert all(moved)


def test_what_is_refused():
    with pytest.raises(InputError, match="targets of recopy are sequences"):
        kzoo.models.TransformerClassifier.from_task("recopy")
    with pytest.raises(InputError, match="labels must be an integer from 2"):
        kzoo.models.RecurrentClassifier(10, 1)
    with pytest.raises(InputError, match="did you mean 'last'"):
        kzoo.models.TransformerClassifier(10, 3, readout="lasst")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_docstring_example(name, run_examples):
    run_examples(getattr(kzoo.models, name))


def test_a_preset_comes_back(model, tmp_path):
    model.save_to_preset(tmp_path / "tiny_ctl_forward")
    again = kzoo.from_preset(tmp_path / "tiny_ctl_forward")
    assert type(again) is type(model) and again.task_name == "ctl_forward"
    x, _, _ = model.preprocessor(TASK.examples("test", 3))
    np.testing.assert_array_equal(logits(again, x), logits(model, x))
    fresh = type(model).from_preset(tmp_path / "tiny_ctl_forward", load_weights=False)
    assert serialize(fresh) == serialize(model)


@pytest.mark.once
def test_accuracy_by_length(model):
    report = kzoo.evaluate(model, lengths=[1, 4, 9, None], examples=40)
    for length in (1, 4, 9):
        examples = TASK.examples("test", 40, length=length)
        found = model.generate([" ".join(example.source) for example in examples])
        right = np.mean([label == example.target[0] for label, example in zip(found, examples, strict=True)])
        assert report[length] == pytest.approx(right)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.once
def test_a_recipe_trains_it(name, tmp_path):
    recipe = {
        "task": "ctl_forward",
        "model": {"class": name, "config": SMALL[name]},
        "epochs": 1,
        "examples": 64,
        "evaluation": {"lengths": [9], "examples": 20},
    }
    folder = kzoo.train(kzoo.training.recipe.Recipe.from_config(recipe), tmp_path / f"tiny_{name.lower()}")
    results = kzoo.preset_info(folder)["results"]["rows"]
    assert {row["length"] for row in results} == {9} and all(row["n"] == 20 for row in results)
    assert kzoo.from_preset(folder).generate("101 d a b") in TASK.labels


@pytest.mark.parametrize("readout", ["first", "last"])
def test_other_columns_are_read_too(readout):
    model = make("TransformerClassifier", readout=readout)
    x, _, _ = model.preprocessor(TASK.examples("test", 4))
    columns = np.array([[2], [3], [5], [2]], "int32")
    found = logits(model, {**x, "columns": columns})
    states, _ = model.encode(x)
    at = keras.ops.convert_to_numpy(states)[np.arange(4), columns[:, 0]]
    np.testing.assert_allclose(found[:, 1], keras.ops.convert_to_numpy(model.classes(at)), atol=1e-5)
    np.testing.assert_allclose(found[:, 0], logits(model, x), atol=1e-5)


@pytest.mark.parametrize("reader", ["lstm", "pushdown", "beam_tree"])
def test_other_states_of_a_reader_are_read_too(reader):
    model = make("RecurrentClassifier", reader=reader)
    x, _, _ = model.preprocessor(TASK.examples("test", 4))
    found = logits(model, {**x, "columns": np.array([[2, 0]] * 4, "int32")})
    np.testing.assert_allclose(found[:, 0], logits(model, x), atol=1e-5)
    for place, end in ((1, 3), (2, 1)):  # as if the sequence ended there
        begun = {name: array[:, :end] for name, array in x.items()}
        np.testing.assert_allclose(found[:, place], logits(model, begun), atol=1e-5)


def test_a_reader_from_the_last_token_on_has_no_causal_results():
    model = make("RecurrentClassifier", reader={"class": "second_order", "config": {"go_backwards": True}})
    x, _, _ = model.preprocessor(TASK.examples("test", 4))
    with pytest.raises(InputError, match="^columns are read from left to right, and the reader goes backwards$"):
        model({**x, "columns": np.zeros((4, 1), "int32")})


def test_intermediate_results_are_trained_on(tmp_path):
    recipe = {
        "task": "arithmetic",
        "model": {"class": "TransformerClassifier", "config": SMALL["TransformerClassifier"]},
        "epochs": 1,
        "steps_per_epoch": 4,
        "fresh": True,
        "curriculum": [17],
        "intermediate": True,
        "selection": "last",
        "evaluation": {"lengths": [2], "examples": 20},
    }
    recipe = kzoo.training.recipe.Recipe.from_config(recipe)
    model = build(recipe)
    x, y, weight = training_batches(recipe, model)[0]
    for ids, columns, values, real in zip(x["token_ids"], x["columns"], y, weight, strict=True):
        tokens = [model.preprocessor.tokenizer.tokens[i] for i in ids]
        brackets = [i for i, token in enumerate(tokens) if token == ")"]
        assert real.tolist() == [1.0] * (1 + len(brackets)) + [0.0] * (len(real) - 1 - len(brackets))
        assert columns[: len(brackets)].tolist() == brackets
        assert values[0] == values[len(brackets)]  # the last bracket closes the whole
    folder = kzoo.train(recipe, tmp_path / "tiny_arithmetic")
    assert kzoo.from_preset(folder).generate("((4*7)+2)") in "0123456789"
    assert "the results that `Arithmetic.intermediate` gives are targets too" in render_card(folder)


def recipe_of(task, mechanism, model, length, data, objective):
    """Returns a recipe of two batches of four, tested at one length."""
    stage = {
        "budget": {"epochs": 1, "steps_per_epoch": 2},
        "data": {**data, "batch_size": 4},
        "objective": objective,
        "selection": {"by": "last"},
    }
    return kzoo.training.recipe.Recipe.from_config(
        {
            "format": 2,
            "task": task,
            "task_version": 1,
            "mechanism": mechanism,
            "supervision": ["intermediate results"] if objective["intermediate"] else [],
            "model": model,
            "stages": [stage],
            "evaluation": {"lengths": [length], "examples": 8},
        }
    )


def test_a_reader_is_trained_on_causal_results(tmp_path):
    reader = {"class": "pushdown", "config": {"units": 6}}
    model = {"class": "RecurrentClassifier", "config": {"reader": reader, "embedding_units": 5}}
    recipe = recipe_of("listops", "pushdown", model, 1, {"fresh": True}, {"intermediate": True})
    model = build(recipe)
    x, y, weight = training_batches(recipe, model)[0]
    tokens = np.array(model.preprocessor.tokenizer.tokens)
    rows = zip(x["token_ids"], x["padding_mask"].astype(bool), x["columns"], y, weight, strict=True)
    for ids, mask, columns, values, real in rows:
        source = tokens[ids[mask]]
        results = kzoo.tasks.get("listops").causal_results(source)
        number = int(real.sum()) - 1
        assert list(zip(columns[:number], map(str, values[1 : 1 + number]), strict=True)) == results
        assert str(values[0]) == results[-1][1]
    folder = kzoo.train(recipe, tmp_path / "tiny")
    assert kzoo.from_preset(folder).generate("[MAX 1 2 ]") in "0123456789"
    assert "the results that `ListOps.causal_results` gives are targets too" in render_card(folder)


def test_a_task_without_intermediate_results_says_so():
    recipe = {
        "task": "parity_check",
        "model": {"class": "TransformerClassifier", "config": SMALL["TransformerClassifier"]},
        "epochs": 1,
        "intermediate": True,
    }
    recipe = kzoo.training.recipe.Recipe.from_config(recipe)
    with pytest.raises(InputError, match="parity_check has no intermediate results"):
        training_batches(recipe, build(recipe))


@pytest.mark.parametrize("intermediate", [True, False])
def test_results_that_have_to_stay_are_trained_on(intermediate, tmp_path):
    depth = {"class": "discrete", "config": {"values": 9}}
    model = {"class": "TransformerClassifier", "config": {"units": 8, "steps": 4, "depth": depth}}
    objective = {"intermediate": intermediate, "hold": 3}
    recipe = recipe_of("ctl_forward", "discrete_ndr", model, 2, {"sampling": "balanced"}, objective)
    x, y, weight = training_batches(recipe, build(recipe))[0]
    assert x["steps_before_last"].tolist() == [[0, 1, 2]] * 4 and y.shape == weight.shape == (4, 3, y.shape[2])
    assert (y == y[:, :1]).all() and (weight == weight[:, :1]).all()
    functions = x["padding_mask"].sum(1) - 3  # without code, start and end symbol
    np.testing.assert_array_equal(weight[:, 0].sum(1), 1 + functions * intermediate)
    folder = kzoo.train(recipe, tmp_path / "tiny")
    assert "the states after each of the last 3 steps are read" in render_card(folder)
    assert kzoo.from_preset(folder).generate("101 d a b") in kzoo.tasks.get("ctl_forward").labels


def test_any_number_of_threads_may_ask(model):
    texts = [" ".join(example.source) for example in TASK.examples("test", 40)]
    expected = model.generate(texts)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(model.generate, [texts] * 8)) == [expected] * 8


def test_a_label_has_no_length(model):
    with pytest.raises(InputError, match="max_length does not apply: a .* answers with one label"):
        model.generate("101 d a b", max_length=3)
