"""GPT-J (Wang and Komatsuzaki 2021, "GPT-J-6B: A 6 Billion Parameter Autoregressive Language Model").

Parent   gpt2
Differs  no table of positions: the first rotary_dim columns of each query and key are rotated by an angle that grows
         with the position (RoPE, Su et al. 2021); attention and feed-forward network in parallel after one norm (so
         both can be computed at once); no biases in attention; an output matrix of its own, with a bias
Trained  objectives.causal_lm on the Pile
"""

from typing import Any

import torch
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Dropout, FeedForward
from ..nn.cache import Cache
from ..nn.feed_forward import get_activation
from ..nn.rotary import RotaryAttention, rotary_angles
from ..objectives.cross_entropy import word_scores
from . import gpt2
from ._base import configuration


@configuration
class Config(gpt2.Config):
    vocab_size: int = 50400
    d_model: int = 4096
    n_layers: int = 28
    n_heads: int = 16
    rotary_dim: int | None = 64  # of each head; None: all of it
    max_length: int = 2048
    dropout: float = 0.0
    embed_dropout: float = 0.0
    attn_dropout: float = 0.0
    tie_word_embeddings: bool = False


PRESETS: dict[str, dict[str, Any]] = {"gpt-j-6b": {}}


class Block(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.attn = RotaryAttention(c.d_model, c.n_heads, bias=False, dropout=c.attn_dropout)
        self.ff = FeedForward(c.d_model, c.d_ff or 4 * c.d_model, get_activation(c.activation))
        self.drop = Dropout(c.dropout)

    def forward(self, x: Tensor, mask: Tensor | None, cache: Cache | None, rotation: tuple[Tensor, Tensor]) -> Tensor:
        """x [B,L,E], mask bool [B,1,1,K] or None, rotation: cos and sin of the positions -> [B,L,E]"""
        y = self.norm1(x)
        return x + self.drop(self.attn(y, rotation, mask=mask, cache=cache)) + self.drop(self.ff(y))


class GPTJ(gpt2.GPT2):
    HEAD_CLASSES = {head: gpt2.GPT2.HEAD_CLASSES[head] for head in ("sequence_classification", "question_answering")}
    HEADS = (None, "causal_lm", *HEAD_CLASSES)
    BLOCK = Block
    SCALES_RESIDUAL_INIT = False

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        width = config.d_model // config.n_heads
        rotary_dim = width if config.rotary_dim is None else config.rotary_dim
        if rotary_dim % 2 or not 0 < rotary_dim <= width:  # pairs of columns are rotated
            raise ValueError(f"rotary_dim={rotary_dim}: must be even, and at most {width}, the width of a head")
        if head == "causal_lm" and config.tie_word_embeddings:
            self.score_bias = nn.Parameter(torch.zeros(config.vocab_size))
            self.names = names(tied=True)
        elif head == "causal_lm":
            self.lm_head = nn.Linear(config.d_model, config.vocab_size)
            self.lm_head.apply(self.init_weights)

    def untie(self, table: nn.Embedding) -> None:
        """Nothing: the output matrix of its own, `lm_head`, has a bias, and is made with the head."""

    def position_table(self, c: Any) -> None:
        return None

    def hidden(self, x: Tensor, positions: Tensor, mask: Tensor | None, cache: Cache | None) -> Tensor:
        x = self.drop(x)
        dim = self.config.rotary_dim or self.config.d_model // self.config.n_heads
        rotation = rotary_angles(positions, dim, x.dtype)
        for layer in self.layers:
            x = layer(x, mask, cache, rotation)
        return self.norm(x)

    def score(self, x: Tensor) -> Tensor:
        if self.config.tie_word_embeddings:
            return word_scores(x, self.embed.weight, self.score_bias)
        return word_scores(x, self.lm_head.weight, self.lm_head.bias)


MODEL = GPTJ


def names(tied: bool) -> NameMap:
    """The names of published tensors. tied: the embeddings are also the output matrix, whose bias stays its own."""
    own = {"lm_head.bias": "score_bias"} if tied else {"lm_head": "lm_head"}
    return NameMap(
        {
            "wte": "embed",
            "h.{}.ln_1": "layers.{}.norm1",
            "h.{}.attn.q_proj": "layers.{}.attn.q_proj",
            "h.{}.attn.k_proj": "layers.{}.attn.k_proj",
            "h.{}.attn.v_proj": "layers.{}.attn.v_proj",
            "h.{}.attn.out_proj": "layers.{}.attn.o_proj",
            "h.{}.mlp.fc_in": "layers.{}.ff.up",
            "h.{}.mlp.fc_out": "layers.{}.ff.down",
            "ln_f": "norm",
        },
        prefix="transformer.",
        heads={**own, **gpt2.TASK_NAMES},
        tied={"lm_head.weight": "wte.weight"} if tied else {},
        constant=[r"h\.\d+\.attn\.(masked_)?bias"],
    )


HF = names(tied=False)
HF_HEADS = {
    "GPTJModel": None, "GPTJForCausalLM": "causal_lm", "GPTJForSequenceClassification": "sequence_classification",
    "GPTJForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {**gpt2.HF_FIELDS, "rotary_dim": "rotary_dim"}
for _unread in (
    "classifier_dropout", "summary_activation", "summary_first_dropout", "scale_attn_weights",
    "scale_attn_by_inverse_layer_idx", "add_cross_attention",
):  # fmt: skip
    del HF_FIELDS[_unread]
HF_FIXED = {"scale_attn_weights": True}
HF_UNUSED = gpt2.NO_CHOICE | {"rotary"}
