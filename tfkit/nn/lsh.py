"""LSH attention: only positions in the same hash bucket attend to each other (Kitaev et al. 2020, Reformer).

The modules are the two kinds of attention that Reformer's layers alternate: hashed, and within a chunk of positions and
its neighbours. Each computes a whole text or, with a cache, one more token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import tracing
from .attention import (
    Projections,
    attend,
    chunked_attention,
    concat_neighbours,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)
from .cache import Cache, StaticCache
from .dropout import apply_dropout
from .sliding_window import trace_window

UNWRITTEN = 2**31 - 1  # the bucket of slots that hold no position
SELF_SCORE = -1e5  # the score of a position with itself, which counts only if there is no other key


def lsh_buckets(vectors: Tensor, rotations: Tensor) -> Tensor:
    """The nearest of 2n directions for each vector, after a random rotation (section 2 of the paper).

    vectors [B,L,D], rotations [D,n] -> int64 [B,L], from 0 to 2n - 1
    """
    rotated = vectors @ rotations  # [B,L,n]
    return torch.cat([rotated, -rotated], dim=-1).argmax(-1)


def bucket_factors(length: int, n_buckets: int | Sequence[int] | None, chunk: int, max_length: int) -> list[int]:
    """The factors, even numbers, of the number of buckets for a text of this length.

    n_buckets: the number or its factors; None: as published, a power of 2 near twice the number of chunks.
    """
    if n_buckets is not None:
        return [n_buckets] if isinstance(n_buckets, int) else list(n_buckets)
    power = max((2 * (length // chunk)).bit_length() - 1, 1)
    most = 2 * max(int((max_length // chunk) ** 0.5), chunk)
    return [2**power] if 2**power <= most else [2 ** (power // 2), 2 ** (power - power // 2)]


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
        out = attend(q, keys, values, bias=bias, scale=1.0, dropout=dropout).reshape(batch, heads, 1, length, -1)
        return Permute.apply(out, inverse, order)[:, :, 0]
    if tracing.recorder() is not None:
        trace_rounds(q @ keys.transpose(-2, -1) + bias, order, inverse)
    out, weight = (x.reshape(*order.shape, -1) for x in attend_with_logsumexp(q, keys, values, bias, dropout))
    out, weight = (Permute.apply(x, inverse, order) for x in (out, weight))
    return (out * weight.softmax(2)).sum(2)


def trace_hashed(buckets: Tensor, order: Tensor, at: Tensor, near: Tensor, before: int, after: int) -> None:
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
    return apply_dropout(scores.softmax(-1), dropout) @ v, scores.logsumexp(-1, keepdim=True)


def bucket_neighbours(buckets: Tensor, chunk: int, before: int, after: int) -> Tensor:
    """The keys that the last position sees after sorting and chunking: buckets [B,H,R,T] -> int64 [B,H,R,K]"""
    near = torch.arange((before + 1 + after) * chunk, device=buckets.device)
    return sorted_neighbours(buckets, buckets[..., -1:], buckets.size(-1), near - before * chunk, chunk)


def sorted_neighbours(buckets: Tensor, newest: Tensor, total: int | Tensor, near: Tensor, chunk: int) -> Tensor:
    """The first `total` positions of buckets [B,H,R,T], sorted by bucket and cut into chunks; the newest of them, in
    bucket `newest` [B,H,R,1] -> the positions at distances near [K] from the start of its chunk, int64 [B,H,R,K]"""
    order = buckets.argsort(dim=-1, stable=True)
    last = (buckets <= newest).sum(-1, keepdim=True) - 1  # the newest position is the last of its bucket
    return order.gather(-1, (last // chunk * chunk + near) % total)


def attend_last_query(
    qk: Tensor,
    keys: Tensor,
    values: Tensor,
    at: Tensor,
    last: Tensor,
    non_padding: Tensor | None = None,
    visible: Tensor | None = None,
) -> Tensor:
    """Attention of the position `last`, int64 [], over the keys `at`, over all rounds.

    qk [B,H,1,D], keys (queries as they were) and values [B,H,T,D], at int64 [B,H,R,K], non_padding bool [B,T], visible
    bool [K]: which of `at` count, or None -> [B,H,1,D]
    """
    k, v = (_rows(x[:, :, None].expand(-1, -1, at.size(2), -1, -1), at) for x in (keys, values))
    non_padding = None if non_padding is None else non_padding[:, None, None].expand(*at.shape[:3], -1).gather(-1, at)
    bias = shared_bias(last.expand_as(at[..., :1]), at, non_padding, False, qk.dtype)
    bias = bias if visible is None else bias.masked_fill(~visible, float("-inf"))
    out, weight = attend_with_logsumexp(qk[:, :, None], unit_keys(k), v, bias)
    return (out * weight.softmax(2)).sum(2)


class ReformerCache(Cache):
    """Keys and values; for hashed layers also the buckets [B,H,R,T], the seed of their random rotations, and the
    factors of the number of buckets, which stays what it was when they were first hashed."""

    def __init__(self, seeds: list[int]) -> None:
        super().__init__()
        self.buckets: dict[nn.Module, torch.Tensor] = {}
        self.factors: dict[nn.Module, list[int]] = {}
        self.seeds = seeds

    def reorder(self, index: Tensor) -> None:
        super().reorder(index)
        self.buckets = {module: buckets.index_select(0, index) for module, buckets in self.buckets.items()}

    def reorder_from(self, index: Tensor, prefix_length: int = 0) -> None:
        super().reorder_from(index, prefix_length)
        self.buckets = {module: buckets.index_select(0, index) for module, buckets in self.buckets.items()}

    def crop(self, length: int) -> None:
        super().crop(length)
        self.buckets = {module: buckets[..., :length] for module, buckets in self.buckets.items()}


class StaticReformerCache(StaticCache):
    """The same in fixed size, as a compiler requires. Per hashed layer it holds the buckets [B,H,R,max_length], in
    which unwritten slots are in a bucket of their own, and the rotations; all keys are hashed as they come, though the
    first ones are attended to without hashes: `hashed_from` is the first length at which eager decoding reads them.

    non_padding bool [B,max_length]: the mask of the prompts, or None."""

    def __init__(self, max_length: int, seeds: list[int], non_padding: Tensor | None = None) -> None:
        super().__init__(max_length)
        self.seeds, self.non_padding = seeds, non_padding
        self.buckets: dict[nn.Module, Tensor] = {}
        self.rotations: dict[nn.Module, Tensor] = {}
        self.factors: dict[nn.Module, list[int]] = {}
        self.hashed_from: dict[nn.Module, Tensor] = {}  # int64 []

    def extend_padding_mask(self, mask: Tensor | None) -> Tensor | None:
        """mask bool [B,L] of a prompt, or None -> the mask of all slots, or None"""
        if mask is not None and self.non_padding is None:
            self.non_padding = F.pad(mask, (0, self.max_length - mask.size(1)), value=True)
        return self.non_padding

    def tensors(self) -> list[Tensor]:
        return [*super().tensors(), *self.rotations.values(), *self.hashed_from.values()]

    def row_tensors(self) -> list[Tensor]:
        """The masks of the prompts, and the buckets."""
        return [*([] if self.non_padding is None else [self.non_padding]), *self.buckets.values()]

    def reorder(self, index: Tensor) -> None:
        super().reorder(index)
        self.buckets = {module: buckets.index_select(0, index) for module, buckets in self.buckets.items()}
        self.non_padding = None if self.non_padding is None else self.non_padding[index]

    def reorder_from(self, index: Tensor, prefix_length: int = 0) -> None:
        super().reorder_from(index, prefix_length)
        for buckets in self.buckets.values():
            buckets.copy_(buckets.index_select(0, index))
        self.non_padding = None if self.non_padding is None else self.non_padding[index]

    def write_buckets(self, module: nn.Module, buckets: Tensor) -> Tensor:
        """buckets [B,H,R,t] of the positions that were written last -> those of all slots [B,H,R,max_length]"""
        if module not in self.buckets:
            self.buckets[module] = buckets.new_full((*buckets.shape[:-1], self.max_length), UNWRITTEN)
        return self.buckets[module].index_copy_(-1, self.slots, buckets)

    def crop(self, length: int) -> None:
        for first in self.hashed_from.values():  # what is hashed stays so
            first.masked_fill_(first <= self.past + 1, 0)
        super().crop(length)
        for buckets in self.buckets.values():
            buckets.masked_fill_(torch.arange(self.max_length, device=buckets.device) >= length, UNWRITTEN)


@dataclass(frozen=True)
class ReformerContext:
    """What all layers of a call share. non_padding bool [B,K] or None: the keys that are not padding; length, past:
    numbers of new and earlier tokens, past as a tensor in a static cache that is not empty; seeds: one per layer;
    buckets_for_backward: module -> buckets, for recomputation in the backward pass (rounding may move a vector to
    another bucket), or None."""

    non_padding: torch.Tensor | None
    length: int
    past: int | Tensor
    cache: ReformerCache | StaticReformerCache | None
    seeds: list[Any]
    buckets_for_backward: dict[Any, Tensor] | None

    @property
    def is_step(self) -> bool:
        """Whether tokens came before."""
        return isinstance(self.past, Tensor) or self.past > 0


class LocalAttention(Projections):
    """Each chunk of positions attends to itself and to its neighbours; a text of a single chunk gets full attention.

    chunk: its positions; before, after: the number of chunks on each side; causal: positions attend to themselves and
    earlier ones. Otherwise as `Projections`, without biases.
    """

    def __init__(
        self, d_model: int, n_heads: int, d_head: int, *, chunk: int, before: int, after: int, causal: bool,
        dropout: float,
    ) -> None:  # fmt: skip
        super().__init__(d_model, n_heads, d_head=d_head, bias=False, dropout=dropout)
        self.chunk, self.before, self.after, self.causal = chunk, before, after, causal

    def forward(self, x: Tensor, context: ReformerContext) -> Tensor:
        """x [B,L,E] -> [B,L,E]"""
        q, k, v = (f(x).unflatten(-1, (self.n_heads, -1)) for f in (self.q_proj, self.k_proj, self.v_proj))
        if context.cache is not None:
            k, v = (t.transpose(1, 2) for t in (k, v))
            old = context.cache.extend(self, k[:, :, : context.length], v[:, :, : context.length])
            if context.is_step:
                keys, values, mask = self.neighbour_keys(*old, context)
                return self.o_proj(merge_heads(attend(q.transpose(1, 2), keys, values, mask=mask)))
            k, v = (t.transpose(1, 2) for t in (k, v))
        whole = q.size(1) <= self.chunk
        before, after = (0, 0) if whole else (self.before, self.after)
        chunk = q.size(1) if whole else self.chunk
        mask = self.mask(context.non_padding, q, chunk, before, after)
        if tracing.recorder() is not None:
            at = torch.arange(q.size(1)).view(-1, chunk)
            trace_window(at, concat_neighbours(at[None], before, after)[0], self.n_heads)
        return self.o_proj(chunked_attention(q, k, v, mask, before=before, after=after, dropout=self.dropout_now()))

    def neighbour_keys(self, k: Tensor, v: Tensor, context: ReformerContext) -> tuple[Tensor, Tensor, Tensor | None]:
        """The keys and values that one more token sees, of k, v [B,H,K,D] -> [B,H,N,D], and their mask bool [B,1,1,N]
        or None"""
        non_padding = None if context.non_padding is None else context.non_padding[:, None, None]
        if isinstance(context.past, int):
            start = max(0, (context.past // self.chunk - self.before) * self.chunk)
            return k[:, :, start:], v[:, :, start:], None if non_padding is None else non_padding[..., start:]
        near = torch.arange((self.before + 1) * self.chunk, device=k.device)
        at = near + ((context.past // self.chunk - self.before) * self.chunk).clamp(min=0)
        mask, at = (at <= context.past).view(1, 1, 1, -1), at.clamp(max=k.size(2) - 1)
        mask = mask if non_padding is None else mask & non_padding.index_select(-1, at)
        return k.index_select(2, at), v.index_select(2, at), mask

    def mask(self, non_padding: Tensor | None, q: Tensor, chunk: int, before: int, after: int) -> Tensor:
        """-> bool [B,N,W,(before+1+after)·W]"""
        at = torch.arange(q.size(1), device=q.device).view(1, -1, chunk)  # [1,N,W]
        near = concat_neighbours(at, before, after)
        mask = torch.ones_like(near[:, :, None].expand(-1, -1, chunk, -1), dtype=torch.bool)
        if self.causal:
            mask = at[..., None] >= near[:, :, None]
        if non_padding is not None:
            mask = mask & concat_neighbours(non_padding.view(-1, *at.shape[1:]), before, after)[:, :, None]
        return mask.expand(q.size(0), -1, -1, -1)


class HashedAttention(nn.Module):
    """Attention to positions with similar hashes; queries, scaled to length one, are their own keys.

    chunk, before, after: the positions of a chunk after sorting, and how many chunks on each side it sees; n_hashes:
    rounds of hashing; n_buckets, max_length: as in `bucket_factors`; index: which of the context's seeds is this
    layer's; same_hashes: whether its seed never changes, so that its rotations are kept; causal, dropout: as in
    `LocalAttention`.
    """

    def __init__(
        self, d_model: int, n_heads: int, d_head: int, *, chunk: int, before: int, after: int, n_hashes: int,
        n_buckets: int | list[Any] | tuple[Any, ...] | None, max_length: int, index: int,
        same_hashes: bool, causal: bool, dropout: float,
    ) -> None:  # fmt: skip
        super().__init__()
        inner = n_heads * d_head
        self.qk_proj, self.v_proj = (nn.Linear(d_model, inner, bias=False) for _ in "qv")
        self.o_proj = nn.Linear(inner, d_model, bias=False)
        self.n_heads, self.d_head, self.causal, self.dropout = n_heads, d_head, causal, dropout
        self.chunk, self.before, self.after = chunk, before, after
        self.n_hashes, self.n_buckets, self.max_length, self.index = n_hashes, n_buckets, max_length, index
        self.same_hashes = same_hashes
        self.kept_rotations: dict[Any, Tensor] = {}

    def forward(self, x: Tensor, context: ReformerContext) -> Tensor:
        """x [B,L,E] -> [B,L,E]"""
        qk, v = (split_heads(f(x), self.n_heads) for f in (self.qk_proj, self.v_proj))
        if not context.is_step:
            out = self.read(qk, v, context)
        elif isinstance(context.cache, StaticReformerCache):
            out = self.static_step(qk, v, context, context.cache)
        else:
            out = self.step(qk, v, context)
        return self.o_proj(merge_heads(out))

    def read(self, qk: Tensor, v: Tensor, context: ReformerContext) -> Tensor:
        """Attention over a whole text, qk, v [B,H,L,D] -> [B,H,L,D]; a text of a single chunk gets full attention."""
        length, buckets, dropout = qk.size(2), None, self.dropout if self.training else 0.0
        if length > self.chunk:
            buckets = self.hash(qk, context, length)
            how: dict[str, Any] = {"chunk": self.chunk, "before": self.before, "after": self.after}
            how |= {"non_padding": context.non_padding, "causal": self.causal, "dropout": dropout}
            out = hashed_attention(qk, v, buckets, **how)
        else:
            at = torch.arange(length, device=v.device)
            bias = shared_bias(
                at, at, None if context.non_padding is None else context.non_padding[:, None], self.causal, v.dtype
            )
            out = attend(qk, unit_keys(qk), v, bias=bias, scale=1.0, dropout=dropout)
        if context.cache is not None:
            context.cache.extend(self, qk[:, :, : context.length], v[:, :, : context.length])
            if isinstance(context.cache, StaticReformerCache):
                self.fill_static_cache(qk, buckets, context, context.cache)
            elif buckets is not None:
                context.cache.buckets[self] = buckets[..., : context.length]
        return out

    def fill_static_cache(
        self, qk: Tensor, buckets: Tensor | None, context: ReformerContext, cache: StaticReformerCache
    ) -> None:
        """Keeps the buckets of a prompt qk [B,H,L,D] and its rotations; a prompt of one chunk has no buckets yet."""
        first = 0
        if buckets is None:
            first = max(context.length + 2, self.chunk + 1)  # the step before hashes all keys
            buckets = self.hash(qk, context, first - 1)
        cache.hashed_from[self] = torch.full((), first, device=qk.device)
        cache.rotations[self] = self.rotations(cache.seeds[self.index], sum(cache.factors[self]) // 2, qk)
        cache.write_buckets(self, buckets[..., : context.length])

    def hash(self, qk: Tensor, context: ReformerContext, length: int) -> Tensor:
        """qk [B,H,L,D] -> buckets [B,H,R,L]; padding has the last bucket to itself"""
        if context.buckets_for_backward is not None and self in context.buckets_for_backward:
            return context.buckets_for_backward[self]
        factors = bucket_factors(length, self.n_buckets, self.chunk, self.max_length)
        if context.cache is not None:
            factors = context.cache.factors.setdefault(self, factors)
        if isinstance(context.cache, StaticReformerCache) and self in context.cache.rotations:
            turns = context.cache.rotations[self]
        else:
            turns = self.rotations(context.seeds[self.index], sum(factors) // 2, qk)
        found = [lsh_buckets(qk.detach()[:, :, None], turn) for turn in turns.split([n // 2 for n in factors], -1)]
        buckets, size = found[0], factors[0]
        for more, factor in zip(found[1:], factors[1:], strict=True):
            buckets, size = buckets + size * more, size * factor
        if context.non_padding is not None:
            buckets = buckets.masked_fill(~context.non_padding[:, None, None, -qk.size(2) :], size)
        buckets = buckets.int()
        if context.buckets_for_backward is not None:
            context.buckets_for_backward[self] = buckets
        return buckets

    def rotations(self, seed: int, size: int, like: Tensor) -> Tensor:
        """-> random [H,R,D,size], with the dtype and device of `like`. With `same_hashes` they are the same on every
        device: they are drawn on the CPU and kept, so that no later step waits for a copy."""
        if not self.same_hashes:
            return self.draw_rotations(seed, size, like.dtype, like.device)
        key = (seed, size, like.dtype, like.device)
        if key not in self.kept_rotations:
            with torch.inference_mode(False):  # an ordinary tensor, as it will be used in training
                drawn = self.draw_rotations(seed, size, like.dtype, torch.device("cpu"))
                self.kept_rotations[key] = drawn.to(like.device)
        return self.kept_rotations[key]

    def draw_rotations(self, seed: int, size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
        """-> [H,R,D,size]"""
        generator = torch.Generator(device).manual_seed(seed)
        shape = (self.n_heads, self.d_head, self.n_hashes, size)
        return torch.randn(shape, generator=generator, dtype=dtype, device=device).permute(0, 2, 1, 3)

    def step(self, qk: Tensor, v: Tensor, context: ReformerContext) -> Tensor:
        """One more token: qk, v [B,H,1,D] -> [B,H,1,D]"""
        cache, past = context.cache, context.past
        assert isinstance(cache, ReformerCache) and isinstance(past, int)
        total = past + 1
        keys, values = cache.extend(self, qk, v)
        if self in cache.buckets:
            buckets = torch.cat([cache.buckets[self], self.hash(qk, context, total)], -1)
            at = bucket_neighbours(buckets, self.chunk, self.before, self.after)
            cache.buckets[self] = buckets
        else:
            at = torch.arange(total, device=v.device).expand(*keys.shape[:2], 1, -1)
            if total >= self.chunk:
                cache.buckets[self] = self.hash(keys, context, total)
        last = torch.full((), total - 1, device=v.device)
        return attend_last_query(qk, keys, values, at, last, context.non_padding)

    def static_step(self, qk: Tensor, v: Tensor, context: ReformerContext, cache: StaticReformerCache) -> Tensor:
        """As `step`, with the same shapes at every length: one more token, qk, v [B,H,1,D] -> [B,H,1,D]"""
        keys, values = cache.extend(self, qk, v)
        newest, last = self.hash(qk, context, 1), context.past
        assert isinstance(last, Tensor)
        buckets, total = cache.write_buckets(self, newest), last + 1
        hashed = total >= cache.hashed_from[self]
        width = (self.before + 1 + self.after) * self.chunk
        near = torch.arange(max(width, self.chunk + 1), device=v.device)  # as many are read before keys are hashed
        at = sorted_neighbours(buckets, newest, total, near - self.before * self.chunk, self.chunk)
        at = torch.where(hashed, at, near.clamp(max=cache.max_length - 1))
        visible = torch.where(hashed, near < width, near < total)
        return attend_last_query(qk, keys, values, at, last, context.non_padding, visible)
