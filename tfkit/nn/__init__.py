"""The building blocks of all architectures.

Letters in shapes: B batch, S/T/L source/target/any length, Q/K query/key length, H heads, E model width, D head width,
V vocabulary. A mask is boolean, True = may attend.
"""

from .attention import (
    Attention,
    MultiHeadAttention,
    attend,
    attend_by_hand,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)
from .block_sparse import bigbird_mask
from .cache import Cache, StaticCache
from .cached_attention import CachedSelfAttention
from .disentangled_attention import disentangled_scores, distance_windows, gather_rows, scores_by_distance
from .dropout import Dropout, dropout
from .dynamic_conv import span_dynamic_conv
from .feed_forward import FeedForward, chunked_feed_forward
from .layer_drop import LayerDrop
from .layers import DecoderLayer, EncoderLayer, Seq2SeqTransformer, shift_right
from .lsh import lsh_attention, lsh_buckets
from .masks import causal_mask, decoder_mask, masked_softmax, padding_mask, prefix_lm_mask
from .memory import memory_attention, segment_attention
from .multimodal import multimodal_inputs
from .ngram_attention import NgramAttention, make_ngram_context
from .pooling import pool_sequence
from .positions import apply_rotary, axial_positions, relative_bucket, relative_shift, sinusoidal_positions
from .recurrent import rnn_cell, rnn_encode
from .relative_attention import relative_scores
from .reversible import ReversibleBlock, reversible
from .sliding_window import local_global_mask, sliding_window_attention

__all__ = [
    "Attention",
    "Cache",
    "CachedSelfAttention",
    "DecoderLayer",
    "Dropout",
    "EncoderLayer",
    "FeedForward",
    "LayerDrop",
    "MultiHeadAttention",
    "NgramAttention",
    "ReversibleBlock",
    "Seq2SeqTransformer",
    "StaticCache",
    "apply_rotary",
    "attend",
    "attend_by_hand",
    "axial_positions",
    "bigbird_mask",
    "causal_mask",
    "chunked_feed_forward",
    "decoder_mask",
    "disentangled_scores",
    "distance_windows",
    "dropout",
    "gather_rows",
    "local_global_mask",
    "lsh_attention",
    "lsh_buckets",
    "make_ngram_context",
    "masked_softmax",
    "memory_attention",
    "merge_heads",
    "multimodal_inputs",
    "padding_mask",
    "pool_sequence",
    "prefix_lm_mask",
    "relative_bucket",
    "relative_scores",
    "relative_shift",
    "reversible",
    "rnn_cell",
    "rnn_encode",
    "scaled_dot_product_attention",
    "segment_attention",
    "scores_by_distance",
    "shift_right",
    "sinusoidal_positions",
    "sliding_window_attention",
    "span_dynamic_conv",
    "split_heads",
]
