import torch


def axial_positions(e1, e2):
    return torch.stack([torch.cat([fast, slow]) for slow in e2 for fast in e1])
