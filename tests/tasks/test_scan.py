from collections import Counter

import pytest

from kzoo import tasks
from kzoo.errors import InputError

pytestmark = pytest.mark.once

EXAMPLES = {
    "jump": "I_JUMP",
    "turn left": "I_TURN_LEFT",
    "turn around right": "I_TURN_RIGHT I_TURN_RIGHT I_TURN_RIGHT I_TURN_RIGHT",
    "walk opposite left": "I_TURN_LEFT I_TURN_LEFT I_WALK",
    "look around left": "I_TURN_LEFT I_LOOK I_TURN_LEFT I_LOOK I_TURN_LEFT I_LOOK I_TURN_LEFT I_LOOK",
    "jump thrice and walk": "I_JUMP I_JUMP I_JUMP I_WALK",
    "look after run right twice": "I_TURN_RIGHT I_RUN I_TURN_RIGHT I_RUN I_LOOK",
}


@pytest.fixture(scope="module")
def task():
    return tasks.get("scan")


@pytest.mark.parametrize("command", EXAMPLES)
def test_commands(task, command):
    assert " ".join(task.solve(tuple(command.split()))) == EXAMPLES[command]


def test_each_repetition_is_read_at_a_word_of_its_own(task):
    for command, places in {
        "look after run opposite right twice": (5, 5, 5, 4, 4, 4, 0, 6),
        "walk thrice after turn left": (4, 1, 0, -1, 5),
        "turn around left and walk thrice": (0, 0, 0, 0, 4, 5, 6, 6),
        "walk": (0, 1),
    }.items():
        assert task.gold_attention(tuple(command.split())) == places
    with pytest.raises(InputError, match="scan has no source"):
        task.gold_attention(("walk", "and"))


@pytest.mark.parametrize("command", ["turn", "turn turn", "walk and", "walk twice thrice", "walk and run and jump"])
def test_what_is_no_command_is_refused(task, command):
    with pytest.raises(InputError, match="scan has no source"):
        task.solve(tuple(command.split()))


def test_the_splits_are_the_published_sets(task):
    lists = {split: task.examples(split) for split in task.splits}
    assert {split: len(rows) for split, rows in lists.items()} == {
        "train": 13_070,
        "validation": 3_920,
        "test": 3_920,
        "train_all": 16_990,
    }
    assert len({row.source for rows in lists.values() for row in rows}) == 20_910
    assert sorted(lists["train"] + lists["validation"]) == sorted(lists["train_all"])
    assert set(map(len, (row.target for row in lists["train_all"]))) <= set(range(1, 23))
    lengths = Counter(len(row.target) for row in lists["test"])
    assert sorted(lengths) == [24, 25, 26, 27, 28, 30, 32, 33, 36, 40, 48]
    assert {len(row.source) for row in lists["test"]} == {4, 6, 7, 8, 9}
    train = lists["train_all"]
    assert round(sum(len(row.source) for row in train) / len(train), 1) == 7.0
    assert round(sum(len(row.target) for row in train) / len(train), 1) == 10.8
    words = {word for row in train for side in row for word in side}
    assert words == set(task.vocabulary) and len(words) == 19


def test_lengths(task):
    whole = task.examples("test")
    for length in (24, 48):
        found = task.examples("test", 5000, length=length)
        assert found == [row for row in whole if len(row.target) == length]
    assert task.examples("test", 5000) == whole
    with pytest.raises(InputError, match="no examples of length 23; its lengths are 24, 25, 26, 27, 28, 30, "):
        task.examples("test", 10, length=23)


def test_a_part_is_chosen_by_the_seed(task):
    whole = task.examples("test")
    part = task.examples("test", 100)
    assert len(part) == 100 and set(part) < set(whole) and part == sorted(part, key=whole.index)
    assert task.examples("test", 100, seed=1) != part


def test_published_numbers(task):
    assert task.published.accuracy["mix_onestep"] == {None: 0.2951}
    assert len(task.published.accuracy) == 18


def test_evaluation_gives_one_row_for_the_whole_split(task, monkeypatch):
    from kzoo.evaluation import measure
    from kzoo.evaluation.evaluate import evaluate
    from kzoo.models import RecurrentSeq2Seq

    found = {"sequence_accuracy": 0.5, "token_accuracy": 0.9}
    monkeypatch.setattr(measure, "measure", lambda *args: found)
    model = RecurrentSeq2Seq.from_task(task, attention="onestep")
    model.preset_name, model.mechanism, model.supervision = "onestep_scan", "onestep", []
    report = evaluate(model)
    (row,) = [row for row in report.rows if row["metric"] == "sequence_accuracy"]
    assert (row["length"], row["lengths"], row["n"], row["paper"]) == (None, [24, 48], 3920, 0.1538)
    assert report[None] == 0.5 and '"length": null' in report.to_json()
    assert " 24-48 " in str(report) and " 3,920 " in str(report)
    report = evaluate(model, lengths=[48, None, 24])
    assert [row["n"] for row in report.rows[::2]] == [128, 3920, 336]
    assert [line.split()[0] for line in str(report).splitlines()[2:]] == ["24-48", "24", "48"]
