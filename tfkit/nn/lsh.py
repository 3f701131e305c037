"""LSH attention: only positions in the same hash bucket attend to each other (Kitaev et al. 2020, Reformer)."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import tracing
from .attention import attend, scaled_dot_product_attention
from .dropout import dropout as drop
from .sliding_window import concat_neighbours

SELF_SCORE = -1e5  # the score of a position with itself, which counts only if there is no other key


def lsh_buckets(vectors: Tensor, rotations: Tensor) -> Tensor:
    """The nearest of 2R directions for each vector, after a random rotation (section 2 of the paper).

    vectors [B,L,D], rotations [D,R] -> int64 [B,L], from 0 to 2R - 1
    """
    rotated = vectors @ rotations  # [B,L,R]
    return torch.cat([rotated, -rotated], dim=-1).argmax(-1)


def lsh_attention(qk: Tensor, v: Tensor, buckets: Tensor) -> Tensor:
    """Causal attention within each bucket, with the queries, scaled to length one, as keys.

    qk, v [B,L,D], buckets int64 [B,L] -> [B,L,D]
    A query's best key is itself, so it attends to itself only if there is no other key.
    """
    same = buckets[:, :, None] == buckets[:, None, :]  # [B,L,L]
    earlier = same.tril(-1)
    no_other_key = ~earlier.any(-1, keepdim=True)
    itself = torch.eye(qk.size(1), dtype=torch.bool, device=qk.device)
    return scaled_dot_product_attention(qk, F.normalize(qk, dim=-1), v, earlier | (no_other_key & itself))[0]


class Permute(torch.autograd.Function):
    """Permutes rows; its gradient is a permutation by the inverse order, not a scatter-add.

    x [B,H,1 or R,L,D], order and its inverse int64 [B,H,R,L] -> [B,H,R,L,D]
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: Tensor, inverse: Tensor) -> Tensor:
        """`ctx` keeps only the inverse order, none of x."""
        ctx.save_for_backward(inverse)
        ctx.repeated = x.size(2) < order.size(2)
        return _rows(x, order)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        """The gradient, in the order of the input."""
        grad = _rows(grad, *ctx.saved_tensors)
        return grad.sum(2, keepdim=True) if ctx.repeated else grad, None, None


def _rows(x: Tensor, at: Tensor) -> Tensor:
    """x [B,H,1 or R,L,D], at int64 [B,H,R,K] -> [B,H,R,K,D]"""
    sets = torch.arange(x[..., 0, 0].numel(), device=x.device).view(x.shape[:3] + (1,)) * x.size(3)
    return x.reshape(-1, x.size(-1)).index_select(0, (at + sets).flatten()).view(*at.shape, x.size(-1))


def unit_keys(qk: Tensor) -> Tensor:
    """Queries as keys: normalised to length one with the published code's epsilon."""
    return qk * (qk.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * qk.size(-1) ** -0.5


def hashed_attention(
    qk: Tensor,
    v: Tensor,
    buckets: Tensor,
    *,
    chunk: int,
    before: int,
    after: int,
    non_padding: Tensor | None = None,
    causal: bool = False,
    dropout: float = 0.0,
) -> Tensor:
    """In each hashing round, sort by bucket, cut into chunks, and let each chunk attend to itself and its neighbours.

    qk, v [B,H,L,D], buckets int64 [B,H,R,L], L a multiple of chunk, non_padding bool [B,L] or None: keys that count
    -> [B,H,L,D]. As in the published code, a long bucket is cut, and a chunk may hold several buckets.
    """
    batch, heads, rounds, length = buckets.shape
    order = buckets.argsort(dim=-1, stable=True)
    inverse = torch.empty_like(order).scatter_(-1, order, torch.arange(length, device=v.device).expand_as(order))
    sets = (batch * heads, rounds * length // chunk, chunk)  # [B·H,N,W]
    at = order.view(sets)
    q, values = (Permute.apply(x[:, :, None], order, inverse).view(*sets, -1) for x in (qk, v))
    near, keys, values = (concat_neighbours(x, before, after) for x in (at, unit_keys(q), values))
    if non_padding is not None:
        non_padding = non_padding[:, None, None].expand(-1, heads, rounds, -1).gather(-1, order)
        non_padding = concat_neighbours(non_padding.view(sets), before, after)
    bias = shared_bias(at, near, non_padding, causal, q.dtype)
    if tracing.recorder() is not None:
        trace_hashed(buckets, order, at, near, before, after)
    if rounds == 1:
        out = attend(q, keys, values, bias=bias, scale=1.0, dropout=dropout).view(batch, heads, 1, length, -1)
        return Permute.apply(out, inverse, order)[:, :, 0]
    if tracing.recorder() is not None:
        trace_rounds(q @ keys.transpose(-2, -1) + bias, order, inverse)
    out, weight = (x.reshape(*order.shape, -1) for x in attend_with_logsumexp(q, keys, values, bias, dropout))
    out, weight = (Permute.apply(x, inverse, order) for x in (out, weight))
    return (out * weight.softmax(2)).sum(2)


def trace_hashed(buckets: Tensor, order: Tensor, at: Tensor, near: Any, before: int, after: int) -> None:
    """Records for a trace the positions of sorted queries [·,N,W] and keys [·,N,K], and which share a bucket"""
    rounds = torch.arange(buckets.size(2), device=buckets.device)[:, None] * (int(buckets.max()) + 1)
    found = (buckets + rounds).gather(-1, order).view(at.shape)
    same = found[..., None] == concat_neighbours(found, before, after)[:, :, None]
    kinds = torch.where(same, tracing.KINDS.index("bucket"), tracing.KINDS.index("chunk"))
    heads = torch.arange(len(at))[:, None]
    tracing.note_positions(heads, *(positions.cpu() for positions in (at, near[:, :, None], kinds)))
    tracing.note("buckets", buckets)


def trace_rounds(scores: Tensor, order: Tensor, inverse: Tensor) -> None:
    """The final weights of each round: scores [·,N,W,K] -> weights that sum to 1 over all rounds"""
    sums = scores.logsumexp(-1).view(order.shape).gather(-1, inverse)  # [B,H,R,L], in the order of the text
    total = sums.logsumexp(2, keepdim=True).expand_as(order).gather(-1, order).view(scores.shape[:-1])
    tracing.note("scores", scores)
    tracing.note("seen", scores != float("-inf"))
    tracing.note("weights", (scores - total[..., None]).exp())


def shared_bias(at: Tensor, near: Tensor, non_padding: Tensor | None, causal: bool, dtype: torch.dtype) -> Tensor:
    """The bias for shared queries and keys: the query itself only as a last resort, and never a hidden key.

    at [...,Q] and near [...,K]: the positions of queries and keys; non_padding bool [...,K] or None -> [...,Q,K]
    """
    itself = at[..., None] == near[..., None, :]
    last = at.new_full((), max(SELF_SCORE, torch.finfo(dtype).min / 2), dtype=dtype)
    bias = torch.where(itself, last, 0.0)
    if causal:
        bias = bias.masked_fill_(at[..., None] < near[..., None, :], float("-inf"))
    if non_padding is not None:
        bias = bias.masked_fill(~(non_padding[..., None, :] | itself), float("-inf"))
    return bias


def attend_with_logsumexp(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, dropout: float = 0.0) -> tuple[Tensor, Tensor]:
    """Attention and its log-sum-exp, by which rounds are weighted -> [...,Q,D], log of the sum [...,Q,1]"""
    sets = [x.expand(*k.shape[:-2], *x.shape[-2:]).flatten(0, -3) for x in (bias, q, k.transpose(-2, -1))]
    scores = torch.baddbmm(*sets).view(*k.shape[:-2], q.size(-2), k.size(-2))
    return drop(scores.softmax(-1), dropout) @ v, scores.logsumexp(-1, keepdim=True)


def bucket_neighbours(buckets: Tensor, chunk: int, before: int, after: int) -> Tensor:
    """The keys that the last position sees after sorting and chunking: buckets [B,H,R,T] -> int64 [B,H,R,K]"""
    order = buckets.argsort(dim=-1, stable=True)
    last = (buckets <= buckets[..., -1:]).sum(-1, keepdim=True) - 1  # the last position is the last of its bucket
    start = (last // chunk - before) * chunk
    window = start + torch.arange((before + 1 + after) * chunk, device=buckets.device)
    return order.gather(-1, window % buckets.size(-1))


def attend_last_query(
    qk: Tensor, keys: Tensor, values: Tensor, at: Tensor, non_padding: Tensor | None = None
) -> Tensor:
    """Attention of the last position over the keys `at`, over all rounds.

    qk [B,H,1,D], keys (queries as they were) and values [B,H,T,D], at int64 [B,H,R,K], non_padding bool [B,T] ->
    [B,H,1,D]
    """
    k, v = (_rows(x[:, :, None].expand(-1, -1, at.size(2), -1, -1), at) for x in (keys, values))
    last = torch.full_like(at[..., :1], keys.size(2) - 1)
    non_padding = None if non_padding is None else non_padding[:, None, None].expand(*at.shape[:3], -1).gather(-1, at)
    out, weight = attend_with_logsumexp(
        qk[:, :, None], unit_keys(k), v, shared_bias(last, at, non_padding, False, qk.dtype)
    )
    return (out * weight.softmax(2)).sum(2)
