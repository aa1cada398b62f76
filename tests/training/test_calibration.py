"""Attention bias calibration: planted lines come back, exactly those, and serve at any length."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.training.calibration import find_lines, mean_attention

TWO = ("anti_diagonal", "vertical")
ALL = ("diagonal", "anti_diagonal", "vertical")
ENDS = (8, 16)  # "<start> 0123456 + 0123456 <end>": two operands of seven digits


def planted(*lines, rows=6, columns=17, noise=0.0):
    """Returns the weights of one head whose rows are spread over lines (slope, start)."""
    found = np.random.default_rng(0).uniform(0, noise, (rows, columns)) if noise else np.zeros((rows, columns))
    for slope, start in lines:
        for i in range(rows):
            if 0 <= start + slope * i < columns:
                found[i, start + slope * i] += 1 / len(lines)
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.once
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_planted_lines_come_back_a_head_each(noise):
    heads = [
        planted((-1, 7), noise=noise),
        planted((-1, 15), noise=noise),
        planted((0, 15), noise=noise),
        planted((1, 2), noise=noise),
    ]
    found = find_lines(np.stack(heads), 2.5, ALL, ENDS)
    expected = [[[-1, 0, -1, 0.0]], [[-1, 1, -1, 0.0]], [[0, 1, -1, 0.0]], [[1, None, 2, 0.0]]]
    assert found == expected


@pytest.mark.once
def test_the_mean_of_a_line_that_a_corner_cuts_short_stands_out():
    """Why the average is over all rows: of an anti-diagonal the last weight alone is a diagonal of three weights."""
    head = planted((-1, 7))[None]
    assert find_lines(head, 2.5, ["diagonal"], ENDS) == [[]]
    assert find_lines(head, 2.5, ["diagonal"], ENDS, average="line") == [[[1, None, -3, 0.0]]]


@pytest.mark.once
def test_two_lines_in_one_head_with_the_papers_sizes_and_kappa():
    both = planted((-1, 61), (-1, 123), rows=62, columns=125)
    (found,) = find_lines(both[None], 4.5, ALL, (62, 124))
    assert found == [[-1, 0, -1, 0.0], [-1, 1, -1, 0.0]]
    strong = planted((-1, 61), (-1, 123), (-1, 123), (-1, 123), rows=62, columns=125)
    (found,) = find_lines(strong[None], 4.5, ALL, (62, 124))
    assert [line[:3] for line in found] == [[-1, 1, -1]]  # a quarter of the weight does not pass
    (found,) = find_lines(strong[None], 2.0, ["anti_diagonal"], (62, 124))
    assert found == [[-1, 0, -1, -0.5], [-1, 1, -1, 0.0]]


@pytest.mark.once
def test_a_head_without_pattern_has_no_lines():
    uniform, zero = np.full((1, 6, 17), 1 / 17), np.zeros((1, 6, 17))
    assert find_lines(uniform, 2.0, ["vertical"], ENDS) == [[]]
    assert find_lines(zero, 0.0, ALL, ENDS) == [[]]
    spread = np.random.default_rng(1).dirichlet(np.ones(17) * 20, (1, 6))
    assert find_lines(spread, 4.5, ALL, ENDS) == [[]]


@pytest.mark.once
def test_what_was_written_has_only_lines_that_a_mask_leaves():
    own, before = np.eye(6), np.eye(6, k=-1)
    before[0, 0] = 1.0  # the first row sees nothing but itself
    found = find_lines(np.stack([own, before, (own + before) / 2]), 0.87, ["diagonal"])
    assert found[:2] == [[[1, None, 0, 0.0]], [[1, None, -1, 0.0]]]
    assert [line[2] for line in found[2]] == [-1, 0]
    everything = find_lines(own[None], None, ["diagonal"])
    assert [line[2] for line in everything[0]] == [-5, -4, -3, -2, -1, 0]


def trained(lines, **config):
    """A model whose attention lies on lines, because its biases close everything else."""
    biases = {key: {"class": "CalibratedBias", "config": {"lines": value}} for key, value in lines.items()}
    config = {"units": 8, "heads": len(lines["self_bias"]), "layout": {"digits": 7}, **biases, **config}
    return kzoo.models.TransformerSeq2Seq.from_task("addition", **config)


LINES = {
    "self_bias": [[[1, None, 0, 0.0]], [[1, None, -1, 0.0]]],
    "cross_bias": [[[-1, 0, -1, 0.0]], [[-1, 1, -1, 0.0]]],
}


def test_the_lines_of_a_model_are_found_again():
    """The known pattern of addition: each operand's digit of the place, and what was written last or before."""
    model = trained(LINES)
    attention = mean_attention(model, examples=100)
    assert attention["ends"].tolist() == [8, 16] and attention["cross"].shape == (2, 6, 17)
    assert attention["self"].shape == (2, 6, 6)
    np.testing.assert_allclose(attention["cross"].sum(axis=-1), 1.0, atol=1e-5)
    biases = kzoo.calibrate(model, examples=100, cross_kappa=2.5)
    assert {key: bias["config"]["lines"] for key, bias in biases.items()} == LINES


@pytest.mark.once
def test_the_known_pattern_is_found_in_the_trained_addition_model():
    """Cross-attention along the digit of the place, or the one before it, of each operand; diagonals 0 and -1."""
    biases = kzoo.calibrate("vanilla_addition", examples=100, cross_kappa=2.5, self_kappa=0.5, cross_directions=TWO)
    cross, written = (biases[key]["config"]["lines"] for key in ("cross_bias", "self_bias"))
    assert {line[:3] for head in cross for line in map(tuple, head)} == {
        (-1, part, offset) for part in (0, 1) for offset in (-1, 0)
    }
    assert all(head for head in cross)
    assert {line[:3] for head in written for line in map(tuple, head)} == {(1, None, 0), (1, None, -1)}


def test_the_biases_lead_a_new_model_at_sixty_digits():
    biases = kzoo.calibrate(trained(LINES), examples=100, cross_kappa=2.5)
    new = kzoo.models.TransformerSeq2Seq.from_task("addition", units=8, heads=2, layers=1, **biases)
    example = kzoo.tasks.get("addition").examples("test", 1, length=60)[0]
    x, _, _ = new.preprocessor([(example.source, example.target)])
    first, last = x["encoder_ends"][0]
    assert (first, last) == (62, 124)
    weights = keras.ops.convert_to_numpy(new.trace_layers(x)[0]["cross"])[0]
    for i in range(61):
        assert weights[0, i, first - 1 - i] == pytest.approx(1) and weights[1, i, last - 1 - i] == pytest.approx(1)
    assert np.isfinite(weights).all()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"examples": 99}, "examples must be an integer from 100"),
        ({"examples": 100, "rows": 7}, "rows must be an integer from 1 to 6"),
        ({"examples": 100, "cross_directions": ["diagonals"]}, "did you mean 'diagonal'"),
        ({"examples": 100, "average": "mean"}, "unknown average"),
        ({"examples": 100, "self_kappa": -1}, "kappa must be a number from 0"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(InputError, match=message):
        kzoo.calibrate(trained(LINES), **options)


def test_models_that_cannot_be_calibrated_by():
    recurrent = kzoo.models.RecurrentSeq2Seq.from_task("copy", encoder_units=4)
    with pytest.raises(InputError, match="RecurrentSeq2Seq has no attention to calibrate by"):
        kzoo.calibrate(recurrent)
    model = trained(LINES)
    model.task_name = None
    with pytest.raises(InputError, match="pass task="):
        kzoo.calibrate(model)
