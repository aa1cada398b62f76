"""Lengths to pad to: few, and fewer where a compiler is slower than an accelerator."""

import pytest

from kzoo.preprocessing import padding

pytestmark = pytest.mark.once


@pytest.fixture
def on(monkeypatch):
    def on(backend, device):
        monkeypatch.setattr(padding, "ensure_backend", lambda: backend)
        monkeypatch.setattr(padding, "accelerator", lambda: device)
        padding._least_step.cache_clear()

    yield on
    padding._least_step.cache_clear()


LENGTHS = (1, 8, 9, 64, 65, 128, 129, 256, 257, 1_000)


@pytest.mark.parametrize(("backend", "device"), [("jax", None), ("torch", None), ("torch", "H100")])
def test_small_steps(on, backend, device):
    on(backend, device)
    assert [padding.bucket(n) for n in LENGTHS] == [8, 8, 16, 64, 72, 128, 144, 256, 288, 1_024]


def test_large_steps_where_jax_computes_on_an_accelerator(on):
    on("jax", "H100")
    assert [padding.bucket(n) for n in LENGTHS] == [32, 32, 32, 64, 96, 128, 160, 256, 288, 1_024]
