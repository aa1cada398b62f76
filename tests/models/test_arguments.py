"""An argument that does not apply is refused in a sentence, and every argument can be seen by an editor."""

import inspect

import keras
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.registry import classes, get, parameters_of

VARIOUS = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def block(**config):
    return get("block", {"class": "ndr", "config": config})


def depth(**config):
    return get("depth", {"class": "shared", "config": {"block": block(), **config}})


def bias():
    return get("bias", "windowed")


REFUSED = {
    "steps of a depth": ("TransformerClassifier", lambda: {"depth": depth(), "steps": 5}, "steps=5 does not apply"),
    "heads of a block": ("TransformerClassifier", lambda: {"block": block(), "heads": 2}, "heads=2 does not apply"),
    "a block beside a depth's": (
        "TransformerClassifier",
        lambda: {"depth": depth(), "block": "rel"},
        "block does not apply: the depth has a block already",
    ),
    "heads beside a depth": (
        "TransformerClassifier",
        lambda: {"depth": depth(), "heads": 2},
        "heads does not apply: the depth has a block already",
    ),
    "a config's block beside another": (
        "TransformerClassifier",
        lambda: {"depth": {"class": "shared", "config": {"block": "rel"}}, "block": "ndr"},
        "block does not apply: the depth has a block already",
    ),
    "heads of a decoder's block": ("TransformerDecoder", lambda: {"block": get("block", "rel"), "heads": 2}, "heads=2"),
    "layers of a DNC": ("RecurrentClassifier", lambda: {"reader": "dnc", "layers": 2}, "DNCReader takes no layers"),
    "units of a reader": (
        "RecurrentClassifier",
        lambda: {"reader": get("reader", {"class": "lstm", "config": {"units": 3}}), "units": 4},
        "units=4 does not apply: the reader has units=3",
    ),
    "a bias of no encoder": (
        "TransformerSeq2Seq",
        lambda: {"encoder_bias": bias(), "encoder_layers": 0},
        "encoder_bias does not apply: there are no encoder layers",
    ),
    "a layout": ("RecurrentSeq2Seq", lambda: {"layout": {"digits": 3}}, "unknown layout of a RecurrentSeq2Seq"),
    "an argument of a part": ("TransformerSeq2Seq", lambda: {"weighting": "ssmax"}, "is an argument of MultiHeadAtt"),
    "an unknown argument": ("TransformerSeq2Seq", lambda: {"haeds": 2}, "did you mean 'heads' or"),
}


@pytest.mark.once
@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_apply_is_refused(what, task_for):
    name, make, sentence = REFUSED[what]
    cls = classes("model")[name]
    with pytest.raises(InputError) as error:
        cls.from_task(task_for(cls), **make())
    assert sentence in str(error.value)


@pytest.mark.once
@pytest.mark.parametrize("name", sorted(classes("model")))
def test_an_unknown_argument_of_a_constructor_is_refused(name):
    cls = classes("model")[name]
    sizes = {key: 9 for key in cls.task_arguments}
    with pytest.raises(InputError, match="unknown argument .*'haeds'"):
        cls(**sizes, haeds=2)


@pytest.mark.once
def test_what_a_part_says_itself_may_be_said_again():
    model = kzoo.models.TransformerClassifier(9, 3, units=4, block=block(heads=2), heads=2, depth="act", steps=5)
    assert model.encoder.steps == 5 and model.encoder.block.block.attention.heads == 2
    again = kzoo.models.TransformerClassifier(9, 3, units=4, depth=depth(steps=7))
    assert again.encoder.steps == again.inference_steps == 7


@pytest.mark.once
@pytest.mark.parametrize("name", sorted(classes("model")))
def test_a_constructor_has_few_arguments_that_editors_see(name, task_for):
    cls = classes("model")[name]
    _, *parameters = inspect.signature(cls.__init__).parameters.values()
    assert len([parameter for parameter in parameters if parameter.kind not in VARIOUS]) <= 12
    known = {key for key, parameter in parameters_of(cls).items() if parameter.kind not in VARIOUS}
    model = cls.from_task(task_for(cls))
    assert set(model.get_config()) - {"name", "dtype", "trainable"} <= known


def test_pytorch_warns_of_compiling_loops(recwarn):
    model = kzoo.models.RecurrentSeq2Seq.from_task("copy", encoder_units=4)
    model.compile()
    assert not [warning for warning in recwarn if "jit_compile" in str(warning.message)]
    model.compile(jit_compile=True)
    found = [warning for warning in recwarn if "unrolls loops" in str(warning.message)]
    assert len(found) == (keras.config.backend() == "torch")
