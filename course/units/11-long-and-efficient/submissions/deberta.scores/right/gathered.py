import torch


def disentangled_scores(qc, kc, qr, kr, k):
    length, width = qc.shape[-2:]
    place = torch.arange(length, device=qc.device)
    there = (place[:, None] - place).clamp(-k, k - 1) + k
    back = (place - place[:, None]).clamp(-k, k - 1) + k
    row, column = place[:, None].expand(length, length), place.expand(length, length)
    to_position = (qc @ kr.mT)[:, :, row, there]
    from_position = (kc @ qr.mT)[:, :, column, back]
    return (qc @ kc.mT + to_position + from_position) * (3 * width) ** -0.5
