"""The constructed sorter: right on every distribution and length, with the margins of the theorem."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.evaluation.measure import measure
from kzoo.models.theorem_sorter import sorter_weights
from kzoo.saving.weights import named_variables

TASK = kzoo.tasks.get("sorter")
SPLITS = ("test", "train_repeated", "rep2", "rep3", "rep4", "rep5")


@pytest.fixture(scope="module")
def model():
    return kzoo.from_preset("theorem_sorter")


def hard(n):
    """Sources of n numbers that random ones are unlikely to be like."""
    rng = np.random.default_rng(n)
    drawn = rng.integers(1, 101, n)
    two = rng.choice([41, 42], n)
    yield from (drawn, np.sort(drawn), np.sort(drawn)[::-1], two, np.full(n, 7), np.arange(n) % 100 + 1)
    for odd in (1, 100):  # one that is unlike all others
        yield np.concatenate([np.full(n - 1, 50), [odd]])


def margins(model, sources):
    """Returns, for each source, how far the right number is ahead of every other, at the worst position."""
    examples = [(" ".join(map(str, source)), " ".join(map(str, np.sort(source)))) for source in sources]
    x, y, weight = model.preprocessor(examples)
    logits = model.predict_on_batch(x)
    right = np.take_along_axis(logits, y[..., None], axis=-1)[..., 0]
    np.put_along_axis(logits, y[..., None], -np.inf, axis=-1)
    return np.where(weight > 0, right - logits.max(axis=-1), np.inf).min(axis=-1)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 20, 100, 200])
def test_every_distribution_is_sorted(model, length):
    for split in SPLITS:
        examples = TASK.examples(split, 32 if length < 100 else 4, length=length)
        assert measure(model, examples)["sequence_accuracy"] == 1, split


@pytest.mark.parametrize("length", [1, 2, 3, 50, 200])
def test_the_margin_is_a_half(model, length):
    assert margins(model, list(hard(length))).min() > 0.4


def test_greedy_decoding(model):
    sources = [source for n in (1, 3, 40) for source in hard(n)]
    outputs = model.generate([" ".join(map(str, source)) for source in sources])
    assert outputs == [" ".join(map(str, np.sort(source))) for source in sources]


def test_the_preset_holds_the_construction(model):
    made = kzoo.models.construct_sorter()
    assert made.get_config() | {"name": ""} == model.get_config() | {"name": ""}
    for name, variable in named_variables(made).items():
        np.testing.assert_array_equal(
            keras.ops.convert_to_numpy(variable.value),
            keras.ops.convert_to_numpy(named_variables(model)[name].value),
            err_msg=name,
        )
    assert model.task_name == made.task_name == "sorter"


def test_other_sizes():
    small = kzoo.models.construct_sorter(largest=5, longest=12)
    assert small.units == 17 and small.task_name is None
    assert small.generate("5 1 5 3 3 3 2 5 1 1 4 4") == "1 1 1 2 3 3 3 4 4 5 5 5"
    with pytest.raises(InputError, match="largest must be an integer from 1"):
        kzoo.models.construct_sorter(largest=0)


@pytest.mark.once
@pytest.mark.parametrize("change", ["epsilon", "closeness", "copies"])
def test_what_the_paper_printed_fails(change):
    """Without what was put right, a number that occurs twice is sorted wrongly: the test above can fail."""
    model = kzoo.models.construct_sorter(largest=9, longest=20)
    weights = sorter_weights(9, 20)
    if change == "epsilon":  # copies weighed 1 against 1/2 for the successor
        name = "blocks.1.attention.projection.kernel"
        weights[name][:9] /= 40
    elif change == "closeness":  # written numbers do not see the delimiter first
        name = "blocks.0.attention.query.kernel"
        weights[name][:9, 9] /= 3
    else:  # B.9 as printed leaves nothing for B.11 to read
        name = "blocks.0.feed_forward.outer.kernel"
        weights[name][:] = 0
    named_variables(model)[name].assign(weights[name])
    assert margins(model, [np.array([2, 1, 2, 1, 3, 3, 3, 3])]).min() < 0


@pytest.mark.once
def test_the_path_of_an_example():
    """The worked example 2 1 2 of the docstring: what each block adds, in the paper's vectors."""
    q = 3
    model = kzoo.models.construct_sorter(largest=q, longest=3)
    e, t, h = np.split(np.eye(3 * q + 2), np.cumsum([q + 1, q + 1]))
    x, _, _ = model.preprocessor([("2 1 2", "1 2 2")])
    first, second = (
        {key: keras.ops.convert_to_numpy(value)[0] for key, value in block.items()} for block in model.trace_blocks(x)
    )
    b = q  # the delimiter's row
    expected = [e[i] + t[i] + h[i] for i in (1, 0, 1)]  # B.5
    expected.append(e[b] + t[b] + h[0])  # B.8: the minimum
    expected += [e[i] + t[b] + h[i] for i in (0, 1)]  # B.6
    np.testing.assert_allclose(first["attended"], expected, atol=0.05)
    np.testing.assert_allclose(first["states"][4:], [e[i] - t[i] + h[i] for i in (0, 1)], atol=0.05)
    # After 1 all copies are out: the successor 2 is left. After 2 one of two copies is to come: 6 (2 - 1) / 3 for it.
    seen = second["states"] @ h.T
    np.testing.assert_allclose(seen[3:], [[1, 0, 0], [0, 0.5, 0], [0, 2, 0]], atol=0.3)


def test_fit_by_default_does_not_lose_the_proof(model):
    data = kzoo.tasks.get("sorter").dataset("train", 32)
    kept = model.get_weights()
    model.evaluate(data, verbose=0)  # which compiles it
    with pytest.raises(InputError, match="constructed.* compile the model with an optimizer of your own$"):
        model.fit(data, verbose=0)
    assert all((a == b).all() for a, b in zip(kept, model.get_weights(), strict=True))
    assert model.generate("5 3 1 4 2") == "1 2 3 4 5"
    trained = kzoo.from_preset("theorem_sorter")
    trained.compile(keras.optimizers.SGD(0.0))
    assert len(trained.fit(data, verbose=0).history["loss"]) == 1
