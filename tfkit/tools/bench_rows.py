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
class Row:
    """One architecture: the published classes, and a size small enough for a desk."""

    name: str
    config: str
    model: str
    fields: dict[str, Any]
    seq2seq: bool = False
    generates: bool = False
    lengths: tuple[int, ...] = (256, 1024)


ROWS = [
    Row("bert", "BertConfig", "BertForMaskedLM", BERT),
    Row("roberta", "RobertaConfig", "RobertaForMaskedLM", {**BERT, "max_position_embeddings": 2050}),
    Row("distilbert", "DistilBertConfig", "DistilBertForMaskedLM",
        {"dim": D, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": 4 * D, "vocab_size": VOCAB,
         "max_position_embeddings": 2048}),
    Row("albert", "AlbertConfig", "AlbertForMaskedLM", {**BERT, "embedding_size": 64}),
    Row("electra", "ElectraConfig", "ElectraForMaskedLM", {**BERT, "embedding_size": 64}),
    Row("gpt", "OpenAIGPTConfig", "OpenAIGPTLMHeadModel", GPT, generates=True),
    Row("gpt2", "GPT2Config", "GPT2LMHeadModel", GPT, generates=True),
    Row("gpt_neo", "GPTNeoConfig", "GPTNeoForCausalLM",
        {"hidden_size": D, "num_layers": LAYERS, "num_heads": HEADS, "vocab_size": VOCAB,
         "max_position_embeddings": 2048, "attention_types": [[["global", "local"], LAYERS // 2]]}, generates=True),
    Row("gptj", "GPTJConfig", "GPTJForCausalLM", {**GPT, "rotary_dim": 16}, generates=True),
    Row("ctrl", "CTRLConfig", "CTRLLMHeadModel", {**GPT, "dff": 4 * D}, generates=True),
    Row("bart", "BartConfig", "BartForConditionalGeneration", BART, seq2seq=True, generates=True),
    Row("t5", "T5Config", "T5ForConditionalGeneration",
        {"d_model": D, "d_kv": D // HEADS, "d_ff": 4 * D, "num_layers": LAYERS, "num_heads": HEADS, "vocab_size": VOCAB,
         "decoder_start_token_id": 0}, seq2seq=True, generates=True),
]  # fmt: skip
