"""GPT-J (Wang and Komatsuzaki 2021, "GPT-J-6B: A 6 Billion Parameter Autoregressive Language Model").

Parent   gpt2
Differs  no table of positions: the first rotary_dim columns of each query and key are turned by an angle that grows
         with the position (RoPE, Su et al. 2021); attention and feed-forward side by side, after one norm (so both
         products can run at once); no biases in attention; a language model's head of its own, with a bias
Trained  objectives.causal_lm on the Pile
"""

from dataclasses import dataclass

import torch
from torch import nn

from ..namemap import NameMap
from ..nn import Attention, FeedForward, attend, merge_heads, split_heads
from . import gpt2
from ._base import activation, look_up


@dataclass(frozen=True, kw_only=True)
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


PRESETS: dict[str, dict] = {"gpt-j-6b": {}}


def angles(positions, dim, dtype):
    """positions int [B,L] or [L] -> cos, sin [B or 1,1,L,dim/2]; once for all layers"""
    wide = torch.promote_types(dtype, torch.float32)  # an angle of 1000 has no digits left in half precision
    speed = 10000.0 ** (-torch.arange(0, dim, 2, dtype=wide, device=positions.device) / dim)
    angle = torch.atleast_2d(positions).to(wide)[:, None, :, None] * speed
    return angle.cos().to(dtype), angle.sin().to(dtype)


def turn(x, cos, sin):
    """x [B,H,L,D]: turn its first pairs of columns (0,1), (2,3), … -> [B,H,L,D]; the rest passes by"""
    turned, rest = x.split([2 * cos.size(-1), x.size(-1) - 2 * cos.size(-1)], dim=-1)
    even, odd = turned[..., 0::2], turned[..., 1::2]
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
    return torch.cat([turned, rest], dim=-1)


class RotaryAttention(Attention):
    def forward(self, x, rotation, *, mask=None, cache=None):  # type: ignore[override]
        """x [B,Q,E], rotation: cos and sin of the new positions; keys are cached as they were turned -> [B,Q,E]"""
        q, k, v = (split_heads(proj(x), self.n_heads) for proj in (self.q_proj, self.k_proj, self.v_proj))
        q, k, causal = turn(q, *rotation), turn(k, *rotation), self.causal
        if cache is not None:
            k, v = cache.extend(self, k, v)
            mask, causal = cache.restrict(mask, causal, x.size(1), x.device)
        dropout = self.dropout if self.training else 0.0
        return self.o_proj(merge_heads(attend(q, k, v, mask=mask, causal=causal, dropout=dropout)))


class Block(gpt2.Block):
    def __init__(self, c):
        nn.Module.__init__(self)
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.attn = RotaryAttention(c.d_model, c.n_heads, bias=False, dropout=c.attn_dropout, causal=True)
        self.ff = FeedForward(c.d_model, c.d_ff or 4 * c.d_model, activation(c.activation))
        self.drop = nn.Dropout(c.dropout)

    def forward(self, x, mask, cache, rotation):  # type: ignore[override]
        y = self.norm1(x)
        return x + self.drop(self.attn(y, rotation, mask=mask, cache=cache)) + self.drop(self.ff(y))


class GPTJ(gpt2.GPT2):
    TOPS = {head: gpt2.GPT2.TOPS[head] for head in ("sequence_classification", "question_answering")}
    HEADS = (None, "causal_lm", *TOPS)
    BLOCK = Block

    def __init__(self, config: Config, head=None):
        super().__init__(config, head)
        del self.position
        if head == "causal_lm":
            self.lm_head = nn.Linear(config.d_model, config.vocab_size)
            self.lm_head.apply(self.start)

    def hidden(self, ids, positions, mask, cache):
        x = self.drop(look_up(self.embed, ids, "input_ids"))
        dim = self.config.rotary_dim or self.config.d_model // self.config.n_heads
        rotation = angles(positions, dim, x.dtype)
        for layer in self.layers:
            x = layer(x, mask, cache, rotation)
        return self.norm(x)

    def score(self, x):
        return self.lm_head(x)


MODEL = GPTJ

HF = NameMap(
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
    heads={"lm_head": "lm_head", **gpt2.TASK_NAMES},
    constant=[r"h\.\d+\.attn\.(masked_)?bias"],
)
HF_HEADS = {
    "GPTJModel": None, "GPTJForCausalLM": "causal_lm", "GPTJForSequenceClassification": "sequence_classification",
    "GPTJForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {**gpt2.HF_FIELDS, "rotary_dim": "rotary_dim"}
for _unread in ("classifier_dropout", "summary_activation", "summary_first_dropout"):
    del HF_FIELDS[_unread]
HF_FIXED = {"tie_word_embeddings": False, "scale_attn_weights": True}
HF_UNUSED = gpt2.NO_CHOICE | {"rotary"}
