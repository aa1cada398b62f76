"""Every mechanism of the five papers, one a file.

Shape letters, once for the project: B batch, T target length, S source length, N heads, D model size, H head size,
V vocabulary size. A mask is True at real tokens; every row is padded on the right.
"""

from typing import TYPE_CHECKING

from kzoo.lazy import attach

if TYPE_CHECKING:
    from kzoo.layers.attention.additive_attention import AdditiveAttention as AdditiveAttention
    from kzoo.layers.attention.attention_cell import AttentionCell as AttentionCell
    from kzoo.layers.attention.content_attention import ContentAttention as ContentAttention
    from kzoo.layers.attention.direction_mix import DirectionMix as DirectionMix
    from kzoo.layers.attention.dubois_location_attention import DuboisLocationAttention as DuboisLocationAttention
    from kzoo.layers.attention.gaussian_attention import GaussianAttention as GaussianAttention
    from kzoo.layers.attention.leaky_clamp import leaky_clamp as leaky_clamp
    from kzoo.layers.attention.location_attention import LocationAttention as LocationAttention
    from kzoo.layers.attention.mix_attention import MixAttention as MixAttention
    from kzoo.layers.attention.monotonic_attention import MonotonicAttention as MonotonicAttention
    from kzoo.layers.attention.multiplicative_attention import MultiplicativeAttention as MultiplicativeAttention
    from kzoo.layers.attention.relative_attention import RelativeAttention as RelativeAttention
    from kzoo.layers.attention.rotary_attention import RotaryAttention as RotaryAttention
    from kzoo.layers.attention.score_attention import ScoreAttention as ScoreAttention
    from kzoo.layers.attention.simple_location_attention import SimpleLocationAttention as SimpleLocationAttention
    from kzoo.layers.attention.sinusoidal_attention import SinusoidalAttention as SinusoidalAttention
    from kzoo.layers.attention.softstair import softstair as softstair
    from kzoo.layers.attention.value_projection import ValueProjection as ValueProjection
    from kzoo.layers.attention.waypoint_attention import WaypointAttention as WaypointAttention
    from kzoo.layers.bias.alibi_bias import AlibiBias as AlibiBias
    from kzoo.layers.bias.attention_bias import AttentionBias as AttentionBias
    from kzoo.layers.bias.bias_inputs import BiasInputs as BiasInputs
    from kzoo.layers.bias.calibrated_bias import CalibratedBias as CalibratedBias
    from kzoo.layers.bias.direction_bias import DirectionBias as DirectionBias
    from kzoo.layers.bias.gated_relative_bias import GatedRelativeBias as GatedRelativeBias
    from kzoo.layers.bias.masking_bias import MaskingBias as MaskingBias
    from kzoo.layers.bias.mirrored_bias import MirroredBias as MirroredBias
    from kzoo.layers.bias.relative_bias import RelativeBias as RelativeBias
    from kzoo.layers.bias.shaw_bias import ShawBias as ShawBias
    from kzoo.layers.bias.windowed_bias import WindowedBias as WindowedBias
    from kzoo.layers.bias.windowed_cross_bias import WindowedCrossBias as WindowedCrossBias
    from kzoo.layers.positions.cyclic_encoding import CyclicEncoding as CyclicEncoding
    from kzoo.layers.positions.rotary_positions import RotaryPositions as RotaryPositions
    from kzoo.layers.positions.sinusoidal_encoding import SinusoidalEncoding as SinusoidalEncoding
    from kzoo.layers.recurrent.attention_decoder import AttentionDecoder as AttentionDecoder
    from kzoo.layers.recurrent.bidirectional_gru import BidirectionalGRU as BidirectionalGRU
    from kzoo.layers.recurrent.bidirectional_lstm_reader import BidirectionalLSTMReader as BidirectionalLSTMReader
    from kzoo.layers.recurrent.boundary_vectors import BoundaryVectors as BoundaryVectors
    from kzoo.layers.recurrent.dnc_reader import DNCReader as DNCReader
    from kzoo.layers.recurrent.lstm_reader import LSTMReader as LSTMReader
    from kzoo.layers.transformer.adaptive_computation import AdaptiveComputation as AdaptiveComputation
    from kzoo.layers.transformer.copy_gate import CopyGate as CopyGate
    from kzoo.layers.transformer.decoder_block import DecoderBlock as DecoderBlock
    from kzoo.layers.transformer.feed_forward import FeedForward as FeedForward
    from kzoo.layers.transformer.multi_head_attention import MultiHeadAttention as MultiHeadAttention
    from kzoo.layers.transformer.shared_depth import SharedDepth as SharedDepth
    from kzoo.layers.transformer.transformer_block import TransformerBlock as TransformerBlock
    from kzoo.layers.weighting.geometric_weighting import GeometricWeighting as GeometricWeighting
    from kzoo.layers.weighting.softmax_weighting import SoftmaxWeighting as SoftmaxWeighting
    from kzoo.layers.weighting.tempered_weighting import TemperedWeighting as TemperedWeighting
else:
    __getattr__, __dir__, __all__ = attach(__name__, keras=True)
