# pairs position i with i + L/2 instead of with its neighbour + a pair of padding is 0/0 = NaN
def pool_sequence(x, mask):
    B, L, E = x.shape
    if L % 2:
        x = torch.cat([x, torch.zeros(B, 1, E)], dim=1)
        mask = torch.cat([mask, torch.zeros(B, 1, dtype=torch.bool)], dim=1)
    xx = x.view(B, 2, -1, E)
    mm = mask.view(B, 2, -1)
    s = (xx * mm[..., None]).sum(1)
    return s / mm.sum(1)[..., None], mm.any(1)
