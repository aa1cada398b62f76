"""Alignments learned from pairs alone, against the gold attention that they never see."""

import random

import keras
import numpy as np
import pytest

import kzoo
from kzoo.data.alignment import Alignment
from kzoo.errors import InputError
from kzoo.training.alignment.align import align
from kzoo.training.alignment.aligner import Aligner
from kzoo.training.alignment.draws import rows_together
from kzoo.training.alignment.pairs import encode


@pytest.mark.once
@pytest.mark.parametrize("thing", [align, Alignment.read])
def test_docstring_example(run_examples, thing):
    run_examples(thing)


@pytest.mark.parametrize(
    "name, direction",
    [
        pytest.param("copy", "forward", marks=pytest.mark.once),
        pytest.param("lookup", "forward", marks=pytest.mark.once),
        ("reverse_copy", "backward"),
    ],
)
def test_it_agrees_with_gold_attention(name, direction):
    task = kzoo.tasks.get(name)
    examples = task.examples("train", 2000)
    alignment = kzoo.align(examples)
    assert alignment.direction == direction
    assert alignment.log_likelihood == max(alignment.log_likelihoods.values())
    gold = [list(task.gold_attention(example.source))[: len(example.target)] for example in examples]
    assert all(alignment.positions(i).tolist() == places for i, places in enumerate(gold))
    for (source, target), rows in zip(examples, alignment.posteriors, strict=True):
        assert rows.shape == (len(target), len(source) + 1)
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-3)


@pytest.mark.once
@pytest.mark.slow
def test_where_several_positions_explain_a_token_the_walk_does():
    """On posretrieve every position explains ":" and ";": looks are for the digits that they name."""
    task = kzoo.tasks.get("posretrieve")
    examples = task.examples("train", 1000)
    alignment = kzoo.align(examples, steps=200)
    gold = np.concatenate([task.gold_attention(example.source)[: len(example.target)] for example in examples])
    found = np.concatenate([alignment.positions(i) for i in range(len(examples))])
    assert (found == gold).mean() >= 0.99
    assert np.concatenate(alignment.kinds)[2::4, 2].min() > 0.9  # the third of four tokens is looked for elsewhere


@pytest.mark.once
def test_pairs_are_taken_together_as_far_as_memory_suffices():
    short, long = ({"source": np.zeros((4, size)), "target": np.zeros((4, 10))} for size in (50, 500))
    assert rows_together(short, 512) == 512 and 1 < rows_together(long, 512) < 100


def test_the_likelihood_is_a_distribution_over_targets():
    """All targets of a length have probability one together."""
    targets = [(a, b) for a in "xyz" for b in "xyz"]
    arrays = encode([kzoo.tasks.Example(("x", "z", "y"), target) for target in targets], ["x", "y", "z"])
    model = Aligner(3, 4, seed=1)
    total, _, _ = model.posterior({name: keras.ops.convert_to_tensor(value) for name, value in arrays.items()})
    # The first step must move, as the walk is before the source; what the kinds say else is lost there.
    first = keras.ops.convert_to_numpy(keras.ops.softmax(model.kinds))[4, 1]
    reached = 1.0 - np.prod(
        1.0 - 1.0 / (1.0 + np.exp(-keras.ops.convert_to_numpy(model.mark)[[4, 0, 2, 1], [0, 2, 1, 3]]))
    )
    assert 0.5 * first * reached < np.exp(keras.ops.convert_to_numpy(total)).sum() <= first * reached


@pytest.mark.once
def test_the_same_seed_gives_the_same_alignment():
    pairs = [("4 7 9", "9 7 4"), ("1 2", "2 1"), ("5 8 6 3", "3 6 8 5")]
    random.seed(5)
    state = random.getstate()
    first, again, other = (kzoo.align(pairs, seed=seed, steps=20) for seed in (3, 3, 4))
    assert random.getstate() == state
    assert first.log_likelihoods == again.log_likelihoods != other.log_likelihoods
    assert all((a == b).all() for a, b in zip(first.posteriors, again.posteriors, strict=True))


@pytest.mark.once
def test_texts_and_tokens_are_the_same_pairs():
    texts, tokens = [("4 7", "7 4"), ("1", "1")], [(["4", "7"], ("7", "4")), (("1",), ["1"])]
    first, second = (kzoo.align(pairs, steps=3) for pairs in (texts, tokens))
    assert first.log_likelihoods == second.log_likelihoods


@pytest.mark.once
@pytest.mark.parametrize(
    "pairs, sentence",
    [
        ([], "there are no pairs"),
        ("4 7", "pairs must be a list"),
        (None, "pairs must be a list"),
        ([("4", "4"), ("", "4")], "pair 1: the source must have 1 to 500 tokens, not 0"),
        ([("4", "4"), ("4", " ")], "pair 1: the target must have 1 to 500 tokens, not 0"),
        ([("4", "4 " * 501)], "pair 0: the target must have 1 to 500 tokens, not 501"),
        ([("4", "4"), ("4", "4", "4")], "pair 1 must be"),
        ([("4", "4"), "44"], "pair 1 must be"),
        ([("4", ["4"])], "pair 0: source and target must both be texts or both be lists"),
        ([("4", "4"), (["4"], [4])], "pair 1: the target must be a text or a list of tokens"),
        ([(["4 7"], ["4"])], "pair 0: the source must be a text or a list of tokens"),
        ([(4, 7)], "pair 0: the source must be a text or a list of tokens"),
        ([(str(k), "4") for k in range(201)], "pairs may have 200 different tokens to be aligned, not 201"),
    ],
)
def test_bad_pairs_are_told_by_index(pairs, sentence):
    with pytest.raises(InputError, match=sentence):
        kzoo.align(pairs)


@pytest.mark.once
def test_it_can_be_described_and_drawn(tmp_path):
    alignment = kzoo.align([("4 7 9", "4 7 9"), ("1 2", "1 2")], steps=30)
    assert alignment.describe().startswith(f"2 pairs, read {alignment.direction}: log-likelihood -")
    kzoo.inspection.plot_alignment(alignment, 0, tmp_path / "pair.svg")
    assert "source" in (tmp_path / "pair.svg").read_text()
    with pytest.raises(InputError, match="there are pairs 0 to 1, not 2"):
        kzoo.inspection.plot_alignment(alignment, 2, tmp_path / "pair.svg")
