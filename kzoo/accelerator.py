"""What Keras computes on besides the processor."""

from kzoo.backend import ensure_backend


def accelerator() -> str | None:
    """Returns the name of the accelerator that Keras computes on, as "NVIDIA H200", or None if it has none."""
    backend = ensure_backend()
    if backend == "jax":
        import jax

        device = jax.devices()[0]
        return None if device.platform == "cpu" else str(device.device_kind)
    if backend == "torch":
        import torch

        if torch.cuda.is_available():
            return torch.cuda.get_device_name()
        return "mps" if torch.backends.mps.is_available() else None
    import tensorflow as tf

    found = tf.config.list_physical_devices("GPU")
    return tf.config.experimental.get_device_details(found[0]).get("device_name", "GPU") if found else None
