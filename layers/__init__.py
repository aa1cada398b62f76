"""Every mechanism of the five papers, and newer ones, one a file.

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
    from kzoo.layers.attention.moving_attention import MovingAttention as MovingAttention
    from kzoo.layers.attention.multiplicative_attention import MultiplicativeAttention as MultiplicativeAttention
    from kzoo.layers.attention.relative_attention import RelativeAttention as RelativeAttention
    from kzoo.layers.attention.rotary_attention import RotaryAttention as RotaryAttention
    from kzoo.layers.attention.score_attention import ScoreAttention as ScoreAttention
    from kzoo.layers.attention.seek_attention import SeekAttention as SeekAttention
    from kzoo.layers.attention.simple_location_attention import SimpleLocationAttention as SimpleLocationAttention
    from kzoo.layers.attention.sinusoidal_attention import SinusoidalAttention as SinusoidalAttention
    from kzoo.layers.attention.softstair import softstair as softstair
    from kzoo.layers.attention.tape_attention import TapeAttention as TapeAttention
    from kzoo.layers.attention.value_projection import ValueProjection as ValueProjection
    from kzoo.layers.attention.waypoint_attention import WaypointAttention as WaypointAttention
    from kzoo.layers.bias.alibi_bias import AlibiBias as AlibiBias
    from kzoo.layers.bias.attention_bias import AttentionBias as AttentionBias
    from kzoo.layers.bias.bias_inputs import BiasInputs as BiasInputs
    from kzoo.layers.bias.calibrated_bias import CalibratedBias as CalibratedBias
    from kzoo.layers.bias.contextual_bias import ContextualBias as ContextualBias
    from kzoo.layers.bias.direction_bias import DirectionBias as DirectionBias
    from kzoo.layers.bias.fire_bias import FireBias as FireBias
    from kzoo.layers.bias.forgetting_bias import ForgettingBias as ForgettingBias
    from kzoo.layers.bias.gated_relative_bias import GatedRelativeBias as GatedRelativeBias
    from kzoo.layers.bias.hard_alibi_bias import HardAlibiBias as HardAlibiBias
    from kzoo.layers.bias.kerple_bias import KerpleBias as KerpleBias
    from kzoo.layers.bias.masking_bias import MaskingBias as MaskingBias
    from kzoo.layers.bias.mirrored_bias import MirroredBias as MirroredBias
    from kzoo.layers.bias.nape_bias import NapeBias as NapeBias
    from kzoo.layers.bias.relative_bias import RelativeBias as RelativeBias
    from kzoo.layers.bias.shaw_bias import ShawBias as ShawBias
    from kzoo.layers.bias.t5_bias import T5Bias as T5Bias
    from kzoo.layers.bias.windowed_bias import WindowedBias as WindowedBias
    from kzoo.layers.bias.windowed_cross_bias import WindowedCrossBias as WindowedCrossBias
    from kzoo.layers.mixers.delta_mixer import DeltaMixer as DeltaMixer
    from kzoo.layers.mixers.mixer import Mixer as Mixer
    from kzoo.layers.positions.abacus_encoding import AbacusEncoding as AbacusEncoding
    from kzoo.layers.positions.coupled_encoding import CoupledEncoding as CoupledEncoding
    from kzoo.layers.positions.cyclic_encoding import CyclicEncoding as CyclicEncoding
    from kzoo.layers.positions.placed_encoding import PlacedEncoding as PlacedEncoding
    from kzoo.layers.positions.randomized_encoding import RandomizedEncoding as RandomizedEncoding
    from kzoo.layers.positions.rotary_positions import RotaryPositions as RotaryPositions
    from kzoo.layers.positions.sinusoidal_encoding import SinusoidalEncoding as SinusoidalEncoding
    from kzoo.layers.recurrent.attention_decoder import AttentionDecoder as AttentionDecoder
    from kzoo.layers.recurrent.beam_tree_reader import BeamTreeReader as BeamTreeReader
    from kzoo.layers.recurrent.bidirectional_gru import BidirectionalGRU as BidirectionalGRU
    from kzoo.layers.recurrent.bidirectional_lstm_reader import BidirectionalLSTMReader as BidirectionalLSTMReader
    from kzoo.layers.recurrent.boundary_vectors import BoundaryVectors as BoundaryVectors
    from kzoo.layers.recurrent.continuous_recursive_reader import ContinuousRecursiveReader as ContinuousRecursiveReader
    from kzoo.layers.recurrent.dnc_reader import DNCReader as DNCReader
    from kzoo.layers.recurrent.gated_recursive_cell import GatedRecursiveCell as GatedRecursiveCell
    from kzoo.layers.recurrent.lstm_reader import LSTMReader as LSTMReader
    from kzoo.layers.recurrent.mixer_reader import MixerReader as MixerReader
    from kzoo.layers.recurrent.neural_gpu_reader import NeuralGPUReader as NeuralGPUReader
    from kzoo.layers.recurrent.pushdown_reader import PushdownReader as PushdownReader
    from kzoo.layers.recurrent.reader import Reader as Reader
    from kzoo.layers.recurrent.recursion_in_recursion_reader import (
        RecursionInRecursionReader as RecursionInRecursionReader,
    )
    from kzoo.layers.recurrent.rewriting_reader import RewritingReader as RewritingReader
    from kzoo.layers.recurrent.second_order_reader import SecondOrderReader as SecondOrderReader
    from kzoo.layers.recurrent.stack_reader import StackReader as StackReader
    from kzoo.layers.recurrent.window_encoder import WindowEncoder as WindowEncoder
    from kzoo.layers.transformer.adaptive_computation import AdaptiveComputation as AdaptiveComputation
    from kzoo.layers.transformer.cached_attention import CachedAttention as CachedAttention
    from kzoo.layers.transformer.canon_attention import CanonAttention as CanonAttention
    from kzoo.layers.transformer.copy_gate import CopyGate as CopyGate
    from kzoo.layers.transformer.counting_attention import CountingAttention as CountingAttention
    from kzoo.layers.transformer.decoder_block import DecoderBlock as DecoderBlock
    from kzoo.layers.transformer.discrete_depth import DiscreteDepth as DiscreteDepth
    from kzoo.layers.transformer.feed_forward import FeedForward as FeedForward
    from kzoo.layers.transformer.looped_depth import LoopedDepth as LoopedDepth
    from kzoo.layers.transformer.multi_head_attention import MultiHeadAttention as MultiHeadAttention
    from kzoo.layers.transformer.noisy_depth import NoisyDepth as NoisyDepth
    from kzoo.layers.transformer.path_attention import PathAttention as PathAttention
    from kzoo.layers.transformer.shared_depth import SharedDepth as SharedDepth
    from kzoo.layers.transformer.transformer_block import TransformerBlock as TransformerBlock
    from kzoo.layers.weighting.adaptive_entmax_weighting import AdaptiveEntmaxWeighting as AdaptiveEntmaxWeighting
    from kzoo.layers.weighting.entmax_weighting import EntmaxWeighting as EntmaxWeighting
    from kzoo.layers.weighting.geometric_weighting import GeometricWeighting as GeometricWeighting
    from kzoo.layers.weighting.scalable_weighting import ScalableWeighting as ScalableWeighting
    from kzoo.layers.weighting.softmax_weighting import SoftmaxWeighting as SoftmaxWeighting
    from kzoo.layers.weighting.stick_breaking_weighting import StickBreakingWeighting as StickBreakingWeighting
    from kzoo.layers.weighting.tempered_weighting import TemperedWeighting as TemperedWeighting
else:
    __getattr__, __dir__, __all__ = attach(__name__, keras=True)
