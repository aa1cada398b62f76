"""Sizes may be NumPy's integers, as where they come from an array."""

import numpy as np
import pytest

import kzoo

SIZES = {
    "TransformerSeq2Seq": ("addition", {"units": 4, "layers": 1, "encoder_layers": 1, "heads": 2, "hidden_units": 3}),
    "TransformerDecoder": ("sorter", {"units": 4, "layers": 1, "heads": 2}),
    "TransformerClassifier": ("arithmetic", {"units": 4, "heads": 2, "steps": 2}),
    "RecurrentClassifier": ("arithmetic", {"units": 4, "embedding_units": 3}),
    "RecurrentSeq2Seq": ("copy", {"encoder_units": 4, "embedding_units": 3}),
    "SequenceTagger": ("s3", {"units": 4, "embedding_units": 3}),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_of_numpy(name):
    task, sizes = SIZES[name]
    cls = getattr(kzoo.models, name)
    model = cls.from_task(task, **{key: np.int64(value) for key, value in sizes.items()})
    assert model.count_params() == cls.from_task(task, **sizes).count_params()
    assert all(type(value) is not np.int64 for value in model.get_config().values())


def test_a_task_that_is_no_name():
    with pytest.raises(kzoo.errors.InputError, match="task must be a name"):
        kzoo.tasks.get([[]])
