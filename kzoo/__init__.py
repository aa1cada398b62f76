"""kzoo: a Keras 3 model zoo for length generalisation.

`import kzoo` loads neither Keras nor a backend; names are imported when first used.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "from_preset": "kzoo.saving.presets_io",
    "save_to_preset": "kzoo.saving.presets_io",
    "list_presets": "kzoo.saving.catalogue",
    "preset_info": "kzoo.saving.catalogue",
    "upload_preset": "kzoo.hub.publish",
    "evaluate": "kzoo.evaluation.evaluate",
    "export": "kzoo.exporting.export",
    "probe": "kzoo.inspection.probe",
    "train": "kzoo.training.train",
    "calibrate": "kzoo.training.calibration",
    "Tokenizer": "kzoo.preprocessing.tokenizer",
    "CalculationPreprocessor": "kzoo.preprocessing.calculation_preprocessor",
    "Seq2SeqPreprocessor": "kzoo.preprocessing.preprocessor",
    "ClassifierPreprocessor": "kzoo.preprocessing.classifier_preprocessor",
    "DecoderPreprocessor": "kzoo.preprocessing.decoder_preprocessor",
}
_MODULES = {
    **{
        name: f"kzoo.{name}"
        for name in ("layers", "tasks", "presets", "models", "training", "evaluation", "inspection")
    },
    "errors": "kzoo.errors",
    "registry": "kzoo.registry",
    "metrics": "kzoo.metrics",
}

__all__ = ["__version__", *_HOMES, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'kzoo' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
