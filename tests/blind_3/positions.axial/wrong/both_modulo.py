# both tables are tiled: the second one uses j % l2 instead of j // l1
def axial_positions(e1, e2):
    n1 = e1.size(0)
    n2 = e2.size(0)
    # repeat each table until we have n1*n2 rows
    big1 = e1.repeat(n2, 1)
    big2 = e2.repeat(n1, 1)
    return torch.hstack((big1, big2))
