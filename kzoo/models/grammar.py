"""Whether a text is one of the inputs that a model was trained for."""

import warnings
from collections.abc import Sequence
from typing import Any

from kzoo import tasks
from kzoo.annotations import Text
from kzoo.errors import InputError, KzooError, OutsideTaskWarning


def check_texts(model: Any, texts: Sequence[Text], strict: bool) -> None:
    """Says so, once, if texts are no sources of the model's task, whose outputs mean nothing; without a task, nothing.

    Args:
        model: a model of kzoo.
        texts: sequence of texts, each a string or a list of tokens.
        strict: bool. Whether to refuse them instead of a warning.

    Raises:
        InputError: `strict`, and one is no source.
    """
    try:
        task = tasks.get(model.task_name)
    except (KzooError, TypeError):  # of another package, or not known
        return
    found: list[str] = []
    others = 0
    for text in texts:
        try:
            task.check_source(tuple(model.text_preprocessor().tokens(text)))
        except InputError as error:
            if found:
                others += 1
            else:
                shown = text if isinstance(text, str) else " ".join(text)
                found.append(f"{shown!r:.60} is no input that {task.name} has an answer to: {error}")
    if found:
        said = found[0] + (f" (nor are {others:,} others)" if others else "")
        if strict:
            raise InputError(said)
        warnings.warn(f"{said}. What is written for it means nothing.", OutsideTaskWarning, stacklevel=3)
