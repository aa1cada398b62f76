"""Batches: the order is a function of seed and epoch, no example is lost."""

import numpy as np
import pytest

from kzoo.data.batches import Batches
from kzoo.errors import InputError
from kzoo.preprocessing.seq2seq_preprocessor import Seq2SeqPreprocessor

PREPROCESSOR = Seq2SeqPreprocessor("abcdefghij")
EXAMPLES = [(letter * 1, " ".join(letter * (1 + i))) for i, letter in enumerate("abcdefghij")]


def batches(**options):
    return Batches(EXAMPLES, PREPROCESSOR, **{"batch_size": 4, "seed": 0, **options})


def sources(found):
    return [row[0] for i in range(len(found)) for row in found[i][0]["encoder_token_ids"].tolist()]


def test_every_example_comes_once_an_epoch():
    found = batches()
    assert len(found) == 3
    assert sorted(sources(found)) == list(range(10))


def test_the_order_depends_on_seed_and_epoch_alone():
    found, first = batches(), sources(batches())
    found.on_epoch_end()
    second = sources(found)
    assert first != second != sources(batches(seed=1))
    again = batches()
    again.begin(1)
    assert sources(again) == second
    again.begin(0)
    assert sources(again) == first


def test_no_seed_keeps_the_order():
    found = batches(seed=None)
    found.on_epoch_end()
    assert sources(found) == list(range(10))


def test_a_batch_that_is_not_full_is_dropped_on_request():
    found = batches(drop_remainder=True)
    assert len(found) == 2 and [len(found[i][1]) for i in range(2)] == [4, 4]
    assert len(batches(drop_remainder=True, batch_size=64)) == 1  # but never all examples


@pytest.mark.parametrize("bucketed, lengths", [(True, [8, 16]), (False, [16, 16])])
def test_a_batch_is_padded_to_its_bucket_or_that_of_all(bucketed, lengths):
    found = batches(seed=None, bucketed=bucketed, batch_size=6)
    assert [found[i][1].shape[1] for i in range(2)] == lengths


def test_the_arrays_are_those_of_the_preprocessor():
    x, y, weight = batches(seed=None, bucketed=True)[0]
    expected_x, expected_y, expected_weight = PREPROCESSOR(EXAMPLES[:4], pad_to=(8, 8))
    np.testing.assert_equal((x, y, weight), (expected_x, expected_y, expected_weight))


def test_an_epoch_of_steps_goes_on_where_the_last_one_stopped():
    found, expected = batches(steps=2), []
    for number in range(2):
        whole = batches()
        whole.begin(number)
        expected += sources(whole)
    got = []
    for epoch in range(3):
        found.begin(epoch)
        assert len(found) == 2
        got += sources(found)
    assert got == expected
    found.begin(1)
    assert sources(found) == expected[8 : 8 + 6]  # the short batch of the first pass, then the first of the second


def test_batches_of_like_length_hold_every_example_in_a_random_order():
    examples = [("a " * (1 + i % 5), "b") for i in range(40)]
    found = Batches(examples, PREPROCESSOR, 8, seed=0, sampling="grouped", drop_remainder=True)
    lengths = [found[i][0]["encoder_padding_mask"].sum(axis=1).tolist() for i in range(len(found))]
    assert all(len(set(batch)) == 1 for batch in lengths)
    assert sorted(batch[0] for batch in lengths) == [1, 2, 3, 4, 5]
    order = [batch[0] for batch in lengths]
    orders = [order]
    for _ in range(3):
        found.on_epoch_end()
        orders.append([int(found[i][0]["encoder_padding_mask"][0].sum()) for i in range(len(found))])
    assert len({tuple(o) for o in orders}) > 1


def test_balanced_batches_have_one_length_and_every_length_alike():
    examples = [("a " * (1 + i // 30), "abcdefghij"[i % 10]) for i in range(64)]  # 30, 30 and 4 of a length
    found = Batches(examples, PREPROCESSOR, 8, seed=0, sampling="balanced", steps=12)
    per_length = {1: [], 2: [], 3: []}
    for i in range(len(found)):
        x, y, _ = found[i]
        (length,) = set(x["encoder_padding_mask"].sum(axis=1).tolist())
        assert len(y) == 8
        per_length[length].append(y[:, 0].tolist())
    counts = [len(batches) for batches in per_length.values()]
    assert sum(counts) == 12 and max(counts) - min(counts) <= 2  # of two passes
    assert all(sorted(set(batch)) == [0, 1, 2, 3] for batch in per_length[3])  # all there are, twice


def test_an_epoch_goes_through_few_fresh_examples_again_in_another_order():
    def draw(epoch):
        return [("a " * (1 + i % 3), "abcdefghij"[(i + epoch) % 10]) for i in range(9)]

    found = Batches(draw, PREPROCESSOR, 3, seed=0, sampling="balanced", steps=9)
    found.begin(2)
    passes = [[found[3 * k + i][1].tolist() for i in range(3)] for k in range(3)]
    assert all(sorted(sum(one, [])) == sorted(sum(passes[0], [])) for one in passes)  # all nine, three times
    assert passes[0] != passes[1] != passes[2]
    found.begin(3)
    assert [found[i][1].tolist() for i in range(3)] not in passes  # nor are the orders of epochs the same


def test_balanced_batches_are_full_of_fewer_examples():
    draw = lambda epoch: [("a", "abcdefghij"[i % 10]) for i in range(3 if epoch == 0 else 30)]  # noqa: E731
    found = Batches(draw, PREPROCESSOR, 8, seed=0, drop_remainder=True, sampling="balanced", steps=4)
    for epoch in range(2):
        found.begin(epoch)
        batches = [found[i][1] for i in range(len(found))]
        assert [len(batch) for batch in batches] == [8] * 4
    assert found.batch_size == 8 and found.per_pass == 3


def test_fresh_examples_are_drawn_every_epoch():
    asked = []

    def draw(epoch):
        asked.append(epoch)
        return [("abcdefghij"[epoch], "a")] * 4

    found = Batches(draw, PREPROCESSOR, 4, seed=0, steps=1)
    seen = [sources(found)[0]]
    for _ in range(2):
        found.on_epoch_end()
        seen.append(sources(found)[0])
    assert seen == [0, 1, 2] and asked == [0, 1, 2]
    found.on_epoch_end()  # as Keras does behind the last epoch, too: nothing is drawn for nothing
    assert asked == [0, 1, 2]
    found.begin(1)  # a run that is taken up again
    assert sources(found)[0] == 1 and asked == [0, 1, 2, 1]


def test_no_examples_are_refused():
    with pytest.raises(InputError, match="there are no examples"):
        Batches([], PREPROCESSOR)
