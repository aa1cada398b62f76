"""`python -m tests.benchmarks`: times one training step and greedy decoding, on one thread, of the backend in force.

ReCopy, OneStep: a training step of 32 examples of lengths 5 to 10, and 256 sequences of length 100 decoded at once. The
decoded model is the preset, so it writes what it should: up to 329 symbols a sequence. Run by hand; not a test.
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


def times(function, repeats):
    """Returns the seconds of each of `repeats` calls, after two calls that compile."""
    found = []
    for _ in range(repeats + 2):
        started = time.perf_counter()
        function()
        found.append(time.perf_counter() - started)
    return found[2:]


def main():
    os.environ.update(ONE_THREAD)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import keras

    import kzoo
    from kzoo.preprocessing.batches import Batches

    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    task = kzoo.tasks.get("recopy")
    model = kzoo.from_preset("onestep_recopy")
    model.compile(weighted_metrics=None)
    batches = Batches(task.examples("train", 32 * 10), model.preprocessor, 32, seed=0)
    chosen = [batches[i] for i in range(len(batches))]
    for batch in chosen:  # every shape is compiled before the clock runs
        model.train_on_batch(*batch)
    steps = [
        t for batch in chosen for t in times(lambda batch=batch: model.train_on_batch(*batch), max(1, repeats // 10))
    ]

    model = kzoo.from_preset("onestep_recopy")
    sources = [model.preprocessor.encode_source(e.source) for e in task.examples("test", 256, length=100)]
    longest = max(len(e.target) for e in task.examples("test", 256, length=100)) + 1
    decoding = times(lambda: model.generator.decode(sources, longest), max(1, repeats // 10))
    backend = keras.config.backend()
    print(f"{backend}: training step {1000 * statistics.median(steps):.1f} ms, batch 32")
    print(f"{backend}: greedy decoding {statistics.median(decoding):.2f} s, 256 sequences, {longest} steps")


main()
