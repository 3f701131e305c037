"""What the benchmark measures: per architecture the published classes and a size small enough for a desk."""

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
    """One architecture: the published classes, and a size small enough for a desk."""

    name: str
    config: str
    model: str
    fields: dict[str, Any]
    generates: bool = False
    lengths: tuple[int, ...] = (256, 1024)
    sequences: int = 4  # of up to 1,024 tokens; of longer ones there is 1


T5 = {
    "d_model": D, "d_kv": D // HEADS, "d_ff": 4 * D, "num_layers": LAYERS, "num_heads": HEADS, "vocab_size": VOCAB,
    "decoder_start_token_id": 0,
}  # fmt: skip
XLM = {
    "emb_dim": D, "n_layers": LAYERS, "n_heads": HEADS, "n_words": VOCAB, "max_position_embeddings": 2048,
    "pad_index": 2, "n_langs": 1,
}  # fmt: skip
LONG = {**BERT, "max_position_embeddings": 4098}

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
     # layers left out by chance cannot be compared
        {**BART, "encoder_layerdrop": 0.0, "decoder_layerdrop": 0.0}, generates=True),
    BenchmarkRow("prophetnet", "ProphetNetConfig", "ProphetNetForConditionalGeneration",
        {"hidden_size": D, "num_encoder_layers": LAYERS, "num_decoder_layers": LAYERS, "encoder_ffn_dim": 4 * D,
         "decoder_ffn_dim": 4 * D, "num_encoder_attention_heads": HEADS, "num_decoder_attention_heads": HEADS,
         "vocab_size": VOCAB, "max_position_embeddings": 1040}, generates=True,
        sequences=1),  # theirs keeps scores [B, H, N, T, 2T] several times a layer: of 4, a step needs over 20 GB
    BenchmarkRow("t5", "T5Config", "T5ForConditionalGeneration", T5, generates=True),
    BenchmarkRow("mt5", "MT5Config", "MT5ForConditionalGeneration", T5, generates=True),
    BenchmarkRow("encoder_decoder", "EncoderDecoderConfig", "EncoderDecoderModel",
        {"encoder": {**BERT, "model_type": "bert"},
         "decoder": {**BERT, "model_type": "bert", "is_decoder": True, "add_cross_attention": True},
         "decoder_start_token_id": 1, "pad_token_id": 0}, generates=True),
]  # fmt: skip
