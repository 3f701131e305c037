# the first table is the slow digit (trax), not the fast one
def axial_positions(e1, e2):
    l1, l2 = len(e1), len(e2)
    left = torch.repeat_interleave(e1, l2, dim=0)
    right = e2.repeat(l1, 1)
    return torch.cat([left, right], dim=1)
