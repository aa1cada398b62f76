"""A tiny recipe."""

import pytest

CONFIG = {
    "format": 1,
    "task": "recopy",
    "task_version": 1,
    "model": {"class": "RecurrentSeq2Seq", "config": {"embedding_units": 6, "encoder_units": 4}},
    "epochs": 3,
    "batch_size": 16,
    "examples": 64,
    "learning_rate": 0.01,
    "schedule": "cosine",
    "warmup_steps": 4,
    "watch": [3],
    "evaluation": {"lengths": [3, 5], "examples": 8, "seed": 1},
}


@pytest.fixture
def config():
    """A recipe as in recipe.json, which the test may change."""
    return {**CONFIG, "model": {**CONFIG["model"], "config": dict(CONFIG["model"]["config"])}}
