"""Several training seeds as one number: by hand."""

import pytest

from kzoo.evaluation.seeds import Aggregate, aggregate, spoken_spread


def test_no_seed_is_none_and_one_has_no_spread():
    assert aggregate([]) is None
    assert aggregate([0.4]) == Aggregate(0.4, "median", 1) and aggregate([0.4], "mean") == Aggregate(0.4, "mean", 1)


def test_a_mean_has_the_interval_of_student():
    found = aggregate([0.2, 0.3, 0.4], "mean")
    assert (found.value, found.sd, found.runs) == (pytest.approx(0.3), pytest.approx(0.1), 3)
    assert (found.low, found.high) == (
        pytest.approx(0.3 - 4.303 * 0.1 / 3**0.5),
        pytest.approx(0.3 + 4.303 * 0.1 / 3**0.5),
    )
    assert aggregate([0.0, 1.0], "mean").low == 0.0 and aggregate([0.0, 1.0], "mean").high == 1.0
    assert aggregate([0.5] * 40, "mean").low == 0.5


def test_a_median_lies_between_accuracies():
    found = aggregate([0.9, 0.1, 0.5])
    assert (found.value, found.low, found.high, found.sd) == (0.5, 0.1, 0.9, None)
    assert found.coverage == 0.75  # all three above or all three below: 2 / 8
    assert aggregate([0.1, 0.2, 0.3, 0.4, 0.5], "median").coverage == 1 - 2 / 2**5
    six = aggregate([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert (six.value, six.low, six.high, six.coverage) == (pytest.approx(0.35), 0.1, 0.6, 1 - 2 / 2**6)
    ten = aggregate([i / 10 for i in range(10)])
    assert (ten.low, ten.high) == (0.1, 0.8) and ten.coverage == 1 - 2 * 11 / 2**10
    assert 0.95 <= ten.coverage


def test_several_seeds_as_text():
    assert spoken_spread([0.966, 0.799, 0.516], "mean") == "76.0 % ± 22.7"
    assert spoken_spread([0.995, 0.875, 0.997]) == "99.5 % (87.5 % to 99.7 %)"
    assert spoken_spread([1.0, 1.0], "median") == spoken_spread([1.0], "mean") == "100 %" and spoken_spread([]) == ""
