"""Shared by the tests of all layers."""

import keras
import pytest


@pytest.fixture(scope="module")
def quick_compiler():
    """On JAX, compiles fast, not well: for hundreds of small functions that run a few times each."""
    if keras.config.backend() != "jax":
        yield
        return
    import jax

    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
