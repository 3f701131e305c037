import math

import torch


def disentangled_scores(qc, kc, qr, kr, k):
    B, H, L, D = qc.shape
    i = torch.arange(L, device=qc.device)
    delta = torch.clamp(i[:, None] - i[None, :] + k, 0, 2 * k - 1)
    content = torch.einsum("bhid,bhjd->bhij", qc, kc)
    c2p = torch.einsum("bhid,hijd->bhij", qc, kr[:, delta])
    p2c = torch.einsum("bhjd,hjid->bhij", kc, qr[:, delta])
    return (content + c2p + p2c) / math.sqrt(3 * D)
