"""A stand-in for a model whose answers are known."""

import numpy as np
import pytest

import kzoo

TASK = kzoo.tasks.get("recopy")


class Oracle:
    """Solves ReCopy, but for sources that begin with one of `wrong`, whose last token before the end it gets wrong."""

    weights = ()
    task_name, preset_name, mechanism = "recopy", "onestep_recopy", "onestep"

    def __init__(self, wrong=""):
        self.wrong = wrong
        self.preprocessor = kzoo.Seq2SeqPreprocessor(TASK.vocabulary)

    def text_preprocessor(self):
        return self.preprocessor

    def predict_on_batch(self, x):
        tokenizer = self.preprocessor.tokenizer
        guesses = np.full(x["decoder_token_ids"].shape, tokenizer.start_id)  # nonsense at pads must not count
        for row, source in zip(guesses, x["encoder_token_ids"].tolist(), strict=True):
            words = tuple(tokenizer.decode(source).split())
            target = self.preprocessor.encode_target(TASK.solve(words))
            if words[0] in self.wrong:
                target[-2] = (target[-2] + 1) % 10
            row[: len(target)] = target
        return np.eye(tokenizer.vocabulary_size, dtype="float32")[guesses]


@pytest.fixture
def oracle():
    """The stand-in: `oracle("01")` gets sources that begin with 0 or 1 wrong."""
    return Oracle
