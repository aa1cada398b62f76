"""Positions counted from the delimiter, on both sides of it."""

import numpy as np
from keras import ops

import kzoo

KEYS, QUERIES, LONGEST = 12, 12, 2
ENDS = np.array([[5], [3]], "int32")


def built():
    bias = kzoo.layers.MirroredBias(longest=LONGEST)
    bias.build((None, None, 8), (None, 2, None, 4))
    return bias, np.random.default_rng(0).normal(size=(2, 2, QUERIES, 4)).astype("float32")


def of(bias, queries, **about):
    about = {"delimiter": ops.convert_to_tensor(ENDS), "scale": 0.5, **about}
    inputs = kzoo.layers.BiasInputs(queries.shape[2], KEYS, queries=ops.convert_to_tensor(queries), **about)
    return ops.convert_to_numpy(bias(inputs))


def test_each_side_is_counted_from_the_delimiter():
    bias, queries = built()
    vectors = ops.convert_to_numpy(bias.vectors).reshape(2, 2, 2 * LONGEST + 1, 4)
    found = of(bias, queries)
    for b, n, i, j in np.ndindex(2, 2, QUERIES, KEYS):
        end = ENDS[b, 0]
        index = [k - end if k >= end else end - 1 - k for k in (i, j)]
        distance = np.clip(index[1] - index[0], -LONGEST, LONGEST) + LONGEST
        expected = 0.5 * queries[b, n, i] @ vectors[int(i >= end), int(j >= end), distance]
        np.testing.assert_allclose(found[b, n, i, j], expected, atol=1e-5)


def test_an_answer_meets_the_same_digits_whatever_the_length():
    bias, queries = built()
    found = of(bias, np.broadcast_to(queries[:1, :, :1], queries.shape))
    # The t-th column from the delimiter on, and the t-th before it: in both rows alike.
    for t in range(3):
        for key in range(3):
            one, other = (found[b, :, end + t, end - 1 - key] for b, end in enumerate(ENDS[:, 0]))
            np.testing.assert_allclose(one, other, atol=1e-5)


def test_one_query_at_its_offset_is_that_row_of_the_pass():
    bias, queries = built()
    offset = np.array([7, 4], "int32")
    own = queries[np.arange(2), :, offset][:, :, None]
    one = of(bias, own, query_offset=ops.convert_to_tensor(offset))
    np.testing.assert_allclose(one[:, :, 0], of(bias, queries)[np.arange(2), :, offset], atol=1e-5)
