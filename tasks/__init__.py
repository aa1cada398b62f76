"""The tasks: NumPy only. `get("recopy")` gives one; `names()` lists them."""

from kzoo.registry import discover
from kzoo.registry import get as _get
from kzoo.registry import names as _names
from kzoo.tasks.base import Example as Example
from kzoo.tasks.base import Split as Split
from kzoo.tasks.base import Task as Task
from kzoo.tasks.base import TaskData as TaskData


def get(name: "str | Task", **config: object) -> Task:
    """Returns the task of that name (or the task itself, if it is one).

    Raises:
        UnknownNameError: no task has that name.
    """
    if isinstance(name, Task):
        return name
    task: Task = _get("task", {"class": name, "config": config})
    return task


def names() -> list[str]:
    """Returns the names of all tasks, sorted."""
    return _names("task")


discover(__name__, __path__)
