"""What examples must be, whoever draws them: a task of one's own is told its mistakes before anything is trained."""

from collections.abc import Collection, Sequence

from kzoo import checks
from kzoo.errors import InputError

ENOUGH = 20  # examples without a target that are no coincidence


def check_example(task: str, example: object, vocabulary: Collection[str]) -> None:
    """Raises `InputError` unless an example is a pair of tuples of tokens, and its source not empty; a target may be a
    list, too.
    """
    if not isinstance(example, tuple) or len(example) != 2:
        raise InputError(f"an example of {task} must be a source and a target, not {checks.short(example)}")
    source, target = example
    for what, tokens, kind in (("source", source, tuple), ("target", target, (tuple, list))):
        of = "" if what == "source" else f"; its source is {checks.short(source)}"
        if not isinstance(tokens, kind):
            raise InputError(f"a {what} of {task} must be a tuple of tokens, not {checks.short(tokens)}{of}")
        for token in tokens:
            if not isinstance(token, str) or token not in vocabulary:
                raise InputError(f"a {what} of {task} has {token!r:.60}, which is not in its vocabulary{of}")
    if not source:
        raise InputError(f"a source of {task} is empty, and must have a token at least")


def check_targets(task: str, targets: Sequence[Sequence[str]]) -> None:
    """Raises `InputError` if none of many targets has a token."""
    if len(targets) >= ENOUGH and not any(targets):
        raise InputError(f"no target of {task} has a token, so that nothing would be learned from its examples")
