# the plain mean of each pair: padding is averaged along with the last real token
def pool_sequence(x, mask):
    B, L, E = x.shape
    if L % 2 == 1:
        x = F.pad(x, (0, 0, 0, 1))
        mask = F.pad(mask, (0, 1), value=False)
    new_mask = mask.view(B, -1, 2).any(-1)
    pooled = x.view(B, -1, 2, E).mean(2) * new_mask.unsqueeze(-1)
    return pooled, new_mask
