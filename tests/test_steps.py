"""A step stays on the device, is compiled once a bucket of lengths, and computes in mixed precision as well."""

import keras
import numpy as np
import pytest

import kzoo
from kzoo.layers.functional import scan
from kzoo.saving.weights import named_variables

BACKEND = keras.config.backend()
SMALL = {"units": 8, "hidden_units": 8}
FAMILIES = {
    "RecurrentSeq2Seq": ("recopy", {"embedding_units": 6, "encoder_units": 5}),
    "TransformerClassifier": ("ctl_forward", {**SMALL, "steps": 2}),
    "RecurrentClassifier": ("ctl_forward", {"units": 6, "embedding_units": 5}),
    "SequenceTagger": ("s3", {"units": 6, "embedding_units": 5}),
    "TransformerSeq2Seq": ("addition", {**SMALL, "layers": 1, "self_bias": "alibi"}),
    "TransformerDecoder": ("sorter", {**SMALL, "layers": 1, "encoding": "sinusoidal"}),
}


def make(family, **options):
    """Returns a small model with the same weights under every dtype policy, and its task."""
    task, config = FAMILIES[family]
    keras.utils.set_random_seed(0)
    model = getattr(kzoo.models, family).from_task(task, **config, **options)
    rng = np.random.default_rng(0)
    for variable in named_variables(model).values():
        variable.assign(rng.normal(0, 0.4, variable.shape).astype("float32"))
    model.compile(weighted_metrics=None)
    return model, kzoo.tasks.get(task)


def round_trips(function):
    """Returns how often a function waits for a number from the device, on PyTorch."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):
        count = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.count += "_local_scalar_dense" in str(func)
            return func(*args, **(kwargs or {}))

    with Watch() as watch:
        function()
    return watch.count


@pytest.mark.parametrize("family", FAMILIES)
def test_a_training_step_does_not_wait_for_the_host(family):
    model, task = make(family)
    x, y, weight = model.preprocessor(task.examples("train", 8, length=4))
    if BACKEND == "torch":
        import torch

        model.train_on_batch(x, y, weight)
        batch = keras.tree.map_structure(torch.as_tensor, (x, y, weight))
        assert round_trips(lambda: model.train_function([batch])) == 0
        assert round_trips(lambda: float(torch.ones(()))) == 1  # it would be seen
    elif BACKEND == "jax":
        import jax

        values = [[v.value for v in found] for found in (model.trainable_variables, model.non_trainable_variables)]
        step = jax.make_jaxpr(lambda *values: model.stateless_call(*values, x, training=True))(*values)
        assert "callback" not in str(step) and "dot_general" in str(step)
    else:
        import tensorflow as tf

        graph = tf.function(lambda: model(x, training=True)).get_concrete_function().graph
        kinds = {node.op for node in graph.as_graph_def().node}
        kinds |= {node.op for part in graph.as_graph_def().library.function for node in part.node_def}
        assert not any("PyFunc" in kind for kind in kinds) and len(kinds) > 5


def test_greedy_decoding_asks_an_accelerator_seldom(monkeypatch):
    # 40 steps, the end being asked for every 16: also where the loop goes on beyond the end, the output is the same.
    model, _ = make("RecurrentSeq2Seq")
    expected = model.generate(["4 7 9 8", "1"], max_length=20)
    if BACKEND == "torch":
        monkeypatch.setattr(scan, "STRIDE", 16)
        plain = keras.tree.flatten

        class Elsewhere:
            device = type("device", (), {"type": "cuda"})

        monkeypatch.setattr(scan.keras.tree, "flatten", lambda state: [Elsewhere, *plain(state)[1:]])
        found = []
        trips = round_trips(lambda: found.extend(model.generate(["4 7 9 8", "1"], max_length=20)))
        assert trips <= 4 and found == expected
    else:  # the loop is in what is compiled, its condition too
        calls = []
        plain = model.generator.greedy
        model.generator.compiled = None
        model.generator.greedy = lambda *arguments: calls.append(0) or plain(*arguments)
        assert model.generate(["4 7 9 8", "1"], max_length=20) == expected and len(calls) == 1


def test_lengths_of_one_bucket_are_compiled_once(monkeypatch):
    model, task = make("RecurrentSeq2Seq")
    shapes, plain = [], model.generator.greedy

    def greedy(inputs, length):
        shapes.append((tuple(inputs["encoder_token_ids"].shape), int(length)))
        return plain(inputs, length)

    model.generator.greedy = greedy
    for length in range(1, 17):
        model.generate(" ".join("1234567890123456"[:length]), max_length=length)
    assert len(set(shapes)) == 2  # 8 and 16 columns
    assert len(shapes) == (16 if BACKEND == "torch" else 2)  # PyTorch compiles nothing

    calls, call = [], model.call
    monkeypatch.setattr(model, "call", lambda *arguments, **options: calls.append(0) or call(*arguments, **options))
    counts = []
    for length in (1, 2, 3):  # all of one bucket
        batch = model.preprocessor(task.examples("train", 8, length=length), pad_to=model.preprocessor.shape(3, 15))
        model.train_on_batch(*batch)
        counts.append(len(calls))
    assert counts[0] >= 1 and np.diff(counts).tolist() == ([1, 1] if BACKEND == "torch" else [0, 0])


@pytest.mark.parametrize("family", [name for name in FAMILIES if name.endswith("Classifier")])
def test_a_classifier_trains_and_answers_in_mixed_precision(family):
    model, task = make(family, dtype="mixed_bfloat16", dropout=0.0)
    assert model.compute_dtype == "bfloat16" and {v.dtype for v in model.weights} == {"float32"}
    data = model.preprocessor(task.examples("train", 16, length=4))
    model.compile(keras.optimizers.Adam(1e-2), weighted_metrics=None)
    losses = [float(model.train_on_batch(*data)) for _ in range(20)]  # gates are dropped at random all the same
    assert np.isfinite(losses).all() and np.mean(losses[-5:]) < np.mean(losses[:5])
    assert model.generate(" ".join(task.examples("train", 1, length=4)[0].source)) in task.labels


def test_a_preset_is_as_accurate_in_mixed_precision():
    rows = kzoo.preset_info("onestep_copy")["results"]["rows"]
    [float32] = [row["value"] for row in rows if (row["length"], row["metric"]) == (30, "sequence_accuracy")][:1]
    report = kzoo.evaluate(kzoo.from_preset("onestep_copy", dtype="mixed_bfloat16"), lengths=[30], examples=50)
    assert {row["dtype"] for row in report.rows} == {"bfloat16"} and report[30] >= float32 - 0.04
    with pytest.raises(kzoo.errors.InputError, match="unknown dtype 'bfloat15'"):
        kzoo.from_preset("onestep_copy", dtype="bfloat15")
