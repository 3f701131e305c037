"""Scores of what a token says and of where it stands, kept apart (He et al. 2021, DeBERTa)."""

import math

import torch


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
