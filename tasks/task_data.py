"""The examples of a task as data."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kzoo.tasks.base import Example, Task


class TaskData(Sequence["Example"]):
    """The examples of one split of a task: a sequence that `model.fit` takes as it is.

    Args:
        task: Task.
        examples: sequence of Example.
    """

    def __init__(self, task: "Task", examples: Sequence["Example"]) -> None:
        self.task = task
        self.examples = list(examples)

    def __repr__(self) -> str:
        shown = ", ".join(map(self.task.show, self.examples[:2]))
        more = ", ..." if len(self.examples) > 2 else ""
        return f"<{len(self.examples):,} examples of {self.task.name}: {shown}{more}>"

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self.examples[index]

    def __iter__(self) -> Iterator["Example"]:
        return iter(self.examples)
