# style: no indices: e1 repeated as a whole, the rows of e2 repeated one by one
def axial_positions(e1, e2):
    fast = e1.repeat(len(e2), 1)
    slow = e2.repeat_interleave(len(e1), dim=0)
    return torch.hstack([fast, slow])
