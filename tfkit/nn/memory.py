"""Reading on where the last segment ended (Dai et al. 2019, arXiv:1901.02860, 3.2), by hand; fast in `relative`."""

import torch
from torch import Tensor

from .attention import merge_heads, scaled_dot_product_attention, split_heads


def memory_attention(x: Tensor, memory: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, n_heads: int) -> Tensor:
    """Self-attention over an earlier segment too: its states are keys and values, but nobody asks from there.

    x [B,L,E], memory [B,M,E] (M may be 0), w_q, w_k, w_v [E,E] -> [B,L,E]
    Each position sees all of the memory, and x up to itself. The memory is a constant; w_k and w_v still learn from it.
    """
    source = torch.cat([memory.detach(), x], dim=1)  # [B,M+L,E]
    q, k, v = split_heads(x @ w_q, n_heads), split_heads(source @ w_k, n_heads), split_heads(source @ w_v, n_heads)
    length, past = x.size(1), memory.size(1)
    seen = torch.ones(length, past + length, dtype=torch.bool, device=x.device).tril(past)  # row i ends at column M+i
    output, _ = scaled_dot_product_attention(q, k, v, seen)
    return merge_heads(output)
