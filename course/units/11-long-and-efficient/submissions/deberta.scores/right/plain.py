import math

import torch


def disentangled_scores(qc, kc, qr, kr, k):
    place = torch.arange(qc.size(2), device=qc.device)
    delta = (place[:, None] - place + k).clamp(0, 2 * k - 1)
    content = qc @ kc.transpose(-2, -1)
    to_position = torch.einsum("bhid,hijd->bhij", qc, kr[:, delta])
    from_position = torch.einsum("bhjd,hjid->bhij", kc, qr[:, delta])
    return (content + to_position + from_position) / math.sqrt(3 * qc.size(-1))
