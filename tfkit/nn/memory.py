"""Transformer-XL's recurrence over segments (Dai et al. 2019, arXiv:1901.02860, 3), in plain steps."""

import torch
from torch import Tensor

from .attention import merge_heads, scaled_dot_product_attention, split_heads
from .masks import masked_softmax
from .relative_attention import relative_scores


def memory_attention(x: Tensor, memory: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, n_heads: int) -> Tensor:
    """Self-attention that also attends to an earlier segment, whose states serve as keys and values, not as queries.

    x [B,L,E], memory [B,M,E] (M may be 0), w_q, w_k, w_v [E,E] -> [B,L,E]
    Each position sees all of the memory, and x up to itself. The memory gets no gradient; w_k and w_v still do.
    """
    source = torch.cat([memory.detach(), x], dim=1)  # [B,M+L,E]
    q, k, v = split_heads(x @ w_q, n_heads), split_heads(source @ w_k, n_heads), split_heads(source @ w_v, n_heads)
    length, past = x.size(1), memory.size(1)
    mask = torch.ones(length, past + length, dtype=torch.bool, device=x.device).tril(past)  # row i ends at column M+i
    output, _ = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(output)


def segment_attention(
    x: Tensor,
    memory: Tensor,
    position_encodings: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_r: Tensor,
    u: Tensor,
    v: Tensor,
    memory_length: int,
) -> tuple[Tensor, Tensor]:
    """The attention of a Transformer-XL layer over one segment, and the memory that it leaves for the next one.

    x [B,L,E]; memory [B,M,E], states of the positions before x, without gradient (M may be 0); position_encodings
    [M+L,E], row j for the distance M+L-1-j, from far to near; w_q, w_k, w_v, w_r [E,E]; u, v [H,D] with H*D = E
    Each position attends to all of the memory and to x up to itself, with scores by content and by distance.
    Returns the heads' merged output [B,L,E] and the new memory, the last `memory_length` of memory and x together (or
    all of them, if there are fewer), without gradient.
    """
    source = torch.cat([memory.detach(), x], dim=1)  # [B,K,E], K = M+L
    n_heads, keys = u.size(0), source.size(1)
    q, k, values = (split_heads(h, n_heads) for h in (x @ w_q, source @ w_k, source @ w_v))  # [B,H,Q,D], [B,H,K,D]
    r = split_heads((position_encodings @ w_r)[None], n_heads)[0]  # [H,K,D]
    mask = torch.ones(x.size(1), keys, dtype=torch.bool, device=x.device).tril(memory.size(1))
    weights = masked_softmax(relative_scores(q, k, r, u, v), mask)  # [B,H,Q,K]
    return merge_heads(weights @ values), source[:, max(keys - memory_length, 0) :].detach()
