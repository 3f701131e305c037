"""Attention by hand, as in the paper (Vaswani et al. 2017, section 3.2). The fused form is in `kernel`."""

import math

from torch import Tensor, nn


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """softmax(q kᵀ / sqrt(D)) v, over the keys that the mask lets each query see (Vaswani et al. 2017, 3.2.1).

    q [...,Q,D], k [...,K,D], v [...,K,Dv], mask bool, broadcastable to [...,Q,K], True = may attend
    -> (output [...,Q,Dv], weights [...,Q,K])
    A query that may attend to nothing gets zero weights and a zero output, with no NaN in any gradient.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [...,Q,K]
    if mask is None:
        weights = scores.softmax(-1)
    else:
        empty = ~mask.any(-1, keepdim=True)  # softmax over nothing is 0/0: such rows are set apart, before and after
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        weights = scores.softmax(-1).masked_fill(empty, 0.0)
    return weights @ v, weights


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Cut the model width into heads: head h is columns h*D to (h+1)*D-1.

    x [B,L,E] -> [B,H,L,D] with E = H*D
    """
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Put the heads side by side again: the inverse of `split_heads`.

    x [B,H,L,D] -> [B,L,E] with E = H*D
    """
    batch, heads, length, width = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * width)


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each in a subspace of its own (Vaswani et al. 2017, 3.2.2).

    Submodules q_proj, k_proj, v_proj, o_proj: nn.Linear(d_model, d_model).
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """query [B,Q,E], key and value [B,K,E], mask broadcastable to [B,H,Q,K]
        -> (output [B,Q,E], weights [B,H,Q,K])"""
        q = split_heads(self.q_proj(query), self.n_heads)  # [B,H,Q,D]
        k = split_heads(self.k_proj(key), self.n_heads)
        v = split_heads(self.v_proj(value), self.n_heads)
        output, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.o_proj(merge_heads(output)), weights
