"""The examples in the docstrings of the layers run."""

import inspect

import pytest

from kzoo import registry
from kzoo.discovery import discover

THINGS = discover("kzoo.layers")
EXAMPLES = {name: "```python" in (inspect.getdoc(thing) or "") for name, thing in THINGS.items()}


@pytest.mark.parametrize("name", [name for name, some in EXAMPLES.items() if some])
@pytest.mark.usefixtures("quick_compiler")
def test_example(name, run_examples):
    run_examples(THINGS[name])


def test_every_registered_layer_has_an_example():
    registered = {name for kind in ("attention", "layer") for name in registry.classes(kind)}
    assert registered and {name for name in registered if not EXAMPLES.get(name)} == set()
