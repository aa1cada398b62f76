"""The tasks: NumPy only. `get("recopy")` gives one; `names()` lists them."""

from kzoo.registry import discover, get as _get, names as _names
from kzoo.tasks.base import Example as Example, Split as Split, Task as Task, TaskData as TaskData


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
