"""What counts as a text, or as several."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kzoo.annotations import Text
from kzoo.errors import InputError

FORMS = "a text, or a list of texts; a text is a string, or the list of its tokens within a list of texts"


def texts_of(inputs: Any) -> list[Text]:
    """Returns the texts of a list, a tuple, an array or an iterator of strings or of lists of tokens.

    Raises:
        InputError: it is anything else.
    """
    if hasattr(inputs, "tolist"):  # an array, a column of a table
        inputs = inputs.tolist()
    if isinstance(inputs, (str, bytes)) or not isinstance(inputs, (Sequence, Iterator)):
        raise InputError(f"inputs must be {FORMS}, not {type(inputs).__name__} {inputs!r:.60}")
    return [_text(item) for item in inputs]


def texts_in(inputs: Any) -> Iterator[Text]:
    """Yields the texts of anything that `texts_of` takes, or of any other iterable, when they are asked for.

    Raises:
        InputError: it is no iterable, or one text; while it is read, an item is no text.
    """
    if isinstance(inputs, (str, bytes, Mapping)) or not isinstance(inputs, Iterable):
        raise InputError(f"inputs must be an iterable of texts, not {type(inputs).__name__} {inputs!r:.60}")
    return map(_text, inputs)


def _text(item: Any) -> Text:
    item = item.tolist() if hasattr(item, "tolist") and not isinstance(item, str) else item
    if isinstance(item, str) or (isinstance(item, (list, tuple)) and all(isinstance(token, str) for token in item)):
        return item
    raise InputError(f"inputs must be {FORMS}; {type(item).__name__} {item!r:.60} is none")
