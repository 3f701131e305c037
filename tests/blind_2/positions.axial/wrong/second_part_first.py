# the slow part stands in front of the fast part
def axial_positions(e1, e2):
    j = torch.arange(e1.shape[0] * e2.shape[0])
    fast = j % e1.shape[0]
    slow = torch.div(j, e1.shape[0], rounding_mode="floor")
    return torch.cat([e2[slow], e1[fast]], dim=1)
