import torch


def axial_positions(e1, e2):
    return torch.cat([e1.repeat(e2.size(0), 1), e2.repeat_interleave(e1.size(0), dim=0)], dim=-1)
