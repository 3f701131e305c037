"""You add a fourth term, position to position. It is the same for every text, and the paper leaves it out."""

import math

import torch


def disentangled_scores(qc, kc, qr, kr, k):
    place = torch.arange(qc.size(2), device=qc.device)
    delta = (place[:, None] - place + k).clamp(0, 2 * k - 1)
    content = qc @ kc.transpose(-2, -1)
    to_position = torch.einsum("bhid,hijd->bhij", qc, kr[:, delta])
    from_position = torch.einsum("bhjd,hjid->bhij", kc, qr[:, delta])
    of_positions = torch.einsum("hjid,hijd->hij", qr[:, delta], kr[:, delta])
    return (content + to_position + from_position + of_positions) / math.sqrt(3 * qc.size(-1))
