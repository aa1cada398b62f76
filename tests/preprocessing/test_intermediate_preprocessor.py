"""Intermediate results as targets."""

import numpy as np
import pytest

import kzoo
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
