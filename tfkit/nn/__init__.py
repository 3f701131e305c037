"""The parts that every architecture is made of.

Letters in shapes: B batch, S/T/L source/target/any length, Q/K query/key length, H heads, E model width, D head width,
V vocabulary. A mask is boolean, True = may attend.
"""

from .attention import MultiHeadAttention, merge_heads, scaled_dot_product_attention, split_heads
from .block_sparse import bigbird_mask
from .cache import Cache, CachedSelfAttention, StaticCache
from .disentangled import disentangled_scores, distance_windows, picked, scores_by_distance
from .dropout import Dropout, dropout
from .dynamic_conv import span_dynamic_conv
from .feed_forward import FeedForward, chunked_feed_forward
from .fused import Attention
from .kernel import attend, attend_by_hand
from .layer_drop import LayerDrop
from .layers import DecoderLayer, EncoderLayer, Seq2SeqTransformer, shift_right
from .lsh import lsh_attention, lsh_buckets
from .masks import causal_mask, decoder_mask, masked_softmax, padding_mask, prefix_lm_mask
from .memory import memory_attention
from .multimodal import multimodal_inputs
from .pooling import pool_sequence
from .positions import apply_rotary, axial_positions, relative_bucket, relative_shift, sinusoidal_positions
from .recurrent import rnn_cell, rnn_encode
from .relative import relative_scores
from .reversible import ReversibleBlock, reversible
from .sliding_window import local_global_mask, sliding_window_attention
from .streams import StreamAttention, plan_streams

__all__ = [
    "Attention",
    "Cache",
    "StaticCache",
    "StreamAttention",
    "plan_streams",
    "attend",
    "attend_by_hand",
    "CachedSelfAttention",
    "DecoderLayer",
    "Dropout",
    "EncoderLayer",
    "dropout",
    "FeedForward",
    "LayerDrop",
    "MultiHeadAttention",
    "ReversibleBlock",
    "Seq2SeqTransformer",
    "apply_rotary",
    "axial_positions",
    "bigbird_mask",
    "distance_windows",
    "picked",
    "scores_by_distance",
    "causal_mask",
    "chunked_feed_forward",
    "disentangled_scores",
    "pool_sequence",
    "span_dynamic_conv",
    "decoder_mask",
    "lsh_attention",
    "lsh_buckets",
    "masked_softmax",
    "local_global_mask",
    "sliding_window_attention",
    "memory_attention",
    "merge_heads",
    "multimodal_inputs",
    "padding_mask",
    "prefix_lm_mask",
    "relative_bucket",
    "relative_scores",
    "relative_shift",
    "reversible",
    "rnn_cell",
    "rnn_encode",
    "scaled_dot_product_attention",
    "shift_right",
    "sinusoidal_positions",
    "split_heads",
]
