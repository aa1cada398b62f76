"""kzoo: a Keras 3 model zoo for length generalisation.

`import kzoo` loads neither Keras nor a backend; names are imported when first used.
"""

from typing import TYPE_CHECKING

from kzoo.backend import choose_backend
from kzoo.lazy import attach

__version__ = "0.1.0"

if TYPE_CHECKING:
    from kzoo import annotations as annotations
    from kzoo import data as data
    from kzoo import errors as errors
    from kzoo import evaluation as evaluation
    from kzoo import inspection as inspection
    from kzoo import layers as layers
    from kzoo import metrics as metrics
    from kzoo import models as models
    from kzoo import preprocessing as preprocessing
    from kzoo import presets as presets
    from kzoo import registry as registry
    from kzoo import tasks as tasks
    from kzoo import training as training
    from kzoo.evaluation.evaluate import evaluate as evaluate
    from kzoo.evaluation.stress import stress as stress
    from kzoo.exporting.export import export as export
    from kzoo.hub.publish import upload_preset as upload_preset
    from kzoo.inspection.probe import probe as probe
    from kzoo.preprocessing.calculation_preprocessor import CalculationPreprocessor as CalculationPreprocessor
    from kzoo.preprocessing.classifier_preprocessor import ClassifierPreprocessor as ClassifierPreprocessor
    from kzoo.preprocessing.decoder_preprocessor import DecoderPreprocessor as DecoderPreprocessor
    from kzoo.preprocessing.seq2seq_preprocessor import Seq2SeqPreprocessor as Seq2SeqPreprocessor
    from kzoo.preprocessing.tokenizer import Tokenizer as Tokenizer
    from kzoo.registry import register as register
    from kzoo.saving.catalogue import list_presets as list_presets
    from kzoo.saving.preset import Preset as Preset
    from kzoo.saving.preset import from_preset as from_preset
    from kzoo.saving.preset import preset_info as preset_info
    from kzoo.saving.save import save_to_preset as save_to_preset
    from kzoo.training.alignment.align import align as align
    from kzoo.training.alignment.align_phrases import align_phrases as align_phrases
    from kzoo.training.calibration import calibrate as calibrate
    from kzoo.training.exchange_words import exchange_words as exchange_words
    from kzoo.training.recipe import Recipe as Recipe
    from kzoo.training.recipe import load_recipe as load_recipe
    from kzoo.training.train import train as train
else:
    __getattr__, __dir__, __all__ = attach(__name__, "__version__")

choose_backend()
