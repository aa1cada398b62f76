"""Places of tokens by the papers' examples, and what random draws keep to."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError

PLUS, DELIMITER, END, PAD = 10, 11, 12, 13


def numpy(x):
    return ops.convert_to_numpy(x)


def tokens(*texts):
    ids = {**{str(i): i for i in range(10)}, "+": PLUS, "|": DELIMITER, ".": END, " ": PAD}
    return np.array([[ids[c] for c in text] for text in texts], "int32")


def columns(ids):
    return np.array([[row.tolist().index(DELIMITER)] for row in ids], "int32")


def test_coupled_places():
    encoding = kzoo.layers.CoupledEncoding(longest=30)
    ids = tokens("653+049|0702", "7+12|91.    ")
    places = numpy(encoding.places(ids, ids != PAD, columns(ids)))
    assert places[0].tolist() == [4, 3, 2, 1, 4, 3, 2, 1, 2, 3, 4, 5]  # the paper's example with s = 1
    assert places[1].tolist() == [2, 1, 3, 2, 1, 2, 3, 0, 0, 0, 0, 0]
    started = [numpy(encoding.places(ids, ids != PAD, columns(ids), training=True)) for _ in range(60)]
    shifts = {tuple((found[row] - places[row])[places[row] > 0]) for found in started for row in (0, 1)}
    assert all(len(set(shift)) == 1 for shift in shifts) and len(shifts) > 20
    found = np.array(started)
    assert found[:, 0].max() <= 30 and found[:, 0].min() >= 1  # n is 4: s goes to 26
    assert 22 <= (found[:, 0, 3]).max() <= 26 and (found[:, 1, 7:] == 0).all()


def test_coupled_places_start_where_the_encoding_says():
    ids = tokens("653+049|0702", "7+12|91.    ")
    found = numpy(kzoo.layers.CoupledEncoding(longest=30, start=6).places(ids, ids != PAD, columns(ids)))
    assert found[0].tolist() == [9, 8, 7, 6, 9, 8, 7, 6, 7, 8, 9, 10]  # the paper's example
    assert found[1].tolist() == [7, 6, 8, 7, 6, 7, 8, 0, 0, 0, 0, 0]
    with pytest.raises(InputError, match="start must be"):
        kzoo.layers.CoupledEncoding(longest=30, start=30)


def test_coupled_separators_at_the_end_match_the_end_of_the_answer():
    encoding = kzoo.layers.CoupledEncoding(longest=30, separators="end", start=6)
    ids = tokens("653+049|0702.", "7+12|91.     ", "7|9.         ")
    found = numpy(encoding.places(ids, ids != PAD, columns(ids)))
    assert found[0].tolist() == [9, 8, 7, 10, 9, 8, 7, 6, 7, 8, 9, 10, 0]
    assert found[1].tolist() == [7, 9, 8, 7, 6, 7, 8, 0, 0, 0, 0, 0, 0]
    assert found[2].tolist() == [7, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    drawn = [numpy(encoding.places(ids, ids != PAD, columns(ids), training=True)) for _ in range(60)]
    assert max(found[0].max() for found in drawn) <= 30
    with pytest.raises(InputError, match="unknown separators"):
        kzoo.layers.CoupledEncoding(separators="middle")


def test_coupled_vectors_start_at_right_angles():
    encoding = kzoo.layers.CoupledEncoding(longest=7, deviation=0.5, orthogonal=True)
    encoding.build((None, None, 16))
    vectors = numpy(encoding.vectors)
    assert np.abs(vectors @ vectors.T - 16 * 0.5**2 * np.eye(8)).max() < 1e-5
    wide = kzoo.layers.CoupledEncoding(longest=31, deviation=0.5, orthogonal=True)
    wide.build((None, None, 16))  # more rows than units: entries are as large
    assert abs(numpy(wide.vectors).std() - 0.5) < 0.05
    again = kzoo.layers.CoupledEncoding.from_config(encoding.get_config())
    assert again.orthogonal and not kzoo.layers.CoupledEncoding().orthogonal


def test_coupled_places_of_a_copy_and_beyond_the_table():
    encoding = kzoo.layers.CoupledEncoding(longest=4, source="start")
    ids = tokens("51234|51")
    assert numpy(encoding.places(ids, None, columns(ids)))[0].tolist() == [2, 3, 4, 4, 4, 1, 2, 3]


def test_abacus_places():
    encoding = kzoo.layers.AbacusEncoding(longest=40, shift=10)
    ids = tokens("356+94|207.", "1+2|3.     ")
    places = numpy(encoding.places(ids))
    assert places.tolist() == [[1, 2, 3, 0, 1, 2, 0, 1, 2, 3, 0], [1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]]
    drawn = np.array([numpy(encoding.places(ids, training=True)) for _ in range(60)]) - places
    assert (drawn[:, places == 0] == 0).all() and set(drawn[:, 0, 0]) == set(range(10))
    assert (drawn[:, 0, :3] == drawn[:, 0, :1]).all() and (drawn[:, 0, 0] != drawn[:, 1, 0]).any()


@pytest.mark.parametrize("name", ["CoupledEncoding", "AbacusEncoding"])
def test_vectors_are_added(name):
    encoding = getattr(kzoo.layers, name)()
    encoding.build((None, None, 6))
    x, places = np.random.default_rng(0).normal(size=(2, 3, 6)).astype("float32"), np.array([[0, 5, 7], [1, 1, 9]])
    table = numpy(encoding.vectors)
    np.testing.assert_allclose(numpy(encoding(x, places)), x + table[places], rtol=1e-6)
    one = numpy(encoding(x[:, :1], places, offset=np.array([2, 1])))
    np.testing.assert_allclose(one[:, 0], x[:, 0] + table[[7, 1]], rtol=1e-6)


def test_random_places():
    encoding = kzoo.layers.RandomizedEncoding(limit=50)
    ids, mask = np.zeros((3, 9), "int32"), np.arange(9) < np.array([9, 4, 1])[:, None]
    drawn = np.array([numpy(encoding.places(ids, mask, training=True)) for _ in range(200)])
    assert (np.diff(drawn[:, 0]) > 0).all() and (np.diff(drawn[:, 1, :4]) > 0).all()
    assert len(set(drawn[:, 2, 0])) > 40 and 45 < drawn.max() <= 49  # one token is anywhere
    first = drawn[:, 1, :4].mean(axis=0)  # the order statistics of four of 0 .. 49 without replacement
    np.testing.assert_allclose(first, np.arange(1, 5) * 51 / 5 - 1, atol=2.5)


def test_outside_training_places_are_a_function_of_the_length():
    encoding = kzoo.layers.RandomizedEncoding(limit=50)
    ids, mask = np.zeros((2, 9), "int32"), np.arange(9) < np.array([9, 4])[:, None]
    found = numpy(encoding.places(ids, mask))
    np.testing.assert_array_equal(found, numpy(encoding.places(ids, mask)))
    alone = numpy(encoding.places(ids[:1, :4], mask[1:, :4]))
    np.testing.assert_array_equal(alone[0], found[1, :4])
    with pytest.raises(InputError, match="a sequence of 51 tokens has no places: there are 50"):
        encoding.places(np.zeros((1, 51), "int32"))


@pytest.mark.parametrize(("answer", "tokens"), [((0, 1), 6), ((1, 0), 10), ((0.5, 0), 7), ((0, 0), 6)])
def test_what_a_model_writes_has_the_places_of_a_finished_answer(answer, tokens):
    encoding = kzoo.layers.RandomizedEncoding(limit=50, answer=answer)
    finished = numpy(encoding.places(np.zeros((1, tokens), "int32"), np.ones((1, tokens), bool)))[0]
    for columns in (6, 12):  # five of the source, the delimiter, and room to write
        ids, ends = np.zeros((2, columns), "int32"), np.array([[5], [2]])
        written = numpy(encoding.places(ids, delimiter=ends))
        np.testing.assert_array_equal(written[0, :tokens], finished[:columns])
        assert (np.diff(written[0, :tokens]) > 0).all() and (written[0, tokens:] == 49).all()
        assert not np.array_equal(written[0], written[1])


def test_a_decoder_draws_places_for_the_answers_of_its_task():
    for task, answer in (("bucket_sort", [1, 0]), ("parity_check", [0, 1]), ("copy", [1, 1])):
        model = kzoo.models.TransformerDecoder.from_task(task, units=8, layers=1, encoding="randomized")
        assert model.encoding.answer == answer
        again = type(model).from_config(model.get_config())
        assert again.encoding.answer == answer
    with pytest.raises(InputError, match="answer must be a pair of a factor and a number"):
        kzoo.layers.RandomizedEncoding(answer=3)


@pytest.mark.parametrize("task", ["bucket_sort", "reverse_string", "even_pairs", "copy"])
def test_places_while_writing_are_those_of_training(task):
    model = kzoo.models.TransformerDecoder.from_task(task, units=8, layers=1, encoding="randomized")
    x, _, _ = model.preprocessor(kzoo.tasks.get(task).examples("train", size=4))
    real = x["token_ids"] != model.vocabulary_size - 1
    given, _ = model.places(x["token_ids"])
    known = model.encoding.places(x["token_ids"], real)
    np.testing.assert_array_equal(numpy(given)[real], numpy(known)[real])


def test_blocks_count_by_shared_places_only():
    x = {"token_ids": np.random.default_rng(0).integers(0, 90, (2, 7)).astype("int32")}
    block = {"class": "TransformerBlock", "config": {"attention": {"class": "MultiHeadAttention", "config": {}}}}
    block["config"]["attention"]["config"] = {"bias": "alibi", "heads": 2}
    for name, shared in (("randomized_places", True), ("abacus", False)):
        model = kzoo.models.TransformerDecoder.from_task("sorter", units=8, layers=1, encoding=name, block=block)
        weights = numpy(model.trace_blocks(x)[0]["weights"])
        _, given = model.places(x["token_ids"])
        assert (given is not None) == shared and np.isfinite(weights).all()


def test_a_model_that_has_no_one_sequence_refuses_places():
    with pytest.raises(InputError, match="CoupledEncoding does not apply: source and target are apart here"):
        kzoo.models.TransformerSeq2Seq.from_task("addition", encoding="coupled", units=8)
