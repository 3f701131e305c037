# the slow digit is j % l2 instead of j // l1
def axial_positions(e1, e2):
    rows = []
    for j in range(len(e1) * len(e2)):
        rows.append(torch.cat([e1[j % len(e1)], e2[j % len(e2)]]))
    return torch.stack(rows)
