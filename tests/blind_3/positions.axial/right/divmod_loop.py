# divmod in a python loop, rows stacked at the end
def axial_positions(e1, e2):
    l1 = len(e1)
    l2 = len(e2)
    rows = []
    for j in range(l1 * l2):
        slow, fast = divmod(j, l1)
        rows.append(torch.cat((e1[fast], e2[slow])))
    return torch.stack(rows)
