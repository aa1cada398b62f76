"""What mkdocstrings loads to read docstrings as the site wants them."""

from typing import Any

from griffe import Extension

from docs.docstrings import rewrite


class Docstrings(Extension):
    """Rewrites every docstring before it is parsed."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = rewrite(obj.docstring.value)
