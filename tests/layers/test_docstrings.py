"""The examples in the docstrings of the layers run."""

import inspect

import pytest

import kzoo.layers
from kzoo import registry

EXAMPLES = {
    name: "```python" in (inspect.getdoc(thing) or "")
    for name, thing in vars(kzoo.layers).items()
    if not name.startswith("_") and getattr(thing, "__module__", "").startswith("kzoo.layers.")
}


@pytest.mark.parametrize("name", [name for name, some in EXAMPLES.items() if some])
@pytest.mark.usefixtures("quick_compiler")
def test_example(name, run_examples):
    run_examples(getattr(kzoo.layers, name))


def test_every_registered_layer_has_an_example():
    registered = {name for kind in ("attention", "layer") for name in registry.classes(kind)}
    assert registered and {name for name in registered if not EXAMPLES.get(name)} == set()
