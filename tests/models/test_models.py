"""What every model that writes its output can do; a new one is covered by being registered."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.registry import classes
from kzoo.saving.weights import serialize

OTHERS = (kzoo.models.Classifier, kzoo.models.SequenceTagger)
SEQ2SEQ = sorted(name for name, cls in classes("model").items() if not issubclass(cls, OTHERS))
TASK = kzoo.tasks.get("recopy")
PAIRS = [(" ".join(e.source), " ".join(e.target)) for e in TASK.examples("train", 8, length=3)]


@pytest.fixture(scope="module", params=SEQ2SEQ)
def model(request, make_model):
    """A compiled model; tests train it on, and may not rely on its weights."""
    model = make_model(classes("model")[request.param])
    model.compile(keras.optimizers.Adam(1e-2))
    return model


def arrays(model):
    return model.preprocessor(PAIRS, pad_to=(8, 16))


def logits(model, x):
    return keras.ops.convert_to_numpy(model(x))


def test_it_is_an_ordinary_keras_model(model, capsys):
    assert isinstance(model, keras.Model) and model.built
    model.summary()
    shown = capsys.readouterr().out
    assert type(model).__name__.lower() in shown.lower().replace("_", "") and f"{model.count_params():,}" in shown
    x, y, _ = arrays(model)
    assert logits(model, x).shape == (*y.shape, 13) and logits(model, x).dtype == np.float32


def test_config_makes_an_equal_one(model):
    again = type(model).from_config(model.get_config())
    assert again.get_config() == model.get_config()
    assert [v.shape for v in again.weights] == [v.shape for v in model.weights]


def test_training_lowers_the_loss(model):
    seen = []
    data = TASK.dataset("train", 8, length=3)
    callback = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(epoch))
    history = model.fit(data, epochs=10, validation_data=data, callbacks=[callback], verbose=0).history
    assert history["val_loss"][-1] < history["val_loss"][0]
    assert {"loss", "sequence_accuracy", "token_accuracy", "val_sequence_accuracy"} <= set(history)
    assert seen == list(range(10))


FORMS = {
    "a task's data": lambda _: {"x": TASK.dataset("train", 8, length=3)},
    "pairs of texts": lambda _: {"x": PAIRS},
    "texts and targets": lambda _: {"x": [s for s, _ in PAIRS], "y": [t for _, t in PAIRS]},
    "arrays": lambda model: dict(zip(("x", "y", "sample_weight"), arrays(model), strict=True)),
}


@pytest.mark.parametrize("form", FORMS)
def test_fit_takes(form, model):
    before = serialize(model)
    history = model.fit(**FORMS[form](model), batch_size=8, verbose=0).history
    assert np.isfinite(history["loss"]).all()
    assert serialize(model) != before


def test_evaluate_gives_the_same_for_every_form(model):
    found = [model.evaluate(**FORMS[form](model), batch_size=8, verbose=0, return_dict=True) for form in FORMS]
    for other in found[1:]:
        assert other == pytest.approx(found[0], rel=1e-5)


def test_texts_without_as_many_targets_are_refused(model):
    for y in (None, ["4"]):
        with pytest.raises(InputError, match="2 source texts need as many targets"):
            model.fit(["4", "7"], y)


def test_saving_as_keras_keeps_outputs_and_training_state(model, tmp_path):
    x, y, weight = arrays(model)
    model.fit(x, y, sample_weight=weight, batch_size=8, verbose=0)
    model.save(tmp_path / "a.keras")
    again = keras.saving.load_model(tmp_path / "a.keras")
    assert type(again) is type(model)
    np.testing.assert_array_equal(logits(again, x), logits(model, x))
    assert again.generate("4 7", max_length=4) == model.generate("4 7", max_length=4)
    for old, new in zip(model.optimizer.variables, again.optimizer.variables, strict=True):
        np.testing.assert_array_equal(keras.ops.convert_to_numpy(old.value), keras.ops.convert_to_numpy(new.value))
    assert np.isfinite(again.fit(x, y, sample_weight=weight, batch_size=8, verbose=0).history["loss"]).all()


@pytest.fixture
def mixed_precision():
    keras.config.set_dtype_policy("mixed_bfloat16")
    yield
    keras.config.set_dtype_policy("float32")


@pytest.mark.parametrize("name", SEQ2SEQ)
def test_mixed_precision(name, make_model, mixed_precision):
    model = make_model(classes("model")[name], dropout=0.0)
    assert {v.dtype for v in model.weights} == {"float32"} and model.compute_dtype == "bfloat16"
    x, y, weight = arrays(model)
    model.compile(keras.optimizers.Adam(1e-2))
    history = model.fit(x, y, sample_weight=weight, batch_size=8, epochs=10, verbose=0).history
    assert np.mean(history["loss"][-3:]) < np.mean(history["loss"][:3])
    assert len(model.generate("4 7", max_length=5).split()) <= 5


@pytest.mark.parametrize("name", SEQ2SEQ)
def test_a_policy_of_its_own_reaches_every_part(name, make_model):
    model = make_model(classes("model")[name], dtype="mixed_bfloat16")
    parts = [layer for layer in model._flatten_layers() if layer.weights]
    assert {layer.compute_dtype for layer in parts} == {"bfloat16"}


@pytest.mark.parametrize("name", SEQ2SEQ)
def test_a_vocabulary_of_another_size_is_refused(name):
    with pytest.raises(InputError, match="the preprocessor has 13 token ids, but vocabulary_size is 12"):
        cls = classes("model")[name]
        cls(vocabulary_size=12, preprocessor=cls.from_task("recopy").preprocessor)


def test_from_task_takes_the_tasks_vocabulary(model):
    assert model.task_name == "recopy"
    assert model.preprocessor.tokenizer.tokens[:-3] == list(TASK.vocabulary)
    with pytest.raises(LookupError, match="did you mean 'recopy'"):
        type(model).from_task("recpy")


def examples_one_by_one():
    yield from TASK.examples("train", 4, length=3)


BAD_DATA = {
    "an array": np.array([[1, 2, 3]]),
    "an array of several rows": np.zeros((3, 4)),
    "a number": 5,
    "nothing": None,
    "a set": {"4 7"},
    "a text": "4 7",
    "lists of ids": [[1, 2, 3], [4, 5, 6]],
    "a dict that lacks an array": {"padding_mask": np.ones((1, 3), bool)},
    "a generator of examples": examples_one_by_one,
    "a generator of nothing": lambda: iter(()),
}


@pytest.mark.parametrize("what", BAD_DATA)
@pytest.mark.parametrize("method", ["fit", "evaluate", "predict", "predict_on_batch", "train_on_batch"])
def test_data_of_another_form_is_one_sentence_and_harms_nothing(what, method, model):
    before = serialize(model)
    data = BAD_DATA[what]() if callable(BAD_DATA[what]) else BAD_DATA[what]
    with pytest.raises(InputError, match="^(x must be .*arrays|a generator must yield batches)") as error:
        getattr(model, method)(data)
    assert "\n" not in str(error.value)
    assert serialize(model) == before


def broken_batches(model, good):
    """Yields some good batches, then one whose weights are of another shape."""
    x, y, weight = arrays(model)
    for _ in range(good):
        yield x, y, weight
    yield x, y, weight[:, :3]


@pytest.mark.parametrize("good", [0, 2])
def test_a_model_survives_training_that_fails(good, model, make_model):
    with pytest.raises(Exception, match=r"\S"):  # each backend's own
        model.fit(broken_batches(model, good), verbose=0, steps_per_epoch=9)
    x, y, weight = arrays(model)
    assert np.isfinite(model.predict(x, verbose=0)).all() and isinstance(model.generate("4 7", max_length=3), str)
    assert np.isfinite(model.fit(x, y, sample_weight=weight, verbose=0).history["loss"]).all()


def test_batches_may_come_from_a_generator(model):
    batch = arrays(model)
    history = model.fit((batch for _ in range(3)), steps_per_epoch=3, validation_data=batch, verbose=0).history
    assert np.isfinite(history["val_loss"]).all()


def test_a_prediction_that_fails_harms_nothing(model, monkeypatch):
    x, _, _ = arrays(model)
    expected = model.predict(x, verbose=0)
    with pytest.raises(Exception, match=r"\S"):
        model.predict({name: value[:, :, None] for name, value in x.items()}, verbose=0)
    np.testing.assert_array_equal(model.predict(x, verbose=0), expected)


def test_a_preset_is_fine_tuned_at_a_lower_rate(preset, make_model):
    rates = []
    for model in (make_model(), kzoo.from_preset(preset)):
        model.preset_name = None if not rates else model.preset_name
        model.compile()
        rates.append(float(model.optimizer.learning_rate))
    assert rates == pytest.approx([1e-3, 1e-4])
