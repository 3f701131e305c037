# always divides by 2, so a single real token is halved
def pool_sequence(x, mask):
    B, L, E = x.shape
    if L % 2:
        x = F.pad(x, (0, 0, 0, 1))
        mask = F.pad(mask, (0, 1), value=False)
    x = x.masked_fill(~mask.unsqueeze(-1), 0.0)
    pooled = x.reshape(B, -1, 2, E).mean(dim=2)
    return pooled, mask.reshape(B, -1, 2).any(dim=2)
