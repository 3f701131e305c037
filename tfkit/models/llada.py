"""LLaDA (Nie et al. 2025, arXiv:2502.09992): a language model that is no chain of next tokens, but masked diffusion.

Parent   llama
Differs  attention in both directions; it predicts masked tokens, of which a text may have any share, and writes by
         filling in a text of masks, the surest tokens first (decode.unmask); so nothing is cached. As many key heads as
         query heads
Trained  objectives.masked_diffusion
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from ..namemap import NameMap
from ..nn.grouped_query import GroupedQueryAttention
from ..nn.positions import position_range
from ..objectives.cross_entropy import cross_entropy
from ..objectives.masked_diffusion import diffusion_loss
from . import llama
from ._base import configuration, to_padding_mask
from ._checks import check_ids
from ._output import Output


@configuration
class Config(llama.Config):
    vocab_size: int = 126464
    d_ff: int = 12288
    max_length: int = 4096
    eps: float = 1e-5
    rope_theta: float = 500000.0
    mask_token_id: int = 126336
    bos_token_id: int | None = None
    eos_token_id: int | list[int] | None = 126081
    pad_token_id: int | None = 126081


PRESETS: dict[str, dict[str, Any]] = {"llada-8b": {}}


class Layer(llama.Layer):
    def attention(self, c: Config, index: int) -> nn.Module:
        how: dict[str, Any] = {"bias": c.attn_bias, "out_bias": c.attn_bias, "dropout": c.attn_dropout}
        return GroupedQueryAttention(c.d_model, c.n_heads, c.n_kv_heads, d_head=c.d_head, causal=False, **how)


class LLaDA(llama.Llama):
    HEAD_CLASSES = {}
    HEADS = (None, "masked_lm")
    WORD_HEAD = "masked_lm"
    LAYER = Layer
    NEEDED_IDS = ("pad_token_id", "mask_token_id")
    QA_PREFIX = None
    ZERO_PADDING = False
    FLEX_ATTENTION = False

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        if not 0 <= config.mask_token_id < config.vocab_size:
            raise ValueError(f"mask_token_id={config.mask_token_id}: ids go from 0 to {config.vocab_size - 1}")

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        loss_weights: Tensor | None = None,
        **targets: Any,
    ) -> Output:
        """input_ids [B,L], some of which are masks; labels [B,L] (-100: not counted) -> Output: loss, logits [B,L,V] of
        the token at each position, last_hidden_state [B,L,E]. The loss is the mean over the labels, or with
        loss_weights [B,L], as `MaskedDiffusion` makes them, the weighted sum. Raises ValueError or TypeError for
        invalid inputs."""
        self.check_targets({"labels": labels, **targets})  # so a cache is refused: there is none
        ids = check_ids("input_ids", input_ids)
        non_padding = to_padding_mask("attention_mask", attention_mask, ids.shape)
        mask = None if non_padding is None else non_padding[:, None, None]
        positions = position_range(0, ids.size(1), ids.device) if position_ids is None else position_ids
        x = self.hidden(self.embed_inputs(ids), positions, mask, None, 0)
        if self.head is None:
            return Output(last_hidden_state=x)
        logits, loss = self.score(x), None
        if labels is not None:
            weights = loss_weights
            loss = cross_entropy(logits, labels) if weights is None else diffusion_loss(logits, labels, weights)
        return Output(loss=loss, logits=logits, last_hidden_state=x)


MODEL = LLaDA
TABLE = {
    "wte": "embed",
    "blocks.{}.attn_norm": "layers.{}.norm1",
    **{f"blocks.{{}}.{x}_proj": f"layers.{{}}.attn.{x}_proj" for x in "qkv"},
    "blocks.{}.attn_out": "layers.{}.attn.o_proj",
    "blocks.{}.ff_norm": "layers.{}.norm2",
    "blocks.{}.ff_proj": "layers.{}.ff.gate",
    "blocks.{}.up_proj": "layers.{}.ff.up",
    "blocks.{}.ff_out": "layers.{}.ff.down",
    "ln_f": "norm",
    "ff_out": "lm_head",
}
HF = NameMap(TABLE, prefix="model.transformer.")
HF_TIED = NameMap(TABLE, prefix="model.transformer.", tied={"ff_out.weight": "wte.weight"})
HF_HEADS = {"LLaDAModelLM": "masked_lm", "LLaDAModel": None}
HF_FIELDS = {
    "vocab_size": "vocab_size", "d_model": "d_model", "n_layers": "n_layers", "n_heads": "n_heads",
    "n_kv_heads": "n_kv_heads", "head_dim": "d_head", "mlp_hidden_size": "d_ff", "max_sequence_length": "max_length",
    "activation_type": "activation", "include_bias": "attn_bias", "attention_dropout": "attn_dropout",
    "rms_norm_eps": "eps", "rope_theta": "rope_theta", "rope_scaling": "rope_scaling", "init_std": "init_std",
    "weight_tying": "tie_word_embeddings", "mask_token_id": "mask_token_id", "bos_token_id": "bos_token_id",
    "eos_token_id": "eos_token_id", "pad_token_id": "pad_token_id",
}  # fmt: skip
HF_FIXED: dict[str, Any] = {
    "alibi": False, "rope": True, "block_type": "llama", "layer_norm_type": "rms", "layer_norm_with_affine": True,
    "attention_layer_norm": False, "bias_for_layer_norm": False, "include_qkv_bias": False, "input_emb_norm": False,
    "scale_logits": False, "embedding_dropout": 0.0, "residual_dropout": 0.0, "multi_query_attention": False,
}  # fmt: skip
HF_UNUSED = {
    "alibi_bias_max", "attention_layer_norm_with_affine", "auto_map", "block_group_size", "embedding_size",
    "flash_attention", "init_cutoff_factor", "init_device", "init_fn", "mlp_ratio", "precision", "rope_full_precision",
}  # fmt: skip


def from_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """The table of a file may have more rows than the vocabulary, for the sake of its shape: they count here."""
    config_dict = dict(config_dict)
    if config_dict.get("embedding_size") is not None:
        config_dict["vocab_size"] = config_dict["embedding_size"]
    return config_dict


def to_hf_fields(written: dict[str, Any]) -> dict[str, Any]:
    """The inverse."""
    return {**written, "embedding_size": written["vocab_size"]}
