"""Odd arguments of everything public: an answer, or one sentence."""

import contextlib
import io
import os
import random
from collections.abc import Callable
from typing import Any

import kzoo
from kzoo.errors import KzooError
from tests.chaos.forks import DONE, forked
from tests.chaos.inputs import ODD
from tests.chaos.place import Attack, Place, Tried

BATCH = 12  # calls a process
BUILT = [value for value in ODD if not hasattr(value, "__next__")]  # what is empty the second time tells nothing


def functions(place: Place, rng: random.Random) -> Attack:
    """An odd value in place of one argument of a call that would go well."""
    while True:
        place.fresh()
        chosen = [(rng.randrange(10**6), rng.randrange(len(BUILT))) for _ in range(BATCH)]
        ended = forked(lambda chosen=chosen: _try(place, chosen))
        yield Tried(BATCH, ended.value if ended.how == DONE else [f"{chosen}: {ended.value}"])


def _try(place: Place, chosen: list[tuple[int, int]]) -> list[str]:
    os.chdir(place.fresh().parent)
    model, failures = kzoo.from_preset(place.preset), []
    calls = list(_calls(place, model).items())
    for number, index in chosen:
        name, call = calls[number % len(calls)]
        value = BUILT[index]
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                call(value)
        except (KzooError, OSError) as error:
            if "\n" in str(error) or len(str(error)) > 1500:
                failures.append(f"{name} of {value!r:.60}: {error!s:.200}")
        except Exception as error:
            failures.append(f"{name} of {value!r:.60}: {type(error).__name__}: {error!s:.200}")
    return failures


def _calls(place: Place, model: Any) -> dict[str, Callable[[Any], Any]]:
    """Returns functions of one odd value by name."""
    task, preset = kzoo.tasks.get("addition"), place.preset
    decoder, layers = kzoo.models.TransformerSeq2Seq, kzoo.layers
    small = {"units": 4, "heads": 1, "hidden_units": 4, "layers": 1}

    def made(name: str, key: str) -> Callable[[Any], Any]:
        return lambda x: getattr(layers, name)(**{key: x})

    options = ("units", "heads", "layers", "encoding", "position", "self_bias", "cross_bias", "dropout", "norm")
    found: dict[str, Callable[[Any], Any]] = {
        "from_preset": lambda x: kzoo.from_preset(x),
        "from_preset, load_weights": lambda x: kzoo.from_preset(preset, load_weights=x),
        "from_preset, dtype": lambda x: kzoo.from_preset(preset, dtype=x),
        "from_preset, budget": lambda x: kzoo.from_preset(preset, budget=x),
        "preset_info": lambda x: kzoo.preset_info(x),
        "list_presets": lambda x: kzoo.list_presets(supervision=x),
        "tasks.get": lambda x: kzoo.tasks.get(x),
        "examples, split": lambda x: task.examples(x, 2),
        "examples, number": lambda x: task.examples("test", 2 if x is None else x, length=3),
        "examples, seed": lambda x: task.examples("test", 2, seed=x, length=3),
        "examples, length": lambda x: task.examples("test", 2, length=x),
        "from_task": lambda x: decoder.from_task(x, **small),
        "from_task, layout": lambda x: decoder.from_task("addition", layout=x, **small),
        "train": lambda x: kzoo.train(x, place.folder / "none" / "x"),
        "train, output": lambda x: kzoo.train(place.recipe(), None if isinstance(x, str) else x),
        "export, format": lambda x: kzoo.export(model, place.folder / "none.keras", x),
        "export, model": lambda x: kzoo.export(x, place.folder / "none.keras", "keras"),
        "upload_preset": lambda x: kzoo.upload_preset(x, preset, dry_run=True),
        "upload_preset, tag": lambda x: kzoo.upload_preset("hf://a/b", preset, tag=x, dry_run=True),
        "evaluate, model": lambda x: kzoo.evaluate(x, "addition", lengths=[3], examples=2),
        "evaluate, task": lambda x: kzoo.evaluate(model, x, lengths=[3], examples=2),
        "evaluate, metrics": lambda x: kzoo.evaluate(model, lengths=[3], examples=2, metrics=x),
        "evaluate, seed": lambda x: kzoo.evaluate(model, lengths=[3], examples=2, seed=x),
        "evaluate, steps": lambda x: kzoo.evaluate(model, lengths=[3], examples=2, steps=x),
        "evaluate, split": lambda x: kzoo.evaluate(model, lengths=[3], examples=2, split=x),
        "align": lambda x: kzoo.align(x),
        "align_phrases": lambda x: kzoo.align_phrases(x),
        "exchange_words": lambda x: kzoo.exchange_words(x),
        "Tokenizer": lambda x: kzoo.Tokenizer(x),
        "MultiHeadAttention": made("MultiHeadAttention", "heads"),
        "MultiHeadAttention, bias": made("MultiHeadAttention", "bias"),
        "CalibratedBias": made("CalibratedBias", "lines"),
        "LSTMReader, dropout": made("LSTMReader", "dropout"),
        "SharedDepth": made("SharedDepth", "block"),
    }
    found |= {
        f"TransformerSeq2Seq, {key}": lambda x, key=key: decoder.from_task("addition", **{**small, key: x})
        for key in options
    }
    return found
