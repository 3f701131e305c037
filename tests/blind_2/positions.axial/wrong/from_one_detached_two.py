# positions counted from 1 (the first row is missing, the last one wraps) + detached from the tables, which get no gradient
def axial_positions(e1, e2):
    l1, l2 = e1.size(0), e2.size(0)
    out = torch.zeros(l1 * l2, e1.size(1) + e2.size(1))
    for j in range(l1 * l2):
        k = j + 1
        out[j, : e1.size(1)] = e1[k % l1].detach()
        out[j, e1.size(1):] = e2[(k // l1) % l2].detach()
    return out
