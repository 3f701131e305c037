# the first table is the slow digit (trax order): e1[j // l2] with e2[j % l2]
def axial_positions(e1, e2):
    l1, d1 = e1.shape
    l2, d2 = e2.shape
    a = e1[:, None, :].expand(l1, l2, d1)
    b = e2[None, :, :].expand(l1, l2, d2)
    return torch.cat([a, b], dim=-1).reshape(l1 * l2, d1 + d2)
