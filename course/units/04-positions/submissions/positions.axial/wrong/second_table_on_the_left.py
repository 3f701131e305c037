"""You put the second table's part on the left; the first table's columns come first."""

import torch


def axial_positions(e1, e2):
    return torch.cat([e2.repeat_interleave(e1.size(0), dim=0), e1.repeat(e2.size(0), 1)], dim=-1)
