"""`python -m tests.benchmarks [NAME...]`: times models on one thread of the backend in force; by hand, not a test.

recopy    the preset onestep_recopy: a training step of 32 examples of lengths 5 to 10; greedy decoding of 256 strings
          of length 100, up to 329 symbols each
ctl       the Neural Data Router at the paper's size: a training step of 64 examples of 5 functions (8 columns)
listops   the same for ListOps, 20 steps in training and 24 after: the first call of each, which compiles, 32 columns
"""

import os
import statistics
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
    from kzoo.preprocessing.batches import Batches

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
    from kzoo.training.recipe import load_recipe
    from kzoo.training.train import _optimizer, build

    recipe = load_recipe(recipe)
    model = build(recipe)
    model.compile(optimizer=_optimizer(recipe, 1000), weighted_metrics=None)
    return model


BENCHMARKS = {function.__name__: function for function in (recopy, ctl, listops)}


def main():
    names = sys.argv[1:] or list(BENCHMARKS)
    if not set(names) <= set(BENCHMARKS):
        sys.exit(f"benchmarks are {', '.join(BENCHMARKS)}, not {' '.join(names)}")
    os.environ.update(ONE_THREAD)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for name in names:
        BENCHMARKS[name]()


main()
