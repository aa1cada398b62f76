"""The models: each composes the mechanisms of `kzoo.layers`, and is an ordinary `keras.Model`."""

from typing import TYPE_CHECKING

from kzoo.lazy import attach

if TYPE_CHECKING:
    from kzoo.models.classifier import Classifier as Classifier
    from kzoo.models.constructed_incrementer import construct_incrementer as construct_incrementer
    from kzoo.models.named_arrays import Trace as Trace
    from kzoo.models.protocols import Generates as Generates
    from kzoo.models.protocols import Traces as Traces
    from kzoo.models.protocols import TracesAttention as TracesAttention
    from kzoo.models.protocols import TracesBlocks as TracesBlocks
    from kzoo.models.protocols import TracesLayers as TracesLayers
    from kzoo.models.protocols import TracesSteps as TracesSteps
    from kzoo.models.recurrent_classifier import RecurrentClassifier as RecurrentClassifier
    from kzoo.models.recurrent_seq2seq import RecurrentSeq2Seq as RecurrentSeq2Seq
    from kzoo.models.sequence_model import SequenceModel as SequenceModel
    from kzoo.models.sequence_tagger import SequenceTagger as SequenceTagger
    from kzoo.models.theorem_sorter import construct_sorter as construct_sorter
    from kzoo.models.transformer_classifier import TransformerClassifier as TransformerClassifier
    from kzoo.models.transformer_decoder import TransformerDecoder as TransformerDecoder
    from kzoo.models.transformer_seq2seq import TransformerSeq2Seq as TransformerSeq2Seq
else:
    __getattr__, __dir__, __all__ = attach(__name__, keras=True)
