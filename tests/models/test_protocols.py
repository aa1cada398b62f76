"""What a model can do is asked of it in one way."""

import pytest

import kzoo
from kzoo.models import protocols
from kzoo.registry import classes

ABLE = {
    "RecurrentSeq2Seq": {"Generates", "Traces", "TracesAttention"},
    "TransformerSeq2Seq": {"Generates", "Traces", "TracesLayers"},
    "TransformerDecoder": {"Generates", "Traces", "TracesBlocks"},
    "TransformerClassifier": {"Traces", "TracesSteps"},
    "RecurrentClassifier": {"Traces"},
    "SequenceTagger": {"Generates", "Traces"},
}
PROTOCOLS = ("Generates", "Traces", "TracesAttention", "TracesBlocks", "TracesLayers", "TracesSteps")
SMALL = {"units": 4, "embedding_units": 4, "encoder_units": 3, "steps": 2}


@pytest.mark.parametrize("name", sorted(classes("model")))
def test_each_family_has_its_own(name, task_for):
    cls = classes("model")[name]
    sizes = {key: value for key, value in SMALL.items() if key in kzoo.registry.parameters_of(cls)}
    model = cls.from_task(
        task_for(cls), **sizes, **({"heads": 1} if "heads" in kzoo.registry.parameters_of(cls) else {})
    )
    assert isinstance(model, kzoo.models.SequenceModel)
    assert {name for name in PROTOCOLS if isinstance(model, getattr(protocols, name))} == ABLE[name]
    assert isinstance(model, protocols.Generates) == hasattr(model, "generate_step")
    assert list(model.hints) == [] and model.preset_name is None


def test_a_model_of_ones_own_needs_no_base_class():
    class Own:
        preprocessor = task_name = preset_name = None

        def generate(self, inputs, max_length=None):
            return "4"

        def text_preprocessor(self):
            raise NotImplementedError

        def __call__(self, inputs):
            return inputs

        def trace_attention(self, inputs, training=False):
            return inputs, {}

    assert isinstance(Own(), protocols.TracesAttention) and not isinstance(Own(), protocols.TracesLayers)
