"""Where in a source a tagger is asked."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError
from kzoo.preprocessing import TaggerPreprocessor
from kzoo.tasks import Asked

TOKENS = ("a", "b", "1", "2", ".")
SOURCES = [["a", "1", "b", "2", "b", ".", "a", "."], ["b", "b", "b"], ["1", "2"]]
ASKED = {
    "every token": ({}, [list(range(8)), [0, 1, 2], [0, 1]]),
    "some": ({"asked": "ab"}, [[0, 2, 4, 6], [0, 1, 2], []]),
    "some, the second time": ({"asked": "ab", "repeated": True}, [[4, 6], [1, 2], []]),
    "any, the second time": ({"repeated": True}, [[4, 6, 7], [1, 2], []]),
    "every column": ({"room": 0}, [list(range(8)), [0, 1, 2], [0, 1]]),
    "every column, and one behind": ({"room": 1}, [list(range(9)), [0, 1, 2, 3], [0, 1, 2]]),
    "columns of their own": ({"behind": (0.5, 1)}, [list(range(9, 14)), [4, 5, 6], [3, 4]]),
    "one column of its own": ({"behind": (0, 0)}, [[9], [4], [3]]),
}


@pytest.mark.parametrize("about", ASKED)
def test_the_columns(about):
    arguments, expected = ASKED[about]
    preprocessor = TaggerPreprocessor(TOKENS, **arguments)
    ids = [preprocessor.encode_source(source) for source in SOURCES]
    assert [preprocessor.columns(row) for row in ids] == expected
    token_ids = preprocessor.sources(ids, 14)["token_ids"]
    found = preprocessor.tensors(ops.convert_to_tensor(token_ids))
    asked = ops.convert_to_numpy(preprocessor.are_asked(ops.convert_to_tensor(token_ids)))
    assert [np.flatnonzero(row).tolist() for row in asked] == expected  # pads are never asked
    assert ops.convert_to_numpy(found["limits"]).tolist() == list(map(len, expected))
    assert [preprocessor.steps(row) for row in ids] == list(map(len, expected))
    again = TaggerPreprocessor(**preprocessor.get_config())
    assert again.get_config() == preprocessor.get_config() and again.columns(ids[0]) == expected[0]


@pytest.mark.parametrize("task", ["s3", "a5", "mqar"])
def test_answers_stand_where_the_task_asks(task):
    task = kzoo.tasks.get(task)
    preprocessor, examples = TaggerPreprocessor.from_task(task), task.examples("train", 20)
    x, y, weight = preprocessor(examples, pad_to=(64, 1))
    assert x["token_ids"].shape == y.shape == weight.shape == (20, 64)
    for row, asked, example in zip(y, weight, examples, strict=True):
        assert tuple(preprocessor.tokenizer.tokens[i] for i in row[asked > 0]) == example.target
    if task.name == "mqar":
        for stratum in task.strata:
            preprocessor(task.stratum_examples(stratum, 10, length=5))
        ids = preprocessor.encode_source("k1 v7 k4 v2 k4 . k1 .")
        assert preprocessor.columns(ids) == [4, 6]


def test_a_target_has_one_token_for_each_that_is_asked():
    preprocessor = TaggerPreprocessor(TOKENS, "ab", repeated=True)
    with pytest.raises(InputError, match="the source is asked at 2 tokens, and its target has 1"):
        preprocessor.encode(SOURCES[0], "2")
    with pytest.raises(InputError, match="unknown token 'c'"):
        TaggerPreprocessor(TOKENS, "abc")


@pytest.mark.parametrize(
    "task", ["binary_multiplication", "binary_addition", "compute_sqrt", "stack_manipulation", "sum_operands"]
)
def test_targets_stand_in_the_first_columns(task):
    task = kzoo.tasks.get(task)
    preprocessor = TaggerPreprocessor.from_task(task)
    assert preprocessor.has_end and preprocessor.room == task.target_room
    end = preprocessor.tokenizer.end_id
    for length in range(2, 12):
        sources = [example for example in task.examples("test", 10, length=length)]
        x, y, weight = preprocessor(sources)
        for ids, row, asked, example in zip(x["token_ids"], y, weight, sources, strict=True):
            read = [*preprocessor.tokenizer.encode(example.source), *[end] * task.target_room]
            assert ids[ids != preprocessor.tokenizer.pad_id].tolist() == read
            count = len(example.target) + 1
            assert asked.tolist() == [1.0] * count + [0.0] * (len(asked) - count)
            written = example.target[::-1] if task.reversed_target else example.target
            assert row[:count].tolist() == [*preprocessor.tokenizer.encode(written), end]
            assert preprocessor.tokens(preprocessor.decode(row[:count])) == list(example.target)
    with pytest.raises(InputError, match="with its end symbol the target has 4 tokens, and 2 have a place"):
        TaggerPreprocessor("01", room=0).encode("0 1", "1 1 1")
    for other in ({"asked": "0"}, {"repeated": True}):
        with pytest.raises(InputError, match="room is for a model that is asked at every column"):
            TaggerPreprocessor("01", room=1, **other)
    with pytest.raises(InputError, match="reversed_target needs room"):
        TaggerPreprocessor("01", reversed_target=True)


@pytest.mark.parametrize("task", ["stack_manipulation", "reverse_string", "duplicate_string", "binary_addition"])
def test_targets_stand_behind_the_source(task):
    task = kzoo.tasks.get(task)
    preprocessor = TaggerPreprocessor.from_task(task, behind=True)
    start, end = preprocessor.tokenizer.start_id, preprocessor.tokenizer.end_id
    for length in range(2, 12):
        sources = [example for example in task.examples("test", 10, length=length)]
        x, y, weight = preprocessor(sources)
        for ids, row, asked, example in zip(x["token_ids"], y, weight, sources, strict=True):
            n, count = len(example.source), len(example.target) + 1
            assert ids[:n].tolist() == preprocessor.tokenizer.encode(example.source)
            columns = slice(n + 1, n + 1 + count)
            assert ids[n] == start and set(ids[columns].tolist()) == {end}
            assert asked[columns].all() and asked.sum() == count and row[columns][-1] == end
            assert preprocessor.tokens(preprocessor.decode(row[columns])) == list(example.target)


def test_what_does_not_go_with_columns_behind():
    for other in ({"asked": "0"}, {"repeated": True}):
        with pytest.raises(InputError, match="behind is for a model that is asked at every column"):
            TaggerPreprocessor("01", behind=(1, 0), **other)
    with pytest.raises(InputError, match="leave out room or behind"):
        TaggerPreprocessor("01", behind=(1, 0), room=1)
    with pytest.raises(InputError, match="behind must be a pair of a factor and a number"):
        TaggerPreprocessor("01", behind=3)
    with pytest.raises(InputError, match="behind needs to know how long a target is, and recopy does not say it"):
        kzoo.models.SequenceTagger.from_task("recopy", layout={"behind": True})


def test_a_task_of_ones_own_says_where():
    class Echo(kzoo.tasks.Task):
        name, vocabulary, asked_at = "echo", TOKENS, Asked(("a", "b"))

    assert TaggerPreprocessor.from_task(Echo()).get_config()["asked"] == ["a", "b"]
    with pytest.raises(InputError, match="and recopy does not say at which"):
        kzoo.models.SequenceTagger.from_task("recopy")
