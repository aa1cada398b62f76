"""The errors of kzoo: each carries one clear sentence, what was wrong and what is allowed."""

import difflib
from collections.abc import Iterable


class KzooError(Exception):
    """Base of every error that kzoo raises on purpose; the command line turns it into exit code 2."""

    _keras_call_info_injected = True  # else Keras adds a block about the call to what a layer says

    def __str__(self) -> str:
        # KeyError would print the repr of its message.
        return " ".join(str(arg) for arg in self.args)


class InputError(KzooError, ValueError):
    """An argument, a text or a config value is outside what is allowed."""


class UnknownNameError(KzooError, LookupError):
    """A name is in no registry."""


class PresetError(KzooError, ValueError):
    """A preset folder is missing, incomplete, damaged or does not fit its model."""


class OutputError(KzooError, OSError):
    """A file or folder cannot be written."""


class TrainingError(KzooError, ArithmeticError):
    """A training cannot go on: a loss or a weight is not finite, or a process that draws examples has ended."""


class HubError(KzooError, OSError):
    """The Hugging Face Hub refused what was asked."""


class NotOnHubError(HubError, LookupError):
    """A repository, revision or file is not on the Hub."""


class AccessError(HubError, PermissionError):
    """The Hub wants a token, or another one."""


class UnreachableError(HubError, ConnectionError):
    """The Hub did not answer, or could not; the same may go well later."""


class BackendError(KzooError, ImportError):
    """No Keras backend is installed, or the one in force cannot do what was asked."""


class UnfinishedError(KzooError, NotImplementedError):
    """A class of the user's own lacks a method that its base class calls."""


class OutsideTaskWarning(UserWarning):
    """A text is none of the inputs that a model's task has an answer to, so its output means nothing."""


def lacks(part: object, method: str) -> KzooError:
    """Returns the error of a base class for a method that the class of `part` must have, and has not."""
    return UnfinishedError(f"{type(part).__name__} needs a method {method}, see its base class")


def of_kzoo(error: BaseException | None) -> KzooError | None:
    """Returns the error of kzoo that another one was raised from, as Keras does where a model is built; or None."""
    while error is not None and not isinstance(error, KzooError):
        error = error.__cause__ or error.__context__
    return error


def did_you_mean(what: str, name: object, allowed: Iterable[str]) -> str:
    """Returns the sentence for an unknown name, with the nearest names or all of them.

    Args:
        what: str. The kind of thing, as `"preset"`.
        name: object. What was given.
        allowed: iterable of str. The known names.
    """
    known, given = sorted(allowed), f"{str(name)[:100]!r}"
    close = difflib.get_close_matches(str(name)[:100], known, n=3, cutoff=0.5)
    if close:
        return f"unknown {what} {given}; did you mean {' or '.join(map(repr, close))}?"
    listed = ", ".join(known) or "none"
    return f"unknown {what} {given}; known are: {listed if len(listed) <= 400 else listed[:397] + '...'}"
