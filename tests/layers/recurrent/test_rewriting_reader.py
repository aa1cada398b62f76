"""The rewriting reader, against its loop written out; and that what is learned for one step holds for any number."""

import keras
import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError


def numpy(x):
    return ops.convert_to_numpy(x)


def made(values=5, seed=1, **options):
    """Returns a reader of three numbers a token, with random weights."""
    reader = kzoo.layers.RewritingReader(values=values, units=4, **options)
    reader.build((None, None, 3))
    for variable in reader.trainable_variables:
        variable.assign(np.random.default_rng(seed).normal(0, 0.8, variable.shape).astype("float32"))
    return reader


def inputs(lengths=(4, 2)):
    sequence = np.random.default_rng(0).normal(size=(len(lengths), max(lengths), 3)).astype("float32")
    return sequence, np.arange(max(lengths)) < np.array(lengths)[:, None]


def written_out(reader, sequence):
    """Returns the rows of one sequence and its last states, step by step."""
    kernel, bias, vectors = (numpy(x) for x in (reader.classes.kernel, reader.classes.bias, reader.vectors))
    row, rows = np.full(len(sequence), reader.values - 1), []
    for _ in range(len(sequence) + reader.more):
        states = numpy(reader.reader.states((sequence + vectors[row])[None], np.ones((1, len(sequence)), bool)))[0]
        row = (states @ kernel + bias).argmax(axis=-1)
        rows.append(row)
    return np.array(rows), states


@pytest.mark.parametrize("more", [1, 4])
def test_each_row_is_made_from_the_one_before(more):
    reader, (sequence, mask) = made(more=more), inputs()
    rows = numpy(reader.rows(sequence, mask))
    states = numpy(reader.states(ops.convert_to_tensor(sequence), mask))
    assert rows.shape == (4 + more, 2, 4) and rows.dtype == np.int32
    for k, length in enumerate((4, 2)):
        alone, last = written_out(reader, sequence[k, :length])
        np.testing.assert_array_equal(rows[: length + more, k, :length], alone)
        np.testing.assert_array_equal(rows[length + more :, k, :length], alone[-1:].repeat(4 - length, axis=0))
        np.testing.assert_allclose(states[k, :length], last, atol=1e-5)
    assert len(np.unique(rows[:, 0], axis=0)) > 1  # something is written


def test_all_rows_at_once_are_each_by_itself():
    reader, (sequence, mask) = made(), inputs()
    rows = numpy(reader.rows(sequence, mask))
    before = np.concatenate([np.full((1, 2, 4), 4, "int32"), rows[:-1]])
    scores = numpy(reader.next_scores(ops.convert_to_tensor(sequence), mask, before.swapaxes(0, 1)))
    assert scores.shape == (2, 6, 4, 5)
    found = scores.argmax(axis=-1).swapaxes(0, 1)
    np.testing.assert_array_equal(found[:, 0], rows[:, 0])
    np.testing.assert_array_equal(found[:4, 1, :2], rows[:4, 1, :2])


def test_the_last_step_learns_without_rows():
    model = kzoo.models.SequenceTagger.from_task("compute_sqrt", reader="rewriting", units=4, embedding_units=3)
    before = [numpy(variable) for variable in model.trainable_variables]
    model.fit([("1011", "11"), ("100", "10")], verbose=0)
    after = [numpy(variable) for variable in model.trainable_variables]
    assert all((new != old).any() for new, old in zip(after, before, strict=True))


@pytest.mark.slow
def test_steps_that_are_learned_are_right_at_any_length():
    """A mark walks from the first token to the last, one token a row."""

    class Walk(type(kzoo.tasks.get("copy"))):
        name, row_symbols = "walk", (".", "x")

        def execution_trace(self, source):
            return [("x",) * k + (".",) * (len(source) + 1 - k) for k in range(1, len(source) + 1)]

    keras.utils.set_random_seed(0)
    task, inner = Walk(), {"class": "BidirectionalLSTMReader", "config": {"units": 8}}
    reader = {"class": "RewritingReader", "config": {"reader": inner, "values": 16}}
    model = kzoo.models.SequenceTagger.from_task(kzoo.tasks.get("copy"), reader=reader, embedding_units=8)
    rows = kzoo.preprocessing.RowsPreprocessor(model.preprocessor, task, model.reader)
    model.compile(keras.optimizers.Adam(0.02))
    pairs = [rows.encode(e.source, e.target) for e in task.examples("train", 400) if len(e.source) <= 6][:60]
    x, y, weight = rows.arrays(*zip(*pairs, strict=True))
    for _ in range(150):
        model.train_on_batch(x, y, weight)
    example = task.sample(np.random.default_rng(5), 30)
    assert model.generate(" ".join(example.source)) == " ".join(example.target)


@pytest.mark.once
def test_wrong_arguments():
    with pytest.raises(InputError, match="^values must be an integer from 2 to 65536, not 1$"):
        kzoo.layers.RewritingReader(values=1)
    with pytest.raises(InputError, match="^more must be an integer from 1 to 10000, not 0$"):
        kzoo.layers.RewritingReader(more=0)
    backwards = {"class": "SecondOrderReader", "config": {"go_backwards": True}}
    with pytest.raises(InputError, match="^a row is rewritten by a Reader whose states are in the order of the tok"):
        kzoo.layers.RewritingReader(backwards)
    few = {"class": "RewritingReader", "config": {"values": 4}}
    with pytest.raises(InputError, match="^values must be more than the number of answers, 4, not 4$"):
        kzoo.models.SequenceTagger.from_task("compute_sqrt", reader=few)
