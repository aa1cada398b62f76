"""Intermediate results as targets."""

import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.preprocessing.intermediate_preprocessor import IntermediatePreprocessor

pytestmark = pytest.mark.once


def test_docstring_example(run_examples):
    run_examples(IntermediatePreprocessor)


def test_each_result_has_its_column_and_class():
    task = kzoo.tasks.get("listops")
    labels = kzoo.ClassifierPreprocessor(task.vocabulary, task.labels, boundaries=False)
    preprocessor = IntermediatePreprocessor(labels, task)
    pairs = [preprocessor.encode(source, task.solve(source.split())) for source in ("[MAX 2 [SM 3 4 ] ]", "[MIN 2 1 ]")]
    within = [[(1, 2), (3, 3), (4, 7), (2, 7), (5, 7), (0, 7), (6, 7)], [(1, 2), (2, 1), (0, 1), (3, 1)]]
    assert [targets for _, targets in pairs] == [[(0, 7), *within[0]], [(0, 1), *within[1]]]
    x, y, weight = preprocessor.arrays(*zip(*pairs, strict=True))
    assert x["columns"].tolist() == [[1, 3, 4, 2, 5, 0, 6], [1, 2, 0, 3, 0, 0, 0]] and x["columns"].dtype == np.int32
    assert y.tolist() == [[7, 2, 3, 7, 7, 7, 7, 7], [1, 2, 1, 1, 1, 0, 0, 0]]
    assert weight.tolist() == [[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0, 0, 0]]


def test_causal_results_follow_from_the_tokens_before_them():
    task = kzoo.tasks.get("listops")
    labels = kzoo.ClassifierPreprocessor(task.vocabulary, task.labels, boundaries=False)
    preprocessor = IntermediatePreprocessor(labels, task, causal=True)
    _, targets = preprocessor.encode("[MAX 2 [SM 3 4 ] ]", "7")
    assert targets == [(0, 7), (1, 2), (3, 3), (4, 7), (5, 7), (6, 7)]
    for name in ("ctl_backward", "lego_value"):
        task = kzoo.tasks.get(name)
        labels = kzoo.ClassifierPreprocessor(task.vocabulary, task.labels)
        preprocessor = IntermediatePreprocessor(labels, task, causal=True)
        with pytest.raises(InputError, match=f"^{name} has no intermediate results that follow from the tokens before"):
            preprocessor.encode(*task.examples("train", 1)[0])


def test_hold_repeats_the_targets():
    task = kzoo.tasks.get("listops")
    labels = kzoo.ClassifierPreprocessor(task.vocabulary, task.labels)
    one, held = IntermediatePreprocessor(labels, task), IntermediatePreprocessor(labels, task, hold=2)
    pairs = [one.encode(source, task.solve(source.split())) for source in ("[MAX 2 [SM 3 4 ] ]", "[MIN 2 1 ]")]
    (x, *once), (more, *twice) = (p.arrays(*zip(*pairs, strict=True)) for p in (one, held))
    assert more.pop("steps_before_last").tolist() == [[0, 1], [0, 1]] and more.keys() == x.keys()
    for array, both in zip(once, twice, strict=True):
        assert both.shape == (2, 2, 8)
        np.testing.assert_array_equal(both, np.stack([array, array], axis=1))


def test_the_answer_alone():
    task = kzoo.tasks.get("ctl_forward")
    labels = kzoo.ClassifierPreprocessor(task.vocabulary, task.labels)
    preprocessor = IntermediatePreprocessor(labels, task, answer_only=True)
    assert preprocessor.encode("101 d a", "011") == (labels.encode_source("101 d a"), [(0, 3)])
