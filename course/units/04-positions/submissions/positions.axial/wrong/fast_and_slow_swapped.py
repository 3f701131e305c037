"""Your first table changes slowly and your second at every step; it is the other way round.

Position 1 differs from position 0 in its first part.
"""

import torch


def axial_positions(e1, e2):
    return torch.cat([e1.repeat_interleave(e2.size(0), dim=0), e2.repeat(e1.size(0), 1)], dim=-1)
