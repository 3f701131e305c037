"""Self-attention that keeps its keys and values: what a cache is, in the fewest lines."""

import torch
from torch import Tensor, nn

from .attention import merge_heads, scaled_dot_product_attention, split_heads


class CachedSelfAttention(nn.Module):
    """Causal multi-head self-attention that remembers the keys and values of earlier calls.

    Submodules q_proj, k_proj, v_proj, o_proj: nn.Linear(d_model, d_model).
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, cache: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """x [B,t,E]: the new positions only; cache: what the last call returned, or None at the start
        -> (output [B,t,E], a new cache). The cache passed in is not changed and stays usable. What a call computed of
        its positions, such as their keys and values, is not computed again by later calls."""
        q = split_heads(self.q_proj(x), self.n_heads)  # [B,H,t,D]
        k = split_heads(self.k_proj(x), self.n_heads)
        v = split_heads(self.v_proj(x), self.n_heads)
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)  # [B,H,past+t,D]
            v = torch.cat([cache[1], v], dim=2)
        new, total = q.size(2), k.size(2)
        mask = torch.ones(new, total, dtype=torch.bool, device=x.device).tril(total - new)  # the last rows of a square
        output, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.o_proj(merge_heads(output)), (k, v)
