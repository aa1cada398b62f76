"""Training on several devices at once."""

import contextlib
from collections.abc import Iterator, Sequence

from kzoo import checks
from kzoo.backend import ensure_backend
from kzoo.errors import BackendError, InputError

LAUNCHERS = {
    "torch": "torchrun, with torch.nn.parallel.DistributedDataParallel around the model",
    "tensorflow": "tf.distribute.MirroredStrategy, in whose scope the model is built and fitted",
}


@contextlib.contextmanager
def data_parallel(devices: int | None, batch_sizes: Sequence[int]) -> Iterator[None]:
    """Lets every step within be shared by several devices: each takes an equal part of the batch, all have all weights.

    By `keras.distribution.DataParallel`, on JAX. A run has the same losses on any number of devices, but for rounding.

    Args:
        devices: int or None. How many of the devices that JAX sees, the first ones. None changes nothing.
        batch_sizes: sequence of int. Examples of a step, in each stage.

    Raises:
        BackendError: the backend is not JAX.
        InputError: there are fewer devices, or the batch cannot be shared equally.
    """
    if devices is None:
        yield
        return
    checks.integer("devices", devices, 1, 4096)
    backend = ensure_backend()
    if backend != "jax":
        raise BackendError(
            f"keras.distribution works on JAX only: on the {backend} backend use its own launcher, {LAUNCHERS[backend]}"
        )
    import keras

    available = keras.distribution.list_devices()
    if devices > len(available):
        raise InputError(f"{devices} devices were asked for, and JAX sees {len(available)}: {', '.join(available)}")
    for batch_size in batch_sizes:
        if batch_size % devices == 0:
            continue
        raise InputError(f"a batch of {batch_size} examples cannot be shared equally by {devices} devices")
    with keras.distribution.DataParallel(devices=available[:devices], auto_shard_dataset=False).scope():
        yield
