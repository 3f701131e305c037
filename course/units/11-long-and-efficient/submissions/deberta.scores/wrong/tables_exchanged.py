"""You let queries meet the queries of distances, and keys their keys. A query always meets a key: qc with kr, kc with qr."""

import math

import torch


def disentangled_scores(qc, kc, qr, kr, k):
    place = torch.arange(qc.size(2), device=qc.device)
    delta = (place[:, None] - place + k).clamp(0, 2 * k - 1)
    content = qc @ kc.transpose(-2, -1)
    to_position = torch.einsum("bhid,hijd->bhij", qc, qr[:, delta])
    from_position = torch.einsum("bhjd,hjid->bhij", kc, kr[:, delta])
    return (content + to_position + from_position) / math.sqrt(3 * qc.size(-1))
