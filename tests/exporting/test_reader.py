"""The text rule in an exported file says what the preprocessor does, for every family, task and layout."""

import inspect
import json

import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.exporting import reader
from kzoo.registry import classes

pytestmark = pytest.mark.once
LAYOUTS = [{}, {"digits": 7}, {"aligned": True}, {"aligned": True, "digits": 6}, {"running": True}, {"behind": True}]
# Where what exists makes no difference to the rule, one task stands for many.
TASKS = ["scan", "recopy", "ctl_forward", "arithmetic", "listops", "addition", "multiplication", "successor", "sorter"]
TASKS += [
    "incrementer",
    "lego",
    "parity",
    "parity_class",
    "two_ahead",
    "count",
    "noisy_lookup",
    "sum_digits",
    "sum_operands",
    "mqar",
    "binary_addition",
]


def cases():
    for name, cls in classes("model").items():
        for task in map(kzoo.tasks.get, TASKS):
            for layout in LAYOUTS:
                try:
                    yield name, task, layout, cls.make_preprocessor(task, **layout)
                except (InputError, TypeError):  # no such layout, or no such task
                    continue


def test_it_says_what_the_preprocessor_does():
    seen = set()
    for name, task, layout, preprocessor in cases():
        tokenizer = preprocessor.tokenizer
        symbols = {"start_id": tokenizer.start_id, "end_id": tokenizer.end_id, "tokens": tokenizer.tokens}
        about = json.loads(json.dumps({**symbols, "text": preprocessor.text_rule()}))
        between = "" if preprocessor.characters else " "
        for example in task.examples("test", 20):
            text, target = between.join(example.source), preprocessor.encode_target(example.target)
            try:
                expected = preprocessor.encode_source(text)
            except InputError:
                break  # what the family cannot read
            assert reader.to_ids(text, about) == expected, (name, task.name, layout, text)
            if name.endswith("Classifier"):
                assert reader.to_text(target[0], about) == example.target[0]
            else:
                assert reader.to_text(target, about) == preprocessor.decode(target)
                if layout.get("running"):
                    written = preprocessor.encode(example.source, example.target)[1]
                    assert reader.to_text(written, about) == "".join(example.target)
        else:
            seen.add((name, task.name, *layout))
    assert {name for name, *_ in seen} == set(classes("model"))
    assert {
        ("TransformerSeq2Seq", task, "aligned")
        for task in ("addition", "multiplication", "sum_digits", "binary_addition")
    } <= seen
    assert {("TransformerSeq2Seq", task, "running") for task in ("addition", "sum_digits", "sum_operands")} <= seen
    assert ("TransformerDecoder", "lego") in seen and ("TransformerClassifier", "arithmetic") in seen


def test_the_readme_shows_it(root):
    code = inspect.getsource(reader).split('"""', 2)[2].strip().replace("  # type: ignore[no-untyped-def]", "")
    assert code in (root / "README.md").read_text()
