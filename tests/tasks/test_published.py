"""The papers' numbers: one form for all tasks, and none beside unlike things."""

import numpy as np
import pytest

from kzoo import tasks
from kzoo.tasks.published import Published, percent

pytestmark = pytest.mark.once
NOT_COMPARABLE = {
    "sorter": {"plain", "tempered", "hinted"},
    "lego": {"plain", "hinted"},
    "ctl_forward": {"transformer", "rel", "geometric"},
    "ctl_backward": {"transformer", "rel", "geometric", "ndr"},
}
MEANS = {"scan": 5, "cfq": 3, "arithmetic": 5, "listops": 5, "ctl_forward": 5, "ctl_backward": 5}


@pytest.mark.parametrize("name", tasks.names())
def test_every_task_has_one_form(name):
    published = tasks.get(name).published
    assert isinstance(published, Published)
    assert set(published.not_comparable) == NOT_COMPARABLE.get(name, set()) <= set(published.accuracy)
    assert published.statistic in ("mean", "median", None) and (published.statistic is None) == (published.runs is None)
    if name in MEANS:
        assert (published.statistic, published.runs) == ("mean", MEANS[name])
    assert all(why and not why.endswith(".") for why in published.not_comparable.values())


def test_there_are_777_cells():
    assert sum(len(row) for name in tasks.names() for row in tasks.get(name).published.accuracy.values()) == 777


def test_a_number_stands_beside_its_like_only():
    recopy, sorter = tasks.get("recopy").published, tasks.get("sorter").published
    assert recopy.number("onestep", 15) == 1.0 and recopy.number("onestep", 16) is None
    assert recopy.number("mine", 15) is None and recopy.number(None, 15) is None
    assert recopy.number("onestep", 15, ["gold attention"]) is None
    assert recopy.why_not("onestep", ["gold attention", "constructed"]) == (
        "ours was trained with gold attention and constructed"
    )
    assert recopy.number("onestep", 15, ["longer inputs"]) == 1.0 and recopy.why_not("onestep", []) is None
    assert recopy.why_not("mine", ["gold attention"]) is None  # there is nothing to compare with
    assert sorter.accuracy["hinted"][100] == 0.926 and sorter.number("hinted", 100) is None
    assert "windows" in sorter.why_not("hinted")


def test_percent():
    assert percent((6, 10), abc=(100, None), rope=(1.3, 0)) == {"abc": {6: 1.0}, "rope": {6: 0.013, 10: 0.0}}
    with pytest.raises(ValueError):
        percent((6, 10), abc=(100,))


@pytest.mark.parametrize("name", tasks.names())
def test_lengths_seen_in_training_have_no_other_examples(name, request):
    task = tasks.get(name, **({"folder": request.getfixturevalue("cfq_json")} if name == "cfq" else {}))
    assert not set(task.seen_lengths) & set(task.test_lengths)
    lists = [split for split in ("train", "validation") if task.seen_lengths and task.pool(split, None) is not None]
    known = {task.key(example) for split in lists for example in task.examples(split)}
    for length in task.seen_lengths:
        test = task.examples("test", 80, length=length)
        # Of a list all are in it; drawn ones may be, and training draws more than there are.
        assert all(task.key(example) in known if lists else task.belongs(example, "train") for example in test)
        rng = np.random.default_rng(0)
        assert lists or len({task.key(task.sample(rng, length)) for _ in range(20_000)}) < 10_001
