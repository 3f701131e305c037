"""Attention to the neighbours, and to a few tokens that everybody sees (Beltagy et al. 2020, arXiv:2004.05150)."""

import torch
import torch.nn.functional as F

from .kernel import attend


def local_global_mask(length, window, global_positions):
    """Who may look at whom: near ones at each other, global ones at all, and all at them.

    length int, window int: both sides together, global_positions list of int -> bool [L,L]
    """
    at = torch.arange(length)
    near = (at[:, None] - at).abs() <= window // 2  # [L,L]
    chosen = torch.zeros(length, dtype=torch.bool)
    chosen[torch.tensor(global_positions, dtype=torch.int64)] = True
    return near | chosen[:, None] | chosen


def with_neighbours(blocks, before, after):
    """Each block with the `before` blocks before it and the `after` after it; the ends meet, as in a ring.

    blocks [B,N,W,...] -> [B,N,(before+1+after)·W,...]
    """
    return torch.cat([blocks.roll(-shift, 1) for shift in range(-before, after + 1)], dim=2)


def window_mask(real, reach):
    """Which keys each position sees of its own block and of the two beside it, of `reach` positions each.

    real bool [B,L]: the keys that count, reach int -> bool [B,N,W,3W] with W = reach and N = ceil(L / W)
    """
    length = real.size(1)
    real = F.pad(real, (0, -length % reach)).unflatten(1, (-1, reach))  # [B,N,W]
    offset = torch.arange(3 * reach, device=real.device) - reach  # of a key, from the start of the query's block
    near = (torch.arange(reach, device=real.device)[:, None] - offset).abs() <= reach  # [W,3W]
    key = torch.arange(real.size(1), device=real.device)[:, None] * reach + offset  # [N,3W]
    inside = (key >= 0) & (key < length)  # not round the ends of the ring
    return near & (with_neighbours(real, 1, 1) & inside)[:, :, None]


def sliding_attention(q, k, v, mask, *, before=1, after=1, shared=None, dropout=0.0):
    """Every query over the keys within its window, in memory linear in L: a few blocks of keys for a block of queries.

    q, k, v [B,L,H,D], mask [B,N,W,(before+1+after)·W], as from `window_mask`; shared: (keys [B,G,H,D], values
    [B,G,H,D], real bool [B,G]) that all queries see besides -> [B,L,H·D]
    """
    batch, length, heads, width = q.shape
    blocks, reach = mask.shape[1:3]
    q, k, v = (F.pad(x, (0, 0, 0, 0, 0, -length % reach)).unflatten(1, (blocks, reach)) for x in (q, k, v))
    k, v = with_neighbours(k, before, after), with_neighbours(v, before, after)  # [B,N,3W,H,D]
    if shared is not None:
        keys, values, found = (x[:, None].expand(-1, blocks, *x.shape[1:]) for x in shared)  # [B,N,G,...]
        k, v = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        mask = torch.cat([found[:, :, None].expand(-1, -1, reach, -1), mask], -1)
    q, k, v = (x.flatten(0, 1).transpose(1, 2) for x in (q, k, v))  # [B·N,H,W,D]: each block is a row of its own
    out = attend(q, k, v, mask=mask.flatten(0, 1)[:, None], dropout=dropout)
    return out.transpose(1, 2).reshape(batch, -1, heads * width)[:, :length]
