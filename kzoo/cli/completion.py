"""Completion of the command in a shell, by argcomplete."""

import argparse
import os
from collections.abc import Iterator
from typing import Any

PRESETS = ("preset", "presets")
TASKS = ("task", "tasks")


def complete(parser: argparse.ArgumentParser) -> None:
    """Answers the shell and exits, if it asks; without argcomplete it gets no answer."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        import argcomplete
    except ImportError:
        raise SystemExit(1) from None
    for action in _actions(parser):
        if action.dest in (*PRESETS, "recipes"):
            setattr(action, "completer", _presets)  # noqa: B010 - argcomplete's own attribute
        elif action.dest in TASKS:
            setattr(action, "completer", _tasks)  # noqa: B010
    argcomplete.autocomplete(parser)


def _presets(**told: Any) -> list[str]:
    from kzoo.saving import catalogue

    return catalogue.names_of(*catalogue.KINDS if told["action"].dest == "recipes" else (catalogue.PRESET,))


def _tasks(**told: Any) -> list[str]:
    from kzoo import tasks

    return tasks.names()


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yields every argument of a parser and of those below it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in set(action.choices.values()):
                yield from _actions(below)
        else:
            yield action
