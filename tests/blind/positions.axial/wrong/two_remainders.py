# uses the remainder for both digits: e2[j % l2] instead of e2[j // l1]
def axial_positions(e1, e2):
    l1, l2 = e1.size(0), e2.size(0)
    j = torch.arange(l1 * l2)
    return torch.cat((e1[j % l1], e2[j % l2]), dim=-1)
