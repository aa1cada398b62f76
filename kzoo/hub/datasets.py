"""What is published of a task: its splits as JSON lines, with a card."""

import json
from typing import Any

from kzoo.cards.markdown import plain, table_of
from kzoo.hub.address import Address
from kzoo.hub.model_card import data_card_yaml
from kzoo.tasks import Task

CARD = "README.md"
MOST = 150_000  # lines of a split; more are drawn from the seed in no time, and a file of them is only large
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def json_lines(task: Task, split: str, size: int | None = None, seed: int = 0, length: int | None = None) -> str:
    """Returns examples of a task as lines of JSON with `source` and `target`, as they are typed.

    Args:
        task: Task.
        split: str. One of its splits.
        size: int. How many. Defaults to the split's size.
        seed: int.
        length: int. Only this length. Defaults to the split's.

    Raises:
        InputError: there is no such split or length, or the data of the task are not part of kzoo.
    """
    joint = "" if task.characters else " "
    lines = [
        json.dumps({"source": joint.join(source), "target": joint.join(target)}, ensure_ascii=False)
        for source, target in task.examples(split, size, seed, length)
    ]
    return "".join(f"{line}\n" for line in lines)


def data_files(task: Task, address: Address) -> dict[str, bytes]:
    """Returns the files of a task's data set by their names on the Hub: a file a split, one a test length, a card.

    A split of more than 150,000 examples is there with its first ones; the card says so.

    Args:
        task: Task.
        address: Address. Where it will be.

    Raises:
        InputError: the data of the task are not part of kzoo.
    """
    files = {f"{name}.jsonl": json_lines(task, name, min(own.size, MOST)) for name, own in task.splits.items()}
    for length in task.test_lengths:
        if length is not None:
            files[f"test_{length}.jsonl"] = json_lines(task, "test", length=length)
    counts = {name: text.count("\n") for name, text in files.items()}
    return {CARD: _card(task, address, counts).encode(), **{name: text.encode() for name, text in files.items()}}


def _card(task: Task, address: Address, counts: dict[str, int]) -> str:
    """Returns the card of a data set, with the front matter that tells the Hub which file is which split."""
    splits = [{"split": name.removesuffix(".jsonl"), "path": name} for name in counts]
    fields: dict[str, Any] = {
        "license": "apache-2.0",
        "pretty_name": f"kzoo {task.name}",
        "tags": ["length-generalization", "algorithmic-reasoning", "kzoo"],
        "size_categories": [next((word for size, word in SIZES if sum(counts.values()) < size), "n>1M")],
        "configs": [{"config_name": "default", "data_files": splits}],
    }
    about = plain((type(task).__doc__ or task.name).strip().split("\n")[0])
    rows = [[f"`{name}`", _lengths(task, name), f"{count:,}"] for name, count in counts.items()]
    cut = [name for name, own in task.splits.items() if own.size > MOST]
    more = f" Of {', '.join(cut)} these are the first; `--split NAME` writes all, or `--examples N`." if cut else ""
    source, target = task.examples("train", size=1)[0]
    joint = "" if task.characters else " "
    paper = f"\n\nThe task is from {task.paper}." if task.paper else ""
    return f"""---
{data_card_yaml(**fields)}
---

# {address.name}

{about}

{table_of(["file", f"length ({task.length_unit})", "examples"], rows)}

Each line has a `source` and a `target`, as `{joint.join(source)}` and `{joint.join(target)}`. They are what kzoo's task
`{task.name}` (version {task.version}) gives for seed 0, the same on every machine: `kzoo data {task.name} --split test`
writes them again, and `kzoo.evaluate` measures a model on the test files.{more}{paper}
"""


def _lengths(task: Task, name: str) -> str:
    split, _, length = name.removesuffix(".jsonl").rpartition("_")
    return length if split == "test" and length.isdigit() else "{} to {}".format(*task.splits[name[:-6]].lengths)
