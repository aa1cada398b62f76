"""The biases of arithmetic attention against their formulas; none ever closes a row."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError
from kzoo.layers.bias.masking_bias import MASKED

ENDS = np.array([[4, 9], [3, 7]], "int32")


def matrix(bias, rows, columns, **arguments):
    return ops.convert_to_numpy(bias(kzoo.layers.BiasInputs(rows, columns, **arguments)))


def opened(bias, rows, columns, **arguments):
    """Returns the open (row, column) pairs of the first example's first head."""
    return set(map(tuple, np.argwhere(matrix(bias, rows, columns, **arguments)[0, 0] > MASKED / 2).tolist()))


@pytest.mark.parametrize("heads", [1, 3, 8])
def test_alibi(heads):
    bias = kzoo.layers.AlibiBias()
    bias.build((None, None, 8), (None, heads, None, 4))
    found = matrix(bias, 4, 6)
    for h, i, j in np.ndindex(heads, 4, 6):
        assert found[0, h, i, j] == pytest.approx(-(2 ** (-8 * (h + 1) / heads)) * abs(i - j), rel=1e-5)
    np.testing.assert_allclose(
        matrix(bias, 1, 6, query_offset=np.array([2, 3], "int32"))[:, :, 0], found[0, :, 2:].swapaxes(0, 1)
    )


@pytest.mark.parametrize("before, after", [(0, 0), (1, 0), (2, 1)])
def test_window_of_a_decoder(before, after):
    bias = kzoo.layers.WindowedBias(before=before, after=after)
    assert opened(bias, 5, 5) == {(i, j) for i, j in np.ndindex(5, 5) if -after <= i - j <= before}


@pytest.mark.parametrize("stride", [1, 3, 9])
def test_a_window_that_stands_twice(stride):
    bias = kzoo.layers.WindowedBias(before=1, stride=stride)
    near = {0, 1, stride, stride + 1}
    assert opened(bias, 8, 8) == {(i, j) for i, j in np.ndindex(8, 8) if i - j in near}
    assert kzoo.layers.WindowedBias.from_config(bias.get_config()).stride == stride


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("before, after", [(0, 0), (1, 1), (0, 1)])
def test_window_of_a_source(step, before, after):
    """As facts have it: with the end symbol at e, row i opens e - step (i + 1) - before .. e - 1 - step i + after."""
    bias = kzoo.layers.WindowedCrossBias(step=step, before=before, after=after)
    found = matrix(bias, 3, 12, source_ends=ENDS) > MASKED / 2
    for row, end in enumerate(ENDS[:, -1]):
        for i, j in np.ndindex(3, 12):
            assert found[row, 0, i, j] == (end - step * (i + 1) - before <= j <= end - 1 - step * i + after)


def test_without_ends_the_last_column_ends_the_source():
    assert opened(kzoo.layers.WindowedCrossBias(before=0, after=0), 3, 5) == {(0, 3), (1, 2), (2, 1)}


def test_a_window_that_left_the_source_is_transparent():
    found = matrix(kzoo.layers.WindowedCrossBias(), 12, 10, source_ends=ENDS[:1])
    assert (found[0, 0, 11:] == 0).all() and (found[0, 0, :8] == MASKED).any(axis=1).all()


def test_lines():
    lines = [[[-1, 0, -1, 0.0], [-1, 1, -1, -0.5]], [[0, 1, -1, -0.25], [1, None, 2, 0.0]], []]
    found = matrix(kzoo.layers.CalibratedBias(lines), 4, 12, source_ends=ENDS)
    expected = np.full((2, 3, 4, 12), MASKED, "float32")
    for row, (first, last) in enumerate(ENDS):
        for i in range(4):
            for column, value, head in ((last - 1, -0.25, 1), (last - 1 - i, -0.5, 0), (first - 1 - i, 0.0, 0)):
                if column >= 0:
                    expected[row, head, i, column] = value
            expected[row, 1, i, 2 + i] = 0.0  # the larger where lines cross
    expected[:, 2] = 0.0  # a head without lines is transparent
    np.testing.assert_array_equal(found, expected)


def test_a_row_that_no_line_crosses_is_transparent():
    found = matrix(kzoo.layers.CalibratedBias([[[1, None, -2, 0.0]]]), 4, 4)[0, 0]
    assert (found[:2] == 0).all() and (found[2:] != 0).sum() == 6


@pytest.mark.parametrize("keys", [10, 3])  # also fewer than there are queries, as in attention to a source
@pytest.mark.parametrize(
    "name", ["windowed", "windowed_cross", "calibrated", "alibi", "shaw", "relative", "gated_relative"]
)
def test_one_query_at_its_offset_is_that_row_of_the_pass(name, keys):
    config = {"lines": [[[1, None, -1, 0.0]], [[-1, 1, 0, -0.5]]]} if name == "calibrated" else {}
    bias = kzoo.registry.get("bias", {"class": name, "config": config})
    bias.build((None, None, 8), (None, 2, None, 4))
    queries = np.random.default_rng(0).normal(size=(2, 2, 5, 4)).astype("float32")
    ends = np.minimum(ENDS, keys - 1)
    about = {"source_ends": ops.convert_to_tensor(ends)} if name in ("windowed_cross", "calibrated") else {}
    states = np.random.default_rng(1).normal(size=(2, 5, 8)).astype("float32")
    all_at_once = {"queries": ops.convert_to_tensor(queries), "states": ops.convert_to_tensor(states)}
    whole = matrix(bias, 5, keys, **all_at_once, **about)
    whole = np.broadcast_to(whole, (2, *whole.shape[1:]))
    offset = np.array([4, 1], "int32")
    own = {"queries": queries[np.arange(2), :, offset][:, :, None], "states": states[np.arange(2), offset][:, None]}
    own = {name: ops.convert_to_tensor(x) for name, x in own.items()}
    one = matrix(bias, 1, keys, query_offset=ops.convert_to_tensor(offset), **own, **about)
    np.testing.assert_allclose(one[:, :, 0], whole[np.arange(2), :, offset], atol=1e-5)


def test_shaw():
    attention = kzoo.layers.MultiHeadAttention(heads=2, bias={"class": "ShawBias", "config": {"longest": 2}})
    attention.build((None, None, 8))
    bias = attention.bias
    queries = np.random.default_rng(0).normal(size=(1, 2, 5, 4)).astype("float32")
    vectors = ops.convert_to_numpy(bias.vectors)
    found = matrix(bias, 5, 6, queries=ops.convert_to_tensor(queries), scale=0.5)
    for n, i, j in np.ndindex(2, 5, 6):
        assert found[0, n, i, j] == pytest.approx(0.5 * queries[0, n, i] @ vectors[np.clip(j - i, -2, 2) + 2], abs=1e-4)
    assert vectors.shape == (5, 4)


CLOSING = {
    "windowed": {"bias": {"class": "WindowedBias", "config": {"before": 0, "after": 0}}},
    "outside": {"bias": {"class": "CalibratedBias", "config": {"lines": [[[1, None, 50, 0.0]], [[0, None, 3, 0.0]]]}}},
}


@pytest.mark.parametrize("name", CLOSING)
def test_weights_are_numbers_even_where_the_mask_closes_what_is_open(name):
    attention = kzoo.layers.MultiHeadAttention(heads=2, **CLOSING[name])
    states = np.random.default_rng(0).normal(size=(2, 4, 8)).astype("float32")
    mask = np.array([[True, True, False, False], [False, True, True, False]])
    weights = ops.convert_to_numpy(attention(states, mask=mask)[1])
    assert np.isfinite(weights).all() and (np.moveaxis(weights, 3, 1)[~mask] == 0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, atol=1e-5)


def test_the_causal_mask_is_kept():
    future = {"class": "CalibratedBias", "config": {"lines": [[[1, None, 1, 0.0]], []]}}
    model = kzoo.models.TransformerSeq2Seq.from_task("successor", units=8, heads=2, self_bias=future)
    x, _, _ = model.preprocessor([("1234", "1235")])
    for trace in model.trace_layers(x):
        assert np.triu(ops.convert_to_numpy(trace["self"])[0], 1).max() == 0


@pytest.mark.parametrize(
    "config, message",
    [
        ({"lines": 3}, "lines must be a list of a list for each head"),
        ({"lines": [[[1, None, 0]]]}, r"a line is \(slope, part, offset, value\)"),
        ({"lines": [[[2, None, 0, 0.0]]]}, "the slope of a line must be an integer from -1 to 1"),
        ({"lines": [[[1, None, 0, float("nan")]]]}, "the value of a line must be a number"),
    ],
)
def test_wrong_lines(config, message):
    with pytest.raises(InputError, match=message):
        kzoo.layers.CalibratedBias(**config)


def test_lines_that_do_not_fit():
    bias = {"class": "CalibratedBias", "config": {"lines": [[[0, 1, 0, 0.0]]]}}
    with pytest.raises(InputError, match="lines for 1 heads, but the attention has 2"):
        kzoo.layers.MultiHeadAttention(heads=2, bias=bias)(np.ones((1, 3, 4), "float32"))
    with pytest.raises(InputError, match="a line ends at part 1 of a source that has 1"):
        matrix(kzoo.layers.CalibratedBias([[[0, 1, 0, 0.0]]]), 3, 3)


def test_cyclic_positions():
    zeros, ends = np.zeros((2, 10, 6), "float32"), ops.convert_to_tensor(ENDS)
    plain = kzoo.layers.SinusoidalEncoding(dropout=0.0)
    whole = ops.convert_to_numpy(plain(zeros))
    for period in (1, 3, 4):
        cyclic = kzoo.layers.CyclicEncoding(period=period)
        np.testing.assert_allclose(ops.convert_to_numpy(cyclic(zeros)), whole[:, np.arange(10) % period], atol=1e-6)
        back = ops.convert_to_numpy(cyclic(zeros, source_ends=ends))
        for row, end in enumerate(ENDS[:, -1]):
            np.testing.assert_allclose(back[row], whole[row, (end - np.arange(10)) % period], atol=1e-6)


@pytest.mark.parametrize(
    "name, message",
    [
        ("relative", "RelativeBias needs the queries in its BiasInputs"),
        ("direction", "DirectionBias needs the states in its BiasInputs"),
        ("mirrored", "MirroredBias needs the queries in its BiasInputs"),
        ("alibi", "AlibiBias must be built, or called with queries, to know the number of heads"),
    ],
)
def test_what_a_bias_needs_is_asked_for(name, message):
    with pytest.raises(InputError, match=message):
        matrix(kzoo.registry.get("bias", name), 3, 3)


def test_relative_biases_take_one_query_with_an_offset():
    queries = np.ones((2, 2, 3, 4), "float32")
    with pytest.raises(InputError, match="ShawBias takes one query at a time with an offset, not 3"):
        matrix(kzoo.layers.ShawBias(), 3, 5, queries=queries, query_offset=np.array([0, 1]))


def test_lines_are_as_their_formula_says(seed=3):
    """Against every line drawn by itself, with offsets beyond the matrix, two parts and crossing lines."""
    rng = np.random.default_rng(seed)
    parts = (None, 0, 1)
    lines = [
        [
            [
                int(rng.integers(-1, 2)),
                parts[rng.integers(3)],
                int(rng.integers(-15, 15)),
                float(np.float32(-rng.random())),
            ]
            for _ in range(number)
        ]
        for number in (40, 3, 0)
    ]
    rows, columns = np.mgrid[:6, :12]
    expected = np.full((2, 3, 6, 12), MASKED, "float32")
    for row, head in np.ndindex(2, 3):
        for slope, part, offset, value in lines[head]:
            base = 0 if part is None else ENDS[row, part]
            here = columns == base + offset + slope * rows
            expected[row, head] = np.where(
                here, np.maximum(expected[row, head], np.float32(value)), expected[row, head]
            )
    expected = np.where((expected > MASKED / 2).any(axis=-1, keepdims=True), expected, 0.0)
    np.testing.assert_array_equal(matrix(kzoo.layers.CalibratedBias(lines), 6, 12, source_ends=ENDS), expected)


def test_many_lines_cost_little_and_too_many_are_refused():
    lines = [[[slope, None, offset, -0.5] for slope in (-1, 0, 1) for offset in range(-1000, 1000)]]
    bias = kzoo.layers.CalibratedBias(lines)
    assert len(bias.tables()) == 3
    assert (matrix(bias, 4, 4)[0, 0] == -0.5).all()
    with pytest.raises(InputError, match="the heads have at most 10,000 lines, not 12,000"):
        kzoo.layers.CalibratedBias([lines[0] * 2])
