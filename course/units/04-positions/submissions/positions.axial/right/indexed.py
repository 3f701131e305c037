import torch


def axial_positions(e1, e2):
    j = torch.arange(e1.size(0) * e2.size(0), device=e1.device)
    return torch.cat([e1[j % e1.size(0)], e2[j // e1.size(0)]], dim=1)
