# e2 is put before e1 + the first table is the slow digit (e1[j // l2] with e2[j % l2])
def axial_positions(e1, e2):
    l1, l2 = len(e1), len(e2)
    res = e1.new_empty(l1 * l2, e1.shape[1] + e2.shape[1])
    for j in range(l1 * l2):
        res[j] = torch.cat([e2[j % l2], e1[j // l2]])
    return res
