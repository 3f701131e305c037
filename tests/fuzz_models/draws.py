"""Random configurations of transformers' classes: for each architecture the fields that tfkit reads.

Sizes are small and odd, heads need not fill the width where the architecture allows it, and each field that changes the
numbers is drawn: activations, biases, tying, kinds of rotary positions, windows, eps. A draw depends on its seed alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

VOCAB = 61
Draw = Callable[[random.Random], dict[str, Any]]
ACTIVATIONS = (
    "gelu", "relu", "silu", "gelu_new", "gelu_pytorch_tanh", "quick_gelu", "gelu_fast", "mish", "tanh", "sigmoid",
    "leaky_relu", "relu6", "relu2",
)  # fmt: skip
IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def flag(r: random.Random) -> bool:
    """True or False."""
    return r.random() < 0.5


def eps(r: random.Random) -> float:
    """Of norms, some of them large enough to be seen."""
    return r.choice([1e-12, 1e-6, 1e-5, 1e-2])


def bert(r: random.Random) -> dict[str, Any]:
    """BERT's names."""
    heads = r.choice([1, 2, 3, 4])
    return {
        "vocab_size": VOCAB, "hidden_size": heads * r.choice([2, 4, 5, 6]), "num_hidden_layers": r.choice([1, 2, 3]),
        "num_attention_heads": heads, "intermediate_size": r.choice([7, 16, 24]), "hidden_act": r.choice(ACTIVATIONS),
        "max_position_embeddings": 40, "type_vocab_size": r.choice([1, 2, 3]), "layer_norm_eps": eps(r),
        "tie_word_embeddings": flag(r), **IDS,
    }  # fmt: skip


def roberta(r: random.Random) -> dict[str, Any]:
    """Positions count from the padding id."""
    return {**bert(r), "pad_token_id": r.choice([0, 1, 3])}


def albert(r: random.Random) -> dict[str, Any]:
    """Groups of layers with shared weights."""
    groups = r.choice([1, 2])
    return {
        **bert(r), "embedding_size": r.choice([3, 8]), "num_hidden_groups": groups, "inner_group_num": r.choice([1, 2]),
        "num_hidden_layers": groups * r.choice([1, 2]),
    }  # fmt: skip


def electra(r: random.Random) -> dict[str, Any]:
    """Embeddings of another width, and a summary."""
    return {**bert(r), "embedding_size": r.choice([5, 8])}


def convbert(r: random.Random) -> dict[str, Any]:
    """Half of the heads are convolutions."""
    heads, ratio = r.choice([2, 4]), 2
    return {
        **bert(r), "num_attention_heads": heads, "hidden_size": heads * r.choice([4, 8]), "embedding_size": 8,
        "head_ratio": ratio, "conv_kernel_size": r.choice([1, 3, 5]), "num_groups": r.choice([1, 2]),
        "intermediate_size": 16,
    }  # fmt: skip


def bigbird(r: random.Random) -> dict[str, Any]:
    """Short texts, which both read with full attention."""
    return {**bert(r), "block_size": 4, "num_random_blocks": 1, "use_bias": flag(r), "rescale_embeddings": flag(r)}


def longformer(r: random.Random) -> dict[str, Any]:
    """A window for each layer."""
    fields = {**bert(r), "max_position_embeddings": 64}
    return {**fields, "attention_window": [r.choice([4, 6, 8]) for _ in range(fields["num_hidden_layers"])]}


def deberta(r: random.Random) -> dict[str, Any]:
    """Disentangled attention with each subset of its terms."""
    return {
        **bert(r), "relative_attention": flag(r), "pos_att_type": r.choice([["c2p", "p2c"], ["c2p"], ["p2c"]]),
        "position_biased_input": flag(r), "talking_head": flag(r), "max_relative_positions": r.choice([-1, 5, 12]),
    }  # fmt: skip


def deberta_v2(r: random.Random) -> dict[str, Any]:
    """Buckets, shared keys, a convolution."""
    fields = {**deberta(r), "relative_attention": True}
    del fields["talking_head"]
    return {
        **fields, "position_buckets": r.choice([-1, 4, 8]), "share_att_key": flag(r),
        "norm_rel_ebd": r.choice(["none", "layer_norm"]), "conv_kernel_size": r.choice([0, 3]),
        "conv_act": r.choice(["tanh", "gelu", "relu"]),
    }  # fmt: skip


def distilbert(r: random.Random) -> dict[str, Any]:
    """Names of its own."""
    heads = r.choice([1, 2, 4])
    return {
        "vocab_size": VOCAB, "dim": heads * r.choice([2, 5, 8]), "n_layers": r.choice([1, 2, 3]), "n_heads": heads,
        "hidden_dim": r.choice([7, 24]), "activation": r.choice(ACTIVATIONS), "max_position_embeddings": 40,
        "tie_word_embeddings": flag(r), "pad_token_id": 0,
    }  # fmt: skip


def dpr(r: random.Random) -> dict[str, Any]:
    """BERT with or without a projection."""
    return {**bert(r), "projection_dim": r.choice([0, 0, 5])}


def bert_generation(r: random.Random) -> dict[str, Any]:
    """BERT without segments, causal or not."""
    fields = bert(r)
    del fields["type_vocab_size"]
    return fields


def gpt2(r: random.Random) -> dict[str, Any]:
    """GPT-2's names and flags of its scores."""
    heads = r.choice([1, 2, 3, 4])
    return {
        "vocab_size": VOCAB, "n_embd": heads * r.choice([2, 4, 5]), "n_layer": r.choice([1, 2, 3]), "n_head": heads,
        "n_positions": 40, "n_inner": r.choice([None, 7, 24]), "activation_function": r.choice(ACTIVATIONS),
        "layer_norm_epsilon": eps(r), "scale_attn_weights": flag(r), "scale_attn_by_inverse_layer_idx": flag(r),
        "reorder_and_upcast_attn": flag(r), "tie_word_embeddings": flag(r), **IDS,
    }  # fmt: skip


def gpt(r: random.Random) -> dict[str, Any]:
    """The first GPT, whose activations have names of its own."""
    heads = r.choice([1, 2, 4])
    return {
        "vocab_size": VOCAB, "n_embd": heads * r.choice([2, 5]), "n_layer": r.choice([1, 2]), "n_head": heads,
        "n_positions": 40, "afn": r.choice(["gelu", "relu", "silu"]), "layer_norm_epsilon": eps(r),
        "tie_word_embeddings": flag(r), "pad_token_id": 0,
    }  # fmt: skip


def ctrl(r: random.Random) -> dict[str, Any]:
    """CTRL's names."""
    heads = r.choice([1, 2, 4])
    return {
        "vocab_size": VOCAB, "n_embd": heads * r.choice([2, 4, 6]), "n_layer": r.choice([1, 2]), "n_head": heads,
        "n_positions": 40, "dff": r.choice([7, 24]), "layer_norm_epsilon": eps(r), "tie_word_embeddings": flag(r),
        "pad_token_id": 0,
    }  # fmt: skip


def gptj(r: random.Random) -> dict[str, Any]:
    """Some or all columns are rotated."""
    heads, width = r.choice([1, 2, 3]), r.choice([4, 6, 8])
    return {
        "vocab_size": VOCAB, "n_embd": heads * width, "n_layer": r.choice([1, 2]), "n_head": heads, "n_positions": 40,
        "rotary_dim": r.choice([2, 4, width]), "n_inner": r.choice([None, 9]), "layer_norm_epsilon": eps(r),
        "activation_function": r.choice(ACTIVATIONS), "tie_word_embeddings": flag(r), **IDS,
    }  # fmt: skip


def gpt_neo(r: random.Random) -> dict[str, Any]:
    """Global and local layers."""
    heads, pattern = r.choice([1, 2, 4]), r.choice([["global"], ["local"], ["global", "local"]])
    return {
        "vocab_size": VOCAB, "hidden_size": heads * r.choice([2, 4, 5]), "num_layers": 2 * len(pattern),
        "num_heads": heads, "attention_types": [[pattern, 2]], "window_size": r.choice([1, 3, 64]),
        "max_position_embeddings": 40, "intermediate_size": r.choice([None, 9]), "layer_norm_epsilon": eps(r),
        "activation_function": r.choice(ACTIVATIONS), "tie_word_embeddings": flag(r), **IDS,
    }  # fmt: skip


def rope(r: random.Random, width: int, kinds: tuple[str, ...] = ()) -> dict[str, Any]:
    """rope_parameters of any kind, for heads of this width."""
    kind = r.choice(kinds or ("default", "default", "linear", "dynamic", "llama3", "yarn", "longrope"))
    found: dict[str, Any] = {"rope_type": kind, "rope_theta": r.choice([1e4, 5e5, 300.0])}
    if kind != "default":
        found["factor"] = r.choice([2.0, 4.0, 8.0])
    if kind in ("llama3", "yarn", "longrope"):
        found["original_max_position_embeddings"] = r.choice([8, 20, 32])
    if kind == "llama3":
        found |= {"low_freq_factor": 1.0, "high_freq_factor": r.choice([2.0, 4.0])}
    if kind == "yarn":
        found |= r.choice([{}, {"beta_fast": 16.0, "beta_slow": 0.5}, {"mscale": 0.7, "mscale_all_dim": 1.1}])
        found |= r.choice([{}, {"truncate": False}, {"attention_factor": 1.3}])
    if kind == "longrope":
        found |= {name: [r.uniform(1, 4) for _ in range(width // 2)] for name in ("short_factor", "long_factor")}
    return found


def llama(r: random.Random, kinds: tuple[str, ...] = ()) -> dict[str, Any]:
    """Llama's names."""
    groups, each, width = r.choice([1, 2]), r.choice([1, 2, 3]), r.choice([4, 6, 8])
    heads = groups * each
    return {
        "vocab_size": VOCAB, "hidden_size": heads * width, "head_dim": r.choice([width, width + 2]),
        "num_hidden_layers": r.choice([1, 2, 3]), "num_attention_heads": heads, "num_key_value_heads": groups,
        "intermediate_size": r.choice([7, 16, 24]), "hidden_act": r.choice(ACTIVATIONS), "rms_norm_eps": eps(r),
        "max_position_embeddings": r.choice([8, 40, 64]), "tie_word_embeddings": flag(r), **IDS,
    } | {"rope": kinds}  # fmt: skip


def with_rope(r: random.Random, fields: dict[str, Any], share: float = 1.0) -> dict[str, Any]:
    """The fields with rope_parameters for the width of a head; share: of its columns that are rotated"""
    kinds = fields.pop("rope")
    width = fields.get("head_dim") or fields["hidden_size"] // fields["num_attention_heads"]
    return {**fields, "rope_parameters": rope(r, int(width * share), kinds)}


def plain_llama(r: random.Random) -> dict[str, Any]:
    """With biases."""
    return with_rope(r, {**llama(r), "attention_bias": flag(r), "mlp_bias": flag(r)})


def mistral(r: random.Random) -> dict[str, Any]:
    """With or without a window."""
    return with_rope(r, {**llama(r), "sliding_window": r.choice([None, 1, 4])})


def mixtral(r: random.Random) -> dict[str, Any]:
    """Experts of any number."""
    experts = r.choice([1, 2, 5])
    more = {"num_local_experts": experts, "num_experts_per_tok": r.randint(1, experts)}
    return {**mistral(r), **more}


def qwen2(r: random.Random) -> dict[str, Any]:
    """Windows from a layer on; heads fill the width."""
    fields = llama(r)
    fields["head_dim"] = None
    windows = {"use_sliding_window": flag(r), "sliding_window": r.choice([2, 4]), "max_window_layers": r.choice([0, 1])}
    found = with_rope(r, {**fields, **windows})
    del found["head_dim"]
    return found


def qwen3(r: random.Random) -> dict[str, Any]:
    """Norms of queries and keys."""
    return with_rope(r, {**llama(r), "attention_bias": flag(r)})


def qwen3_moe(r: random.Random) -> dict[str, Any]:
    """Experts in some layers, weights that sum to 1 or do not, a window in all layers or in none."""
    experts = r.choice([1, 2, 5])
    return {
        **qwen3(r), "num_experts": experts, "num_experts_per_tok": r.randint(1, experts), "norm_topk_prob": flag(r),
        "moe_intermediate_size": r.choice([5, 12]), "decoder_sparse_step": r.choice([1, 1, 2]),
        "mlp_only_layers": r.choice([[], [0]]), "use_sliding_window": flag(r), "sliding_window": r.choice([1, 4]),
    }  # fmt: skip


def qwen3_next(r: random.Random) -> dict[str, Any]:
    """Layers with attention and without, value heads that share a key, experts in some layers."""
    share, heads, experts = r.choice([0.5, 1.0]), r.choice([1, 2, 3]), r.choice([1, 2, 5])
    fields = with_rope(r, {**llama(r), "attention_bias": flag(r)}, share)
    fields["rope_parameters"] = {**fields["rope_parameters"], "partial_rotary_factor": share}
    kinds = [r.choice(["linear_attention", "full_attention"]) for _ in range(fields["num_hidden_layers"])]
    kinds[r.randrange(len(kinds))] = "full_attention"  # without any, transformers cannot count what its cache holds
    return {
        **fields, "layer_types": kinds, "linear_num_key_heads": heads,
        "linear_num_value_heads": heads * r.choice([1, 2]), "linear_key_head_dim": r.choice([1, 6]),
        "linear_value_head_dim": r.choice([3, 8]), "linear_conv_kernel_dim": r.choice([1, 2, 4]),
        "num_experts": experts, "num_experts_per_tok": r.randint(1, experts), "norm_topk_prob": flag(r),
        "moe_intermediate_size": r.choice([5, 12]), "shared_expert_intermediate_size": r.choice([4, 9]),
        "decoder_sparse_step": r.choice([1, 1, 2]), "mlp_only_layers": r.choice([[], [0]]),
    }  # fmt: skip


def smollm3(r: random.Random) -> dict[str, Any]:
    """Layers without positions, and windows in them."""
    fields = plain_llama(r)
    layers = [int(flag(r)) for _ in range(fields["num_hidden_layers"])]
    windows = {"use_sliding_window": flag(r), "sliding_window": r.choice([1, 4])}
    return {**fields, **windows, "no_rope_layer_interval": r.choice([1, 2]), "no_rope_layers": r.choice([None, layers])}


def gemma2(r: random.Random) -> dict[str, Any]:
    """Soft caps, alternating windows."""
    fields = llama(r, ("default", "linear"))
    fields["hidden_activation"] = fields.pop("hidden_act")
    return with_rope(r, fields) | {
        "sliding_window": r.choice([2, 4, 40]), "query_pre_attn_scalar": r.choice([4, 7]),
        "attn_logit_softcapping": r.choice([None, 3.0]), "final_logit_softcapping": r.choice([None, 4.0]),
    }  # fmt: skip


def gemma3(r: random.Random) -> dict[str, Any]:
    """Local layers with rotations of their own."""
    fields = gemma2(r)
    fields["attn_logit_softcapping"] = None
    layers = [r.choice(["sliding_attention", "full_attention"]) for _ in range(fields["num_hidden_layers"])]
    local = {"rope_type": "default", "rope_theta": r.choice([1e4, 100.0])}
    both = {"full_attention": fields.pop("rope_parameters"), "sliding_attention": local}
    return {**fields, "layer_types": layers, "rope_parameters": both}


def phi3(r: random.Random) -> dict[str, Any]:
    """LongRoPE or none, some columns."""
    fields = llama(r, ("default", "longrope"))
    del fields["head_dim"]
    found = with_rope(r, fields, share := r.choice([1.0, 0.5]))
    found["rope_parameters"]["partial_rotary_factor"] = share
    if "original_max_position_embeddings" in found["rope_parameters"]:
        found["original_max_position_embeddings"] = found["rope_parameters"].pop("original_max_position_embeddings")
        found["rope_parameters"].pop("factor", None)
    if found["hidden_size"] // found["num_attention_heads"] == 6 and share < 1:
        found["rope_parameters"] = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 1.0}
    return {**found, "sliding_window": r.choice([None, 3])}


def olmo2(r: random.Random) -> dict[str, Any]:
    """Norms after the sub-layers."""
    fields = llama(r)
    del fields["head_dim"]
    return with_rope(r, {**fields, "attention_bias": flag(r)})


def gpt_neox(r: random.Random) -> dict[str, Any]:
    """Parallel or not; part of the columns rotated."""
    fields = llama(r)
    for name in ("head_dim", "num_key_value_heads", "rms_norm_eps"):
        del fields[name]
    share = r.choice([1.0, 0.5]) if fields["hidden_size"] // fields["num_attention_heads"] != 6 else 1.0
    found = with_rope(r, fields, share)
    found["rope_parameters"]["partial_rotary_factor"] = share
    more = {"use_parallel_residual": flag(r), "attention_bias": flag(r), "layer_norm_eps": eps(r)}
    return {**found, **more}


def gpt_oss(r: random.Random) -> dict[str, Any]:
    """Sinks, experts with a limit, alternating windows."""
    experts = r.choice([2, 4])
    fields = with_rope(r, llama(r, ("default", "yarn")))
    del fields["hidden_act"]
    layers = [r.choice(["sliding_attention", "full_attention"]) for _ in range(fields["num_hidden_layers"])]
    return fields | {
        "num_local_experts": experts, "num_experts_per_tok": r.randint(1, experts), "sliding_window": r.choice([2, 4]),
        "layer_types": layers, "attention_bias": flag(r),
    }  # fmt: skip


def deepseek_v3(r: random.Random) -> dict[str, Any]:
    """Latent attention, groups of experts."""
    groups, each = r.choice([(1, 4), (2, 3), (4, 2)])
    fields = llama(r, ("default", "yarn"))
    rotary = r.choice([4, 8])
    fields["num_key_value_heads"] = fields["num_attention_heads"]
    del fields["head_dim"]
    fields |= {
        "q_lora_rank": r.choice([None, 10]), "kv_lora_rank": r.choice([6, 9]), "qk_rope_head_dim": rotary,
        "qk_nope_head_dim": r.choice([4, 5]), "v_head_dim": r.choice([4, 7]), "moe_intermediate_size": 8,
        "n_routed_experts": groups * each, "n_group": groups, "topk_group": r.randint(1, groups),
        "num_experts_per_tok": r.randint(1, 2), "first_k_dense_replace": r.choice([0, 1]), "norm_topk_prob": flag(r),
        "n_shared_experts": r.choice([1, 2]), "attention_bias": flag(r), "rope_interleave": flag(r),
        "routed_scaling_factor": r.choice([1.0, 2.5]),
    }  # fmt: skip
    kinds = fields.pop("rope")
    return {**fields, "rope_parameters": rope(r, rotary, kinds)}


def bloom(r: random.Random) -> dict[str, Any]:
    """Distances as a bias."""
    heads = r.choice([1, 2, 3, 6])
    return {
        "vocab_size": VOCAB, "hidden_size": heads * r.choice([2, 4, 5]), "n_layer": r.choice([1, 2]), "n_head": heads,
        "layer_norm_epsilon": eps(r), "apply_residual_connection_post_layernorm": flag(r),
        "tie_word_embeddings": flag(r), **IDS, "pad_token_id": 3,
    }  # fmt: skip


def opt(r: random.Random) -> dict[str, Any]:
    """Norms before or after, embeddings of another width."""
    heads = r.choice([1, 2, 4])
    width = heads * r.choice([4, 6])
    return {
        "vocab_size": VOCAB, "hidden_size": width, "num_hidden_layers": r.choice([1, 2]), "ffn_dim": r.choice([7, 24]),
        "num_attention_heads": heads, "max_position_embeddings": 40, "do_layer_norm_before": flag(r),
        "word_embed_proj_dim": r.choice([width, 5]), "enable_bias": flag(r),
        "activation_function": r.choice(ACTIVATIONS), "tie_word_embeddings": flag(r), **IDS, "pad_token_id": 1,
    }  # fmt: skip


def mamba2(r: random.Random) -> dict[str, Any]:
    """States of any size."""
    heads, groups = r.choice([(2, 1), (4, 2), (4, 1)])
    head_dim = r.choice([4, 8])
    return {
        "vocab_size": VOCAB, "hidden_size": heads * head_dim // 2, "expand": 2, "num_heads": heads,
        "head_dim": head_dim, "num_hidden_layers": r.choice([1, 2]), "state_size": r.choice([3, 6]), "n_groups": groups,
        "conv_kernel": r.choice([2, 4]), "chunk_size": r.choice([1, 4, 16]), "use_bias": flag(r),
        "use_conv_bias": flag(r), "layer_norm_epsilon": eps(r), "hidden_act": r.choice(["silu", "gelu", "relu"]),
        "tie_word_embeddings": flag(r), "residual_in_fp32": flag(r), **IDS,
    }  # fmt: skip


def modernbert(r: random.Random) -> dict[str, Any]:
    """Global and local layers."""
    heads = r.choice([1, 2, 3])
    return {
        "vocab_size": VOCAB, "hidden_size": heads * r.choice([4, 6]), "num_hidden_layers": r.choice([1, 2, 3]),
        "num_attention_heads": heads, "intermediate_size": r.choice([7, 24]), "max_position_embeddings": 40,
        "hidden_activation": r.choice(ACTIVATIONS), "norm_eps": eps(r), "norm_bias": flag(r),
        "attention_bias": flag(r), "mlp_bias": flag(r), "local_attention": r.choice([2, 4, 6]),
        "global_attn_every_n_layers": r.choice([1, 2, 3]), "decoder_bias": flag(r), "classifier_bias": flag(r),
        "classifier_pooling": r.choice(["cls", "mean"]), **IDS,
    }  # fmt: skip


def vit(r: random.Random) -> dict[str, Any]:
    """Pictures that need not be square."""
    heads = r.choice([1, 2, 3])
    return {
        "hidden_size": heads * r.choice([4, 5]), "num_hidden_layers": r.choice([1, 2]), "num_attention_heads": heads,
        "intermediate_size": r.choice([7, 24]), "hidden_act": r.choice(ACTIVATIONS), "layer_norm_eps": eps(r),
        "image_size": r.choice([8, [8, 12]]), "patch_size": r.choice([2, 4]), "num_channels": r.choice([1, 3]),
        "qkv_bias": flag(r), "encoder_stride": 2,
    }  # fmt: skip


def clip(r: random.Random) -> dict[str, Any]:
    """Two towers of their own sizes; a class of one tower takes the fields of its section."""

    def tower() -> dict[str, Any]:
        heads = r.choice([1, 2, 3])
        return {
            "hidden_size": heads * r.choice([4, 5]), "num_hidden_layers": r.choice([1, 2]),
            "num_attention_heads": heads, "intermediate_size": r.choice([7, 24]),
            "hidden_act": r.choice([*ACTIVATIONS, "quick_gelu"]),
            "layer_norm_eps": eps(r), "projection_dim": 6,
        }  # fmt: skip

    text = {"vocab_size": VOCAB, "max_position_embeddings": 40, "bos_token_id": 1, "pad_token_id": 0}
    text |= {"eos_token_id": r.choice([2, 3])}
    image = {"image_size": r.choice([8, 9]), "patch_size": r.choice([2, 4]), "num_channels": r.choice([1, 3])}
    sections = {"text_config": {**tower(), **text}, "vision_config": {**tower(), **image}}
    return {**sections, "projection_dim": 6, "logit_scale_init_value": r.choice([0.5, 2.6592])}


def bart(r: random.Random) -> dict[str, Any]:
    """BART's names, both sides of other sizes."""
    heads, others = r.choice([(1, 2), (2, 2), (2, 4), (3, 1)])
    layers = r.choice([1, 2])
    return {
        "vocab_size": VOCAB, "d_model": 12 * r.choice([1, 2]), "encoder_layers": layers, "decoder_layers": layers,
        "encoder_attention_heads": heads, "decoder_attention_heads": others, "encoder_ffn_dim": r.choice([7, 24]),
        "decoder_ffn_dim": r.choice([9, 24]), "activation_function": r.choice(ACTIVATIONS),
        "max_position_embeddings": 40, "scale_embedding": flag(r), "tie_word_embeddings": flag(r), **IDS,
        "decoder_start_token_id": 1,
    }  # fmt: skip


def whisper(r: random.Random) -> dict[str, Any]:
    """Mel features in place of words."""
    fields = bart(r)
    del fields["max_position_embeddings"], fields["tie_word_embeddings"]
    return {**fields, "num_mel_bins": r.choice([3, 5]), "max_source_positions": 10, "max_target_positions": 20}


def marian(r: random.Random) -> dict[str, Any]:
    """One table for both sides."""
    return {**bart(r), "tie_word_embeddings": True}


def t5(r: random.Random) -> dict[str, Any]:
    """Gated or not, any buckets."""
    gated = flag(r)
    return {
        "vocab_size": VOCAB, "d_model": r.choice([8, 15]), "d_kv": r.choice([3, 4]), "d_ff": r.choice([7, 24]),
        "num_layers": r.choice([1, 2]), "num_decoder_layers": r.choice([1, 2]), "num_heads": r.choice([1, 2, 3]),
        "relative_attention_num_buckets": r.choice([8, 16]), "relative_attention_max_distance": r.choice([20, 128]),
        "feed_forward_proj": ("gated-" if gated else "") + r.choice(["relu", "gelu", "silu"]),
        "layer_norm_epsilon": eps(r), "tie_word_embeddings": flag(r), "pad_token_id": 0, "eos_token_id": 1,
        "decoder_start_token_id": 0,
    }  # fmt: skip


def prophetnet(r: random.Random) -> dict[str, Any]:
    """One to three predicting streams."""
    heads, layers = r.choice([1, 2, 4]), r.choice([1, 2])
    return {
        "vocab_size": VOCAB, "hidden_size": 4 * heads, "encoder_ffn_dim": r.choice([7, 24]),
        "decoder_ffn_dim": r.choice([7, 24]), "num_encoder_layers": layers, "num_decoder_layers": layers,
        "num_encoder_attention_heads": heads, "num_decoder_attention_heads": heads, "ngram": r.choice([1, 2, 3]),
        "num_buckets": r.choice([8, 32]), "relative_max_distance": r.choice([20, 128]), "max_position_embeddings": 40,
        "activation_function": r.choice(ACTIVATIONS), "tie_word_embeddings": flag(r), **IDS,
        "decoder_start_token_id": 1,
    }  # fmt: skip


def xlm(r: random.Random) -> dict[str, Any]:
    """XLM's names."""
    heads = r.choice([1, 2, 4])
    return {
        "n_words": VOCAB, "emb_dim": heads * r.choice([2, 4, 6]), "n_layers": r.choice([1, 2]), "n_heads": heads,
        "max_position_embeddings": 40, "n_langs": 1, "use_lang_emb": flag(r), "gelu_activation": flag(r),
        "layer_norm_eps": eps(r), "tie_word_embeddings": flag(r), "pad_index": 0, "pad_token_id": 0,
    }  # fmt: skip


def xlnet(r: random.Random) -> dict[str, Any]:
    """Relative positions, one or two directions."""
    heads = r.choice([1, 2, 4])
    return {
        "vocab_size": VOCAB, "d_model": heads * r.choice([2, 4, 6]), "n_layer": r.choice([1, 2]), "n_head": heads,
        "d_inner": r.choice([7, 24]), "ff_activation": r.choice(["gelu", "relu", "silu"]), "layer_norm_eps": eps(r),
        "attn_type": r.choice(["bi", "uni"]), "clamp_len": r.choice([-1, 4]), "same_length": flag(r),
        "tie_word_embeddings": flag(r), "pad_token_id": 0,
    }  # fmt: skip


def funnel(r: random.Random) -> dict[str, Any]:
    """Blocks of any depth."""
    heads, sizes = r.choice([1, 2, 3]), r.choice([[1, 1], [1, 2], [2, 1, 1]])
    return {
        "vocab_size": VOCAB, "d_model": heads * r.choice([4, 6]), "n_head": heads, "d_head": r.choice([4, 5]),
        "d_inner": r.choice([7, 24]), "block_sizes": sizes, "num_decoder_layers": r.choice([1, 2]),
        "block_repeats": r.choice([None, [r.choice([1, 2]) for _ in sizes]]), "hidden_act": r.choice(ACTIVATIONS),
        "layer_norm_eps": eps(r), "pooling_type": r.choice(["mean", "max"]), "separate_cls": flag(r),
        "attention_type": r.choice(["relative_shift", "factorized"]), "truncate_seq": flag(r), "pool_q_only": flag(r),
        "tie_word_embeddings": flag(r), "pad_token_id": 0,
    }  # fmt: skip


def reformer(r: random.Random) -> dict[str, Any]:
    """Local layers, as hashes are drawn anew at each call."""
    heads = r.choice([1, 2])
    return {
        "vocab_size": VOCAB, "hidden_size": 8, "num_attention_heads": heads, "attention_head_size": r.choice([4, 5]),
        "feed_forward_size": r.choice([7, 24]), "attn_layers": ["local"] * r.choice([1, 2]),
        "axial_pos_embds": False, "max_position_embeddings": 40, "local_attn_chunk_length": r.choice([2, 4]),
        "layer_norm_eps": eps(r), "hidden_act": r.choice(ACTIVATIONS), "tie_word_embeddings": False, **IDS,
    }  # fmt: skip


DRAWS: dict[str, Draw] = {
    "albert": albert, "bart": bart, "bert": bert, "bert_generation": bert_generation, "bigbird": bigbird,
    "bloom": bloom, "clip": clip, "convbert": convbert, "ctrl": ctrl, "deberta": deberta, "deberta_v2": deberta_v2,
    "deepseek_v3": deepseek_v3, "distilbert": distilbert, "dpr": dpr, "electra": electra, "flaubert": xlm,
    "funnel": funnel, "gemma2": gemma2, "gemma3": gemma3, "gpt": gpt, "gpt2": gpt2, "gpt_neo": gpt_neo,
    "gpt_neox": gpt_neox, "gpt_oss": gpt_oss, "gptj": gptj, "llama": plain_llama, "longformer": longformer,
    "m2m_100": bart, "mamba2": mamba2, "marian": marian, "mbart": bart, "mistral": mistral, "mixtral": mixtral,
    "modernbert": modernbert, "mt5": t5, "olmo2": olmo2, "opt": opt, "pegasus": bart, "phi3": phi3,
    "prophetnet": prophetnet, "qwen2": qwen2, "qwen3": qwen3, "qwen3_moe": qwen3_moe,
    "qwen3_next": qwen3_next,
    "reformer": reformer, "roberta": roberta,
    "smollm3": smollm3, "t5": t5,
    "vit": vit, "whisper": whisper, "xlm": xlm, "xlm_roberta": roberta, "xlnet": xlnet,
}  # fmt: skip
