"""The rows of the benchmark: for each architecture the published classes and a size that a desktop can run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

D, HEADS, LAYERS, VOCAB = 256, 8, 4, 4000
GPT = {"n_embd": D, "n_layer": LAYERS, "n_head": HEADS, "vocab_size": VOCAB, "n_positions": 2048}
BERT = {
    "hidden_size": D, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": 4 * D,
    "vocab_size": VOCAB, "max_position_embeddings": 2048,
}  # fmt: skip
BART = {
    "d_model": D, "encoder_layers": LAYERS, "decoder_layers": LAYERS, "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS, "encoder_ffn_dim": 4 * D, "decoder_ffn_dim": 4 * D, "vocab_size": VOCAB,
    "max_position_embeddings": 2048,
}  # fmt: skip


@dataclass(frozen=True)
class BenchmarkRow:
    """One architecture: the published classes, and a size that a desktop can run."""

    name: str
    config: str
    model: str
    fields: dict[str, Any]
    generates: bool = False
    reads: str = "ids"  # or "pixels", "pairs" of texts and pictures, or "sound" in addition to target ids
    lengths: tuple[int, ...] = (256, 1024)
    sequences: int = 4  # for up to 1,024 tokens; longer rows use 1 sequence


T5 = {
    "d_model": D, "d_kv": D // HEADS, "d_ff": 4 * D, "num_layers": LAYERS, "num_heads": HEADS, "vocab_size": VOCAB,
    "decoder_start_token_id": 0,
}  # fmt: skip
XLM = {
    "emb_dim": D, "n_layers": LAYERS, "n_heads": HEADS, "n_words": VOCAB, "max_position_embeddings": 2048,
    "pad_index": 2, "n_langs": 1,
}  # fmt: skip
LONG = {**BERT, "max_position_embeddings": 4098}
PLAIN_DECODER = {**BERT, "pad_token_id": 0}
VIT = {name: value for name, value in BERT.items() if name not in ("vocab_size", "max_position_embeddings")}
SIDES = {name: value for name, value in BART.items() if name != "max_position_embeddings"}
OPT = {name: value for name, value in PLAIN_DECODER.items() if name != "intermediate_size"}
OPT |= {"ffn_dim": 4 * D, "word_embed_proj_dim": D}
LLAMA = {**PLAIN_DECODER, "num_key_value_heads": 2}  # four query heads share each head of keys and values
GEMMA = {**LLAMA, "head_dim": D // HEADS, "query_pre_attn_scalar": D // HEADS, "sliding_window": 128}
EXPERTS = {**LLAMA, "num_local_experts": 8, "num_experts_per_tok": 2, "intermediate_size": D}

ROWS = [
    BenchmarkRow("bert", "BertConfig", "BertForMaskedLM", BERT),
    BenchmarkRow("roberta", "RobertaConfig", "RobertaForMaskedLM", {**BERT, "max_position_embeddings": 2050}),
    BenchmarkRow("xlm_roberta", "XLMRobertaConfig", "XLMRobertaForMaskedLM", {**BERT, "max_position_embeddings": 2050}),
    BenchmarkRow("distilbert", "DistilBertConfig", "DistilBertForMaskedLM",
        {"dim": D, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": 4 * D, "vocab_size": VOCAB,
         "max_position_embeddings": 2048}),
    BenchmarkRow("albert", "AlbertConfig", "AlbertForMaskedLM", {**BERT, "embedding_size": 64}),
    BenchmarkRow("electra", "ElectraConfig", "ElectraForMaskedLM", {**BERT, "embedding_size": 64}),
    BenchmarkRow("xlm", "XLMConfig", "XLMWithLMHeadModel", XLM),
    BenchmarkRow("flaubert", "FlaubertConfig", "FlaubertWithLMHeadModel", XLM),
    BenchmarkRow("deberta", "DebertaConfig", "DebertaForMaskedLM",
        {**BERT, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}),
    BenchmarkRow("deberta_v2", "DebertaV2Config", "DebertaV2ForMaskedLM",
        {**BERT, "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 256,
         "share_att_key": True, "norm_rel_ebd": "layer_norm", "position_biased_input": False}),
    BenchmarkRow("convbert", "ConvBertConfig", "ConvBertForMaskedLM", {**BERT, "embedding_size": 64}),
    BenchmarkRow("funnel", "FunnelConfig", "FunnelForMaskedLM",
        {"d_model": D, "n_head": HEADS, "d_head": D // HEADS, "d_inner": 4 * D, "block_sizes": [2, 1, 1],
         "vocab_size": VOCAB}),
    BenchmarkRow("xlnet", "XLNetConfig", "XLNetLMHeadModel",
        {"d_model": D, "n_layer": LAYERS, "n_head": HEADS, "d_inner": 4 * D, "vocab_size": VOCAB}),
    BenchmarkRow("longformer", "LongformerConfig", "LongformerForMaskedLM", {**LONG, "attention_window": 256},
        lengths=(1024, 4096)),
    BenchmarkRow("reformer", "ReformerConfig", "ReformerForMaskedLM",  # one seed of hashes, so that both sort alike
        {"hidden_size": D, "attention_head_size": D // HEADS, "num_attention_heads": HEADS, "feed_forward_size": 4 * D,
         "attn_layers": ["local", "lsh"] * (LAYERS // 2), "vocab_size": VOCAB, "axial_pos_embds": False,
         "max_position_embeddings": 4096, "num_hashes": 2, "num_buckets": 64, "hash_seed": 7, "is_decoder": False},
        lengths=(1024, 4096)),
    BenchmarkRow("bigbird", "BigBirdConfig", "BigBirdForMaskedLM", LONG, lengths=(1024, 4096)),
    BenchmarkRow("gpt", "OpenAIGPTConfig", "OpenAIGPTLMHeadModel", GPT, generates=True),
    BenchmarkRow("gpt2", "GPT2Config", "GPT2LMHeadModel", GPT, generates=True),
    BenchmarkRow("gpt_neo", "GPTNeoConfig", "GPTNeoForCausalLM",
        {"hidden_size": D, "num_layers": LAYERS, "num_heads": HEADS, "vocab_size": VOCAB,
         "max_position_embeddings": 2048, "attention_types": [[["global", "local"], LAYERS // 2]]}, generates=True),
    BenchmarkRow("gptj", "GPTJConfig", "GPTJForCausalLM", {**GPT, "rotary_dim": 16}, generates=True),
    BenchmarkRow("ctrl", "CTRLConfig", "CTRLLMHeadModel", {**GPT, "dff": 4 * D}, generates=True),
    BenchmarkRow("bart", "BartConfig", "BartForConditionalGeneration", BART, generates=True),
    BenchmarkRow("mbart", "MBartConfig", "MBartForConditionalGeneration", {**BART, "decoder_start_token_id": 2},
        generates=True),
    BenchmarkRow("marian", "MarianConfig", "MarianMTModel",
        {**BART, "pad_token_id": 1, "decoder_start_token_id": 1, "eos_token_id": 0, "forced_eos_token_id": 0},
        generates=True),
    BenchmarkRow("pegasus", "PegasusConfig", "PegasusForConditionalGeneration", BART, generates=True),
    BenchmarkRow("m2m_100", "M2M100Config", "M2M100ForConditionalGeneration",
     # layers dropped at random could not be compared
        {**BART, "encoder_layerdrop": 0.0, "decoder_layerdrop": 0.0}, generates=True),
    BenchmarkRow("prophetnet", "ProphetNetConfig", "ProphetNetForConditionalGeneration",
        {"hidden_size": D, "num_encoder_layers": LAYERS, "num_decoder_layers": LAYERS, "encoder_ffn_dim": 4 * D,
         "decoder_ffn_dim": 4 * D, "num_encoder_attention_heads": HEADS, "num_decoder_attention_heads": HEADS,
         "vocab_size": VOCAB, "max_position_embeddings": 1040}, generates=True,
        sequences=1),  # transformers' keeps scores [B, H, N, T, 2T] several times a layer: 4 need over 20 GB
    BenchmarkRow("t5", "T5Config", "T5ForConditionalGeneration", T5, generates=True),
    BenchmarkRow("mt5", "MT5Config", "MT5ForConditionalGeneration", T5, generates=True),
    BenchmarkRow("encoder_decoder", "EncoderDecoderConfig", "EncoderDecoderModel",
        {"encoder": {**BERT, "model_type": "bert"},
         "decoder": {**BERT, "model_type": "bert", "is_decoder": True, "add_cross_attention": True},
         "decoder_start_token_id": 1, "pad_token_id": 0}, generates=True),
    BenchmarkRow("gpt_neox", "GPTNeoXConfig", "GPTNeoXForCausalLM", PLAIN_DECODER, generates=True),
    BenchmarkRow("opt", "OPTConfig", "OPTForCausalLM", OPT,
        generates=True),
    BenchmarkRow("bloom", "BloomConfig", "BloomForCausalLM",
        {"hidden_size": D, "n_layer": LAYERS, "n_head": HEADS, "vocab_size": VOCAB, "pad_token_id": 0}, generates=True),
    BenchmarkRow("llama", "LlamaConfig", "LlamaForCausalLM", LLAMA, generates=True),
    BenchmarkRow("mistral", "MistralConfig", "MistralForCausalLM", {**LLAMA, "sliding_window": 128}, generates=True),
    BenchmarkRow("mixtral", "MixtralConfig", "MixtralForCausalLM", EXPERTS, generates=True),
    BenchmarkRow("qwen2", "Qwen2Config", "Qwen2ForCausalLM", LLAMA, generates=True),
    BenchmarkRow("qwen3", "Qwen3Config", "Qwen3ForCausalLM", {**LLAMA, "head_dim": D // HEADS}, generates=True),
    BenchmarkRow("qwen3_moe", "Qwen3MoeConfig", "Qwen3MoeForCausalLM", {**LLAMA, "head_dim": D // HEADS,
        "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": D // 2, "norm_topk_prob": True},
        generates=True),
    BenchmarkRow("qwen3_next", "Qwen3NextConfig", "Qwen3NextForCausalLM", {**LLAMA, "head_dim": D // HEADS,
        "full_attention_interval": 2, "linear_num_key_heads": HEADS // 2, "linear_num_value_heads": HEADS,
        "linear_key_head_dim": D // HEADS, "linear_value_head_dim": D // HEADS, "num_experts": 8,
        "num_experts_per_tok": 2, "moe_intermediate_size": D // 2, "shared_expert_intermediate_size": D // 2},
        generates=True),
    BenchmarkRow("smollm3", "SmolLM3Config", "SmolLM3ForCausalLM", {**LLAMA, "pad_token_id": 0, "bos_token_id": 1,
        "eos_token_id": 2}, generates=True),
    BenchmarkRow("gemma2", "Gemma2Config", "Gemma2ForCausalLM", GEMMA, generates=True),
    BenchmarkRow("gemma3", "Gemma3TextConfig", "Gemma3ForCausalLM", GEMMA, generates=True),
    BenchmarkRow("phi3", "Phi3Config", "Phi3ForCausalLM", {**LLAMA, "eos_token_id": 1, "bos_token_id": 2},
        generates=True),
    BenchmarkRow("olmo2", "Olmo2Config", "Olmo2ForCausalLM", LLAMA, generates=True),
    BenchmarkRow("deepseek_v3", "DeepseekV3Config", "DeepseekV3ForCausalLM",
        {**PLAIN_DECODER, "num_key_value_heads": HEADS, "q_lora_rank": 96, "kv_lora_rank": 64, "qk_nope_head_dim": 32,
         "qk_rope_head_dim": 16, "v_head_dim": 32, "moe_intermediate_size": D // 2, "n_routed_experts": 8, "n_group": 2,
         "topk_group": 1, "num_experts_per_tok": 2, "first_k_dense_replace": 1}, generates=True),
    BenchmarkRow("gpt_oss", "GptOssConfig", "GptOssForCausalLM", {**EXPERTS, "head_dim": D // HEADS}, generates=True),
    BenchmarkRow("mamba2", "Mamba2Config", "Mamba2ForCausalLM",
        {"hidden_size": D, "num_hidden_layers": LAYERS, "num_heads": HEADS, "head_dim": 2 * D // HEADS,
         "state_size": 64,
         "n_groups": 1, "chunk_size": 64, "vocab_size": VOCAB, "pad_token_id": 0}, generates=True),
    BenchmarkRow("modernbert", "ModernBertConfig", "ModernBertForMaskedLM", {**PLAIN_DECODER, "cls_token_id": 1,
         "sep_token_id": 2, "bos_token_id": 1, "eos_token_id": 2}),
    BenchmarkRow("vit", "ViTConfig", "ViTForImageClassification",
        {**VIT, "image_size": 256, "patch_size": 16, "num_labels": 10}, reads="pixels", lengths=(256,)),
    BenchmarkRow("clip", "CLIPConfig", "CLIPModel",
        {"text_config": {**VIT, "vocab_size": VOCAB, "max_position_embeddings": 1024, "eos_token_id": 2},
         "vision_config": {**VIT, "image_size": 256, "patch_size": 16}, "projection_dim": D}, reads="pairs",
        lengths=(256,)),
    BenchmarkRow("whisper", "WhisperConfig", "WhisperForConditionalGeneration",
        {**SIDES, "num_mel_bins": 80, "max_source_positions": 256, "max_target_positions": 1024, "pad_token_id": 1,
         "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2, "begin_suppress_tokens": None},
        generates=True, reads="sound", lengths=(256,)),
]  # fmt: skip

BASE_BART = {
    "d_model": 768, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 12,
    "decoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072,
}  # fmt: skip
BASE_T5 = {"d_model": 768, "d_ff": 3072, "num_layers": 12, "num_heads": 12, "decoder_start_token_id": 0}
PUBLISHED = [  # by the name of the checkpoint whose size it is; the weights are random
    BenchmarkRow("bert-base-uncased", "BertConfig", "BertForMaskedLM", {}, lengths=(128, 512), sequences=1),
    BenchmarkRow("gpt2", "GPT2Config", "GPT2LMHeadModel", {}, generates=True, lengths=(128, 512), sequences=1),
    BenchmarkRow("t5-base", "T5Config", "T5ForConditionalGeneration", BASE_T5, generates=True, lengths=(128, 512),
        sequences=1),
    BenchmarkRow("bart-base", "BartConfig", "BartForConditionalGeneration", BASE_BART, generates=True,
        lengths=(128, 512), sequences=1),
]  # fmt: skip
