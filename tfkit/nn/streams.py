"""N-stream self-attention (Qi et al. 2020, arXiv:2001.04063, 3.2): one stream reads words, n others predict.

A predicting query looks at the main stream's keys and at one more, its own; a bias by bucket of distance is computed
from the query, which stands one place further on than the main stream's of the same row.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from .fused import Attention
from .kernel import attend
from .positions import relative_bucket


class Streams(NamedTuple):
    """What all layers share. table [buckets,K+2]: one-hot, the bucket of each distance, from far to near.

    main_seen, seen, bool: where the main stream [·,1,T,K] and the others [·,1,N,T,K+1] may look; beside [K+1]: the
    scores where those may not, -inf, but 0 in the last place, which stands for the query's own key.
    """

    n: int
    paired: bool
    table: torch.Tensor
    main_seen: torch.Tensor
    seen: torch.Tensor
    beside: torch.Tensor


def plan_streams(x, n, past, keys, mask, *, buckets, max_distance, paired=True):
    """x [B,T,E]: the new words; past: how many came before; keys: how many there may be; mask bool [B,·] or None.

    not paired: as transformers computes it, see tfkit.models.prophetnet -> `Streams`
    """
    new, device = x.size(1), x.device
    distance = past + new - torch.arange(keys + 2, device=device)
    table = F.one_hot(relative_bucket(-distance, False, buckets, max_distance), buckets).T.to(x.dtype)
    place, key = torch.arange(past, past + new, device=device)[:, None], torch.arange(keys, device=device)
    back = torch.arange(n, device=device)[:, None, None] * (paired or not past)
    main_seen, seen = (key <= place)[None, None], ((key <= place - back) | (key == 0))[None, None]
    if mask is not None:
        mask = F.pad(mask, (0, keys - mask.size(1)), value=True)[:, None, None]
        main_seen, seen = main_seen & mask, seen & mask[:, None]
    beside = x.new_full((keys + 1,), float("-inf")).masked_fill(torch.arange(keys + 1, device=device) == keys, 0.0)
    return Streams(n, paired, table, main_seen, F.pad(seen, (0, 1)), beside)


def by_key(scores, table):
    """scores [...,T,buckets], table [buckets,W] -> [...,T,W-1]: by distance, each row one further right: by key.

    The last W-1-K columns and what lies in a row's future hold anything."""
    new, width = scores.size(-2), table.size(1)
    flat = (scores @ table).flatten(-2)  # [...,T·W]: read from T-1 on in rows of W-1, without a copy
    return flat[..., new - 1 : new - 1 + new * (width - 1)].unflatten(-1, (new, width - 1))


class StreamAttention(Attention):
    """Self-attention of all streams: keys and values are the main one's, and each predicting query's own."""

    def __init__(self, d_model, n_heads, buckets, dropout=0.0):
        super().__init__(d_model, n_heads, dropout=dropout)
        self.relative = nn.Linear(d_model, buckets * n_heads)

    def forward(self, x, memory=None, *, mask=None, bias=None, cache=None):
        """x [B,(1+N)T,E], the main stream first; mask: the `Streams` -> [B,(1+N)T,E]"""
        new = x.size(1) // (1 + mask.n)
        projections = self.q_proj, self.k_proj, self.v_proj
        q, k, v = (p(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for p in projections)  # [B,H,(1+N)T,D]
        main_k, main_v = k[:, :, :new], v[:, :, :new]
        if cache is not None:
            main_k, main_v = cache.extend(self, main_k, main_v)
        scores = self.relative(x).unflatten(-1, (-1, self.n_heads)).unflatten(1, (1 + mask.n, -1))
        bias = by_key(scores[:, 0].permute(0, 3, 1, 2), mask.table[:, 1:])
        dropout = self.dropout if self.training else 0.0
        read = attend(q[:, :, :new], main_k, main_v, mask=mask.main_seen, bias=bias, dropout=dropout)
        own = q[:, :, new:], k[:, :, new:], v[:, :, new:]
        predicted = self.predict(*own, main_k, main_v, self.by_bucket(scores[:, 1:], mask.paired), mask, dropout)
        return self.o_proj(torch.cat([read, predicted], 2).transpose(1, 2).flatten(2))

    def by_bucket(self, scores, paired):
        """scores [B,N,T,buckets,H] -> [B,H,N,T,buckets]"""
        if paired:
            return scores.permute(0, 4, 1, 2, 3)
        batch, n, new, buckets, heads = scores.shape
        return scores.permute(0, 2, 1, 4, 3).reshape(batch, n, heads, new, buckets).transpose(1, 2)

    def predict(self, q, own_k, own_v, k, v, scores, streams, dropout):
        """q, own_k, own_v [B,H,NT,D], k, v [B,H,K,D], scores [B,H,N,T,buckets] -> [B,H,NT,D]

        All queries at once: softmax sees differences only, so each row is taken relative to its query's own score, and
        one key of zeros can stand for the own key of all. What it weighs comes out in a column of its own.
        """
        own = (q * own_k).sum(-1, keepdim=True) * q.size(-1) ** -0.5
        bias = by_key(scores - scores[..., :1] - own.unflatten(2, scores.shape[2:4]), streams.table)
        bias = torch.where(streams.seen, bias, streams.beside).flatten(2, 3)  # [B,H,NT,K+1]
        width, room = q.size(-1), (0, 8, 0, 1)  # the kernel wants keys as wide as values, and widths of whole registers
        v = F.pad(v, room)
        v[:, :, -1, width] = 1.0
        out = attend(F.pad(q, room[:2]), F.pad(k, room), v, bias=bias, scale=width**-0.5, dropout=dropout)
        return out[..., :width] + out[..., width : width + 1] * own_v
