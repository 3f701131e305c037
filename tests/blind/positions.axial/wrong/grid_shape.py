# leaves the result as a grid [l2,l1,d1+d2] instead of a list of positions
def axial_positions(e1, e2):
    (l1, d1), (l2, d2) = e1.shape, e2.shape
    a = e1.view(1, l1, d1).expand(l2, l1, d1)
    b = e2.view(l2, 1, d2).expand(l2, l1, d2)
    return torch.cat([a, b], dim=2)
