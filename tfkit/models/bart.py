"""BART (Lewis et al. 2019, arXiv:1910.13461): an autoencoder that mends what was damaged.

Parent   transformer
Differs  learned positions, one table for each side; a norm right after the embeddings, which are not multiplied unless
         scale_embedding says so; GELU; dropout on the attention's weights; a constant beside the logits
Trained  objectives.denoising: text infilling and shuffled sentences
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from ..namemap import NameMap
from ..nn import Attention, FeedForward
from ..objectives.label_smoothing import seq2seq_loss
from . import transformer
from ._base import Model, activation, look_up

OFFSET = 2  # the first rows of the table of positions are never read; fairseq kept them for padding


@dataclass(frozen=True, kw_only=True)
class Config:
    vocab_size: int = 50265
    d_model: int = 1024
    n_layers: int = 12
    n_heads: int = 16
    d_ff: int = 4096
    n_decoder_layers: int = 12
    n_decoder_heads: int = 16
    d_decoder_ff: int = 4096
    max_length: int = 1024
    activation: str = "gelu"
    dropout: float = 0.1
    attn_dropout: float = 0.0
    ff_dropout: float = 0.0
    scale_embedding: bool = False
    bos_token_id: int = 0
    pad_token_id: int = 1
    eos_token_id: int = 2
    decoder_start_token_id: int = 2


PRESETS: dict[str, dict] = {
    "bart-base": {
        "d_model": 768, "n_layers": 6, "n_heads": 12, "d_ff": 3072, "n_decoder_layers": 6, "n_decoder_heads": 12,
        "d_decoder_ff": 3072, "attn_dropout": 0.1, "ff_dropout": 0.1,
    },
    "bart-large": {"attn_dropout": 0.1, "ff_dropout": 0.1},
    "bart-large-cnn": {"vocab_size": 50264},
}  # fmt: skip


class EncoderLayer(transformer.EncoderLayer):
    def __init__(self, c):
        nn.Module.__init__(self)
        self.self_attn = Attention(c.d_model, c.n_heads, dropout=c.attn_dropout)
        self.ff = FeedForward(c.d_model, c.d_ff, activation(c.activation), c.ff_dropout)
        self.norm1, self.norm2 = (nn.LayerNorm(c.d_model) for _ in range(2))
        self.drop = nn.Dropout(c.dropout)


class DecoderLayer(transformer.DecoderLayer):
    def __init__(self, c):
        nn.Module.__init__(self)
        self.self_attn = Attention(c.d_model, c.n_decoder_heads, dropout=c.attn_dropout, causal=True)
        self.cross_attn = Attention(c.d_model, c.n_decoder_heads, dropout=c.attn_dropout)
        self.ff = FeedForward(c.d_model, c.d_decoder_ff, activation(c.activation), c.ff_dropout)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(c.d_model) for _ in range(3))
        self.drop = nn.Dropout(c.dropout)


class BART(transformer.Transformer):
    final_logits_bias: torch.Tensor

    def __init__(self, config: Config, head=None):
        Model.__init__(self, config, head)  # not the parent's: each of its parts is another here
        c = config
        self.embed = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.encoder = nn.ModuleList(EncoderLayer(c) for _ in range(c.n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(c) for _ in range(c.n_decoder_layers))
        self.encoder_position, self.decoder_position = (nn.Embedding(c.max_length + OFFSET, c.d_model) for _ in "ab")
        self.encoder_norm, self.decoder_norm = (nn.LayerNorm(c.d_model) for _ in range(2))
        self.drop = nn.Dropout(c.dropout)
        if head:
            self.register_buffer("final_logits_bias", torch.zeros(1, c.vocab_size))  # not trained, but saved
        self.apply(self.start)

    def start(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)

    def embedded(self, ids, name, past=0):
        end = past + ids.size(1)
        if end > self.config.max_length:
            raise ValueError(f"{name} reaches position {end}, max_length is {self.config.max_length}")
        encoder = name == "input_ids"
        table, norm = (
            (self.encoder_position, self.encoder_norm) if encoder else (self.decoder_position, self.decoder_norm)
        )
        scale = self.config.d_model**0.5 if self.config.scale_embedding else 1.0
        x = look_up(self.embed, ids, name) * scale + table.weight[past + OFFSET : end + OFFSET]
        return self.drop(norm(x))

    def score(self, x):
        return F.linear(x, self.embed.weight) + self.final_logits_bias.to(x.dtype)

    def loss(self, logits, labels):
        return seq2seq_loss(logits, labels)


MODEL = BART


def _side(side, norms):
    table = {f"{side}.embed_positions": f"{side}_position", f"{side}.layernorm_embedding": f"{side}_norm"}
    parts = {"fc1": "ff.up", "fc2": "ff.down"} | {name: f"norm{place + 1}" for place, name in enumerate(norms)}
    for theirs, ours in {"self_attn": "self_attn", "encoder_attn": "cross_attn"}.items():
        parts |= {f"{theirs}.{letter}_proj": f"{ours}.{letter}_proj" for letter in "qkv"}
        parts[f"{theirs}.out_proj"] = f"{ours}.o_proj"
    return table | {f"{side}.layers.{{}}.{theirs}": f"{side}.{{}}.{ours}" for theirs, ours in parts.items()}


HF = NameMap(
    {
        "shared": "embed",
        **_side("encoder", ["self_attn_layer_norm", "final_layer_norm"]),
        **_side("decoder", ["self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"]),
    },
    prefix="model.",
    heads={"final_logits_bias": "final_logits_bias"},
    tied=dict.fromkeys(
        ["lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"], "shared.weight"
    ),
    constant=[r"(encoder|decoder)\.version"],
)
HF_HEADS = {"BartModel": None, "BartForConditionalGeneration": "seq2seq_lm"}
HF_FIELDS = {
    "vocab_size": "vocab_size", "d_model": "d_model", "encoder_layers": "n_layers",
    "decoder_layers": "n_decoder_layers",
    "encoder_attention_heads": "n_heads", "decoder_attention_heads": "n_decoder_heads", "encoder_ffn_dim": "d_ff",
    "decoder_ffn_dim": "d_decoder_ff", "max_position_embeddings": "max_length", "activation_function": "activation",
    "dropout": "dropout", "attention_dropout": "attn_dropout", "activation_dropout": "ff_dropout",
    "scale_embedding": "scale_embedding", "bos_token_id": "bos_token_id", "pad_token_id": "pad_token_id",
    "eos_token_id": "eos_token_id", "decoder_start_token_id": "decoder_start_token_id",
}  # fmt: skip
HF_FIXED = {
    "tie_word_embeddings": True, "is_decoder": False, "encoder_layerdrop": 0.0, "decoder_layerdrop": 0.0,
    "add_bias_logits": False, "add_final_layer_norm": False, "normalize_before": False, "normalize_embedding": True,
    "static_position_embeddings": False, "extra_pos_embeddings": OFFSET,
}  # fmt: skip
HF_UNUSED = {"num_hidden_layers", "init_std", "classifier_dropout", "classif_dropout", "output_past",
             "force_bos_token_to_be_generated"}  # fmt: skip
