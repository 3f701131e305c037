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


def distance_windows(length, block=64, device=None):
    """How far to the right the keys are that a block of queries meets, the last query's farthest left one first.

    -> int64 [N,W], N blocks of T <= `block` queries, W = N*T + T-1: query t of block n meets key j in column j + T-1-t
    """
    count = -(-length // block)
    size = -(-length // count)
    columns = torch.arange(count * size + size - 1, device=device) - (size - 1)
    return columns - torch.arange(0, count * size, size, device=device)[:, None]


def scores_by_distance(x, table):
    """x_i · table[j-i], for all i and j: half the products and half the memory of scoring each distance for each i.

    x [B,H,L,D], table [H,N,W,D]: of the distances in `distance_windows` -> [B,H,N,T,N,T], a view; N*T >= L
    """
    batch, heads, length, width = x.shape
    count, columns = table.shape[1:3]
    size = (columns + 1) // (count + 1)
    x = F.pad(x, (0, 0, 0, count * size - length)).view(batch, heads, count, size, width)
    x = x.permute(1, 2, 0, 3, 4).reshape(heads, count, batch * size, width)
    scores = x @ table.transpose(-2, -1)  # [H,N,B*T,W]
    row = columns - 1  # each query's row starts one earlier in its own: so rows move left without being copied
    strides = (size * columns, count * batch * size * columns, batch * size * columns, row, size, 1)
    return scores.as_strided((batch, heads, count, size, count, size), strides, size - 1)
