"""The examples in the docstrings of the layers run."""

import inspect
import re
import textwrap

import numpy as np
import pytest

import kzoo.layers
from kzoo import registry

EXAMPLES = {
    name: re.findall(r"```python\n(.*?)```", inspect.getdoc(thing) or "", re.DOTALL)
    for name, thing in vars(kzoo.layers).items()
    if not name.startswith("_") and getattr(thing, "__module__", "").startswith("kzoo.layers.")
}


@pytest.mark.parametrize("name", [name for name, blocks in EXAMPLES.items() if blocks])
@pytest.mark.usefixtures("quick_compiler")
def test_example(name):
    for block in EXAMPLES[name]:
        exec(textwrap.dedent(block), {"np": np, "kzoo": kzoo})


def test_every_registered_layer_has_an_example():
    registered = {name for kind in ("attention", "layer") for name in registry.classes(kind)}
    assert registered and {name for name in registered if not EXAMPLES.get(name)} == set()
