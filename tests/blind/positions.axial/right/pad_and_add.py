# each table padded with zeros to the full width, then added by broadcasting over the grid
def axial_positions(e1, e2):
    d1, d2 = e1.shape[1], e2.shape[1]
    columns = F.pad(e1, (0, d2))              # [l1,d1+d2]
    rows = F.pad(e2, (d1, 0))                 # [l2,d1+d2]
    grid = rows[:, None, :] + columns[None, :, :]   # slow digit first: j = row * l1 + column
    return grid.reshape(-1, d1 + d2)
