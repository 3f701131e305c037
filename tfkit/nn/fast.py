"""What fast kernels compute, by hand: attention in blocks and its gradient, a chunked loss, paged caches, int8 weights.

FlashAttention: Dao et al. 2022, arXiv:2205.14135, and Dao 2023, arXiv:2307.08691. Pages: Kwon et al. 2023,
arXiv:2309.06180. Rounding rows to int8: Dettmers et al. 2022, arXiv:2208.07339. `triton_flash` is the first in Triton.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from .masks import masked_softmax


def merge_attention(o1: Tensor, lse1: Tensor, o2: Tensor, lse2: Tensor) -> tuple[Tensor, Tensor]:
    """The attention over two disjoint sets of keys, from the attention over each set.

    o1 and o2 [...,D]; lse1 and lse2 [...], the log-sum-exp of the scores of each part, -inf where it has no keys
    -> (o [...,D], lse [...])
    """
    lse = torch.logaddexp(lse1, lse2)
    share = torch.sigmoid(lse1 - lse2).masked_fill(lse == float("-inf"), 0.0).unsqueeze(-1)
    return share * o1 + (1 - share) * o2, lse


def flash_attention(q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> tuple[Tensor, Tensor]:
    """Attention that reads its keys `block` at a time and never holds more than Q * block scores per head.

    q [...,Q,D], k [...,K,D], v [...,K,Dv] -> (output [...,Q,Dv], lse [...,Q], the log-sum-exp of each query's scores),
    both in q's dtype, accumulated in float32 or wider. causal: query i sees keys j <= i + K - Q; Q <= K.
    """
    dtype, wide = q.dtype, torch.promote_types(q.dtype, torch.float32)
    q, k, v = q.to(wide) * q.size(-1) ** -0.5, k.to(wide), v.to(wide)
    positions = torch.arange(k.size(-2), device=q.device)
    last = positions[-q.size(-2) :, None]  # the last key that each query may see, if causal
    running_max = q.new_full((*q.shape[:-1], 1), float("-inf"))  # each query's largest score so far
    denominator = torch.zeros_like(running_max)  # the sum of exp(score - running_max) so far
    output = q.new_zeros((*q.shape[:-1], v.size(-1)))  # the sum of exp(score - running_max) * value so far
    for start in range(0, k.size(-2), block):
        part = slice(start, start + block)
        scores = q @ k[..., part, :].transpose(-2, -1)  # [...,Q,block]
        if causal:
            scores = scores.masked_fill(positions[part] > last, float("-inf"))
        new_max = torch.maximum(running_max, scores.amax(-1, keepdim=True)).detach()  # the result does not depend on it
        weights, rescale = (scores - new_max).exp(), (running_max - new_max).exp()
        denominator = rescale * denominator + weights.sum(-1, keepdim=True)
        output = rescale * output + weights @ v[..., part, :]
        running_max = new_max
    return (output / denominator).to(dtype), (running_max + denominator.log()).squeeze(-1).to(dtype)


def flash_backward(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, d_o: Tensor, block: int, causal: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of attention, whose weights are recomputed from lse, `block` keys at a time (Dao 2023, algorithm
    2).

    q [...,Q,D], k [...,K,D], v [...,K,Dv]; o [...,Q,Dv] and lse [...,Q] as `flash_attention` gave them; d_o [...,Q,Dv],
    the gradient of the loss by o -> (d_q, d_k, d_v), of the shapes and dtype of q, k, v
    """
    dtype, wide = q.dtype, torch.promote_types(q.dtype, torch.float32)
    q, k, v, o, lse, d_o = (given.to(wide) for given in (q, k, v, o, lse.unsqueeze(-1), d_o))
    scale, positions = q.size(-1) ** -0.5, torch.arange(k.size(-2), device=q.device)
    last = positions[-q.size(-2) :, None]  # the last key that each query may see, if causal
    delta = (d_o * o).sum(-1, keepdim=True)  # [...,Q,1]: the mean of d_weights, weighted, without any weights
    d_q, d_k, d_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for start in range(0, k.size(-2), block):
        part = slice(start, start + block)
        weights = (q @ k[..., part, :].transpose(-2, -1) * scale - lse).exp()  # [...,Q,block]
        if causal:
            weights = weights.masked_fill(positions[part] > last, 0.0)
        d_v[..., part, :] = weights.transpose(-2, -1) @ d_o
        d_scores = weights * (d_o @ v[..., part, :].transpose(-2, -1) - delta) * scale
        d_k[..., part, :] = d_scores.transpose(-2, -1) @ q
        d_q = d_q + d_scores @ k[..., part, :]
    return d_q.to(dtype), d_k.to(dtype), d_v.to(dtype)


def chunked_cross_entropy(h: Tensor, w: Tensor, targets: Tensor, chunk: int) -> Tensor:
    """The cross-entropy of a language model's last layer, with logits for `chunk` tokens at a time.

    h [N,E], w [V,E], targets int64 [N], -100 where nothing is predicted -> scalar of h's dtype: the mean over the
    other tokens, 0 if there are none. Under autograd the logits of every chunk are kept, unless
    `torch.utils.checkpoint` drops them.
    """
    wide = torch.promote_types(h.dtype, torch.float32)
    total = h.new_zeros(())
    for rows, wanted in zip(h.split(chunk), targets.split(chunk), strict=True):
        logits = (rows @ w.T).to(wide)
        total = total + F.cross_entropy(logits, wanted, ignore_index=-100, reduction="sum")
    return (total / (targets != -100).sum().clamp(min=1)).to(h.dtype)


def paged_attention(q: Tensor, key_pages: Tensor, value_pages: Tensor, tables: Tensor, lengths: Tensor) -> Tensor:
    """Attention of one new query per sequence over a paged cache, whose pages may be anywhere and in any order.

    q [B,H,D]; key_pages and value_pages [P,S,H,D], which all sequences share; tables int64 [B,M], the pages of each
    sequence, in the order of its text, with -1 or any page in unused entries; lengths int64 [B] of the texts, 0 or more
    -> [B,H,D]
    """
    keys, values = key_pages[tables].flatten(1, 2), value_pages[tables].flatten(1, 2)  # [B,M*S,H,D]
    mask = torch.arange(keys.size(1), device=q.device) < lengths.unsqueeze(-1)  # [B,M*S]
    scores = torch.einsum("bhd,bkhd->bhk", q, keys) * q.size(-1) ** -0.5
    return torch.einsum("bhk,bkhd->bhd", masked_softmax(scores, mask.unsqueeze(1)), values)


def quantize_rows(w: Tensor, bits: int = 8) -> tuple[Tensor, Tensor]:
    """Each row of a weight as small integers and one scale, which is computed from its largest entry.

    w [O,I], 2 <= bits <= 8 -> (q int8 [O,I], within 2**(bits-1) - 1 of zero; scale [O] in w's dtype, 1 for a row of
    zeros): q is w / scale, rounded
    """
    most = 2 ** (bits - 1) - 1
    largest = w.abs().amax(-1)
    scale = torch.where(largest > 0, largest / most, torch.ones_like(largest))
    q = (w / scale.unsqueeze(-1)).round().clamp(-most, most)
    return q.to(torch.int8), scale


def dequantize_rows(q: Tensor, scale: Tensor) -> Tensor:
    """The weight after rounding: q int8 [O,I], scale [O] -> [O,I] in scale's dtype."""
    return q * scale.unsqueeze(-1)
