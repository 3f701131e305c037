"""What changed from GPT-2 to today's decoders, each in its shortest form.

The models use faster versions: `rms_norm`, `feed_forward`, `rope`, `grouped_query`, `experts`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .attention import merge_heads, scaled_dot_product_attention, split_heads
from .masks import masked_softmax


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Divide each vector by its root mean square (Zhang and Sennrich 2019): no mean is subtracted, no bias added.

    x [...,E], weight [E] -> [...,E] in x's dtype; the mean is taken in float32 or wider
    """
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    scale = (wide.square().mean(-1, keepdim=True) + eps).rsqrt()
    return (wide * scale).to(x.dtype) * weight


class SwiGLU(nn.Module):
    """A feed-forward network with a gate (Shazeer 2020): down(silu(gate(x)) * up(x)), x [B,L,E] -> [B,L,E].

    Submodules gate, up: nn.Linear(d_model, d_ff), down: nn.Linear(d_ff, d_model), all without bias.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


def apply_rotary_halves(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Rotary positions (Su et al. 2021) with columns i and i + D/2 as a pair, as in Hugging Face's LLaMA files.

    x [...,L,D], D even, positions int64 [L], in any order -> [...,L,D]: pair i rotated by position * base ** (-2i/D),
    computed in float32 or better
    """
    half = x.size(-1) // 2
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    frequencies = base ** (-torch.arange(half, dtype=wide.dtype, device=x.device) / half)
    angles = positions[:, None] * frequencies  # [L,D/2]
    cos, sin = angles.cos(), angles.sin()
    first, second = wide[..., :half], wide[..., half:]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1).to(x.dtype)


class GroupedQueryAttention(nn.Module):
    """Attention in which several query heads share one head of keys and values (Ainslie et al. 2023).

    Submodules q_proj, k_proj, v_proj, o_proj without biases; heads are d_model / n_heads wide. Query head h uses
    key-value head h // (n_heads / n_kv_heads). x [B,L,E], mask bool, broadcastable to [B,H,L,L], or None -> [B,L,E]
    """

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int) -> None:
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        width = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, n_kv_heads * width, bias=False)
        self.v_proj = nn.Linear(d_model, n_kv_heads * width, bias=False)
        self.o_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        group = self.n_heads // self.n_kv_heads
        q = split_heads(self.q_proj(x), self.n_heads)
        k = split_heads(self.k_proj(x), self.n_kv_heads).repeat_interleave(group, dim=1)
        v = split_heads(self.v_proj(x), self.n_kv_heads).repeat_interleave(group, dim=1)
        output, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.o_proj(merge_heads(output))


def sink_mask(length: int, window: int, sinks: int) -> Tensor:
    """A sliding window that always includes the first tokens (attention sinks, Xiao et al. 2023).

    -> bool [L,L], on the default device: query i sees key j <= i if i - j < window or j < sinks
    """
    position = torch.arange(length)
    distance = position[:, None] - position
    return (distance >= 0) & ((distance < window) | (position < sinks))


def route(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Send each token to its k best experts (Shazeer et al. 2017).

    logits [N,X] -> (weights [N,k], experts int64 [N,k]), largest first; weights are the softmax over those k logits
    """
    best = logits.topk(k, dim=-1)
    return best.values.softmax(-1), best.indices


class MixtureOfExperts(nn.Module):
    """Many feed-forward networks, of which each token uses k (Jiang et al. 2024, Mixtral). x [B,L,E] -> [B,L,E]

    Submodules router: nn.Linear(d_model, n_experts) without bias, experts: nn.ModuleList of SwiGLU(d_model, d_ff).
    """

    def __init__(self, d_model: int, d_ff: int, n_experts: int, k: int) -> None:
        super().__init__()
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(n_experts))

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, 1)  # [N,E]
        weights, chosen = route(self.router(tokens), self.k)
        out = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            token, choice = (chosen == number).nonzero(as_tuple=True)
            out = out.index_add(0, token, weights[token, choice, None] * expert(tokens[token]))
        return out.view_as(x)


def balance_loss(logits: Tensor, k: int) -> Tensor:
    """The load-balancing loss (Fedus et al. 2021, eq. 4-6): X * sum over experts of (share of choices) * (mean
    probability). The gradient flows only through the probabilities.

    logits [N,X] -> scalar
    """
    experts = logits.size(-1)
    chosen = logits.topk(k, dim=-1).indices
    shares = F.one_hot(chosen, experts).sum((0, 1)).to(logits.dtype) / chosen.numel()  # [X]
    return experts * (shares * logits.softmax(-1).mean(0)).sum()


def latent_attention(q: Tensor, c: Tensor, w_k: Tensor, w_v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention over keys and values that are expanded from one small vector per token (MLA, DeepSeek-AI 2024).

    q [B,H,Q,D], c [B,K,C], w_k [H,C,D], w_v [H,C,Dv], mask bool, broadcastable to [B,H,Q,K], or None -> [B,H,Q,Dv].
    Only c would be cached: the queries are projected into its space, and keys and values are never computed.
    """
    c = c.unsqueeze(1)  # [B,1,K,C]
    scores = q @ w_k.transpose(-2, -1) @ c.transpose(-2, -1) * q.size(-1) ** -0.5  # [B,H,Q,K]
    weights = scores.softmax(-1) if mask is None else masked_softmax(scores, mask)
    return weights @ c @ w_v
