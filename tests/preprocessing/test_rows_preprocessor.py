"""The steps of an algorithm as targets."""

import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.preprocessing import RowsPreprocessor

pytestmark = pytest.mark.once


def made(task, reader="rewriting", **options):
    model = kzoo.models.SequenceTagger.from_task(task, reader=reader, units=4, embedding_units=3, **options)
    return RowsPreprocessor(model.preprocessor, kzoo.tasks.get(task), model.reader)


def test_docstring_example(run_examples):
    run_examples(RowsPreprocessor)


def test_each_row_is_followed_by_the_next():
    rows = made("compute_sqrt")
    pairs = [rows.encode("1011", "11"), rows.encode("1", "1")]
    tokens = ["0", "1", None, "$", *kzoo.tasks.get("compute_sqrt").row_symbols]  # the third is the start symbol
    first, *written, once, again = pairs[0][1]
    assert first == [15] * 5 and once == again and [tokens[i] for i in once] == ["1", "1", "$", "$", "$"]
    of_task = kzoo.tasks.get("compute_sqrt").execution_trace("1011")
    assert [[tokens[i] for i in row] for row in written] == [list(row) for row in of_task]
    x, y, weight = rows.arrays(*zip(*pairs, strict=True), pad_to=rows.shape(5, 7))
    assert x["token_ids"].shape == (2, 8) and x["rows"].shape == y.shape == weight.shape == (2, 8, 8)
    for k, (_, listed) in enumerate(pairs):
        number, columns = len(listed) - 1, len(listed[0])
        np.testing.assert_array_equal(x["rows"][k, :number, :columns], listed[:-1])
        np.testing.assert_array_equal(y[k, :number, :columns], listed[1:])
        assert weight[k].sum() == weight[k, :number, :columns].sum() == number * columns


def test_what_has_no_rows():
    with pytest.raises(InputError, match="^rows are for a RewritingReader, not for a LSTMReader$"):
        made("compute_sqrt", "lstm")
    with pytest.raises(InputError, match="^copy has no execution trace$"):
        made("copy")
    with pytest.raises(InputError, match="^rows are for a model that writes targets into the first columns, in their"):
        made("s3")
    few = {"class": "RewritingReader", "config": {"values": 13}}
    with pytest.raises(InputError, match="^for the rows of compute_sqrt a reader needs at least 16 values, not 13$"):
        made("compute_sqrt", few)
    with pytest.raises(InputError, match="^copy has no execution trace$"):
        kzoo.tasks.get("copy").execution_trace("1 2")
