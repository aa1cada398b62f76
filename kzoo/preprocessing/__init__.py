"""From texts and examples to arrays: the only place where start, end and padding symbols are added."""

from typing import TYPE_CHECKING

from kzoo.lazy import attach

if TYPE_CHECKING:
    from kzoo.preprocessing.calculation_preprocessor import CalculationPreprocessor as CalculationPreprocessor
    from kzoo.preprocessing.classifier_preprocessor import ClassifierPreprocessor as ClassifierPreprocessor
    from kzoo.preprocessing.decoder_preprocessor import DecoderPreprocessor as DecoderPreprocessor
    from kzoo.preprocessing.intermediate_preprocessor import IntermediatePreprocessor as IntermediatePreprocessor
    from kzoo.preprocessing.preprocessor import Preprocessor as Preprocessor
    from kzoo.preprocessing.rows_preprocessor import RowsPreprocessor as RowsPreprocessor
    from kzoo.preprocessing.seq2seq_preprocessor import Seq2SeqPreprocessor as Seq2SeqPreprocessor
    from kzoo.preprocessing.supervised_attention import SupervisedAttention as SupervisedAttention
    from kzoo.preprocessing.tagger_preprocessor import TaggerPreprocessor as TaggerPreprocessor
    from kzoo.preprocessing.tokenizer import Tokenizer as Tokenizer
else:
    __getattr__, __dir__, __all__ = attach(__name__)
