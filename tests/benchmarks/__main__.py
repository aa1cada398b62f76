"""`python -m tests.benchmarks [NAME...]`: times models on one thread of the backend in force; by hand, not a test.

recopy    the preset onestep_recopy: a training step of 32 examples of lengths 5 to 10; greedy decoding of 256 strings
          of length 100, up to 329 symbols each
ctl       the Neural Data Router at the paper's size: a training step of 64 examples of 5 functions (8 columns)
listops   the same for ListOps, 20 steps in training and 24 after: the first call of each, which compiles, 32 columns
devices   a table in Markdown: a training step, and greedy decoding (a classifier's answer), of every family on JAX and
          PyTorch, on the CPU (one thread) and, if there is one, the GPU, in float32 and mixed_bfloat16; with the
          accuracy of those that are presets. Each backend and device in a process of its own; only if it is named
"""

import json
import os
import statistics
import subprocess
import sys
import time

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


def seconds(function):
    """Returns the seconds of one call."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def times(function, repeats):
    """Returns the seconds of each of `repeats` calls, after two calls that compile."""
    return [seconds(function) for _ in range(repeats + 2)][2:]


def tell(what, value):
    import keras

    print(f"{keras.config.backend()}: {what} {value}", flush=True)


def recopy():
    import kzoo
    from kzoo.data.batches import Batches

    task = kzoo.tasks.get("recopy")
    model = kzoo.from_preset("onestep_recopy")
    model.compile(weighted_metrics=None)
    batches = Batches(task.examples("train", 32 * 10), model.preprocessor, 32, seed=0)
    chosen = [batches[i] for i in range(len(batches))]
    for batch in chosen:  # every shape is compiled before the clock runs
        model.train_on_batch(*batch)
    steps = [t for batch in chosen for t in times(lambda batch=batch: model.train_on_batch(*batch), 3)]
    tell("training step, batch 32:", f"{1000 * statistics.median(steps):.1f} ms")
    model = kzoo.from_preset("onestep_recopy")
    examples = task.examples("test", 256, length=100)
    sources = [model.preprocessor.encode_source(e.source) for e in examples]
    longest = max(len(e.target) for e in examples) + 1
    decoding = times(lambda: model.generator.decode(sources, longest), 3)
    tell(f"greedy decoding, 256 sequences, {longest} steps:", f"{statistics.median(decoding):.2f} s")


def ctl():
    import kzoo

    model = paper_model("ndr_ctl_forward_paper")
    batch = model.preprocessor(kzoo.tasks.get("ctl_forward").examples("train", 64, length=5))
    first = seconds(lambda: model.train_on_batch(*batch))
    steps = times(lambda: model.train_on_batch(*batch), 10)
    tell(f"training step, batch 64, {model.count_params():,} parameters:", f"{statistics.median(steps):.3f} s")
    tell("the first step, with compilation:", f"{first:.1f} s")


def listops():
    import kzoo

    model = paper_model("ndr_listops_paper")
    examples = [e for e in kzoo.tasks.get("listops").examples("train", 200) if len(e.source) <= 30][:4]
    batch = model.preprocessor(examples, pad_to=(32, 1))
    tell("first training step, 20 steps of the block:", f"{seconds(lambda: model.train_on_batch(*batch)):.1f} s")
    model = paper_model("ndr_listops_paper")
    tell("first call, 24 steps of the block:", f"{seconds(lambda: model.predict_on_batch(batch[0])):.1f} s")


def paper_model(recipe):
    from kzoo.training.build import build
    from kzoo.training.optimizers import make_optimizer
    from kzoo.training.recipe import load_recipe

    recipe = load_recipe(recipe)
    model = build(recipe)
    model.compile(optimizer=make_optimizer(recipe.stages[-1].optimizer, 1000), weighted_metrics=None)
    return model


# Family: a preset, or a task and arguments of the model; the training batch and its length; the answers and theirs.
FAMILIES = {
    "RecurrentSeq2Seq": ("onestep_recopy", None, 32, 10, 256, 50),
    "TransformerSeq2Seq": ("windowed_addition", None, 32, 5, 256, 30),
    "TransformerDecoder": ("sorter", {"encoding": "sinusoidal"}, 32, 20, 256, 50),
    "TransformerClassifier": ("ctl_forward", {"units": 128, "hidden_units": 256, "heads": 4}, 64, 5, 256, 20),
    "RecurrentClassifier": ("ctl_forward", {"reader": "bidirectional_lstm"}, 64, 5, 256, 20),
    "SequenceTagger": ("s3", {"units": 128}, 64, 40, 256, 80),
}
PLACES = {  # what makes a process use the device
    "cpu": {**ONE_THREAD, "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""},
    "gpu": {},
}
DTYPES = ("float32", "mixed_bfloat16")
NO_GPU = 3


def devices():
    """Prints the table."""
    header = ["family", "backend", "device"]
    header += [f"{what}, {dtype}" for what in ("step ms", "decoding s", "accuracy") for dtype in DTYPES]
    print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}", flush=True)
    for backend in ("jax", "torch"):
        for place, environment in PLACES.items():
            command = [sys.executable, "-m", "tests.benchmarks", "one_device", place]
            variables = {**os.environ, **environment, "KERAS_BACKEND": backend}
            with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as process:
                for line in process.stdout:
                    if line.startswith("{"):
                        row = json.loads(line)
                        cells = [row["family"], backend, row["device"], *row["steps"], *row["decoding"]]
                        print(f"| {' | '.join(map(str, [*cells, *row['accuracy']]))} |", flush=True)
            if process.returncode not in (0, NO_GPU):
                sys.exit(f"{backend} on the {place} failed")


def one_device(place):
    """Prints a row in JSON for each family, on the device of this process."""
    import keras

    if keras.config.backend() == "jax":
        import jax

        found = jax.devices()[0]
        device, is_gpu = found.device_kind, found.platform == "gpu"
    else:
        import torch

        is_gpu = torch.cuda.is_available()
        device = torch.cuda.get_device_name() if is_gpu else "cpu"
    if place == "gpu" and not is_gpu:
        sys.exit(NO_GPU)
    for family in FAMILIES:
        measured = [family_times(family, dtype) for dtype in DTYPES]
        row = dict(zip(("steps", "decoding", "accuracy"), zip(*measured, strict=True), strict=True))
        print(json.dumps({"family": family, "device": device, **row}), flush=True)


def family_times(family, dtype):
    """Returns milliseconds of a training step, seconds of greedy decoding, and the accuracy of a preset or ""."""
    import kzoo

    name, config, batch, short, answers, long = FAMILIES[family]

    def make():
        if config is None:
            return kzoo.from_preset(name, dtype=dtype)
        return getattr(kzoo.models, family).from_task(name, dtype=dtype, **config)

    model = make()
    task = kzoo.tasks.get(model.task_name)
    model.compile(weighted_metrics=None)
    data = model.preprocessor(task.examples("train", batch, length=short))
    step = statistics.median(times(lambda: model.train_on_batch(*data), 5))
    model = make()
    texts = [("" if task.characters else " ").join(e.source) for e in task.examples("test", answers, length=long)]
    decoding = statistics.median(times(lambda: model.generate(texts, max_length=5 * long), 2))
    accuracy = "" if config else f"{kzoo.evaluate(model, lengths=[long], examples=answers)[long]:.3f} at {long}"
    return f"{1000 * step:.1f}", f"{decoding:.2f}", accuracy


BENCHMARKS = {function.__name__: function for function in (recopy, ctl, listops)}


def main():
    if sys.argv[1:2] == ["one_device"]:
        return one_device(sys.argv[2])
    if sys.argv[1:] == ["devices"]:
        return devices()
    names = sys.argv[1:] or list(BENCHMARKS)
    if not set(names) <= set(BENCHMARKS):
        sys.exit(f"benchmarks are {', '.join(BENCHMARKS)} and devices, not {' '.join(names)}")
    os.environ.update(ONE_THREAD)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for name in names:
        BENCHMARKS[name]()


main()
