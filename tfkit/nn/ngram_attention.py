"""N-stream self-attention (Qi et al. 2020, arXiv:2001.04063, 3.2): one stream reads words, n others predict.

A predicting query attends to the main stream's keys and to one more, its own. The relative position bias is computed
from the query, which is one position further on than the main stream's query in the same row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import tracing
from .attention import Projections, attend
from .cache import Cache
from .positions import position_range, relative_bucket


@dataclass(frozen=True)
class NgramContext:
    """The context that all layers share. n: number of predicting streams; table [buckets,·]: one-hot, the bucket of
    each distance up to max_distance, with the nearest last.

    main_mask [·,1,T,K], predicting_mask [·,1,N,T,K+1], bool: the keys that the main stream and the predicting streams
    may attend to; own_scores [K+1]: replaces the scores of the predicting streams where their mask is False: -inf, but
    0 at the last index, which stands for the query's own key.
    """

    n: int
    paired: bool
    table: Tensor
    main_mask: Tensor
    predicting_mask: Tensor
    own_scores: Tensor

    def slice_rows(self, first: int, end: int) -> NgramContext:
        """The context for these rows, without the keys after the last of them."""
        new, keys = self.main_mask.shape[-2:]
        keys -= new - end
        return replace(
            self,
            main_mask=self.main_mask[..., first:end, :keys],
            predicting_mask=self.predicting_mask[..., first:end, : keys + 1],
            own_scores=self.own_scores[-keys - 1 :],
        )


def make_ngram_context(
    x: Tensor,
    n: int,
    past: Any,
    keys: int,
    mask: Tensor | None,
    *,
    buckets: int,
    max_distance: int,
    paired: bool = True,
) -> NgramContext:
    """x [B,T,E]: the new words; past: the number of earlier ones; keys: the capacity for keys; mask: bool [B,·] or
    None.

    paired=False: as transformers computes it, see tfkit.models.prophetnet -> `NgramContext`
    """
    new, device = x.size(1), x.device
    counted = isinstance(past, int)  # a tensor comes from a cache of fixed size, which is not empty
    first = max(0, past + new - max_distance) if counted else 0
    distance = past + new - torch.arange(first, keys + 2, device=device)
    table = F.one_hot(relative_bucket(-distance, False, buckets, max_distance), buckets).T.to(x.dtype)
    position, key = position_range(past, new, device)[:, None], torch.arange(keys, device=device)
    back = torch.arange(n, device=device)[:, None, None] * (paired or (counted and not past))
    main, predicting = (key <= position)[None, None], ((key <= position - back) | (key == 0))[None, None]
    if mask is not None:
        mask = F.pad(mask, (0, keys - mask.size(1)), value=True)[:, None, None]
        main, predicting = main & mask, predicting & mask[:, None]
    own_scores = x.new_full((keys + 1,), float("-inf")).masked_fill(torch.arange(keys + 1, device=device) == keys, 0.0)
    return NgramContext(n, paired, table, main, F.pad(predicting, (0, 1)), own_scores)


def scores_by_key(scores: Tensor, table: Tensor, width: int) -> Tensor:
    """scores [...,T,buckets] -> [...,T,width]: from scores by distance to scores by key, each row shifted by one.

    All distances beyond the table are in the last bucket. Entries in a row's future are arbitrary.
    """
    new, near = scores.size(-2), table[:, max(0, table.size(1) - width - 1) :]
    far = scores[..., -1:].expand(*scores.shape[:-1], width + 1 - near.size(1))
    flat = torch.cat([far, scores @ near], -1).flatten(-2)  # [...,T·(width+1)]: from T-1 on, in rows of width
    return flat[..., new - 1 : new - 1 + new * width].unflatten(-1, (new, width))


class NgramAttention(Projections):
    """Self-attention of all streams over the main stream's keys and values and each predicting query's own."""

    CHUNK = 128  # rows at a time, so that little of the masked future is computed

    def __init__(self, d_model: int, n_heads: int, buckets: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, n_heads, dropout=dropout)
        self.relative = nn.Linear(d_model, buckets * n_heads)

    def forward(self, x: Tensor, context: NgramContext, *, cache: Cache | None = None) -> Tensor:
        """x [B,(1+N)T,E], the main stream first -> [B,(1+N)T,E]"""
        streams = context.n + 1
        projections = (p(x).unflatten(-1, (self.n_heads, -1)) for p in (self.q_proj, self.k_proj, self.v_proj))
        q, k, v = (p.transpose(1, 2).unflatten(2, (streams, -1)) for p in projections)  # [B,H,1+N,T,D]
        scores = self.bucket_scores(self.relative(x).unflatten(1, (streams, -1)), context.paired)
        new, main_k, main_v = q.size(3), k[:, :, 0], v[:, :, 0]
        if cache is not None:
            main_k, main_v = cache.extend(self, main_k, main_v)
        whole = main_k.size(2) > new or tracing.recorder() is not None
        out = []
        for first in range(0, new, new if whole else self.CHUNK):
            end = new if whole else min(first + self.CHUNK, new)
            rows, part = slice(first, end), context.slice_rows(first, end)
            keys = part.main_mask.size(-1)
            own = q[..., rows, :], k[..., rows, :], v[..., rows, :], scores[..., rows, :]
            out.append(self.attend_streams(*own, main_k[:, :, :keys], main_v[:, :, :keys], part))
        return self.o_proj(torch.cat(out, 3).flatten(2, 3).transpose(1, 2).flatten(2))

    def bucket_scores(self, scores: Tensor, paired: bool) -> Tensor:
        """scores [B,1+N,T,buckets·H] -> [B,H,1+N,T,buckets]"""
        scores = scores.unflatten(-1, (-1, self.n_heads)).permute(0, 4, 1, 2, 3)
        if paired:
            return scores
        others = scores[:, :, 1:].permute(0, 3, 2, 1, 4)  # [B,T,N,H,buckets]
        batch, new, n, heads, buckets = others.shape
        return torch.cat([scores[:, :, :1], others.reshape(batch, n, heads, new, buckets).transpose(1, 2)], 2)

    def attend_streams(
        self, q: Tensor, own_k: Tensor, own_v: Tensor, scores: Tensor, k: Tensor, v: Tensor, context: NgramContext
    ) -> Tensor:
        """q, own_k, own_v [B,H,1+N,T,D], scores [B,H,1+N,T,buckets], k, v [B,H,K,D] -> [B,H,1+N,T,D]

        All predicting queries at once: softmax depends on differences only, so the score of the own key is subtracted
        from each row, and one key of zeros can stand for everyone's own key. Its weight comes out in a column of its
        own.
        """
        dropout, width, keys = self.dropout_now(), q.size(-1), k.size(2)
        bias = scores_by_key(scores[:, :, 0], context.table, keys)
        main = attend(q[:, :, 0], k, v, mask=context.main_mask, bias=bias, dropout=dropout)
        q, own_k, own_v, scores = (t[:, :, 1:] for t in (q, own_k, own_v, scores))
        own = (q * own_k).sum(-1, keepdim=True) * width**-0.5 + scores[..., :1]
        bias = scores_by_key(scores - own, context.table, keys + 1)
        bias = torch.where(context.predicting_mask, bias, context.own_scores)
        room = (0, 8, 0, 1)  # the kernel needs keys as wide as values, and widths that fill registers
        v = F.pad(v, room)
        v[:, :, -1, width] = 1.0
        q, bias = F.pad(q.flatten(2, 3), room[:2]), bias.flatten(2, 3)
        out = attend(q, F.pad(k, room), v, bias=bias, scale=width**-0.5, dropout=dropout).unflatten(2, own.shape[2:4])
        return torch.cat([main[:, :, None], out[..., :width] + out[..., width : width + 1] * own_v], 2)
