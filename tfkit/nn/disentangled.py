"""Scores of what a token says and of where it stands, kept apart (He et al. 2021, DeBERTa)."""

import math

import torch
import torch.nn.functional as F


def disentangled_scores(qc, kc, qr, kr, k):
    """Content to content, content to position, position to content (He et al. 2021, equations 2-4).

    qc, kc [B,H,L,D]: of the tokens; qr, kr [H,2k,D]: of the distances; k: from where on all distances are one
    -> [B,H,L,L]: qc_i·kc_j + qc_i·kr[δ(i,j)] + kc_j·qr[δ(j,i)] over sqrt(3D), δ(i,j) = clip(i-j+k, 0, 2k-1)
    """
    batch, heads, length, width = qc.shape
    place = torch.arange(length, device=qc.device)
    delta = (place[:, None] - place + k).clamp(0, 2 * k - 1).expand(batch, heads, -1, -1)  # δ(i,j) [B,H,L,L]
    to_position = (qc @ kr.transpose(-2, -1)).gather(-1, delta)  # [B,H,i,2k] -> [B,H,i,j]
    from_position = (kc @ qr.transpose(-2, -1)).gather(-1, delta)  # [B,H,j,2k] -> [B,H,j,i], at δ(j,i)
    scores = qc @ kc.transpose(-2, -1) + to_position + from_position.transpose(-2, -1)
    return scores / math.sqrt(3 * width)


def distance_windows(queries, keys=None, shift=1, block=64, device=None):
    """How far to the right of it the keys are that a query meets, for blocks of queries, from the farthest left on.

    keys: N*T unless given; shift: of how many keys one query takes the place
    -> int64 [N,W]: N blocks of T <= `block` queries; query t of block n meets key j in column j + shift*(T-1-t)
    """
    count = -(-queries // block)
    size = -(-queries // count)
    keys = count * size if keys is None else keys
    columns = torch.arange(keys + shift * (size - 1), device=device) - shift * (size - 1)
    return columns - torch.arange(0, shift * count * size, shift * size, device=device)[:, None]


def scores_by_distance(x, table, shift=1):
    """x_i · table[j - shift*i], for all i and j: half the products and half the memory of each distance for each i.

    x [B,H,Q,D], table [H,N,W,D]: of the distances in `distance_windows` -> [B,H,N,T,K], a view; N*T >= Q
    """
    batch, heads, queries, width = x.shape
    count, columns = table.shape[1:3]
    size = -(-queries // count)
    x = F.pad(x, (0, 0, 0, count * size - queries)).view(batch, heads, count, size, width)
    x = x.permute(1, 2, 0, 3, 4).reshape(heads, count, batch * size, width)
    scores = x @ table.transpose(-2, -1)  # [H,N,B*T,W]
    first = shift * (size - 1)  # each query's row starts `shift` earlier in its own: rows move without being copied
    strides = (size * columns, count * batch * size * columns, batch * size * columns, columns - shift, 1)
    return scores.as_strided((batch, heads, count, size, columns - first), strides, first)


def picked(table, rows):
    """table [H,R,D], rows int64 [N,W] -> [H,N,W,D]"""
    return table.index_select(1, rows.flatten()).unflatten(1, rows.shape)
