"""`kzoo doctor`: backends, versions, devices and the cache."""

import argparse
import importlib.metadata
import os
import sys
from pathlib import Path
from typing import Any

import kzoo
from kzoo.cli.output import print_json
from kzoo.errors import KzooError
from kzoo.saving.catalogue import list_presets
from kzoo.saving.files import expand


def doctor(options: argparse.Namespace) -> int:
    from kzoo.backend import configured, ensure_backend, installed

    packages = ("keras", "numpy", "safetensors", "huggingface-hub", "jax", "torch", "tensorflow", "tensorflow-cpu")
    found: dict[str, Any] = {"kzoo": kzoo.__version__, "python": sys.version.split()[0], "versions": {}}
    for package in packages:
        try:
            found["versions"][package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found["versions"][package] = None
    cache = os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or "~/.cache/huggingface") / "hub"
    found |= {"backends": installed(), "configured": configured(), "presets": len(list_presets())}
    found |= {"cache": str(expand(cache)), "backend": None, "devices": []}
    try:
        found["backend"] = ensure_backend()
        found["devices"] = _devices(found["backend"])
    except KzooError as error:
        found["problem"] = str(error)
    if options.json:
        print_json(found)
    else:
        for key, value in found.items():
            shown = (
                ", ".join(f"{k} {v or 'not installed'}" for k, v in value.items()) if isinstance(value, dict) else value
            )
            print(f"{key:>10}: {', '.join(shown) if isinstance(shown, list) else shown}")
    return 1 if "problem" in found else 0


def _devices(backend: str) -> list[str]:
    if backend == "jax":
        import jax

        return [str(device) for device in jax.devices()]
    if backend == "torch":
        import torch

        count = torch.cuda.device_count()
        return [f"cuda:{i} {torch.cuda.get_device_name(i)}" for i in range(count)] or ["cpu"]
    import tensorflow as tf

    return [device.name for device in tf.config.list_physical_devices()]
