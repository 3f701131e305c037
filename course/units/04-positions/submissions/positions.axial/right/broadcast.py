import torch


def axial_positions(e1, e2):
    (l1, d1), (l2, d2) = e1.shape, e2.shape
    fast = e1[None, :, :].expand(l2, l1, d1)
    slow = e2[:, None, :].expand(l2, l1, d2)
    return torch.cat([fast, slow], dim=-1).flatten(0, 1)
